"""Attack on the whole driver: random queries with changing constants, random changes in between, every answer compared with the plain one.

As a program: ``driver_attack warehouses seed``; the return code is 1 when a difference was found.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa

from imp_driver.capture import capture
from imp_driver.capture.instrument import at_versions, capture_sql
from imp_driver.config import Options, SketchMode
from imp_driver.delta.contract import TableSnapshot
from imp_driver.errors import InternalError
from imp_driver.maintain import sides
from imp_driver.maintain.ahead import Round
from imp_driver.maintain.entry import StateEntry
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.observe.report import SketchReport
from imp_driver.operators.access import Access
from imp_driver.operators.aggregate import balance
from imp_driver.operators.aggregate.group import GroupState
from imp_driver.operators.compute import Compute
from imp_driver.operators.distinct import Distinct
from imp_driver.operators.groups import Groups
from imp_driver.operators.join import InnerJoin
from imp_driver.operators.left_join import LeftJoin
from imp_driver.operators.semijoin import SemiJoin
from imp_driver.operators.union import Union
from imp_driver.reasons import Decision, Reason
from imp_driver.sketch.ranges import RangePartition
from tests.soundness.engine import DuckSession, Row, Warehouse
from tests.soundness.queries import Queries
from tests.soundness.shapes import joins, nested, of_rows, reusable
from tests.soundness.tables import COLUMNS

OPERATORS = (Access, Compute, Distinct, Groups, InnerJoin, LeftJoin, SemiJoin, Union)


@dataclass(slots=True)
class Tally:
    """What was tried; ``reused`` counts answers from a state with other constants, ``partial`` those cut on a column that is no key,
    ``of_rows`` those without groups, ``united`` those from several states together,
    ``in_memory`` changes of joins over sides in memory, ``asked_engine`` those that the engine was asked about,
    ``looked_up`` times that the partners of changed rows were, ``ahead`` steps that were made between and during queries,
    ``in_buckets`` changes of states that do not fit into memory, ``crashed`` warehouses that were given up for an error inside the engine,
    ``shared`` answers from a state that serves several templates,
    ``cut_anew`` times that ranges were split or merged, ``followed`` operators below groups through which changes were followed in process.
    """

    decisions: Counter[Decision] = field(default_factory=Counter)
    reasons: Counter[Reason] = field(default_factory=Counter)
    reused: int = 0
    partial: int = 0
    of_rows: int = 0
    united: int = 0
    in_memory: int = 0
    asked_engine: int = 0
    ahead: int = 0
    looked_up: int = 0
    crashed: int = 0
    in_buckets: int = 0
    cut_anew: int = 0
    shared: int = 0
    followed: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


def _row(chance: random.Random, least: int) -> Row:
    def number(low: int, high: int) -> int | None:
        return None if chance.random() < 0.15 else chance.randint(low, high)

    return (chance.randint(0, 99), number(0, 4), number(0, 4), number(least, 4))


def _changed(chance: random.Random, rows: list[Row], least: int) -> list[Row]:
    """Drop some rows and add some; once in a while a negative value comes where there was none."""
    kept = [row for row in rows if chance.random() < 0.85]
    return [*kept, *(_row(chance, least if chance.random() < 0.95 else -3) for _ in range(chance.randint(0, 6)))]


def _other_constants(chance: random.Random, text: str) -> str:
    """Change some constants of conditions, which leaves the template as it is."""

    def other_list(found: re.Match[str]) -> str:
        return found[0] if chance.random() < 0.5 else ", ".join(str(chance.randint(0, 3)) for _ in range(chance.randint(1, 3)))

    text = re.sub(r"(?<=IN \()[\d, ]+(?=\))", other_list, text)
    return re.sub(r"(?<=[<>=] )-?\d+\b", lambda found: str(chance.randint(-1, 5)) if chance.random() < 0.5 else found[0], text)


def attack(warehouses: int, seed: int) -> Tally:
    """Ask fifty queries of each warehouse, a third of them after a change; stop at the first difference."""
    chance = random.Random(seed)
    queries = Queries(chance)
    shapes = [queries.simple, queries.grouped, queries.focused, queries.query]

    def asked() -> list[str]:
        return [chance.choice(shapes)() for _ in range(6)] + [reusable(chance) for _ in range(4)] + [of_rows(chance) for _ in range(3)]

    return _attack(chance, warehouses, asked, lambda step: step % 3 == 0)


def attack_joins(warehouses: int, seed: int) -> Tally:
    """Ask few joins again and again, each time after a change."""
    chance = random.Random(seed)
    return _attack(chance, warehouses, lambda: [joins(chance) for _ in range(3)], lambda _: True)


def attack_nested(warehouses: int, seed: int) -> Tally:
    """Ask few queries over semi-joins, outer joins, unions, DISTINCT and inner groups again and again, each time after a change."""
    chance = random.Random(seed)
    return _attack(chance, warehouses, lambda: [nested(chance) for _ in range(3)], lambda _: True)


def attack_lookups(warehouses: int, seed: int) -> Tally:
    """As ``attack_joins`` and ``attack_nested``, where only tables of a few rows are kept, so that others are looked up."""
    known = sides.MOST_SIDE_ROWS
    sides.MOST_SIDE_ROWS = 20
    try:
        found = attack_joins(warehouses, seed)
        return found if found.differences else attack_nested(warehouses, seed)
    finally:
        sides.MOST_SIDE_ROWS = known


def attack_buckets(warehouses: int, seed: int) -> Tally:
    """As ``attack_joins`` and ``attack``, where no state fits into memory."""
    known = capture.ROW_OVERHEAD
    capture.ROW_OVERHEAD = 1 << 30
    try:
        found = attack_joins(warehouses, seed)
        return found if found.differences else attack(warehouses, seed)
    finally:
        capture.ROW_OVERHEAD = known


def attack_eager(warehouses: int, seed: int) -> Tally:
    """Ask a few queries again and again while states are maintained ahead of them, after changes before and in the middle of a query."""
    chance = random.Random(seed)
    queries = Queries(chance)

    def asked() -> list[str]:
        return [*(chance.choice([reusable, of_rows, joins, nested])(chance) for _ in range(4)), queries.simple(), queries.grouped()]

    return _attack(chance, warehouses, asked, lambda step: step % 3 == 0, is_eager=True)


@dataclass(slots=True)
class Racing(Warehouse):
    """A warehouse that changes just after one of its tables was looked at, by a writer who is not waited for; None leaves it as it is."""

    change: Callable[[], None] | None = None

    def snapshot(self, location: str) -> TableSnapshot:
        found = Warehouse.snapshot(self, location)
        change, self.change = self.change, None
        if change is not None:
            change()
            self.change = change
        return found


def _attack(
    chance: random.Random, warehouses: int, asked: Callable[[], list[str]], changes: Callable[[int], bool], *, is_eager: bool = False
) -> Tally:
    tally, known = Tally(), balance.FEWEST_ROWS
    # The tables are tiny.
    balance.FEWEST_ROWS = 3
    try:
        for _ in range(warehouses):
            _attack_one(chance, asked(), changes, tally, is_eager=is_eager)
            if tally.differences:
                break
    finally:
        balance.FEWEST_ROWS = known
    return tally


def _attack_one(chance: random.Random, asked: list[str], changes: Callable[[int], bool], tally: Tally, *, is_eager: bool) -> None:
    warehouse = Racing(clustering=chance.randint(1, 3), has_look_up=chance.random() < 0.5)
    least = chance.choice([-2, 0])
    for table in COLUMNS:
        warehouse.commit(table, [_row(chance, least) for _ in range(chance.randint(3, 40))])
    sketches, session = Sketches(warehouse, 1 << 30, buckets="buckets"), DuckSession(warehouse)
    middleware = Middleware(session, warehouse, sketches, Options(sketch=SketchMode.SHADOW))
    partitions: dict[GroupState, RangePartition] = {}
    rounds = Round(sketches.store, sketches.guard, warehouse, lambda: 0.0)

    def change() -> None:
        table = chance.choice(list(COLUMNS))
        warehouse.commit(table, _changed(chance, warehouse.rows(table), least))
        if is_eager:
            rounds.run(1, lambda: False)

    def change_sometimes() -> None:
        if chance.random() < 0.1:
            change()

    for step in range(50):
        if changes(step):
            change()
        warehouse.change = change_sometimes if is_eager else None
        place = chance.randrange(len(asked))
        asked[place] = _other_constants(chance, asked[place])
        try:
            report = middleware.run(asked[place], None, "tag").report
        except InternalError as error:
            tally.differences.append(f"{asked[place]}: {error}")
            return
        except duckdb.InternalException:
            # A failed assertion of the engine, after which it answers nothing more.
            tally.crashed += 1
            return
        warehouse.change = None
        tally.decisions[report.decision] += 1
        tally.reasons[report.reason] += 1
        tally.reused += "other constants" in report.detail
        tally.united += "together" in report.detail
        tally.in_buckets += "in buckets" in report.detail
        if report.reason is Reason.INTERNAL:
            tally.differences.append(f"{asked[place]}: {report.detail}")
        if not is_eager and any(version != warehouse.newest(table) for table, version in report.versions.items()):
            tally.differences.append(f"{asked[place]}: answered at {report.versions}")
        entry = next((entry for entry in sketches.store.entries() if entry.identifier == report.sketch_id), None)
        if entry is not None:
            _check_entry(entry, asked[place], report, warehouse, tally)
            tally.shared += len(entry.templates) > 1
            if entry.state is not None:
                tally.cut_anew += partitions.get(entry.state, entry.state.partition) is not entry.state.partition
                partitions[entry.state] = entry.state.partition
        tally.ahead += entry is not None and report.decision is Decision.FRESH and entry.ahead.steps > 0
        if entry is not None and entry.ahead.problem and "left to the next query" not in entry.ahead.problem:
            tally.differences.append(f"{asked[place]}: {entry.ahead.problem}")
    tally.asked_engine += session.joined
    tally.looked_up += warehouse.looked_up
    warehouse.connection.close()


def _check_entry(entry: StateEntry, text: str, report: SketchReport, warehouse: Warehouse, tally: Tally) -> None:
    """Compare a state that was maintained with a new capture."""
    tally.of_rows += report.reason is Reason.FILTERED and entry.block is not None and entry.block.keys_sql == ("TRUE",)
    tally.partial += entry.state is not None and "cell_rows" in entry.state.snapshot()
    tally.in_memory += report.decision is Decision.MAINTAINED and entry.sides is not None
    if report.decision is Decision.MAINTAINED and entry.sides is not None:
        tally.followed.update(_operators(entry.sides.relation))
    is_kept = report.decision in (Decision.MAINTAINED, Decision.FRESH) and entry.state is not None and entry.ahead.due is None
    if is_kept and _maintained(entry) != _captured(entry, warehouse):
        tally.differences.append(f"{text}: {_maintained(entry)} instead of {_captured(entry, warehouse)}")


def _operators(relation: object) -> set[str]:
    """Return the kinds of operators in a tree of them."""
    found = {type(relation).__name__} if isinstance(relation, OPERATORS) else set()
    parts = [getattr(relation, name) for name in getattr(relation, "__dataclass_fields__", ())]
    every = [each for part in parts for each in (part if isinstance(part, tuple) else (part,))]
    return found.union(*map(_operators, every))


def _maintained(entry: StateEntry) -> Counter[Row]:
    """Return the groups of a state: keys, rows, then counts and sums of the aggregates."""
    assert entry.state is not None
    columns = {name: column for name, column in entry.state.snapshot().items() if not name.startswith("cell_")}
    return _groups(pa.table(columns), "rows")


def _captured(entry: StateEntry, warehouse: Warehouse) -> Counter[Row]:
    """Return the same from scratch."""
    assert entry.block is not None
    versions: dict[tuple[str, ...], int] = {(location[1:],): known.version for location, known in entry.vector.items()}
    return _groups(warehouse.query(capture_sql(entry.block, at_versions(versions))), "row_count")


def _groups(table: pa.Table, rows: str) -> Counter[Row]:
    names = [name for name in table.column_names if name.startswith("key_")] + [rows]
    names += sorted(name for name in table.column_names if name.endswith(("_count", "_sum")) and name != rows)
    columns = [[0 if value is None and name.endswith("_sum") else value for value in table.column(name).to_pylist()] for name in names]
    return Counter(zip(*columns, strict=True))


def main(warehouses: int, seed: int) -> int:
    """Attack in rounds of some warehouses, so that no kind of query waits for another; return 1 when a difference was found."""
    total: Counter[str] = Counter()
    turns = ((attack, 8), (attack_joins, 2), (attack_nested, 2), (attack_lookups, 1), (attack_eager, 1), (attack_buckets, 1))
    for number in range(max(1, warehouses // 10)):
        for found in (each(count, 1_000 * seed + number) for each, count in turns):
            total.update({each.name: count for each, count in found.decisions.items()})
            total.update(reused=found.reused, partial=found.partial, of_rows=found.of_rows, united=found.united)
            total.update(
                looked_up=found.looked_up,
                in_memory=found.in_memory,
                asked_engine=found.asked_engine,
                ahead=found.ahead,
                in_buckets=found.in_buckets,
                crashed=found.crashed,
            )
            if found.differences:
                print(*found.differences, sep="\n")
                return 1
    print(dict(total))
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
