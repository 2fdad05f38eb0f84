"""The store of sketches: how long 1,000 take to come back, and what saving in the background adds to maintenance as the caller sees it.

Without Spark: states over random groups, one thread that maintains, the saver's own thread beside it.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.states import AVERAGE_DOUBLE, KEY, SUM_DOUBLE, make, random_rows
from imp_driver.persist.record import Record, StoredCut, StoredSketch, StoredTable
from imp_driver.persist.tables import DeltaRepository
from imp_driver.plan.bind import bind
from imp_driver.sketch.cut_groups import CutGroups
from imp_driver.snapshot.vector import TableState
from imp_driver.state.checkpoint import Checkpoint
from imp_driver.state.maintained import Maintained
from imp_driver.state.recovery import Recovery
from imp_driver.state.registry import Registry
from imp_driver.state.values import Identity
from imp_driver.values.cuts import AttachedCut
from imp_driver.values.tables import ChangeSource, SchemaColumn
from tests.unit.tables import analysis_of

SKETCHES = 1_000
SPECIFICATIONS = (AVERAGE_DOUBLE, SUM_DOUBLE)
STEPS = 150
TEXT = "SELECT g, sum(a) FROM t GROUP BY g HAVING sum(a) > 1"
SCHEMA = (SchemaColumn("g", "long", True), SchemaColumn("a", "double", True))
PAUSE = 0.02
"""Seconds between two steps: a busy dashboard."""


class _Digests:
    """Only the digests of commits are asked for."""

    def commit_digest(self, location: str, version: int) -> str:
        return "digest"


def run(repetitions: int) -> dict[str, list[dict[str, Any]]]:
    """Return records of restoring and of maintenance with and without a store; these two take turns, medians count."""
    with tempfile.TemporaryDirectory() as folder:
        restoring = [_restoring(Path(folder) / "many", groups) for groups in (100, 5_000)]
        maintaining = [_maintaining(Path(folder) / str(groups), groups, repetitions) for groups in (500, 5_000, 50_000)]
    for record in (*restoring, *maintaining):
        print(record, flush=True)
    return {"restoring": restoring, "maintaining": maintaining}


def _record(number: int, groups: CutGroups) -> Record:
    cut = groups.cuts[KEY]
    sketch = StoredSketch("constants", cut.sketch(groups.state.alive), cut.fragment_rows())
    cuts = (StoredCut(AttachedCut(KEY, cut.partition, cut.attribute), sketch),)
    table = StoredTable("/t", "id", 1, None, "digest")
    name = f"{number:032x}"
    text = "SELECT g, sum(a) FROM t WHERE b < ? GROUP BY g HAVING sum(a) > ?"
    return Record(
        name, name, name, name[:12], text, (name[:12],), "t", "/t", (table,), cuts, name, (), groups.state.groups, groups.memory, {},
    )  # fmt: skip


def _restoring(folder: Path, groups: int) -> dict[str, Any]:
    repository = DeltaRepository(f"{folder}-{groups}")
    state = make(np.random.default_rng(7), SPECIFICATIONS, groups)
    columns, record = state.snapshot(), _record(0, state)
    for begin in range(0, SKETCHES, 50):
        names = [f"{number:032x}" for number in range(begin, begin + 50)]
        repository.save([(replace(record, key=name, state=name), columns) for name in names])
    begin_all = time.perf_counter()
    found = Recovery(Registry(1 << 30), DeltaRepository(repository.location), _source()).restored()
    restored = time.perf_counter() - begin_all
    begin_one = time.perf_counter()
    repository.load(record)
    return {
        "sketches": len(found),
        "groups each": groups,
        "ranges each": state.cuts[KEY].partition.ranges,
        "all sketches s": round(restored, 2),
        "then one state ms": round((time.perf_counter() - begin_one) * 1000, 1),
    }


def _source() -> ChangeSource:
    return _Digests()  # type: ignore[return-value]


def _maintaining(folder: Path, groups: int, repetitions: int) -> dict[str, Any]:
    without, with_store = [], []
    saves = 0
    for number in range(repetitions + 1):
        without.append(_steps(None, groups)[0])
        seconds, saves = _steps(DeltaRepository(f"{folder}-{number}"), groups)
        with_store.append(seconds)
    plain, stored = (statistics.median(each[1:]) for each in (without, with_store))
    return {
        "groups": groups,
        "steps": STEPS,
        "saves": saves,
        "without ms a step": round(plain * 1000 / STEPS, 3),
        "with ms a step": round(stored * 1000 / STEPS, 3),
        "ratio": round(stored / plain, 3),
    }


def _steps(repository: DeltaRepository | None, groups: int) -> tuple[float, int]:
    """Return the seconds in which the caller waited for steps of 100 changed rows each, and the number of saves."""
    chance = np.random.default_rng(11)
    relation = Maintained(Identity("00", "t", "SELECT", "t", "/t", "family", "prefix"))
    analysis = analysis_of(TEXT, SCHEMA)
    relation.captured(make(chance, SPECIFICATIONS, groups), bind(analysis.block, None, analysis.columns), (), {})
    saver = Checkpoint(repository, _source())
    saver.open()
    waited, stored, saves = 0.0, None, 0
    for step in range(STEPS):
        rows = random_rows(chance, SPECIFICATIONS, groups, 100).signed()
        begin = time.perf_counter()
        with relation.ownership.held():
            with relation.changing() as state:
                assert isinstance(state, CutGroups)
                state.apply(rows)
                state.cuts[KEY].sketch(state.state.alive)
                relation.advanced({"/t": TableState("id", step, None)}, None, 100)
            saver.note(relation)
        waited += time.perf_counter() - begin
        time.sleep(PAUSE)
        saves += relation.stored is not stored
        stored = relation.stored
    saver.close()
    return waited, saves
