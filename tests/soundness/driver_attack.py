"""Attack on the whole driver: random queries with changing constants, random changes in between, every answer compared with the plain one.

As a program: ``driver_attack 400`` tries that many warehouses; the return code is 1 when a difference was found.
Warehouses are numbered and each has its own random choices: ``--kind joins --seed 0 --warehouse 17`` tries one again.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import ModuleType
from unittest.mock import patch

import duckdb

from imp_driver.answer import lifting, tops
from imp_driver.capture import capture
from imp_driver.circuit import circuit
from imp_driver.dataflow.aggregate import keys
from imp_driver.errors import InternalError
from imp_driver.maintain import step as maintenance
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.parse.statement import parse
from imp_driver.ports import Outcome
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.rewrite.shadow import Answer
from imp_driver.sketch import balance
from imp_driver.sketch.cut_groups import Cut
from imp_driver.state import group_columns, thresholds
from imp_driver.values import stopwatch
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.ranges import RangePartition
from imp_driver.values.tables import TableSnapshot
from tests.pairs.grammar import STATES, asked_before, random_choice, text_of
from tests.soundness.answer_shapes import of_one_source
from tests.soundness.driver_checks import Tally, check_entry
from tests.soundness.engine import DuckSession, Row, Warehouse
from tests.soundness.queries import Queries
from tests.soundness.row_shapes import of_firsts, of_tables
from tests.soundness.scalar_shapes import of_scalars
from tests.soundness.selected_shapes import of_selected
from tests.soundness.series_shapes import of_series
from tests.soundness.shapes import absent, joins, nested, of_rows, reusable, two_sided
from tests.soundness.tables import COLUMNS
from tests.soundness.wide_shapes import of_wide, partnered
from tests.soundness.window_shapes import of_windows, of_windows_below


def random_row(chance: random.Random, least: int) -> Row:
    def number(low: int, high: int) -> int | None:
        return None if chance.random() < 0.15 else chance.randint(low, high)

    return (chance.randint(0, 99), number(0, 4), number(0, 4), number(least, 4))


def _changed(chance: random.Random, rows: list[Row], least: int) -> list[Row]:
    """Drop some rows and add some; once in a while a negative value comes where there was none."""
    kept = [row for row in rows if chance.random() < 0.85]
    return [*kept, *(random_row(chance, least if chance.random() < 0.95 else -3) for _ in range(chance.randint(0, 6)))]


def _other_constants(chance: random.Random, text: str) -> str:
    """Change some constants of conditions, which leaves the template as it is."""

    def other_list(found: re.Match[str]) -> str:
        return found[0] if chance.random() < 0.5 else ", ".join(str(chance.randint(0, 3)) for _ in range(chance.randint(1, 3)))

    text = re.sub(r"(?<=IN \()[\d, ]+(?=\))", other_list, text)
    return re.sub(r"(?<=[<>=] )-?\d+\b", lambda found: str(chance.randint(-1, 5)) if chance.random() < 0.5 else found[0], text)


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


@dataclass(frozen=True, slots=True)
class Manner:
    """What is asked of a warehouse, and that it changes before every so many queries; ``is_eager`` maintains states ahead of them.

    Tables change in the way of ``changed``, a function of the table's name, its rows and the least value of their last column.
    ``answers`` has the rows come from groups where they can; those that are not ``compared`` by the driver itself are compared here.
    """

    asked: Callable[[random.Random], list[str]]
    changes_each: int
    is_eager: bool = False
    answers: bool = False
    compared: bool = True
    changed: Callable[[random.Random, str, list[Row], int], list[Row]] = lambda chance, _, rows, least: _changed(chance, rows, least)


@dataclass(frozen=True, slots=True)
class Kind:
    """Warehouses that are attacked in turns in some manners, with constants of the driver at other values."""

    manners: tuple[Manner, ...]
    constants: tuple[tuple[ModuleType, str, int], ...] = ()


@dataclass(slots=True)
class Clock:
    """Gives the driver, which weighs what its steps took, the same times in every run; one warehouse in six is slow."""

    chance: random.Random
    pace: float = field(init=False)
    now: float = 0.0

    def __post_init__(self) -> None:
        self.pace = self.chance.choice([0.004] * 5 + [0.05])

    def perf_counter(self) -> float:
        self.now += self.pace * self.chance.uniform(0.5, 2)
        return self.now


def _asked_of_all(chance: random.Random) -> list[str]:
    queries = Queries(chance)
    shapes = [queries.simple, queries.grouped, queries.focused, queries.query]
    return [chance.choice(shapes)() for _ in range(6)] + [reusable(chance) for _ in range(4)] + [of_rows(chance) for _ in range(3)]


def _asked_ahead(chance: random.Random) -> list[str]:
    queries = Queries(chance)
    return [*(chance.choice([reusable, of_rows, joins, nested])(chance) for _ in range(4)), queries.simple(), queries.grouped()]


def _asked_by_grammar(chance: random.Random) -> list[str]:
    """Queries that each differ from the first in one feature, so that states meet later, different ones."""
    first = random_choice(chance)
    others = [asked_before({**first, "state": state}, chance) for state in STATES]
    return [text_of(each, chance) for each in (first, *others) if each is not None]


_ALL = Manner(_asked_of_all, changes_each=3)
_JOINS = Manner(lambda chance: [joins(chance) for _ in range(3)], changes_each=1)
_NESTED = Manner(lambda chance: [nested(chance) for _ in range(3)], changes_each=1)
KINDS: Mapping[str, Kind] = {
    # Fifty queries of each, a third of them after a change.
    "attack": Kind((_ALL,)),
    # Few joins, again and again, each time after a change.
    "joins": Kind((_JOINS,)),
    # Semi-joins, outer joins, unions, DISTINCT and inner groups, as joins.
    "nested": Kind((_NESTED,)),
    # Groups over NOT IN, as joins.
    "absent": Kind((Manner(lambda chance: [absent(chance) for _ in range(3)], changes_each=1),)),
    # Operators where both sides decide which rows there are, as joins.
    "two-sided": Kind((Manner(lambda chance: [two_sided(chance) for _ in range(3)], changes_each=1, answers=True),)),
    # Joins where only tables of a few rows are kept, so that others are looked up.
    "lookups": Kind((_JOINS, _NESTED), ((circuit, "FEW_ROWS", 20),)),
    # States are maintained ahead of queries, after changes before and in the middle of a query.
    "eager": Kind((Manner(_asked_ahead, changes_each=3, is_eager=True),)),
    # No state fits into memory.
    "buckets": Kind((_JOINS, _ALL), ((capture, "ROW_OVERHEAD", 1 << 30),)),
    # Rows come from groups where these have them.
    "answers": Kind(
        (
            Manner(_asked_of_all, changes_each=3, answers=True),
            Manner(_asked_by_grammar, changes_each=2, answers=True),
            Manner(_asked_ahead, changes_each=3, is_eager=True, answers=True),
            Manner(of_one_source, changes_each=3, answers=True),
        ),
        ((keys, "MANY", 1), (keys, "FEWER", 1)),
    ),
    # Queries whose rows are not all grouped, from rows that are kept.
    "rows": Kind((Manner(of_tables, changes_each=3, answers=True), Manner(of_tables, changes_each=3, is_eager=True, answers=True))),
    # First rows of orders, of which few rows are kept.
    "firsts": Kind(
        (Manner(of_firsts, changes_each=2, answers=True), Manner(of_firsts, changes_each=2, is_eager=True, answers=True)),
        ((tops, "FEW_GROUPS", 2), (thresholds, "_LEAST_ROWS", 4), (thresholds, "_DEPTH", 1), (thresholds, "_GROWTH", 3)),
    ),
    # States of all constants are too large, those within bounds of what was asked for are not.
    "bounds": Kind(
        (
            Manner(of_one_source, changes_each=3, answers=True),
            Manner(of_tables, changes_each=3, answers=True),
            Manner(_asked_of_all, changes_each=3, answers=True),
        ),
        ((lifting, "MOST_GROUPS", 12),),
    ),
    # Scalar subqueries, and groups by several sets of keys.
    "scalars": Kind(
        (Manner(of_scalars, changes_each=3, answers=True), Manner(of_scalars, changes_each=3, is_eager=True, answers=True)),
    ),
    # Scalar subqueries in the SELECT list.
    "selected": Kind((Manner(of_selected, changes_each=3, answers=True), Manner(of_selected, changes_each=3))),
    # Joins with the first ones of other groups.
    "series": Kind((Manner(of_series, changes_each=3, answers=True), Manner(of_series, changes_each=3))),
    # Window functions over groups and over rows.
    "windows": Kind((Manner(of_windows, changes_each=3, answers=True), Manner(of_windows, changes_each=3, is_eager=True, answers=True))),
    # Window functions and first rows below groups.
    "windows below": Kind((Manner(of_windows_below, changes_each=1, answers=True), Manner(of_windows_below, changes_each=1))),
    # Texts that differ in constants share one parse, where the driver does not compare its rows itself.
    "alike": Kind(
        (
            Manner(of_one_source, changes_each=4, answers=True, compared=False),
            Manner(_asked_of_all, changes_each=4, answers=True, compared=False),
            Manner(of_tables, changes_each=4, answers=True, compared=False),
            Manner(of_scalars, changes_each=4, answers=True, compared=False),
        )
    ),
    # Queries of one table beside groups of its join with another one.
    "wide": Kind((Manner(of_wide, changes_each=4, answers=True, compared=False, changed=partnered),)),
    # Queries that differ in one feature, half of them while states are maintained ahead.
    "grammar": Kind((Manner(_asked_by_grammar, changes_each=3), Manner(_asked_by_grammar, changes_each=3, is_eager=True))),
}


def attack_kind(name: str, seed: int, numbers: Sequence[int]) -> Tally:
    """Attack the warehouses of these numbers until there is a difference."""
    tally, kind = Tally(), KINDS[name]
    # The tables are tiny.
    with ExitStack() as patches:
        for constant in ((balance, "FEWEST_ROWS", 3), (group_columns, "MOST_TOUCHED", 0), *kind.constants):
            patches.enter_context(patch.object(*constant))
        for number in numbers:
            case = f"{name} {seed} {number}"
            clock = Clock(random.Random(f"{case} clock"))
            with patch.object(maintenance, "time", clock), patch.object(stopwatch, "time", clock):
                _attack_one(random.Random(case), kind.manners[number % len(kind.manners)], tally)
            if tally.differences:
                tally.found_in = number
                break
    return tally


_TURNS = {
    "attack": 8,
    "joins": 2,
    "nested": 2,
    "absent": 1,
    "two-sided": 1,
    "lookups": 2,
    "eager": 1,
    "buckets": 2,
    "answers": 3,
    "rows": 1,
    "firsts": 1,
    "bounds": 1,
    "scalars": 1,
    "selected": 1,
    "series": 1,
    "windows": 1,
    "windows below": 1,
    "alike": 2,
    "wide": 1,
    "grammar": 2,
}


def rounds(warehouses: int, seed: int) -> Iterator[tuple[str, Tally]]:
    """Attack in rounds of some warehouses, so that no kind of query waits for another, until there is a difference."""
    for turn in range(max(1, warehouses // 10)):
        for name, count in _TURNS.items():
            tally = attack_kind(name, seed, range(turn * count, (turn + 1) * count))
            yield name, tally
            if tally.differences:
                return


def _attack_one(chance: random.Random, manner: Manner, tally: Tally) -> None:
    asked = manner.asked(chance)
    warehouse = Racing(clustering=chance.randint(1, 3), has_look_up=chance.random() < 0.5)
    least = chance.choice([-2, 0])
    for table in COLUMNS:
        first = [] if manner.changed is partnered else [random_row(chance, least) for _ in range(chance.randint(3, 40))]
        warehouse.commit(table, first or manner.changed(chance, table, [], least))
    sketches, session = Sketches(Relations(warehouse, 1 << 30, buckets="buckets")), DuckSession(warehouse)
    mode = SketchMode.SHADOW if manner.compared else SketchMode.LAZY
    middleware = Middleware(session, warehouse, sketches, Options(sketch=mode, answers=manner.answers))
    partitions: dict[Cut, RangePartition] = {}
    rounds = sketches.relations.eager.round()

    def change() -> None:
        table = chance.choice(list(COLUMNS))
        warehouse.commit(table, manner.changed(chance, table, warehouse.rows(table), least))
        if manner.is_eager:
            rounds.run(1, lambda: False)

    def change_sometimes() -> None:
        if chance.random() < 0.1:
            change()

    for step in range(50):
        if step % manner.changes_each == 0:
            change()
        warehouse.change = change_sometimes if manner.is_eager else None
        place = chance.randrange(len(asked))
        asked[place] = _other_constants(chance, asked[place])
        try:
            # A text that was asked before is parsed already.
            text = asked[place] if manner.compared else asked[place] + " " * step
            outcome = middleware.run(Execution(text))
        except InternalError as error:
            tally.differences.append(f"{asked[place]}: {error}")
            return
        except duckdb.InternalException:
            # A failed assertion of the engine, after which it answers nothing more.
            tally.crashed += 1
            return
        warehouse.change = None
        report = outcome.report
        if not manner.compared:
            _compare(outcome, text, warehouse, tally)
        # What runs beside the queries would be another thing in every run.
        sketches.relations.background.settle(60)
        tally.decisions[report.decision] += 1
        tally.reasons[report.reason] += 1
        tally.answered += report.served_by is ServedBy.STATE
        tally.coarser += report.served_by is ServedBy.STATE and "finer" in report.detail
        tally.wide += report.served_by is ServedBy.STATE and "over more tables" in report.detail
        tally.lifted += report.not_answered is not None and report.not_answered.reason is Reason.LIFT_NEEDED
        tally.reused += "other constants" in report.detail
        tally.united += "together" in report.detail
        used = Counter(each.sketch_id for each in (report, *report.also) if each.reason is Reason.FILTERED)
        tally.several += any(count > 1 for count in used.values())
        tally.in_buckets += "in buckets" in report.detail
        if report.reason is Reason.INTERNAL:
            tally.differences.append(f"{asked[place]}: {report.detail}")
        if not manner.is_eager and any(version != warehouse.newest(table) for table, version in report.versions.items()):
            tally.differences.append(f"{asked[place]}: answered at {report.versions}")
        entry = next((entry for entry in sketches.relations.registry.relations() if entry.identifier == report.sketch_id), None)
        if entry is not None:
            check_entry(entry, asked[place], report, warehouse, tally)
            tally.shared += len(entry.usage.templates) > 1
            for cut in () if entry.in_memory is None else entry.in_memory.cuts.values():
                tally.cut_anew += partitions.get(cut, cut.partition) is not cut.partition
                partitions[cut] = cut.partition
            ahead = sketches.relations.eager.ahead(entry)
            tally.ahead += report.decision is Decision.FRESH and ahead.steps > 0
            if ahead.problem and "left to the next query" not in ahead.problem:
                tally.differences.append(f"{asked[place]}: {ahead.problem}")
        if tally.differences:
            return
    tally.asked_engine += session.joined
    tally.looked_up += warehouse.looked_up
    warehouse.connection.close()


def _compare(outcome: Outcome, text: str, warehouse: Warehouse, tally: Tally) -> None:
    """Compare the rows of a query that no other took place with; of rows that tie any may be the first ones."""
    if outcome.report.served_by is not ServedBy.STATE or outcome.stream is None or re.search("LIMIT|row_number", text):
        return
    tally.alike += parse(text).instance is not None
    difference = Answer(outcome.stream).difference(Answer(DuckSession(warehouse).execute(Execution(text))))
    if difference is not None:
        tally.differences.append(f"{text}: {difference}")


def main() -> int:
    """Attack as the command line says; return 1 when a difference was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.soundness.driver_attack", description=__doc__)
    parser.add_argument("warehouses", type=int, nargs="?", default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, default="attack", help="of the one to try")
    parser.add_argument("--warehouse", type=int, help="try this one alone")
    given = parser.parse_args()
    if given.warehouse is None:
        tallies = rounds(given.warehouses, given.seed)
    else:
        tallies = iter([(given.kind, attack_kind(given.kind, given.seed, [given.warehouse]))])
    total: Counter[str] = Counter()
    for name, tally in tallies:
        total.update({each.name: count for each, count in tally.decisions.items()})
        total.update({each: getattr(tally, each) for each in _COUNTS})
        if tally.differences:
            print(f"{name} {tally.found_in}:", *tally.differences, sep="\n")
            return 1
    print(dict(total))
    return 0


_COUNTS = (
    "reused",
    "partial",
    "of_rows",
    "united",
    "looked_up",
    "in_memory",
    "asked_engine",
    "ahead",
    "in_buckets",
    "answered",
    "coarser",
    "lifted",
    "alike",
    "wide",
    "crashed",
)


if __name__ == "__main__":
    sys.exit(main())
