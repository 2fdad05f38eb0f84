"""LeftJoin (OPTIONAL): joined solutions that meet a condition, and those of the left side that have none, as they are.

What decides is how many right solutions a left one has, the condition being met: it stands alone from the last one's going to the first
one's coming, whatever else changes in between.

Sources: the counting algorithm for SPARQL, section 4.5; the condition as in SPARQL 1.1, section 18.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from imp_driver.dataflow.mappings.expressions import truth
from imp_driver.dataflow.mappings.join import Merging
from imp_driver.dataflow.mappings.operator import Delta, Row
from imp_driver.dataflow.mappings.partners import Partners
from imp_driver.sparql.algebra import Expression, Variable


class LeftJoinOperator:
    def __init__(
        self, left: Sequence[Variable], right: Sequence[Variable], certain: Iterable[Variable], condition: Expression | None
    ) -> None:
        """``certain`` are variables that each left solution binds; the condition may read those of both sides."""
        self._merging = Merging(left, right, certain)
        self.variables = self._merging.variables
        self._holds = None if condition is None else truth(condition, self.variables)
        self._left, self._right = Partners(self._merging.left), Partners(self._merging.right)
        self._matches: dict[Row, int] = {}

    @property
    def size(self) -> int:
        return self._left.size + self._right.size

    def step(self, deltas: Sequence[Delta]) -> Delta:
        left, right = deltas
        total: dict[Row, int] = {}
        if right:
            self._change_right(right, total)
        if left:
            self._change_left(left, total)
        return {row: count for row, count in total.items() if count}

    def _change_right(self, delta: Delta, total: dict[Row, int]) -> None:
        merged, bare, holds, matches = self._merging.merged, self._merging.bare, self._holds, self._matches
        touched: dict[Row, tuple[int, int]] = {}
        for other, count in delta.items():
            for row, times in self._left.meeting(self._right.key(other)):
                found = merged(row, other)
                if holds is None or holds(found):
                    total[found] = total.get(found, 0) + times * count
                    before = matches[row]
                    touched.setdefault(row, (before, times))
                    matches[row] = before + count
        self._right.change(delta)
        for row, (before, times) in touched.items():
            if bool(before) != bool(matches[row]):
                alone = bare(row)
                total[alone] = total.get(alone, 0) + (-times if matches[row] else times)

    def _change_left(self, delta: Delta, total: dict[Row, int]) -> None:
        merged, bare, holds, matches = self._merging.merged, self._merging.bare, self._holds, self._matches
        for row, count in delta.items():
            met = 0
            for other, times in self._right.meeting(self._left.key(row)):
                found = merged(row, other)
                if holds is None or holds(found):
                    total[found] = total.get(found, 0) + count * times
                    met += times
            if not met:
                alone = bare(row)
                total[alone] = total.get(alone, 0) + count
            matches[row] = met
        self._left.change(delta)
        for row, count in delta.items():
            if count < 0 and not self._left.count(row):
                del matches[row]
