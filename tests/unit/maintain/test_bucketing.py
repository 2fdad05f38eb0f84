"""States beyond the memory budget, through the whole path without a JVM: buckets in memory, DuckDB as the engine, shadow mode."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from imp_driver.buckets.state import BucketedState
from imp_driver.capture import capture
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.persist.tables import DeltaRepository
from imp_driver.reasons import Decision, Reason, RecaptureReason
from imp_driver.state.checkpoint import Checkpoint
from imp_driver.state.recovery import Recovery
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from tests.soundness.buckets import MemoryBuckets
from tests.soundness.engine import DuckSession, Row, Warehouse, drained

SUMS = "SELECT g, sum(a) AS f, avg(a) AS m, min(x) AS l FROM r GROUP BY g HAVING sum(a) > {}"
JOIN = "SELECT r.g, count(*) AS f FROM r JOIN s ON r.g = s.k GROUP BY r.g HAVING count(*) > 8"
OTHERS = {
    "SELECT g, sum(a) AS f FROM r GROUP BY g ORDER BY f DESC, g LIMIT 3": "the first groups by an order are found in memory only",
    "SELECT g, count(DISTINCT a) AS f FROM r GROUP BY g HAVING count(DISTINCT a) > 1": "distinct values are counted in memory only",
    "SELECT x, sum(a) AS f FROM r GROUP BY x HAVING sum(a) > 60": "only states that are cut on a group key",
}
LITTLE = 7_000
"""Bytes, less than any state here needs."""


@pytest.fixture(autouse=True)
def heavy_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few groups need many bytes, of which the numbers of their buckets need less."""
    monkeypatch.setattr(capture, "ROW_OVERHEAD", 200)


class SmallProcess:
    """A process with a budget that no state fits."""

    def __init__(self, warehouse: Warehouse, *, buckets: str | None = "buckets", sketch: SketchMode = SketchMode.SHADOW) -> None:
        self.warehouse = warehouse
        self.sketches = Sketches(Relations(warehouse, LITTLE, buckets=buckets))
        self.middleware = Middleware(DuckSession(warehouse), warehouse, self.sketches, Options(answers=False, sketch=sketch))

    def ask(self, text: str) -> SketchReport:
        """Run a query, whose rows shadow mode compares."""
        outcome = self.middleware.run(Execution(text))
        drained(outcome.stream)
        return outcome.report

    def shown(self) -> list[dict[str, Any]]:
        return drained(self.middleware.run(Execution("SHOW SKETCHES")).stream)


def a_warehouse() -> Warehouse:
    warehouse = Warehouse()
    warehouse.commit("r", [(number, number % 40, number % 3, number % 5) for number in range(40 * 4 + 15)])
    warehouse.commit("s", [(number, number % 40, 0, 1) for number in range(80)])
    return warehouse


def insert(warehouse: Warehouse, *rows: Row, table: str = "r") -> None:
    warehouse.commit(table, [*warehouse.rows(table), *rows])


@pytest.mark.parametrize(("text", "groups"), [(SUMS.format(6), 41), (JOIN, 40)], ids=["one table", "join"])
def test_a_state_beyond_the_budget_is_kept_in_buckets_and_maintained(text: str, groups: int) -> None:
    warehouse = a_warehouse()
    process = SmallProcess(warehouse)
    assert process.ask(text).decision is Decision.CAPTURED
    assert process.ask(text).decision is Decision.FRESH
    insert(warehouse, (60, 3, 0, 100), (61, 77, 1, 2))
    report = process.ask(text)
    assert (report.decision, "in buckets" in report.detail) == (Decision.MAINTAINED, True)
    assert len(warehouse.buckets.stepped) == 1
    [row] = process.shown()
    assert (row["lives_in"], row["groups"], row["captures"], row["maintained"]) == ("buckets", groups, 1, 1)


def test_other_constants_ask_the_buckets_and_capture_nothing() -> None:
    process = SmallProcess(a_warehouse())
    assert process.ask(SUMS.format(6)).decision is Decision.CAPTURED
    assert process.ask(SUMS.format(3)).decision is Decision.FRESH
    assert (process.warehouse.buckets.asked, len(process.shown())) == (1, 1)


def test_a_stream_of_changes_stays_right() -> None:
    chance, warehouse = random.Random(7), a_warehouse()
    process = SmallProcess(warehouse)
    decisions: list[Decision] = []
    for number in range(40):
        rows = list(warehouse.rows("r"))
        for _ in range(chance.randrange(3)):
            rows.pop(chance.randrange(len(rows)))
        rows += [(100 + number, chance.choice([None, *range(45)]), chance.randrange(3), chance.choice([None, -1, 4, 9]))]
        warehouse.commit("r", rows)
        decisions.append(process.ask(SUMS.format(chance.choice([3, 6]))).decision)
        decisions.append(process.ask(JOIN).decision)
    assert decisions.count(Decision.MAINTAINED) > 60


@pytest.mark.parametrize("text", OTHERS)
def test_what_cannot_be_kept_in_buckets_says_why(text: str) -> None:
    process = SmallProcess(a_warehouse())
    for _ in range(2):
        report = process.ask(text)
    assert report.reason in (Reason.STATE_TOO_LARGE, Reason.CAPTURE_DEFERRED)
    if report.reason is Reason.STATE_TOO_LARGE:
        assert OTHERS[text] in report.detail


