"""INTERSECT and EXCEPT, with ALL or without: how often a row is there on both sides says how often it is there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.dataflow import reduce
from imp_driver.dataflow.operator import Inputs, Operator
from imp_driver.dataflow.zset import consolidated, row_numbers, summed
from imp_driver.values.codes import IntegerArray
from imp_driver.values.tables import ZSet

_SIDE = "#side"


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """The rows of both sides under the names of ``columns``, told apart by one more column: 0 for the left, 1 for the right."""

    left: Operator
    right: Operator
    columns: pa.Schema

    @property
    def name(self) -> str:
        return "both sides"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.left, self.right)

    @property
    def schema(self) -> pa.Schema:
        return self.columns.append(pa.field(_SIDE, pa.int8()))

    def step(self, inputs: Inputs) -> ZSet:
        return self._marked([each.step(inputs) for each in self.inputs])

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        place = self.columns.get_field_index(key)
        return self._marked([each.rows(inputs, each.schema.names[place], values, is_new=is_new) for each in self.inputs])

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        return self._marked([each.every(inputs, is_new=is_new) for each in self.inputs])

    def _marked(self, parts: list[ZSet]) -> ZSet:
        marked = [
            ZSet(
                part.rows.rename_columns(self.columns.names).append_column(_SIDE, pa.repeat(pa.scalar(side, pa.int8()), len(part.weights))),
                part.weights,
            )
            for side, part in enumerate(parts)
        ]
        return summed(marked, self.schema)


@dataclass(frozen=True, slots=True, eq=False)
class SetOperation:
    """``kind`` is INTERSECT or EXCEPT; ``distinct`` is False for ALL."""

    child: Sides
    kind: str
    distinct: bool

    @property
    def name(self) -> str:
        return self.kind.lower() + ("" if self.distinct else " all")

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return self.child.inputs

    @property
    def schema(self) -> pa.Schema:
        return self.child.columns

    def step(self, inputs: Inputs) -> ZSet:
        return reduce.step(inputs, self.child, self.schema.names, self._of, self.schema)

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        return self._of(consolidated(self.child.rows(inputs, key, values, is_new=is_new)))

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        return self._of(consolidated(self.child.every(inputs, is_new=is_new)))

    def _of(self, both: ZSet) -> ZSet:
        """Return the rows of the result, of rows of both sides that each stand once."""
        rows = both.rows.drop_columns([_SIDE])
        if not len(both.weights):
            return ZSet(rows, both.weights)
        place, count = row_numbers(rows)
        is_right = both.rows.column(_SIDE).to_numpy() == 1
        left, right, sample = (np.zeros(count, dtype=np.int64) for _ in range(3))
        left[place[~is_right]] = both.weights[~is_right]
        right[place[is_right]] = both.weights[is_right]
        sample[place] = np.arange(len(place))
        copies = self._copies(left, right)
        there = np.flatnonzero(copies)
        return ZSet(rows.take(pa.array(sample[there])), copies[there])

    def _copies(self, left: IntegerArray, right: IntegerArray) -> IntegerArray:
        """Return how often each row is in the result, by how often it is on the left and on the right."""
        if self.distinct:
            left = np.minimum(left, 1)
        copies: IntegerArray = np.minimum(left, right) if self.kind == "INTERSECT" else np.maximum(left - right, 0)
        return copies
