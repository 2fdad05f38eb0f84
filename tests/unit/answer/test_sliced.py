"""Nested aggregates whose groups are in buckets, through the whole path without a JVM."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.capture import capture
from imp_driver.maintain import buckets
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.persist.tables import DeltaRepository
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.state.checkpoint import Checkpoint
from imp_driver.state.recovery import Recovery
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import Policy
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from tests.soundness.engine import DuckSession, Row, Warehouse, drained

PREFIX = "SELECT SUM(b.a * b.x) AS f FROM r b WHERE {} * (SELECT SUM(a) FROM r) < (SELECT SUM(c.a) FROM r c WHERE c.x <= b.x)"
EQUAL = "SELECT SUM(b.a) AS f FROM r b WHERE b.a > (SELECT AVG(c.a) FROM r c WHERE c.x = b.x AND c.g <= b.g)"
LITTLE = 9_000


@pytest.fixture(autouse=True)
def heavy_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few groups need many bytes."""
    monkeypatch.setattr(capture, "ROW_OVERHEAD", 300)


class Process:
    """A process in which the groups of a column are too many; with a ``store``, which the next one finds, if one is given."""

    def __init__(self, warehouse: Warehouse, store: Path | None = None) -> None:
        self.warehouse = warehouse
        folder = "buckets" if store is None else f"{store}/buckets"
        self.relations = Relations(warehouse, LITTLE, buckets=folder)
        if store is not None:
            self.relations.checkpoint = Checkpoint(DeltaRepository(str(store)), warehouse)
            self.relations.recovery = Recovery(self.relations.registry, DeltaRepository(str(store)), warehouse)
        session = DuckSession(warehouse)
        self._path = Middleware(session, warehouse, Sketches(self.relations), Options(policy=Policy.INCREMENTAL))

    def run(self, text: str) -> tuple[list[dict[str, object]], SketchReport]:
        outcome = self._path.run(Execution(text))
        return drained(outcome.stream), outcome.report

    def ask(self, text: str) -> SketchReport:
        """Run a query, whose rows must be those of the engine."""
        rows, report = self.run(text)
        assert rows == self.warehouse.query(text).to_pylist()
        return report


def a_warehouse() -> Warehouse:
    """The columns of ``r`` are id, g, x and a; x has 60 values."""
    chance, warehouse = random.Random(3), Warehouse()
    warehouse.commit("r", [(number, chance.randrange(3), number % 60, chance.randrange(9)) for number in range(200)])
    warehouse.commit("s", [(1, 1, 1, 1)])
    return warehouse


def insert(warehouse: Warehouse, *rows: Row) -> None:
    warehouse.commit("r", [*warehouse.rows("r"), *rows])


def in_buckets(report: SketchReport) -> bool:
    return report.served_by is ServedBy.STATE and any("buckets" in each.detail for each in (report, *report.also))


def test_changes_touch_their_buckets_and_other_constants_capture_nothing() -> None:
    process = Process(a_warehouse())
    assert in_buckets(process.ask(PREFIX.format(0.75)))
    insert(process.warehouse, (900, 1, 3, 40), (901, 1, 4, 1))
    assert in_buckets(process.ask(PREFIX.format(0.75)))
    assert [len(each) for each in process.warehouse.buckets.stepped] == [1]
    captures = len(process.warehouse.buckets.tables)
    report = process.ask(PREFIX.format(0.25))
    assert (in_buckets(report), report.decision) == (True, Decision.FRESH)
    assert len(process.warehouse.buckets.tables) == captures == 1


def test_ranges_that_need_no_other_are_read_again_only_where_they_have_changed() -> None:
    process = Process(a_warehouse())
    assert in_buckets(process.ask(EQUAL))
    insert(process.warehouse, (900, 1, 3, 40))
    before = process.warehouse.buckets.fetched
    assert in_buckets(process.ask(EQUAL))
    assert process.warehouse.buckets.fetched - before == 1
    assert in_buckets(process.ask(EQUAL))
    assert process.warehouse.buckets.fetched - before == 1


