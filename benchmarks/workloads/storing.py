"""The store of sketches: how long 1,000 take to come back, and what saving in the background adds to maintenance as the caller sees it.

Without Spark: states over random groups, one thread that maintains, the saver's own thread beside it. Starting anew is what is measured:
each turn opens the store, or begins a state, from nothing. What was saved and what comes back are compared.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from benchmarks.harness import Rows
from benchmarks.journal import Journal, Page
from benchmarks.protocol import Plan, Turn, Work, take_turns
from benchmarks.records import Quantity
from benchmarks.states import AVERAGE_DOUBLE, KEY, SUM_DOUBLE, make, random_rows
from imp_driver.persist.record import Record, StateColumns, StoredCut, StoredSketch, StoredTable
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
RESTORED_GROUPS = (100, 5_000)
MAINTAINED_GROUPS = (500, 5_000, 50_000)
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


def run(journal: Journal, plan: Plan) -> None:
    """Measure one case per size of restored states, for all sketches and for one state, and one per size of a maintained state."""
    for groups in RESTORED_GROUPS:
        with tempfile.TemporaryDirectory() as folder:
            stored = _saved(folder, groups)
            for what, way in {"all sketches": stored.sketches, "one state": stored.state}.items():
                page = journal.page({"restored": what, "sketches": SKETCHES, "groups": groups})
                page.facts["ranges"] = stored.groups.cuts[KEY].partition.ranges
                take_turns(page, plan, Work({"IMP": way}, expected={"IMP": stored.expected[what]}))
    for groups in MAINTAINED_GROUPS:
        page = journal.page({"maintained": "one state", "steps": STEPS, "groups": groups})
        ways = {"without a store": partial(_without_store, groups), "with a store": partial(_with_store, page, groups)}
        take_turns(page, plan, Work(ways))


@dataclass(frozen=True, slots=True)
class _Saved:
    """A store of many sketches over equal groups, which each turn opens anew, as another process would."""

    location: str
    groups: CutGroups
    keys: tuple[str, ...]

    @property
    def expected(self) -> dict[str, Rows]:
        """What must come back, by what is read."""
        return {"all sketches": [(key, self.groups.state.groups) for key in self.keys], "one state": _rows(self.groups.snapshot())}

    def sketches(self) -> Turn:
        """Read all sketches back into an empty registry."""
        recovery = Recovery(Registry(1 << 30), DeltaRepository(self.location), _source())
        begin = time.perf_counter()
        found = recovery.restored()
        seconds = time.perf_counter() - begin
        return Turn([(each.identity.key, each.groups) for each in found], {Quantity.CALL: seconds * 1000})

    def state(self) -> Turn:
        """Read one state back, as the first query that needs it does."""
        repository, record = DeltaRepository(self.location), _record(0, self.groups)
        begin = time.perf_counter()
        columns = repository.load(record)
        seconds = time.perf_counter() - begin
        return Turn(_rows(columns), {Quantity.CALL: seconds * 1000})


def _saved(location: str, groups: int) -> _Saved:
    repository = DeltaRepository(location)
    state = make(np.random.default_rng(7), SPECIFICATIONS, groups)
    columns, record = state.snapshot(), _record(0, state)
    keys = tuple(f"{number:032x}" for number in range(SKETCHES))
    for begin in range(0, SKETCHES, 50):
        repository.save([(replace(record, key=key, state=key), columns) for key in keys[begin : begin + 50]])
    return _Saved(location, state, keys)


def _rows(columns: StateColumns) -> Rows:
    return list(zip(*(columns[name].to_pylist() for name in sorted(columns)), strict=True))


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


def _source() -> ChangeSource:
    return _Digests()  # type: ignore[return-value]


def _without_store(groups: int) -> Turn:
    relation, waited = _steps(None, groups)
    assert relation.in_memory is not None
    return Turn(_rows(relation.in_memory.snapshot()), {Quantity.CALL: waited * 1000 / STEPS})


def _with_store(page: Page, groups: int) -> Turn:
    """Maintain a state whose answer is what the store has of it at the end."""
    with tempfile.TemporaryDirectory() as folder:
        repository = DeltaRepository(folder)
        relation, waited = _steps(repository, groups)
        page.facts["saves"] = repository.version() + 1
        assert relation.stored is not None
        return Turn(_rows(repository.load(relation.stored.record)), {Quantity.CALL: waited * 1000 / STEPS})


def _steps(repository: DeltaRepository | None, groups: int) -> tuple[Maintained, float]:
    """Return a relation after steps of 100 changed rows, the same at each call, and the seconds in which the caller waited for them."""
    chance = np.random.default_rng(11)
    relation = Maintained(Identity("00", "t", "SELECT", "t", "/t", "family", "prefix", "source"))
    analysis = analysis_of(TEXT, SCHEMA)
    relation.captured(make(chance, SPECIFICATIONS, groups), bind(analysis.block, None, analysis.columns), (), {})
    saver = Checkpoint(repository, _source())
    saver.open()
    waited = 0.0
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
    # What is left is saved now; no caller waits for it.
    saver.close()
    return relation, waited
