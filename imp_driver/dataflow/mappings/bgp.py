"""Basic graph patterns: joins of triple patterns, by one delta rule for each of them that a change matches.

    dB = T1(dG) T2(G) .. Tn(G) + T1(G') T2(dG) .. Tn(G) + .. + T1(G') T2(G') .. Tn(dG)

(the counting algorithm for SPARQL, theorem 4.3.) Each term begins at what changed and goes on with the pattern that has most of its
variables bound, so that it looks up nothing but what can meet; products come last. A condition is asked as soon as its variables are bound,
before the rows that go on are multiplied. Where one of the patterns had no triple before, there
was no solution, and the result is computed from the pattern with the fewest triples on: so the first step is one join, not n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from imp_driver.dataflow.mappings.expressions import Truth, read_by, truth
from imp_driver.dataflow.mappings.facts import Columns, Facts
from imp_driver.dataflow.mappings.graphs import Graphs, shape_of
from imp_driver.dataflow.mappings.operator import NOTHING, Delta, Row, keying, place_of, taking
from imp_driver.sparql.algebra import Bgp, Expression, Variable


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One triple pattern: ``facts`` has its triples as values of ``variables``."""

    facts: Facts
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Visit:
    """The next pattern of a join.

    Attributes:
        part: its number.
        columns: those of its variables that are bound already.
        key: takes their values from what is joined so far.
        is_check: whether all are bound.
        conditions: those whose variables it binds the last of.
    """

    part: int
    columns: Columns
    key: Callable[[Row], Any]
    is_check: bool
    conditions: tuple[Truth, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """An order of the other patterns after the first; ``finish`` puts the values in the order of the variables.

    ``conditions`` are those that the first pattern binds all variables of.
    """

    visits: tuple[_Visit, ...]
    finish: Callable[[Row], Row]
    conditions: tuple[Truth, ...]


class BgpOperator:
    """Solutions of one or several basic graph patterns that are joined, each over its own place."""

    def __init__(
        self,
        patterns: Sequence[Bgp],
        graphs: Graphs,
        shown: Sequence[Variable] | None = None,
        conditions: Sequence[Expression] = (),
    ) -> None:
        """Join patterns.

        Args:
            shown: the variables that are left, some of theirs or all: counts of solutions that become the same add up.
            conditions: what holds for all solutions, over variables of the patterns, none of it EXISTS.
        """
        parts = list[_Part]()
        for pattern in patterns:
            for triple in dict.fromkeys(pattern.triples):
                shape, names = shape_of(triple, pattern.place)
                parts.append(_Part(graphs.facts(pattern.place, shape), names))
        self._parts = tuple(parts)
        every = tuple(dict.fromkeys(name for part in self._parts for name in part.variables))
        self.variables = every if shown is None else tuple(shown)
        self._conditions = tuple(conditions)
        self._is_one_to_one = frozenset(every) == frozenset(self.variables)
        self._ways: dict[int, _Way] = {}
        self._prepared_for = 0
        self._is_begun = False

    @property
    def size(self) -> int:
        """Its triples are kept by the graphs, and counted there."""
        return 0

    def step(self, deltas: Sequence[Delta]) -> Delta:
        is_first, self._is_begun = not self._is_begun, True
        if not self._parts:
            return {(): 1} if is_first else NOTHING
        changed = [number for number, part in enumerate(self._parts) if part.facts.has_changed]
        if not changed:
            return NOTHING
        if any(not part.facts.size_before for part in self._parts):
            rows = self._whole()
            found = dict.fromkeys(rows, 1) if self._is_one_to_one else Counter(rows)
            self._prepare()
            return found
        total: dict[Row, int] = {}
        for number in changed:
            self._add_term(number, total)
        return total

    def _whole(self) -> Iterable[Row]:
        """Return all solutions after the step, from the pattern with the fewest triples on."""
        if any(not part.facts.rows for part in self._parts):
            return ()
        first = min(range(len(self._parts)), key=lambda number: len(self._parts[number].facts.rows))
        way = self._way(first)
        return self._joined(len(self._parts), self._parts[first].facts.rows, way)

    def _prepare(self) -> None:
        """Have all that a change will look up, so that the load is slow and no change is."""
        sizes = [len(part.facts.rows) for part in self._parts]
        # Small patterns that come and go do not change which order is good.
        if all(sizes) and not self._prepared_for / 2 <= sum(sizes) <= self._prepared_for * 2:
            self._prepared_for = sum(sizes)
            for number in range(len(self._parts)):
                way = self._ways[number] = self._way(number)
                for visit in way.visits:
                    if visit.columns and not visit.is_check:
                        self._parts[visit.part].facts.index(visit.columns)

    def _add_term(self, number: int, total: dict[Row, int]) -> None:
        """Add what the changes of one pattern give with the patterns before it as they are, and those after it as they were."""
        facts = self._parts[number].facts
        if any(not part.facts.rows for part in self._parts[:number]) or any(
            not part.facts.size_before for part in self._parts[number + 1 :]
        ):
            return
        way = self._ways.get(number)
        if way is None:
            way = self._ways[number] = self._way(number)
        for rows, count in ((facts.removed, -1), (facts.added, 1)):
            if rows:
                for row in self._joined(number, rows, way):
                    now = total.get(row, 0) + count
                    if now:
                        total[row] = now
                    else:
                        del total[row]

    def _joined(self, number: int, start: Iterable[Row], way: _Way) -> Iterable[Row]:
        """Return the solutions with certain rows of a pattern, the patterns before ``number`` being after the step."""
        rows: Iterable[Row] = _holding(start, way.conditions)
        for place, visit in enumerate(way.visits, 1):
            facts, key, is_before = self._parts[visit.part].facts, visit.key, visit.part > number
            if visit.is_check:
                holder = facts.holder(is_before=is_before)
                rows = [row for row in rows if key(row) in holder]
            elif visit.columns:
                get = facts.finder(visit.columns, is_before=is_before).get
                if place == len(way.visits):
                    # The last is the longest, and is read once.
                    found = (row + rest for row in rows for rest in get(key(row), ()))
                    return map(way.finish, _holding(found, visit.conditions))
                rows = [row + rest for row in rows for rest in get(key(row), ())]
            else:
                others = facts.all(is_before=is_before)
                rows = [row + other for row in rows for other in others]
            if visit.conditions:
                rows = list(_holding(rows, visit.conditions))
            if not rows:
                return ()
        return map(way.finish, rows)

    def _way(self, first: int) -> _Way:
        """Return the order in which the others are looked up by what is bound, those with few triples early."""
        bound, asked = list(self._parts[first].variables), list(self._conditions)
        conditions = _answerable(asked, bound)
        left = set(range(len(self._parts))) - {first}
        visits = list[_Visit]()

        def rank(number: int) -> tuple[bool, int, int, int]:
            part = self._parts[number]
            shared = sum(name in bound for name in part.variables)
            return shared == len(part.variables), shared, -len(part.facts.rows), -number

        while left:
            number = max(left, key=rank)
            left.remove(number)
            names = self._parts[number].variables
            columns = tuple([column for column, name in enumerate(names) if name in bound])
            places = [bound.index(names[column]) for column in columns]
            is_check = len(columns) == len(names)
            key = taking(places) if is_check else keying(places)
            bound += [name for name in names if name not in bound]
            visits.append(_Visit(number, columns, key, is_check, _answerable(asked, bound)))
        places_of_all = place_of(bound)
        finish = _same if tuple(bound) == self.variables else taking([places_of_all[name] for name in self.variables])
        return _Way(tuple(visits), finish, conditions)


def _answerable(asked: list[Expression], bound: Sequence[Variable]) -> tuple[Truth, ...]:
    """Take the conditions that read nothing but what is bound off a list, and return what asks them of a row of that."""
    names = frozenset(bound)
    ready = [condition for condition in asked if names.issuperset(read_by(condition))]
    asked[:] = [condition for condition in asked if condition not in ready]
    return tuple(truth(condition, bound) for condition in ready)


def _holding(rows: Iterable[Row], conditions: Sequence[Truth]) -> Iterable[Row]:
    for holds in conditions:
        rows = filter(holds, rows)
    return rows


def _same(row: Row) -> Row:
    return row
