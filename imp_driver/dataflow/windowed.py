"""Window functions below other operators: the partitions that a change touches are evaluated anew, before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.dataflow import reduce
from imp_driver.dataflow.operator import Inputs, NotFound, Operator
from imp_driver.dataflow.window.function import in_order, said
from imp_driver.dataflow.window.whole import PartitionAggregate
from imp_driver.dataflow.zset import consolidated
from imp_driver.values.tables import ZSet
from imp_driver.values.windows import WindowFunction


def copies(zset: ZSet) -> pa.Table:
    """Return each row as often as its weight says, which is not below 0."""
    return zset.rows.take(pa.array(np.repeat(np.arange(len(zset.weights)), zset.weights)))


@dataclass(frozen=True, slots=True, eq=False)
class Windowed:
    """Adds a column per function.

    Attributes:
        child: has, after the columns that stay, those that the functions read.
        functions: by the names of the columns that they give.
        partition: columns of the child by which every function parts the rows; without any a change concerns all rows.
        found_by: which of the columns that stay are such columns.
        schema: the columns that stay, then those of the functions.
    """

    child: Operator
    functions: tuple[tuple[str, WindowFunction | PartitionAggregate], ...]
    partition: tuple[str, ...]
    found_by: frozenset[str]
    schema: pa.Schema

    @property
    def name(self) -> str:
        return "window"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.child,)

    def step(self, inputs: Inputs) -> ZSet:
        return reduce.step(inputs, self.child, self.partition, self.of, self.schema)

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        if key not in self.found_by:
            raise NotFound
        return self.of(consolidated(self.child.rows(inputs, key, values, is_new=is_new)))

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        return self.of(consolidated(self.child.every(inputs, is_new=is_new)))

    def of(self, zset: ZSet) -> ZSet:
        """Return the rows of whole partitions with what the functions say of them. Raises NotEvaluable."""
        rows = copies(zset)
        found = rows.select([name for name in self.schema.names if name in rows.column_names])
        for name, function in self.functions:
            column = function.of(rows) if isinstance(function, PartitionAggregate) else said(function, rows, in_order(function, rows))
            found = found.append_column(name, column)
        return ZSet(found.cast(self.schema), np.ones(found.num_rows, dtype=np.int64))