@pytest.mark.parametrize("order", ["ORDER BY f DESC LIMIT 3", "ORDER BY f, g LIMIT 3"], ids=["ties", "no ties"])
def test_the_first_groups_are_not_found_by_another_templates_buckets(order: str) -> None:
    process = SmallProcess(a_warehouse())
    text = SUMS.format(6)
    assert process.ask(text).decision is Decision.CAPTURED
    report = process.ask(f"{text} {order}")
    assert (report.decision, report.reason) == (Decision.NOT_USED, Reason.STATE_TOO_LARGE)
    assert process.ask(text).decision is Decision.FRESH


def test_without_a_store_there_are_no_buckets() -> None:
    process = SmallProcess(a_warehouse(), buckets=None)
    report = process.ask(SUMS.format(6))
    assert report.reason is Reason.STATE_TOO_LARGE
    assert "option store" in report.detail


def test_a_table_of_buckets_that_another_process_has_changed_is_captured_again() -> None:
    warehouse = a_warehouse()
    process = SmallProcess(warehouse)
    process.ask(SUMS.format(6))
    for versions in warehouse.buckets.tables.values():
        versions.append(versions[-1])
    insert(warehouse, (60, 3, 0, 100))
    report = process.ask(SUMS.format(6))
    assert (report.decision, report.recapture_reason) == (Decision.RECAPTURED, RecaptureReason.TABLE_REPLACED)
    insert(warehouse, (61, 3, 0, 100))
    assert process.ask(SUMS.format(6)).decision is Decision.MAINTAINED


def saved_process(warehouse: Warehouse, store: Path) -> SmallProcess:
    process = SmallProcess(warehouse, buckets=f"{store}/buckets")
    process.sketches.relations.checkpoint = Checkpoint(DeltaRepository(str(store)), warehouse)
    process.sketches.relations.recovery = Recovery(process.sketches.relations.registry, DeltaRepository(str(store)), warehouse)
    return process


def test_a_restart_goes_on_with_the_buckets(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    first = saved_process(warehouse, tmp_path)
    first.ask(SUMS.format(6))
    insert(warehouse, (900, 3, 0, 100))
    assert first.ask(SUMS.format(6)).decision is Decision.MAINTAINED
    first.sketches.relations.checkpoint.flush()
    second = saved_process(warehouse, tmp_path)
    assert second.ask(SUMS.format(6)).decision is Decision.FRESH
    insert(warehouse, (901, 77, 1, 2))
    report = second.ask(SUMS.format(3))
    assert (report.decision, "read back from the store" in report.detail) == (Decision.MAINTAINED, True)
    assert [row["lives_in"] for row in second.shown()] == ["buckets and store"]
    # The first process sees that the table is no longer what it made of it.
    insert(warehouse, (902, 3, 0, 1))
    assert first.ask(SUMS.format(6)).decision is Decision.RECAPTURED


def test_buckets_that_are_gone_are_captured_again(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    first = saved_process(warehouse, tmp_path)
    first.ask(SUMS.format(6))
    first.sketches.relations.checkpoint.flush()
    for versions in warehouse.buckets.tables.values():
        versions[0] = versions[0].set_column(1, "data", pa.array([b""] * len(versions[0]), pa.binary()))
    second = saved_process(warehouse, tmp_path)
    assert second.ask(SUMS.format(3)).reason is Reason.RECAPTURE_DEFERRED
    assert second.ask(SUMS.format(3)).decision is Decision.CAPTURED


def test_an_interrupted_step_leaves_no_half_state() -> None:
    warehouse = a_warehouse()
    process = SmallProcess(warehouse)
    process.ask(SUMS.format(6))
    buckets, step = warehouse.buckets, warehouse.buckets.step

    class Interrupted(MemoryBuckets):
        def step(self, *everything: Any) -> Any:
            step(*everything)
            raise KeyboardInterrupt

    warehouse.buckets = Interrupted(buckets.query, buckets.tables)
    insert(warehouse, (900, 3, 0, 100))
    with pytest.raises(KeyboardInterrupt):
        process.ask(SUMS.format(6))
    warehouse.buckets = buckets
    assert process.ask(SUMS.format(6)).decision is Decision.CAPTURED


def test_an_interrupted_look_at_other_constants_leaves_no_numbers_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse = a_warehouse()
    process = SmallProcess(warehouse)
    process.ask(SUMS.format(6))
    insert(warehouse, (900, 3, 0, 1))
    process.ask(SUMS.format(6))
    take = BucketedState._take

    def half(state: BucketedState, summary: pa.Table) -> None:
        take(state, summary.slice(0, summary.num_rows // 2))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(BucketedState, "_take", half)
        with pytest.raises(KeyboardInterrupt):
            process.ask(SUMS.format(1_000))
    insert(warehouse, (901, 30, 0, 1))
    # Shadow mode compares the answer.
    assert process.ask(SUMS.format(6)).decision is Decision.MAINTAINED
