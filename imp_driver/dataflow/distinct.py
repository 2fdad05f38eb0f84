"""DISTINCT below other operators: a row appears with its first copy and goes with its last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.dataflow import reduce
from imp_driver.dataflow.operator import Inputs, Operator
from imp_driver.dataflow.zset import consolidated
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    child: Operator

    @property
    def name(self) -> str:
        return "distinct"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.child,)

    @property
    def schema(self) -> pa.Schema:
        return self.child.schema

    def step(self, inputs: Inputs) -> ZSet:
        return reduce.step(inputs, self.child, self.schema.names, _once, self.schema)

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        return _once(consolidated(self.child.rows(inputs, key, values, is_new=is_new)))

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        return _once(consolidated(self.child.every(inputs, is_new=is_new)))


def _once(zset: ZSet) -> ZSet:
    return ZSet(zset.rows, np.ones(len(zset.weights), dtype=np.int64))
