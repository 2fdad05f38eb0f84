"""Two writers and two readers in every order of their steps: a reader never gets rows of a version that it did not read.

A reader has three steps: it sees the versions of the tables, it is about to run its query, it has its rows. A writer has one, its commit.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.ports import ResultStream
from imp_driver.reasons import Decision
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import TableSnapshot
from tests.seeds import WIDE
from tests.soundness.engine import DuckSession, Row, Warehouse

QUERY = "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > {}"
ROWS: list[Row] = [(number, number % 10, number % 3, number % 5) for number in range(60)]
STEPS = 3
PATIENT = 60.0


class Turns:
    """Lets one actor run at a time: the one whose turn it is runs up to its next step."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._turn: str | None = None
        self.ended: set[str] = set()

    def give(self, actor: str) -> None:
        """Let an actor run up to its next step, or to its end."""
        with self._condition:
            if actor in self.ended:
                return
            self._turn = actor
            self._condition.notify_all()
            assert self._condition.wait_for(lambda: self._turn is None, PATIENT), f"{actor} did not come to its next step"

    def wait(self, actor: str) -> None:
        """Hand the turn back and wait for the next one."""
        with self._condition:
            if self._turn == actor:
                self._turn = None
                self._condition.notify_all()
            assert self._condition.wait_for(lambda: self._turn == actor, PATIENT)

    def end(self, actor: str) -> None:
        with self._condition:
            self.ended.add(actor)
            if self._turn == actor:
                self._turn = None
                self._condition.notify_all()


