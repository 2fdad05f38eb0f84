"""Solutions of one side by whether the other side has any that is compatible: Diff, Minus, EXISTS and NOT EXISTS.

    Diff         stays where there is none
    Minus        stays where there is none that binds a variable that it binds too
    EXISTS       stays where there is one for which the condition holds over both; NOT EXISTS where there is none
    marked       stays with one more column, which says whether there is one

Solutions with the same values of what matters are one key, and what decides is how many right solutions a key has. So a change of the right
side is seen where it is the first to come or the last to go:

    dP = dR (-) S + (R + dR) x d'S

(the counting algorithm for SPARQL, theorem 4.6; d'S counts -1 for what was not there and is, 1 for what was and is no longer; over all
pairs of schemas as in its section 4.5.3, with keys that are found per pair by ``Partners``).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

from imp_driver.dataflow.mappings.expressions import FALSE, TRUE, read_by, truth
from imp_driver.dataflow.mappings.join import Merging
from imp_driver.dataflow.mappings.operator import NOTHING, Delta, Row, add, place_of, taking
from imp_driver.dataflow.mappings.partners import Partners
from imp_driver.sparql.algebra import Expression, Variable


class Keeping(Enum):
    """Which solutions stay."""

    MET = "met"
    UNMET = "unmet"
    MARKED = "marked"


class Kept:
    """Puts the solutions that stay into a K-set."""

    def __init__(self, keeping: Keeping) -> None:
        self.keeping: Final = keeping

    def put(self, total: dict[Row, int], row: Row, count: int, *, is_met: bool) -> None:
        if self.keeping is Keeping.MARKED:
            add(total, (*row, TRUE if is_met else FALSE), count)
        elif is_met == (self.keeping is Keeping.MET):
            add(total, row, count)

    def variables(self, own: Sequence[Variable], mark: Variable | None) -> tuple[Variable, ...]:
        return tuple(own) if mark is None else (*own, mark)


class SemijoinOperator:
    def __init__(
        self,
        left: Sequence[Variable],
        right: Sequence[Variable],
        keeping: Keeping,
        *,
        mark: Variable | None = None,
        condition: Expression | None = None,
        skips_disjoint: bool = False,
    ) -> None:
        """``mark`` is the variable of the column that is added; ``condition`` may read variables of both sides."""
        self._kept = Kept(keeping)
        self.variables = self._kept.variables(left, mark)
        read = frozenset(() if condition is None else read_by(condition))
        own = [variable for variable in left if variable in right or variable in read]
        others = [variable for variable in right if variable in left or variable in read]
        self._merging = Merging(own, others, ())
        self._holds = None if condition is None else truth(condition, self._merging.variables)
        self._skips_disjoint = skips_disjoint
        places, other_places = place_of(left), place_of(right)
        self._key = taking([places[variable] for variable in own])
        self._other = taking([other_places[variable] for variable in others])
        self._rows: dict[Row, dict[Row, int]] = {}
        self._counts: dict[Row, int] = {}
        self._keys, self._others = Partners(self._merging.left), Partners(self._merging.right)
        self._size = 0

    @property
    def size(self) -> int:
        return self._size + self._others.size

    def step(self, deltas: Sequence[Delta]) -> Delta:
        left, right = deltas
        total: dict[Row, int] = {}
        if right:
            self._change_right(right, total)
        if left:
            self._change_left(left, total)
        return total

    def _change_right(self, delta: Delta, total: dict[Row, int]) -> None:
        changed: dict[Row, int] = {}
        for row, count in delta.items():
            add(changed, self._other(row), count)
        counts, before = self._counts, dict[Row, int]()
        for other, count in changed.items():
            for key, _ in self._keys.meeting(self._others.key(other), skips_disjoint=self._skips_disjoint):
                if self._holds is None or self._holds(self._merging.merged(key, other)):
                    before.setdefault(key, counts[key])
                    counts[key] += count
        self._others.change(changed)
        for key, old in before.items():
            was_met, is_met = old > 0, counts[key] > 0
            if was_met != is_met:
                for row, count in self._rows[key].items():
                    self._kept.put(total, row, -count, is_met=was_met)
                    self._kept.put(total, row, count, is_met=is_met)

    def _change_left(self, delta: Delta, total: dict[Row, int]) -> None:
        new, gone = dict[Row, int](), dict[Row, int]()
        for row, count in delta.items():
            key = self._key(row)
            rows = self._rows.get(key)
            if rows is None:
                rows = self._rows[key] = {}
                if gone.pop(key, None) is None:
                    new[key] = 1
                    self._counts[key] = self._met(key)
            self._size -= len(rows)
            add(rows, row, count)
            self._size += len(rows)
            self._kept.put(total, row, count, is_met=self._counts[key] > 0)
            if not rows:
                del self._rows[key]
                gone[key] = -1
        for key in gone:
            del self._counts[key]
        self._keys.change(new | gone or NOTHING)

    def _met(self, key: Row) -> int:
        """Return how many right solutions a new key has."""
        found = self._others.meeting(self._keys.key(key), skips_disjoint=self._skips_disjoint)
        return sum(count for other, count in found if self._holds is None or self._holds(self._merging.merged(key, other)))
