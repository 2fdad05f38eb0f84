"""Many threads ask for groups at once: who waits for whom, and that nobody sees groups while they are changed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from imp_driver.answer.answers import Answer
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import means_of
from imp_driver.middleware import Middleware
from imp_driver.parse.statement import parse
from imp_driver.reasons import Decision, ServedBy
from imp_driver.snapshot.reading import Reading
from imp_driver.state.maintained import Maintained
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import ChangePlan, ZSet
from tests.soundness.engine import DuckSession, Row, Warehouse, drained

PATIENT = 60.0
ROWS: list[Row] = [(number, number % 4, number % 7, number % 5) for number in range(40)]
SUMS = "SELECT g, sum(a) AS s, count(*) AS n, max(x) AS m FROM r GROUP BY g ORDER BY g"
OTHER = "SELECT x, count(*) AS n FROM r GROUP BY x ORDER BY x"
Rows = list[tuple[object, ...]]


@dataclass(slots=True)
class Gate:
    """Where whoever comes by is told of, and waits while it is closed."""

    reached: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)
    passes: int = 0

    def __post_init__(self) -> None:
        self.opened.set()

    def pass_by(self) -> None:
        self.passes += 1
        self.reached.set()
        assert self.opened.wait(PATIENT)

    @contextmanager
    def closed(self) -> Iterator[None]:
        self.opened.clear()
        self.reached.clear()
        try:
            yield
        finally:
            self.opened.set()


@dataclass(slots=True)
class GatedWarehouse(Warehouse):
    """A step stands at the gate when it has read the changes. ``shown`` is the newest version that anybody sees, None for all."""

    steps: Gate = field(default_factory=Gate)
    shown: int | None = None
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def newest(self, table: str) -> int:
        return Warehouse.newest(self, table) if self.shown is None else self.shown

    def query(self, text: str) -> pa.Table:
        with self.one_at_a_time:
            return Warehouse.query(self, text)

    def read(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet:
        found = Warehouse.read(self, plan, columns)
        self.steps.pass_by()
        return found


@dataclass(slots=True)
class GatedSession(DuckSession):
    captures: Gate = field(default_factory=Gate)

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        self.captures.pass_by()
        return DuckSession.read(self, text, execution, most_bytes)


class World:
    """A warehouse whose connections may be used by several threads, one each."""

    def __init__(self) -> None:
        self.warehouse = GatedWarehouse()
        self.warehouse.commit("r", ROWS)
        self.sketches = Sketches(Relations(self.warehouse, 1 << 30))
        self.pool = ThreadPoolExecutor(8)

    def connect(self, session: DuckSession | None = None) -> Middleware:
        return Middleware(session or DuckSession(self.warehouse), self.warehouse, self.sketches, Options(answers=True))

    def commit(self, *rows: Row) -> None:
        self.warehouse.commit("r", [*self.warehouse.rows("r"), *rows])

    @property
    def relation(self) -> Maintained:
        (found,) = self.sketches.relations.registry.relations()
        return found

    def soon(self, call: Callable[[], tuple[Rows, SketchReport]]) -> Future[tuple[Rows, SketchReport]]:
        return self.pool.submit(call)


@pytest.fixture
def world() -> Iterator[World]:
    found = World()
    yield found
    found.pool.shutdown()
    found.warehouse.connection.close()


def asked(connection: Middleware, text: str = SUMS) -> tuple[Rows, SketchReport]:
    outcome = connection.run(Execution(text))
    assert outcome.report.served_by is ServedBy.STATE
    return [tuple(row.values()) for row in drained(outcome.stream)], outcome.report


def read_now(connection: Middleware, text: str = SUMS) -> Reading:
    """Look at the tables as a query does first."""
    return connection._reader.read(parse(text), Execution(text))


def answered(connection: Middleware, reading: Reading, text: str = SUMS) -> Answer:
    """Go on from there."""
    execution = Execution(text)
    return connection._answers.answer(reading, execution, means_of(connection._session, execution))


def expected(rows: list[Row]) -> Rows:
    """Compute SUMS row by row."""
    groups: dict[object, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[1], []).append(row)
    return [(g, sum(row[3] or 0 for row in own), len(own), max(row[2] or 0 for row in own)) for g, own in sorted(groups.items(), key=str)]


def test_readers_wait_for_nobody_where_the_groups_are_of_their_versions(world: World) -> None:
    first, others = world.connect(), [world.connect() for _ in range(4)]
    asked(first)
    with world.relation.ownership.held():
        futures = [world.soon(lambda each=each: asked(each)) for each in others]  # type: ignore[misc]
        found = [future.result(PATIENT) for future in futures]
    assert [rows for rows, _ in found] == [expected(ROWS)] * 4
    assert {report.decision for _, report in found} == {Decision.FRESH}
    assert world.relation.usage.counts.uses == 5


def test_who_looked_before_a_commit_reads_its_versions_while_a_step_makes_newer_ones(world: World) -> None:
    one, other = world.connect(), world.connect()
    asked(one)
    reading = read_now(other)
    world.commit((90, 1, 100, 100))
    with world.warehouse.steps.closed():
        stepping = world.soon(lambda: asked(one))
        assert world.warehouse.steps.reached.wait(PATIENT)
        answer = world.pool.submit(lambda: answered(other, reading)).result(PATIENT)
        assert not stepping.done()
    assert [tuple(row.values()) for row in drained(answer.rows)] == expected(ROWS)
    rows, report = stepping.result(PATIENT)
    assert (rows, report.decision) == (expected([*ROWS, (90, 1, 100, 100)]), Decision.MAINTAINED)


def test_who_looked_before_a_commit_goes_on_with_newer_groups_once_they_are_there(world: World) -> None:
    one, other = world.connect(), world.connect()
    asked(one)
    reading = read_now(other)
    world.commit((90, 1, 100, 100))
    asked(one)
    answer = answered(other, reading)
    assert [tuple(row.values()) for row in drained(answer.rows)] == expected([*ROWS, (90, 1, 100, 100)])
    assert [part.request.tables[0].version for part in answer.parts] == [1]


def test_one_step_serves_all_who_wait_for_the_same_version(world: World) -> None:
    connections = [world.connect() for _ in range(6)]
    asked(connections[0])
    world.commit((90, 1, 100, 100))
    with world.warehouse.steps.closed():
        futures = [world.soon(lambda each=each: asked(each)) for each in connections]  # type: ignore[misc]
        assert world.warehouse.steps.reached.wait(PATIENT)
    found = [future.result(PATIENT) for future in futures]
    assert [rows for rows, _ in found] == [expected([*ROWS, (90, 1, 100, 100)])] * 6
    assert sorted(report.decision.name for _, report in found) == ["FRESH"] * 5 + ["MAINTAINED"]
    assert world.warehouse.steps.passes == 1


def test_a_slow_capture_keeps_nobody_from_other_groups(world: World) -> None:
    slow, one, other = GatedSession(world.warehouse), world.connect(), world.connect()
    capturing = world.connect(slow)
    asked(one)
    with slow.captures.closed():
        waiting = world.soon(lambda: asked(capturing, OTHER))
        assert slow.captures.reached.wait(PATIENT)
        assert world.soon(lambda: asked(one)).result(PATIENT)[1].decision is Decision.FRESH
        world.commit((90, 1, 100, 100))
        assert world.soon(lambda: asked(other)).result(PATIENT)[1].decision is Decision.MAINTAINED
        third = "SELECT a, count(*) AS n FROM r GROUP BY a"
        assert world.soon(lambda: asked(one, third)).result(PATIENT)[1].decision is Decision.CAPTURED
        assert not waiting.done()
    waiting.result(PATIENT)


def test_nobody_reads_groups_that_were_given_up(world: World) -> None:
    connection = world.connect()
    asked(connection)
    relation = world.relation
    vector = relation.vector
    assert relation.columns.at(vector) is not None
    world.sketches.relations.drop([relation])
    assert relation.columns.at(vector) is None
    assert asked(connection)[1].decision is Decision.CAPTURED


def test_columns_leave_before_groups_where_memory_is_short(world: World) -> None:
    connection = world.connect()
    asked(connection)
    relation, registry = world.relation, world.sketches.relations.registry
    assert 0 < relation.columns.memory < registry.total == relation.memory
    registry.memory_budget = registry.total - 1
    assert registry.evict() == ()
    assert (relation.columns.memory, relation.is_ready, registry.total) == (0, True, relation.memory)
    assert asked(connection)[0] == expected(ROWS)


def test_every_answer_is_of_one_version_while_another_thread_maintains(world: World) -> None:
    """Readers go on for as long as there are commits; each answer must be the one of the version that it says it is of."""
    versions, mine = [expected(ROWS)], world.connect()
    world.warehouse.shown = 0
    for number in range(1, 60):
        world.commit((100 + number, number % 6, number, number))
        versions.append(expected(world.warehouse.rows("r")))
    begun, is_over = threading.Barrier(4), threading.Event()

    def read_all() -> list[tuple[int | None, bool]]:
        connection = world.connect()
        found: list[tuple[int | None, bool]] = []
        begun.wait(PATIENT)
        while not is_over.is_set() or not found:
            rows, report = asked(connection)
            found.append((report.version, report.version is not None and rows == versions[report.version]))
        return found

    readers = [world.pool.submit(read_all) for _ in range(3)]
    begun.wait(PATIENT)
    for number in range(len(versions)):
        world.warehouse.shown = number
        assert asked(mine)[0] == versions[number]
    is_over.set()
    for reader in readers:
        found = reader.result(PATIENT)
        assert all(is_right for _, is_right in found)
        assert [version for version, _ in found] == sorted(version or 0 for version, _ in found)


@pytest.fixture(autouse=True)
def threads_take_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)
