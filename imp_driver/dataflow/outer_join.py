"""Left outer join: pairs, and left rows without a partner once with NULL on the right."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dataflow.operator import Inputs, Operator
from imp_driver.dataflow.partners import Partnered
from imp_driver.dataflow.zset import filtered, negated, summed, with_nulls
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True, eq=False)
class LeftJoin:
    sides: Partnered

    @property
    def name(self) -> str:
        return "left join"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.sides.left, self.sides.right)

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([*self.sides.left.schema, *(field.with_nullable(True) for field in self.sides.right.schema)])

    def step(self, inputs: Inputs) -> ZSet:
        return self.sides.step(inputs, self._of, self._follow, self.schema)

    def _follow(self, inputs: Inputs, right: ZSet) -> ZSet:
        """Pairs are linear in the right side; the rows without a partner change only with the first or last partner."""
        concerned = self.sides.concerned(inputs, right, by_existence=False)
        alone = negated(concerned.gained())
        return summed([self._pairs(concerned.left, right), self._padded(alone)], self.schema)

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        if key in self.sides.left.schema.names:
            left = self.sides.left.rows(inputs, key, values, is_new=is_new)
            return self._of(left, self.sides.of_keys(inputs, left, is_new=is_new))
        # A row whose right column has a value is a pair.
        right = self.sides.right.rows(inputs, key, values, is_new=is_new)
        return self._pairs(self.sides.met_by(inputs, right, is_new=is_new), right)

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        left = self.sides.left.every(inputs, is_new=is_new)
        return self._of(left, self.sides.of_keys(inputs, left, is_new=is_new))

    def _of(self, left: ZSet, right: ZSet) -> ZSet:
        alone = filtered(left, self.sides.partners(left, right) == 0)
        return summed([self._pairs(left, right), self._padded(alone)], self.schema)

    def _pairs(self, left: ZSet, right: ZSet) -> ZSet:
        pairs = self.sides.pairs(left, right)
        return ZSet(pairs.rows, left.weights[pairs.place] * pairs.copies)

    def _padded(self, alone: ZSet) -> ZSet:
        return with_nulls(alone, self.sides.right.schema)
