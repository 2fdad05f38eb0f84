"""Join by compatibility.

    d(P1 P2) = dP1 P2(G) + P1(G') dP2

(the counting algorithm for SPARQL, theorem 4.5; more than two are joined two by two.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from imp_driver.dataflow.mappings.operator import Delta, Row, place_of, taking
from imp_driver.dataflow.mappings.partners import Partners
from imp_driver.sparql.algebra import Variable


class Merging:
    """Compatible solutions of two sides as one.

    Attributes:
        variables: those of the left side, then those that the right one has alone.
        left, right: columns of the shared variables on each side, in one order.
    """

    def __init__(self, left: Sequence[Variable], right: Sequence[Variable], certain: Iterable[Variable]) -> None:
        """``certain`` are variables that each left solution binds."""
        places, known = place_of(right), frozenset(certain)
        shared = [variable for variable in left if variable in places]
        own = [variable for variable in right if variable not in shared]
        self.variables = (*left, *own)
        self.left = [left.index(variable) for variable in shared]
        self.right = [places[variable] for variable in shared]
        self._rest = taking([places[variable] for variable in own])
        self._fills = [(left.index(variable), places[variable]) for variable in shared if variable not in known]
        self.merged: Callable[[Row, Row], Row] = self._filled if self._fills else self._appended
        """A left row and one that is compatible with it -> both."""
        self._nothing = (None,) * len(own)

    def bare(self, row: Row) -> Row:
        """Return a left row that stands alone."""
        return row + self._nothing

    def _appended(self, left: Row, right: Row) -> Row:
        return left + self._rest(right)

    def _filled(self, left: Row, right: Row) -> Row:
        values = list(left)
        for column, other in self._fills:
            if values[column] is None:
                values[column] = right[other]
        return (*values, *self._rest(right))


class JoinOperator:
    def __init__(self, left: Sequence[Variable], right: Sequence[Variable], certain: Iterable[Variable]) -> None:
        """``certain`` are variables that each left solution binds."""
        self._merging = Merging(left, right, certain)
        self.variables = self._merging.variables
        self._left, self._right = Partners(self._merging.left), Partners(self._merging.right)

    @property
    def size(self) -> int:
        return self._left.size + self._right.size

    def step(self, deltas: Sequence[Delta]) -> Delta:
        left, right = deltas
        merged, total = self._merging.merged, dict[Row, int]()
        for row, count in left.items():
            for other, times in self._right.meeting(self._left.key(row)):
                found = merged(row, other)
                total[found] = total.get(found, 0) + count * times
        self._left.change(left)
        for row, count in right.items():
            for other, times in self._left.meeting(self._right.key(row)):
                found = merged(other, row)
                total[found] = total.get(found, 0) + count * times
        self._right.change(right)
        return {row: count for row, count in total.items() if count}