def test_only_ranges_that_have_changed_and_the_one_with_the_threshold_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "FEWEST_BUCKETS", 20)
    process = Process(a_warehouse())
    assert in_buckets(process.ask(PREFIX.format(0.75)))
    for number, (x, constant) in enumerate([(3, 0.75), (57, 0.75), (44, 0.75), (3, 0.25)]):
        insert(process.warehouse, (900 + number, 1, x, 4))
        before = process.warehouse.buckets.fetched
        assert in_buckets(process.ask(PREFIX.format(constant)))
        # Of other constants each range is looked at once.
        assert (process.warehouse.buckets.fetched - before <= 6) is (constant == 0.75)


def test_a_stream_of_changes() -> None:
    chance, process = random.Random(5), Process(a_warehouse())
    found = []
    for number in range(25):
        rows = list(process.warehouse.rows("r"))
        for _ in range(chance.randrange(4)):
            rows.pop(chance.randrange(len(rows)))
        rows += [(1000 + number, chance.choice([None, 0, 1]), chance.choice([None, *range(-3, 70)]), chance.choice([None, -2, 5]))]
        process.warehouse.commit("r", rows)
        found += [in_buckets(process.ask(PREFIX.format(chance.choice(["0.5", "0.9"])))), in_buckets(process.ask(EQUAL))]
    assert sum(found) > 45


def test_the_next_process_goes_on_with_the_buckets(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    first = Process(warehouse, tmp_path)
    first.ask(PREFIX.format(0.75))
    first.relations.checkpoint.flush()
    second = Process(warehouse, tmp_path)
    insert(warehouse, (900, 1, 3, 40))
    report = second.ask(PREFIX.format(0.75))
    assert in_buckets(report)
    assert any("read back from the store" in each.detail for each in (report, *report.also))
    assert len(warehouse.buckets.tables) == 1


def test_damaged_buckets_are_captured_again() -> None:
    process = Process(a_warehouse())
    process.ask(PREFIX.format(0.75))
    [versions] = process.warehouse.buckets.tables.values()
    versions[-1] = versions[-1].set_column(1, "data", pa.array([b""] * len(versions[-1]), pa.binary()))
    process.relations.slices.discard(lambda value: True)
    report = process.ask(PREFIX.format(0.5))
    assert report.not_answered is not None
    assert report.not_answered.reason is Reason.RECAPTURE_DEFERRED
    assert in_buckets(process.ask(PREFIX.format(0.5)))


def test_states_that_fill_the_memory_leave_buckets_alone() -> None:
    process = Process(a_warehouse())
    process.ask(PREFIX.format(0.75))
    for column in ("g", "a", "g, a"):
        for function in ("SUM(a)", "SUM(g)", "MIN(a)"):
            process.ask(f"SELECT {column}, {function} AS f FROM r GROUP BY {column} ORDER BY {column}")
    registry = process.relations.registry
    registry.memory_budget = 300
    process.relations.evict()
    assert sum(relation.bucketed is None for relation in registry.relations()) == 1
    registry.memory_budget = LITTLE
    report = process.ask(PREFIX.format(0.5))
    assert (in_buckets(report), len(process.warehouse.buckets.tables)) == (True, 1)


def test_a_query_of_the_groups_themselves_does_not_have_buckets_changed() -> None:
    process = Process(a_warehouse())
    process.ask(PREFIX.format(0.75))
    insert(process.warehouse, (900, 1, 3, 40))
    rows, report = process.run("SELECT x, SUM(a * x) AS f, SUM(a) AS g FROM r GROUP BY x ORDER BY x")
    assert rows == process.warehouse.query("SELECT x, SUM(a * x) AS f, SUM(a) AS g FROM r GROUP BY x ORDER BY x").to_pylist()
    assert not in_buckets(report)
    assert process.warehouse.buckets.stepped == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "SELECT SUM(b.a) AS f FROM r b WHERE 9 < (SELECT SUM(c.a) FROM r c WHERE c.x BETWEEN b.x - 1 AND b.x + 1)",
            "the query compares them in a way that needs all of them in memory at once",
        ),
        (
            "SELECT SUM(b.a) AS f FROM r b WHERE 9 < (SELECT COUNT(DISTINCT c.a) FROM r c WHERE c.x <= b.x)",
            "distinct values are counted in memory only",
        ),
    ],
)
def test_what_is_not_looked_at_range_by_range_says_so(text: str, why: str) -> None:
    report = Process(a_warehouse()).ask(text)
    assert report.not_answered is not None
    assert (report.not_answered.reason, why in report.not_answered.detail) == (Reason.STATE_TOO_LARGE, True)
