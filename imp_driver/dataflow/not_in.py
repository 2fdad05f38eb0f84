"""NOT IN: left rows whose value is certainly none of those on the right. One NULL there, or on the left beside any row, leaves that open.

Whether the right side has rows, and whether one of them is NULL, concerns every left row: both sides must then be kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.operator import Inputs, NotFound, Operator
from imp_driver.dataflow.partners import Partnered
from imp_driver.dataflow.zset import empty, filtered, negated, summed
from imp_driver.values.codes import one_array
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True)
class _Values:
    """What all right rows together say."""

    is_empty: bool
    has_null: bool

    @classmethod
    def of(cls, right: ZSet, own: str) -> _Values:
        nulls = one_array(right.rows.column(own)).is_null().to_numpy(zero_copy_only=False)
        rows, unknown = int(right.weights.sum()), int(right.weights[nulls].sum())
        if rows < 0 or unknown < 0:
            # What was kept is not of the version that it was taken for.
            raise NotFound
        return cls(rows == 0, unknown > 0)


@dataclass(frozen=True, slots=True, eq=False)
class NotIn:
    """``sides`` meet by one pair of columns, ``pair``, and by no other condition."""

    sides: Partnered
    pair: tuple[str, str]

    @property
    def name(self) -> str:
        return "not in"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.sides.left, self.sides.right)

    @property
    def schema(self) -> pa.Schema:
        return self.sides.left.schema

    def step(self, inputs: Inputs) -> ZSet:
        left, right = self.sides.left.step(inputs), self.sides.right.step(inputs)
        if not len(left.weights) and not len(right.weights):
            return empty(self.schema)
        after = self.sides.right.every(inputs, is_new=True)
        terms = [self._of(left, after)] if len(left.weights) else []
        if len(right.weights):
            terms.append(self._follow(inputs, right, after))
        return summed(terms, self.schema)

    def _follow(self, inputs: Inputs, change: ZSet, after: ZSet) -> ZSet:
        """Return the change over the old left rows."""
        before = summed([after, negated(change)], self.sides.right.schema)
        values = _Values.of(after, self.pair[1])
        if values != _Values.of(before, self.pair[1]):
            left = self.sides.left.every(inputs, is_new=False)
        elif values.has_null:
            return empty(self.schema)
        else:
            left = self.sides.met_by(inputs, change, is_new=False)
        return summed([self._of(left, after), negated(self._of(left, before))], self.schema)

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        left = self.sides.left.rows(inputs, key, values, is_new=is_new)
        return self._of(left, self.sides.right.every(inputs, is_new=is_new))

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        left = self.sides.left.every(inputs, is_new=is_new)
        return self._of(left, self.sides.right.every(inputs, is_new=is_new))

    def _of(self, left: ZSet, right: ZSet) -> ZSet:
        """Return the left rows that stay beside all right rows."""
        values = _Values.of(right, self.pair[1])
        if values.is_empty:
            return left
        if values.has_null:
            return empty(self.schema)
        is_known = one_array(left.rows.column(self.pair[0])).is_valid().to_numpy(zero_copy_only=False)
        return filtered(left, np.asarray(is_known & (self.sides.partners(left, right) == 0), dtype=bool))
