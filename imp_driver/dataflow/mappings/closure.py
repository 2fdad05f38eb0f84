"""Property paths ``*``, ``+`` and ``?``: pairs of terms that count once, however many ways lead from one to the other.

Repeated steps are recursive rules whose rows have levels (``recursion.levels``), so that pairs on a cycle do not keep each other alive.
Where an end is a term only what is reached from it is followed, from the object backwards where the subject is none. Zero steps lead from
each term of the place, which is counted as often as it is a subject or an object, and from a term that is given, there or not (SPARQL 1.1,
section 18.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from imp_driver.dataflow.mappings.facts import Facts
from imp_driver.dataflow.mappings.graph_names import counted
from imp_driver.dataflow.mappings.operator import Delta, Limits, NotMaintained, Row, taking
from imp_driver.dataflow.recursion.levels import Endless, Levels, RowChanges
from imp_driver.dataflow.recursion.rules import Place as Column
from imp_driver.dataflow.recursion.rules import Rule, copied
from imp_driver.sparql.algebra import Closure, EachNamed, Node, Variable

_STEP, _REACH, _FIRST = 0, 1, 2
MOST_PAIRS = 5_000_000
"""Of one path that are followed; each takes more than another tuple, as it has levels and indexes."""
_TUPLES_A_PAIR = 2


class ClosureOperator:
    """Reads the pairs of steps, each once, with the name of the graph where each is by itself; then the names of graphs, if any."""

    def __init__(self, pattern: Closure, facts: Facts | None, limits: Limits) -> None:
        """``facts`` has all triples of the place, where the pairs of zero steps depend on them alone."""
        self._pattern, self._facts = pattern, facts
        self._graph = [pattern.place.variable] if isinstance(pattern.place, EachNamed) else []
        ends: list[Node] = [pattern.subject, pattern.object, *self._graph]
        self.variables = tuple([node for node in dict.fromkeys(ends) if isinstance(node, Variable)])
        self._shown = taking([ends.index(variable) for variable in self.variables])
        self._fixed = [(column, node) for column, node in enumerate(ends) if isinstance(node, str)]
        self._same = [(column, ends.index(node)) for column, node in enumerate(ends) if ends.index(node) != column]
        self._given = dict.fromkeys(node for node in ends[:2] if isinstance(node, str))
        self._reach = _Reach(pattern, 2 + len(self._graph), limits) if pattern.is_repeated else None
        self._counts: dict[Row, int] = {}
        self._terms: dict[Row, int] = {}
        self._pairs = 0
        self._is_begun = False

    @property
    def size(self) -> int:
        return len(self._counts) + len(self._terms) + _TUPLES_A_PAIR * self._pairs

    def step(self, deltas: Sequence[Delta]) -> Delta:
        """Return changed solutions.

        Raises:
            NotMaintained: there are too many pairs.
        """
        is_first, self._is_begun = not self._is_begun, True
        steps, *names = deltas
        changes = [(row, count) for row, count in steps.items()]
        if self._reach is not None:
            changes = self._reach.step(steps)
            self._pairs = self._reach.size
        changes = [change for change in changes if self._is_asked(change[0])]
        if self._pattern.has_zero:
            changes += [change for change in self._zero(names, is_first=is_first) if self._is_asked(change[0])]
        # Of all pairs those alone have two reasons that lead from a term to itself.
        once = {self._shown(row): count for row, count in changes if row[0] != row[1]}
        twice = counted(self._counts, [(row, count) for row, count in changes if row[0] == row[1]])
        return once | {self._shown(row): count for row, count in twice.items()}

    def _is_asked(self, pair: Row) -> bool:
        return all(pair[column] == term for column, term in self._fixed) and all(pair[one] == pair[other] for one, other in self._same)

    def _zero(self, names: Sequence[Delta], *, is_first: bool) -> list[tuple[Row, int]]:
        """Return changed pairs of no steps."""
        if self._given:
            graphs = names[0].items() if names else [((), 1)] if is_first else []
            return [((term, term, *name), count) for term in self._given for name, count in graphs]
        assert self._facts is not None
        changes = list(_occurrences(self._facts.added, 1)) + list(_occurrences(self._facts.removed, -1))
        return [((row[0], row[0], *row[1:]), count) for row, count in counted(self._terms, changes).items()]


def _occurrences(rows: Iterable[Row], count: int) -> Iterable[tuple[Row, int]]:
    for row in rows:
        yield (row[0], *row[3:]), count
        yield (row[2], *row[3:]), count


class _Reach:
    """The pairs between which one or more steps lead, all of them or those with one end that is given."""

    def __init__(self, pattern: Closure, width: int, limits: Limits) -> None:
        subject, object_ = pattern.subject, pattern.object
        self._is_backward = isinstance(subject, Variable) and isinstance(object_, str)
        self._end = subject if isinstance(subject, str) else object_ if isinstance(object_, str) else None
        graph = tuple(range(2, width))
        rest = (*(column + width for column in graph),)
        if self._end is None:
            begin = Rule(_REACH, (_STEP,), (width,), (), copied(range(width)))
            same = ((Column(0, 1), Column(1, 0)), *((Column(0, column), Column(1, column)) for column in graph))
            longer = Rule(_REACH, (_STEP, _REACH), (width, width), same, copied((0, width + 1, *rest)))
        else:
            narrow = width - 1
            begin = Rule(_REACH, (_FIRST,), (width,), (), copied((1, *graph)))
            same = ((Column(0, 0), Column(1, 0)), *((Column(0, column - 1), Column(1, column)) for column in graph))
            longer = Rule(_REACH, (_REACH, _STEP), (narrow, width), same, copied((narrow + 1, *(narrow + column for column in graph))))
        most = min(MOST_PAIRS, limits.most // _TUPLES_A_PAIR)
        self._levels = Levels([begin, longer], most_rows=most, most_levels=MOST_PAIRS, check=limits.check)

    @property
    def size(self) -> int:
        return self._levels.memory_rows()

    def step(self, steps: Delta) -> list[tuple[Row, int]]:
        """Return changed pairs."""
        turned = {(row[1], row[0], *row[2:]): count for row, count in steps.items()} if self._is_backward else steps
        removed, added = ([row for row, count in turned.items() if count == sign] for sign in (-1, 1))
        changes = {_STEP: RowChanges(removed, added)}
        if self._end is not None:
            first, last = ([row for row in rows if row[0] == self._end] for rows in (removed, added))
            changes[_FIRST] = RowChanges(first, last)
        try:
            found = self._levels.apply(changes)[_REACH]
        except Endless as error:
            raise NotMaintained(f"A property path of the pattern has more pairs than are followed: {error}.") from error
        return [(self._pair(row), count) for rows, count in ((found.removed, -1), (found.added, 1)) for row in rows]

    def _pair(self, row: tuple[Any, ...]) -> Row:
        if self._end is None:
            return row
        return (row[0], self._end, *row[1:]) if self._is_backward else (self._end, *row)
