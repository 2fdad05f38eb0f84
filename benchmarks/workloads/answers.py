"""Questions to groups that are known: the same constants, other ones, conditions on other columns, fewer keys, a join with a small table.

Each case begins without states but that of the first shape, which has all groups; what other shapes are answered from is theirs to find.
From execute to fetchall, beside plain Spark, the cut query, and DuckDB that computes each answer anew in memory on one thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random

from benchmarks.answered_tables import AREAS, PLACES, AnsweredTable, aggregates
from benchmarks.answering import ANSWERS, CUT, PLAIN, RECOMPUTED, Connections, answered, is_answered, opened, state_bytes, why_not
from benchmarks.comparing import up_to_ties
from benchmarks.harness import ask
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Way, Work, take_turns
from benchmarks.recomputing import Recomputing, recomputing
from benchmarks.templates import Template, nothing

KINDS = {50: 30, 5_000: 30, 500_000: 3}
"""Values of the lifted column by the number of groups, so that a lifted state has at most 1.5 M groups."""
AGGREGATES = (1, 3, 10)
"""Shapes but the first have three."""
DELTAS = (0, 1, 1_000, 20_000)
"""Rows of the commit before each question; 0 without one. Other shapes and numbers of aggregates have those of QUICK_DELTAS."""
QUICK_DELTAS = (0, 1_000)
SAME = "same constants"
_PASSING = 100
"""Groups that pass, about."""


@dataclass(frozen=True, slots=True)
class Setting:
    groups: int
    aggregates: int
    shape: str
    delta: int

    @property
    def labels(self) -> Mapping[str, str | int]:
        return {"groups": self.groups, "aggregates": self.aggregates, "shape": self.shape, "delta": self.delta}


def run(journal: Journal, plan: Plan, warehouse: str, rows: int, *, is_quick: bool) -> None:
    """Measure one case per number of groups and of aggregates, shape and size of the commit before each question."""
    with opened(warehouse) as connections:
        for groups in (each for each in KINDS if not is_quick or each <= 5_000):
            table = AnsweredTable(f"answered{groups}g", rows, groups, KINDS[groups])
            table.create(connections.plain)
            # Rows are only added, so new files are what a copy lacks.
            with recomputing(connections.plain, (table.name, PLACES)) as engine:
                case = Case(connections, table, engine, next_id=rows)
                for setting in settings(groups, is_quick=is_quick):
                    case.measure(journal, plan, setting)
            connections.forget()
            table.drop(connections.plain)


def settings(groups: int, *, is_quick: bool) -> Iterator[Setting]:
    for number in (3,) if is_quick else AGGREGATES:
        for shape in shapes("", groups, number) if number == 3 else (SAME,):
            for delta in DELTAS if shape == SAME and number == 3 and not is_quick else QUICK_DELTAS:
                yield Setting(groups, number, shape, delta)


def shapes(table: str, groups: int, number: int) -> dict[str, Template]:
    """Return the shapes of questions to a table, the one whose state has all groups first."""
    low, width = groups // 2, min(_PASSING, groups // 2)
    listed = aggregates(number)
    grouped = f"SELECT a, r, {listed} FROM {table} {{where}}GROUP BY a, r"

    def bounds(chance: Random, scale: float) -> Mapping[str, object]:
        first = chance.randrange(1, groups - width + 1)
        return {"low": first, "high": first + width, "limit": chance.randint(10, _PASSING)}

    def kind(chance: Random, scale: float) -> Mapping[str, object]:
        return {"kind": chance.randrange(KINDS.get(groups, 3)), **bounds(chance, scale)}

    def area(chance: Random, scale: float) -> Mapping[str, object]:
        return {"area": chance.randrange(AREAS)}

    passing, filled = "HAVING avg(b) > {low} AND avg(b) < {high}", grouped.format
    templates = (
        Template(
            SAME, f"{filled(where='')} {passing.format(low=low, high=low + width)} ORDER BY a LIMIT {_PASSING}", nothing, (0,), _PASSING
        ),
        Template(
            "other constants", f"{filled(where='WHERE a > {low} ')} {passing} ORDER BY avg(b) DESC, a LIMIT {{limit}}", bounds, (2, 0)
        ),
        Template("lifted", f"{filled(where='WHERE k >= {kind} ')} {passing} ORDER BY a", kind, (0,)),
        Template("roll-up", f"SELECT r, {listed} FROM {table} GROUP BY r HAVING max(a) > {{low}} ORDER BY r", bounds, (0,)),
        Template(
            "join",
            f"SELECT place, {listed} FROM {table} JOIN {PLACES} ON {table}.r = {PLACES}.r WHERE area <= {{area}} "
            "GROUP BY place ORDER BY place",
            area,
            (0,),
        ),
    )
    return {template.name: template for template in templates}


@dataclass(slots=True)
class Case:
    """What the cases of one table share; ids of new rows go on."""

    connections: Connections
    table: AnsweredTable
    engine: Recomputing | None
    next_id: int
    reasons: dict[str, None] = field(default_factory=dict)
    texts: dict[str, Iterator[str]] = field(default_factory=dict)

    def measure(self, journal: Journal, plan: Plan, setting: Setting) -> None:
        """Measure one case; the state of the first shape is made before it, unless that is the shape that is measured."""
        templates = shapes(self.table.name, setting.groups, setting.aggregates)
        template = templates[setting.shape]
        self.reasons = {}
        self.connections.forget()
        if setting.shape != SAME:
            for connection in (self.connections.cut, self.connections.answers):
                # Some captures are put off until they are asked for again.
                ask(connection, templates[SAME].text)
                ask(connection, templates[SAME].text)
        ways = self._ways(template, setting)
        page = journal.page(setting.labels)
        change = partial(self._insert, setting.delta) if setting.delta else None
        take_turns(page, plan, Work(ways, change, same=up_to_ties(template.order, template.limit)))
        page.facts["bytes of all states"] = state_bytes(self.connections.answers)
        if self.reasons:
            page.facts["not from a state"] = "; ".join(self.reasons)

    def _ways(self, template: Template, setting: Setting) -> dict[str, Way]:
        ways: dict[str, Way] = {
            PLAIN: partial(self._ask, PLAIN),
            CUT: partial(self._ask, CUT),
            ANSWERS: partial(self._ask, ANSWERS),
        }
        if self.engine is not None:
            ways[RECOMPUTED] = self._recomputed
        # Each system draws the same instances, in its own time.
        self.texts = {system: _instances(template, f"{setting}") for system in ways}
        return ways

    def _ask(self, system: str) -> Turn:
        each = self.connections
        found = ask({PLAIN: each.plain, CUT: each.cut, ANSWERS: each.answers}[system], next(self.texts[system]))
        if system == ANSWERS and not is_answered(found.report):
            self.reasons[why_not(found.report)] = None
        return answered(found)

    def _recomputed(self) -> Turn:
        assert self.engine is not None
        self.engine.follow(self.connections.plain, self.table.name)
        return self.engine.ask(next(self.texts[RECOMPUTED]))

    def _insert(self, count: int) -> None:
        self.table.insert(self.connections.plain, self.next_id, count)
        self.next_id += count


def _instances(template: Template, seed: str) -> Iterator[str]:
    chance = Random(seed)
    while True:
        yield template.instance(chance, 1.0)
