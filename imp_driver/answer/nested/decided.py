"""Ranges of a key in which all rows pass or none does, as the sums of the ranges say alone: these need not be read.

What a condition compares rises or falls within a range between what the ranges before it add up to and that with its own sum (the descent
over block sums, RPAI paper, section 2.2). Wherever that does not decide, the range is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from imp_driver.answer.nested.described import Describer
from imp_driver.answer.nested.exact_columns import NotDescribed, Relation
from imp_driver.answer.nested.together import RangeResult
from imp_driver.dataflow.nested.description import Comparison, Condition, Constant, Inner, Side
from imp_driver.plan.nodes import Merge

_MOST = 2.0**63 * 0.99
"""Of what all ranges add up to: beyond it Spark's sums might leave 64 bits on their way."""
_Bounds = tuple[Fraction, Fraction]
_FROM_BELOW = (Comparison.LESS, Comparison.AT_MOST)


class Undecided(Exception):
    """A range is to be looked at."""


class _IsNull(Exception):
    """A side is NULL for every row."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSums:
    """Of each column of a relation in one range: its sum, how many values are not NULL, the least one (0 at most), and the absolute sum."""

    sums: Sequence[int]
    counts: Sequence[int]
    minima: Sequence[int]
    sizes: Sequence[float]

    @classmethod
    def of(cls, relation: Relation) -> ColumnSums:
        numbers = relation.rows()
        values = np.where(numbers.nulls, 0, numbers.values)
        return cls(
            # Python's numbers do not wrap.
            [sum(column.tolist()) for column in values],
            (~numbers.nulls).sum(axis=1).tolist(),
            values.min(axis=1, initial=0).tolist(),
            np.abs(values.astype(np.float64)).sum(axis=1).tolist(),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """What one range has of the aggregates that conditions compare, and its groups where all of its rows pass, or none."""

    conditions: tuple[Condition, ...]
    columns: Mapping[str, ColumnSums]
    passing: RangeResult
    nothing: RangeResult

    @property
    def memory(self) -> int:
        """Bytes."""
        return self.passing.memory + self.nothing.memory


def block_of(merge: Merge, describer: Describer, passing: RangeResult, nothing: RangeResult) -> Block | None:
    """Return what a range has; None where conditions are not compared so."""
    try:
        described = describer.described(merge)
    except NotDescribed:
        return None
    columns = {name: ColumnSums.of(relation) for name, relation in described.relations.items()}
    return Block(described.selection.conditions, columns, passing, nothing)


class Decisions:
    """Decides about ranges from their blocks, in ascending order.

    ``correlated`` are the relations that are cut into these ranges, ``fixed`` gives the one value of any other as a scaled whole number.
    """

    def __init__(self, blocks: Sequence[Block], correlated: frozenset[str], fixed: Callable[[str], int | None]) -> None:
        self.blocks = blocks
        self._correlated = correlated
        self._fixed = fixed

    def all_pass(self, number: int) -> bool:
        """Say whether all rows of a range pass, or none does. Raises Undecided."""
        is_open = False
        for condition in self.blocks[number].conditions:
            try:
                if not self._holds(condition, number):
                    return False
            except _IsNull:
                return False
            except Undecided:
                # Another condition may leave nothing of it.
                is_open = True
        if is_open:
            raise Undecided
        return True

    def _holds(self, condition: Condition, number: int) -> bool:
        (low, high), (other_low, other_high) = (self._bounds(each, number) for each in (condition.left, condition.right))
        corners = {condition.comparison.holds(one, other) for one in (low, high) for other in (other_low, other_high)}
        is_apart = high < other_low or low > other_high
        is_ordered = condition.comparison not in (Comparison.EQUAL, Comparison.UNEQUAL)
        if len(corners) > 1 or not (is_ordered or is_apart or (low == high and other_low == other_high)):
            raise Undecided
        return bool(corners.pop())

    def _bounds(self, side: Side, number: int) -> _Bounds:
        if isinstance(side, Constant):
            if side.value is None:
                raise _IsNull
            return Fraction(side.value), Fraction(side.value)
        if not isinstance(side, Inner) or side.argument is None or side.within is not None or side.partition is not None:
            raise Undecided
        if side.correlation is None:
            return self._of_all(side)
        if side.correlation.is_outermost or side.relation not in self._correlated:
            raise Undecided
        return self._between(side, side.correlation.comparison in _FROM_BELOW, number)

    def _of_all(self, side: Inner) -> _Bounds:
        value = self._fixed(side.relation)
        if value is None and not side.is_zero_when_empty:
            raise _IsNull
        found = side.factor * (value or 0)
        return found, found

    def _between(self, side: Inner, from_below: bool, number: int) -> _Bounds:
        assert side.argument is not None
        argument, blocks = side.argument, [each.columns[side.relation] for each in self.blocks]
        others = blocks[:number] if from_below else blocks[number + 1 :]
        is_never_null = side.is_zero_when_empty or any(argument(tuple(each.counts)) for each in others)
        if not is_never_null or argument(tuple(blocks[number].minima)) < 0 or sum(argument(tuple(each.sizes)) for each in blocks) > _MOST:
            raise Undecided
        least = sum(argument(tuple(each.sums)) for each in others)
        ends = side.factor * least, side.factor * (least + argument(tuple(blocks[number].sums)))
        return min(ends), max(ends)
