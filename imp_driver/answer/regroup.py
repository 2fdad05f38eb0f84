"""GROUP BY over rows in process: every group is computed anew by the accumulators of maintained groups, so that values agree.

What these know between bounds only, or what may overflow on Spark's way to it, is not given.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from imp_driver.answer.columns import types_of, value_of
from imp_driver.answer.rounding import check_decided, check_unread, rounded_in, with_spreads
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.project import project
from imp_driver.plan.aggregate import bound_aggregate
from imp_driver.plan.attributes import identifiers
from imp_driver.plan.nodes import Aggregate
from imp_driver.values.aggregates import OF_MULTISETS, AccumulatorKind, AggregateSpecification, ProjectedRows
from imp_driver.values.codes import is_orderable
from imp_driver.values.expressions import Expression

_COUNTS = (AccumulatorKind.COUNT_ROWS, AccumulatorKind.COUNT, AccumulatorKind.COUNT_DISTINCT)


def regrouped(plan: Aggregate, rows: pa.Table) -> pa.Table:
    """Return the groups of rows whose columns are named by the attributes of the plan's input. Raises NotEvaluable."""
    if not plan.output:
        raise NotEvaluable("groups without columns")
    types = types_of(rows)
    check_unread(rows, plan.keys, "groups by")
    keys = [value_of(rows, key) for key in plan.keys]
    for attribute, key in zip(plan.key_attributes, keys, strict=True):
        if not is_orderable(key.type):
            raise NotEvaluable(f"{attribute.name}: values of type {key.type} are not grouped in process")
    specifications: list[AggregateSpecification] = []
    arguments: list[pa.Array | None] = []
    for function in plan.functions:
        found = bound_aggregate(function, types, rounds_once=True)
        if found is None:
            raise NotEvaluable(f"{function.key} is not computed in process")
        specification = found[0].specification
        check_decided(rows, function)
        if specification.kind in OF_MULTISETS:
            check_unread(rows, (function,), "values told apart by")
        specifications.append(specification)
        arguments.append(None if found[0].argument is None else _argument(rows, found[0].argument, specification))
    names = [attribute.identifier for attribute in plan.output]
    groups = _grouped(keys, specifications, arguments, rows.num_rows, names)
    rounded = {
        attribute.identifier: np.full(groups.num_rows, np.inf)
        for attribute, function, specification in zip(plan.function_attributes, plan.functions, specifications, strict=True)
        if specification.is_rounded or (identifiers(function) & rounded_in(rows) and specification.kind not in _COUNTS)
    }
    return with_spreads(groups, rounded)


def _argument(rows: pa.Table, argument: Expression, specification: AggregateSpecification) -> pa.Array:
    return project(rows, [(argument, specification.argument_type)])[0]


def _grouped(
    keys: Sequence[pa.Array],
    specifications: Sequence[AggregateSpecification],
    arguments: Sequence[pa.Array | None],
    count: int,
    names: Sequence[str],
) -> pa.Table:
    one = () if keys else (pa.repeat(pa.scalar(True), count),)
    every = (*keys, *one)
    state = GroupState.empty(tuple(specifications), [key.type for key in every])
    try:
        found = state.apply(ProjectedRows(every, tuple(arguments), np.ones(count, dtype=np.int64)))
    except StateCorrupt as error:
        raise NotEvaluable("a sum of integers leaves 64 bits") from error
    if found is None:
        raise NotEvaluable("an aggregate of groups is known between bounds only")
    table = found.rows.drop_columns(["key_0"]) if one else found.rows
    if one and not found.rows.num_rows:
        table = of_no_rows(table.schema, specifications)
    return table.rename_columns(list(names))


def of_no_rows(schema: pa.Schema, specifications: Sequence[AggregateSpecification]) -> pa.Table:
    """Return the one row of an aggregation without GROUP BY that has met no rows: counts are 0, the others NULL."""
    columns = [
        pa.array([0 if specification.kind in _COUNTS else None], field.type)
        for field, specification in zip(schema, specifications, strict=True)
    ]
    return pa.table(columns, schema=schema)
