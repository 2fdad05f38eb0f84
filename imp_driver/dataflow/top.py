"""ORDER BY with LIMIT below other operators: the first rows are looked for anew, before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.dataflow import reduce
from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.dataflow.operator import Inputs, NotFound, Operator
from imp_driver.dataflow.window.function import in_order
from imp_driver.dataflow.windowed import copies
from imp_driver.dataflow.zset import consolidated, row_numbers
from imp_driver.values.tables import ZSet
from imp_driver.values.windows import WindowFunction


@dataclass(frozen=True, slots=True, eq=False)
class Top:
    """``child`` has, after the columns that stay, those of the order, which is that of ``numbering``."""

    child: Operator
    numbering: WindowFunction
    skipped: int
    count: int
    schema: pa.Schema

    @property
    def name(self) -> str:
        return "first rows"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.child,)

    def step(self, inputs: Inputs) -> ZSet:
        return reduce.step(inputs, self.child, (), self.of, self.schema)

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        # Which rows are the first no value of theirs tells.
        raise NotFound

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        return self.of(consolidated(self.child.every(inputs, is_new=is_new)))

    def of(self, zset: ZSet) -> ZSet:
        """Return the first of all rows. Raises NotEvaluable where they tie with different ones."""
        rows = copies(zset)
        ordered = in_order(self.numbering, rows)
        for end in (self.skipped, self.skipped + self.count):
            if 0 < end < rows.num_rows and not ordered.is_peer_first[end]:
                tied = rows.take(pa.array(ordered.places[ordered.peers_start[end] : ordered.peers_end[end]])).select(self.schema.names)
                if row_numbers(tied)[1] > 1:
                    raise NotEvaluable("rows tie where a LIMIT below other operators ends")
        chosen = rows.take(pa.array(ordered.places[self.skipped : self.skipped + self.count])).select(self.schema.names)
        return ZSet(chosen.cast(self.schema), np.ones(chosen.num_rows, dtype=np.int64))
