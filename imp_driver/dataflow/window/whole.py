"""An aggregate of all rows of a partition, said of each of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.ranks import numbered
from imp_driver.values.aggregates import AggregateSpecification, ProjectedRows
from imp_driver.values.codes import IntegerArray, one_array


@dataclass(frozen=True, slots=True)
class PartitionAggregate:
    """``argument`` is the name of a column, None for count(*)."""

    partition: tuple[str, ...]
    specification: AggregateSpecification
    argument: str | None

    def of(self, rows: pa.Table) -> pa.Array:
        """Return what it says of each row. Raises NotEvaluable."""
        own = [one_array(rows.column(name)) for name in self.partition]
        keys = (*own, *(() if own else (pa.repeat(pa.scalar(True), rows.num_rows),)))
        argument = None if self.argument is None else one_array(rows.column(self.argument))
        state = GroupState.empty((self.specification,), [key.type for key in keys])
        try:
            groups = state.apply(ProjectedRows(keys, (argument,), np.ones(rows.num_rows, dtype=np.int64)))
        except StateCorrupt as error:
            raise NotEvaluable("a sum of integers leaves 64 bits") from error
        if groups is None:
            raise NotEvaluable("an aggregate of a partition is known between bounds only")
        columns = [one_array(column) for column in groups.rows.columns]
        return columns[-1].take(pa.array(places_of(columns[: len(own)], own, rows.num_rows)))


def places_of(groups: Sequence[pa.Array], rows: Sequence[pa.Array], count: int) -> IntegerArray:
    """Return for each row the place of the group with its keys; without keys there is one group. Raises NotEvaluable."""
    if not groups:
        return np.zeros(count, dtype=np.int64)
    both = [pa.concat_arrays([group, own.cast(group.type)]) for group, own in zip(groups, rows, strict=True)]
    # The groups come first, so that the number of each is its place.
    return numbered(both, len(groups[0]) + count)[len(groups[0]) :]
