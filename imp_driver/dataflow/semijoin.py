"""Semi-join and anti-join: left rows with a partner, or without one. EXISTS, IN and NOT EXISTS; not NOT IN, for which NULL is a partner."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dataflow.operator import Inputs, Operator
from imp_driver.dataflow.partners import Partnered
from imp_driver.dataflow.zset import filtered, negated
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True, eq=False)
class SemiJoin:
    sides: Partnered
    anti: bool

    @property
    def name(self) -> str:
        return "anti-join" if self.anti else "semi-join"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.sides.left, self.sides.right)

    @property
    def schema(self) -> pa.Schema:
        return self.sides.left.schema

    def step(self, inputs: Inputs) -> ZSet:
        return self.sides.step(inputs, self._of, self._follow, self.schema)

    def _follow(self, inputs: Inputs, right: ZSet) -> ZSet:
        gained = self.sides.concerned(inputs, right, by_existence=True).gained()
        return negated(gained) if self.anti else gained

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        left = self.sides.left.rows(inputs, key, values, is_new=is_new)
        return self._of(left, self.sides.of_keys(inputs, left, is_new=is_new))

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        left = self.sides.left.every(inputs, is_new=is_new)
        return self._of(left, self.sides.of_keys(inputs, left, is_new=is_new))

    def _of(self, left: ZSet, right: ZSet) -> ZSet:
        partners = self.sides.partners(left, right)
        return filtered(left, (partners == 0) if self.anti else (partners != 0))
