"""Solutions that are brought from version to version of their table, without an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest

from imp_driver.answer.graphs.followed import FollowedPattern
from imp_driver.answer.graphs.tables import GraphTable
from imp_driver.dataflow.mappings.circuit import Circuit, Row
from imp_driver.errors import OperationalError
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.ports import ResultTooLarge
from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason
from imp_driver.sparql.algebra import Bgp, Source, Triple, Variable
from imp_driver.sparql.read import read_query
from imp_driver.values.cancel import CancellationToken
from imp_driver.values.refusal import Refused
from imp_driver.values.stopwatch import Stopwatch
from imp_driver.values.tables import ChangePlan, ChangesUnavailable, SchemaColumn, TableSnapshot, ZSet

A, B, C, KNOWS, LIKES = "<a>", "<b>", "<c>", "<knows>", "<likes>"
Quad = tuple[str, str, str, str | None]
PATTERN = Bgp((Triple(Variable("x"), KNOWS, Variable("y")),), (Source("g"),))


class NoFiles:
    """Statistics of no file."""

    sizes = rows = np.empty(0, dtype=np.int64)

    def bounds(self, column: str) -> tuple[pa.Array, pa.Array, np.ndarray]:
        raise AssertionError(column)


def rows_of(quads: list[Quad]) -> pa.Table:
    columns = zip(*quads, strict=True) if quads else ((),) * 4
    return pa.table({name: pa.array(list(values), pa.string()) for name, values in zip("spog", columns, strict=True)})


@dataclass
class OneTable:
    """A table with its versions, as source of changes and as engine."""

    versions: list[list[Quad]] = field(default_factory=lambda: [[(A, KNOWS, B, None), (A, LIKES, C, None)]])
    table_id: str = "one"
    unavailable: RecaptureReason | None = None
    loads: list[str] = field(default_factory=list)
    lost_rows: int = 0
    is_too_large: bool = False

    def commit(self, *quads: Quad, without: tuple[Quad, ...] = ()) -> None:
        self.versions.append([*(each for each in self.versions[-1] if each not in without), *quads])

    def at(self, version: int) -> TableSnapshot:
        columns = tuple(SchemaColumn(name, "string", True) for name in "spog")
        return TableSnapshot("/g", self.table_id, version, columns, len(self.versions[version]), NoFiles())

    def snapshot(self, location: str) -> TableSnapshot:
        return self.at(len(self.versions) - 1)

    def plan(self, location: str, table_id: str, from_version: int, to_version: int) -> ChangePlan:
        if self.unavailable is not None:
            raise ChangesUnavailable(self.unavailable, "")
        return ChangePlan(location, from_version, to_version, DeltaSource.CHANGE_FEED, None)

    def read_changes(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet:
        before, after = self.versions[plan.from_version], self.versions[plan.to_version]
        signed = [(each, -1) for each in before if each not in after] + [(each, 1) for each in after if each not in before]
        signed = signed[self.lost_rows :]
        return ZSet(rows_of([each for each, _ in signed]).select(columns), np.array([weight for _, weight in signed], dtype=np.int64))

    def load(self, text: str, view: str | None = None, rows: pa.Table | None = None, most_bytes: int | None = None) -> pa.Table:
        if self.is_too_large:
            raise ResultTooLarge(100.0)
        self.loads.append(text)
        return rows_of(self.versions[int(text.split("VERSION AS OF ")[1].split()[0])])


class Reads:
    """The part of a source that is read here."""

    def __init__(self, table: OneTable) -> None:
        self._table = table
        self.snapshot, self.plan, self.read = table.snapshot, table.plan, table.read_changes


@dataclass
class World:
    table: OneTable = field(default_factory=OneTable)
    followed: FollowedPattern = field(default_factory=lambda: FollowedPattern(PATTERN, 1 << 20))

    def ask(self, version: int | None = None) -> tuple[Upkeep, dict[Row, int]]:
        snapshot = self.table.snapshot("/g") if version is None else self.table.at(version)
        tables = {"g": GraphTable("g", ("g",), snapshot, version is not None)}
        means = Means(self.table.load, Stopwatch())
        reader: Callable[[Circuit], Mapping[Row, int]] = lambda circuit: dict(circuit.rows)  # noqa: E731
        upkeep, _, rows = self.followed.read(tables, Reads(self.table), means, reader)  # type: ignore[arg-type]
        return upkeep, dict(rows)


def test_first_they_are_loaded_then_they_stand_then_they_follow() -> None:
    world = World()
    upkeep, rows = world.ask()
    assert (upkeep.decision, rows) == (Decision.CAPTURED, {(A, B): 1})
    assert world.table.loads == ["SELECT `s`, `p`, `o`, `g` FROM `g` VERSION AS OF 0 WHERE (`p` = '<knows>')"]
    assert world.ask()[0].decision is Decision.FRESH
    world.table.commit((B, KNOWS, C, None), (B, LIKES, C, None), without=((A, KNOWS, B, None),))
    upkeep, rows = world.ask()
    assert (upkeep.decision, upkeep.delta_rows, upkeep.from_version, rows) == (Decision.MAINTAINED, 3, 0, {(B, C): 1})
    assert len(world.table.loads) == 1


@pytest.mark.parametrize("reason", [RecaptureReason.HISTORY_GONE, RecaptureReason.RESTORED])
def test_changes_that_are_not_to_be_had_are_loaded_anew(reason: RecaptureReason) -> None:
    world = World()
    world.ask()
    world.table.commit((B, KNOWS, C, None))
    world.table.unavailable = reason
    upkeep, rows = world.ask()
    assert (upkeep.decision, upkeep.recapture_reason, rows) == (Decision.RECAPTURED, reason, {(A, B): 1, (B, C): 1})


def test_a_table_of_the_same_name_is_loaded_anew() -> None:
    world = World()
    world.ask()
    world.table = OneTable([[(C, KNOWS, A, None)]], "another")
    upkeep, rows = world.ask()
    assert (upkeep.recapture_reason, rows) == (RecaptureReason.TABLE_REPLACED, {(C, A): 1})


def test_changes_that_are_not_all_are_noticed_by_the_number_of_rows() -> None:
    world = World()
    world.ask()
    world.table.commit((B, KNOWS, C, None), (C, KNOWS, A, None))
    world.table.lost_rows = 1
    upkeep, rows = world.ask()
    assert (upkeep.recapture_reason, len(rows)) == (RecaptureReason.ROW_COUNT_DIFFERS, 3)


def test_no_solutions_go_back_to_an_older_version() -> None:
    world = World()
    world.ask()
    world.table.commit((B, KNOWS, C, None))
    world.ask()
    with pytest.raises(Refused) as raised:
        world.ask(0)
    assert raised.value.reason is Reason.OLD_VERSION
    assert world.ask()[0].decision is Decision.FRESH


def test_a_snapshot_that_another_thread_has_overtaken_stands_for_the_newest() -> None:
    world = World()
    old = world.table.at(0)
    world.table.commit((B, KNOWS, C, None))
    world.ask()
    tables = {"g": GraphTable("g", ("g",), old)}
    source = Reads(world.table)
    read = world.followed.read(tables, source, Means(world.table.load, Stopwatch()), lambda each: len(each.rows))  # type: ignore[arg-type]
    assert (read[1]["g"].version, read[2]) == (1, 2)


def test_what_is_too_large_is_not_loaded_again_until_the_table_changes() -> None:
    world = World()
    world.table.is_too_large = True
    for _ in range(2):
        with pytest.raises(Refused) as raised:
            world.ask()
        assert raised.value.reason is Reason.STATE_TOO_LARGE
        world.table.is_too_large = False
    world.table.commit((B, KNOWS, C, None))
    assert world.ask()[0].decision is Decision.CAPTURED


def test_tuples_that_take_more_than_the_memory_are_let_go() -> None:
    world = World(followed=FollowedPattern(PATTERN, 1_000))
    world.table.commit(*((A, KNOWS, f"<{number}>", None) for number in range(100)))
    with pytest.raises(Refused) as raised:
        world.ask()
    assert raised.value.reason is Reason.STATE_TOO_LARGE
    assert world.followed.bytes == 0


def test_who_cancels_a_step_gets_out_of_it_and_the_next_reading_loads_anew() -> None:
    path = read_query("SELECT ?x ?y { ?x <knows>+ ?y }", (Source("g"),)).pattern
    world = World(followed=FollowedPattern(path, 1 << 30))
    world.table.commit(*((f"<{number}>", KNOWS, f"<{number + 1}>", None) for number in range(300)))
    token = CancellationToken("a run")
    token.cancel()
    tables = {"g": GraphTable("g", ("g",), world.table.snapshot("/g"))}
    with pytest.raises(OperationalError, match="cancelled"):
        world.followed.read(tables, Reads(world.table), Means(world.table.load, Stopwatch(), token=token), len)  # type: ignore[arg-type]
    upkeep, rows = world.ask()
    assert (upkeep.decision, len(rows)) == (Decision.CAPTURED, 300 * 301 // 2 + 1)


def test_a_path_with_too_many_pairs_is_refused_while_they_come() -> None:
    path = read_query("SELECT (COUNT(*) AS ?n) { ?x <knows>+ ?y }", (Source("g"),)).pattern
    world = World(followed=FollowedPattern(path, 400 * 20_000))
    world.table.commit(*((f"<{number}>", KNOWS, f"<{number + 1}>", None) for number in range(300)))
    with pytest.raises(Refused, match="STATE_TOO_LARGE"):
        world.ask()
