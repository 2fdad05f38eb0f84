"""Full outer join: a left join, and right rows without a partner once with NULL on the left."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dataflow.operator import Inputs, Operator
from imp_driver.dataflow.outer_join import LeftJoin
from imp_driver.dataflow.partners import Partnered
from imp_driver.dataflow.semijoin import SemiJoin
from imp_driver.dataflow.zset import summed, with_nulls
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True, eq=False)
class FullJoin:
    """``alone`` gives the right rows that have no partner."""

    left: LeftJoin
    alone: SemiJoin

    @classmethod
    def of(cls, sides: Partnered) -> FullJoin:
        return cls(LeftJoin(sides), SemiJoin(sides.exchanged, anti=True))

    @property
    def name(self) -> str:
        return "full join"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return self.left.inputs

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([field.with_nullable(True) for field in self.left.schema])

    def step(self, inputs: Inputs) -> ZSet:
        return self._both(self.left.step(inputs), self.alone.step(inputs))

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        found = self.left.rows(inputs, key, values, is_new=is_new)
        if key not in self.alone.schema.names:
            return found
        return self._both(found, self.alone.rows(inputs, key, values, is_new=is_new))

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        return self._both(self.left.every(inputs, is_new=is_new), self.alone.every(inputs, is_new=is_new))

    def _both(self, left: ZSet, alone: ZSet) -> ZSet:
        return summed([left, with_nulls(alone, self.left.sides.left.schema)], self.schema)
