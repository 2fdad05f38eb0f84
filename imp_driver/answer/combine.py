"""UNION ALL, INTERSECT, EXCEPT and DISTINCT of rows in process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.project import cast
from imp_driver.dataflow.ranks import first_of_each, numbered
from imp_driver.plan.nodes import Attribute, SetKind, SetOperation
from imp_driver.values.codes import IntegerArray, as_grouped, one_array
from imp_driver.values.widening import common_type


def stacked(branches: Sequence[pa.Table], output: Sequence[Attribute]) -> pa.Table:
    """Return the rows of all branches, column by column in the type that Spark brings them to. Raises NotEvaluable."""
    columns = []
    for place, attribute in enumerate(output):
        arrays = [one_array(branch.column(place)) for branch in branches]
        kind = common_type([array.type for array in arrays])
        if kind is None and not all(pa.types.is_null(array.type) for array in arrays):
            raise NotEvaluable(f"{attribute.name}: branches of different types")
        columns.append(pa.concat_arrays([array if kind is None else cast(array, kind) for array in arrays]))
    return pa.table(columns, names=[attribute.identifier for attribute in output])


def distinct(rows: pa.Table) -> pa.Table:
    """Return each row once. Raises NotEvaluable."""
    return rows.take(pa.array(first_of_each(_numbers(rows))))


def combined(plan: SetOperation, left: pa.Table, right: pa.Table) -> pa.Table:
    """Return the rows of INTERSECT or EXCEPT. Raises NotEvaluable."""
    # Spark computes set operations by groups, whose values it gives.
    both = stacked([left, right], plan.output)
    rows = pa.table([as_grouped(one_array(column)) for column in both.columns], names=both.column_names)
    numbers = _numbers(rows)
    own, others = numbers[: left.num_rows], numbers[left.num_rows :]
    if plan.distinct:
        places = first_of_each(own)
        is_there = np.isin(own[places], others)
        return rows.take(pa.array(places[is_there if plan.kind is SetKind.INTERSECT else ~is_there]))
    copies = np.bincount(others, minlength=int(numbers.max(initial=0)) + 1)
    is_met = _occurrence(own) < copies[own]
    return rows.take(pa.array(np.flatnonzero(is_met if plan.kind is SetKind.INTERSECT else ~is_met)))


def _numbers(rows: pa.Table) -> IntegerArray:
    return numbered([one_array(column) for column in rows.columns], rows.num_rows)


def _occurrence(numbers: IntegerArray) -> IntegerArray:
    """Return for each row how many of its number come before it."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = np.searchsorted(ordered, ordered, side="left")
    found = np.empty(len(numbers), dtype=np.int64)
    found[order] = np.arange(len(numbers)) - starts
    return found