class StepwiseWarehouse(Warehouse):
    """A warehouse in which readers stop after they have seen a version and before they run a query. Locked: DuckDB has one connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(connection)
        self.reading: dict[int, Callable[[str], None]] = {}
        self.lock = threading.RLock()

    def stop(self, step: str) -> None:
        reader = self.reading.get(threading.get_ident())
        if reader is not None:
            reader(step)

    def snapshot(self, location: str) -> TableSnapshot:
        with self.lock:
            found = Warehouse.snapshot(self, location)
        self.stop("snapshot")
        return found

    def query(self, text: str) -> pa.Table:
        with self.lock:
            return Warehouse.query(self, text)

    def commit(self, table: str, rows: Any) -> None:
        with self.lock:
            Warehouse.commit(self, table, rows)


class StepwiseSession(DuckSession):
    def execute(self, execution: Execution) -> ResultStream:
        assert isinstance(self.warehouse, StepwiseWarehouse)
        self.warehouse.stop("execute")
        return super().execute(execution)

    def close(self) -> None:
        return None


class Reader:
    """One query in a thread of its own."""

    def __init__(self, name: str, turns: Turns, warehouse: StepwiseWarehouse, sketches: Sketches, text: str) -> None:
        self.name = name
        self.text = text
        self.report: SketchReport | None = None
        self.rows: list[str] = []
        self.problem: BaseException | None = None
        self.first = self.last = -1
        self._turns = turns
        self._warehouse = warehouse
        self._seen: set[str] = set()
        self._path = Middleware(StepwiseSession(warehouse), warehouse, sketches, Options(answers=False, sketch=SketchMode.LAZY))
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)

    def _stop(self, step: str) -> None:
        # Each step once: what comes after it belongs to the next.
        if step not in self._seen:
            self._seen.add(step)
            if step == "snapshot":
                self.first = self._warehouse.newest("r")
            self._turns.wait(self.name)

    def _run(self) -> None:
        self._turns.wait(self.name)
        self._warehouse.reading[threading.get_ident()] = self._stop
        try:
            outcome = self._path.run(Execution(self.text, tag=self.name))
            self.last = self._warehouse.newest("r")
            assert outcome.stream is not None
            while (batch := outcome.stream.next_batch()) is not None:
                self.rows += map(repr, batch.to_pylist())
            self.report = outcome.report
        except BaseException as error:
            self.problem = error
        finally:
            self._turns.end(self.name)


def _orders() -> Iterator[tuple[str, ...]]:
    """Yield every order of the steps of two readers and two writers."""
    steps = ("first",) * STEPS + ("second",) * STEPS + ("insert", "delete")
    seen = set()
    for chosen in itertools.combinations(range(len(steps)), STEPS):
        rest = [place for place in range(len(steps)) if place not in chosen]
        for second in itertools.combinations(rest, STEPS):
            left = [place for place in rest if place not in second]
            for writers in (("insert", "delete"), ("delete", "insert")):
                order = [""] * len(steps)
                for place in chosen:
                    order[place] = "first"
                for place in second:
                    order[place] = "second"
                for place, writer in zip(left, writers, strict=True):
                    order[place] = writer
                seen.add(tuple(order))
    yield from sorted(seen)


ORDERS = tuple(_orders())
THINNED = 1 if WIDE else 16
"""By default each case plays one order in so many, another share than the other cases."""


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as found:
        yield found


@contextmanager
def _world(connection: duckdb.DuckDBPyConnection, is_warm: bool) -> Iterator[tuple[StepwiseWarehouse, Sketches]]:
    # A database of its own, since a connection of its own takes longer than all that is asked of it.
    connection.execute("ATTACH ':memory:' AS world")
    connection.execute("USE world")
    try:
        warehouse = StepwiseWarehouse(connection)
        warehouse.commit("r", ROWS)
        sketches = Sketches(Relations(warehouse, 1 << 30))
        if is_warm:
            path = Middleware(StepwiseSession(warehouse), warehouse, sketches, Options(answers=False))
            path.run(Execution(QUERY.format(3), tag="warm"))
            path.close()
        yield warehouse, sketches
    finally:
        connection.execute("USE memory")
        connection.execute("DETACH world")


def _play(order: tuple[str, ...], warehouse: StepwiseWarehouse, sketches: Sketches, texts: tuple[str, str]) -> list[Reader]:
    turns = Turns()
    readers = [Reader(name, turns, warehouse, sketches, text) for name, text in zip(("first", "second"), texts, strict=True)]
    for reader in readers:
        reader.thread.start()
    for step in order:
        if step == "insert":
            warehouse.commit("r", [*warehouse.rows("r"), (70, 3, 0, 100), (71, 11, 0, 5)])
        elif step == "delete":
            warehouse.commit("r", [row for row in warehouse.rows("r") if row[1] != 7])
        else:
            turns.give(step)
    for reader in readers:
        while reader.name not in turns.ended:
            turns.give(reader.name)
        reader.thread.join(PATIENT)
    return readers


def _check(reader: Reader, warehouse: StepwiseWarehouse) -> None:
    """Its rows are those of the version that it reports, which lies between what it saw and what there was when it ended."""
    assert reader.problem is None, reader.problem
    assert reader.report is not None

    def rows_at(version: int) -> list[str]:
        return sorted(map(repr, warehouse.query(reader.text.replace("FROM r", f"FROM r VERSION AS OF {version}")).to_pylist()))

    version = reader.report.version
    possible = range(reader.first, reader.last + 1) if version is None else (version,)
    assert all(reader.first <= each <= reader.last for each in possible)
    assert sorted(reader.rows) in [rows_at(each) for each in possible]
    if version is not None and reader.report.decision is not Decision.NOT_USED:
        assert reader.report.versions == {"r": version}


def test_there_are_all_orders() -> None:
    assert len(ORDERS) == 1_120


@pytest.mark.parametrize("is_warm", [False, True], ids=["without-a-state", "with-a-state"])
@pytest.mark.parametrize("constants", [(3, 3), (3, 12)], ids=["one-query", "two-queries"])
def test_every_order_gives_each_reader_the_rows_of_its_version(
    connection: duckdb.DuckDBPyConnection, is_warm: bool, constants: tuple[int, int]
) -> None:
    decisions = set()
    begin = THINNED // 4 * (2 * is_warm + (constants[0] == constants[1]))
    for order in ORDERS[begin::THINNED]:
        with _world(connection, is_warm) as (warehouse, sketches):
            texts = (QUERY.format(constants[0]), QUERY.format(constants[1]))
            for reader in _play(order, warehouse, sketches, texts):
                _check(reader, warehouse)
                assert reader.report is not None
                decisions.add(reader.report.decision)
    assert {Decision.MAINTAINED, Decision.FRESH} <= decisions
