"""GROUP BY over rows in process: every group is computed anew by the accumulators of maintained groups, so that values agree.

What these know between bounds only, or what may overflow on Spark's way to it, is not given.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from imp_driver.answer.columns import types_of, value_of
from imp_driver.answer.nested.partial import Partial, Partials, with_places
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
from imp_driver.values.tables import ZSet

_COUNTS = (AccumulatorKind.COUNT_ROWS, AccumulatorKind.COUNT, AccumulatorKind.COUNT_DISTINCT)


def regrouped(plan: Aggregate, rows: pa.Table) -> pa.Table:
    """Return the groups of rows whose columns are named by the attributes of the plan's input. Raises NotEvaluable."""
    keys, specifications, arguments = _asked(plan, rows)
    names = [attribute.identifier for attribute in plan.output]
    groups = _table_of(_grouped(keys, specifications, arguments, rows.num_rows)[1], bool(keys), specifications, names)
    rounded = {
        attribute.identifier: np.full(groups.num_rows, np.inf)
        for attribute, function, specification in zip(plan.function_attributes, plan.functions, specifications, strict=True)
        if specification.is_rounded or (identifiers(function) & rounded_in(rows) and specification.kind not in _COUNTS)
    }
    return with_spreads(groups, rounded)


def finer(plan: Aggregate, rows: pa.Table) -> tuple[pa.Table, Partials]:
    """Return groups as ``regrouped`` does, and what others are merged from. Raises NotEvaluable."""
    keys, specifications, arguments = _asked(plan, rows)
    for function in plan.functions:
        check_unread(rows, (function,), "finer groups of")
    state, _ = _grouped(keys, specifications, arguments, rows.num_rows)
    slots = np.flatnonzero(state.alive)
    found: dict[str, pa.Array] = {
        attribute.identifier: state.key_values(place, slots) for place, attribute in enumerate(plan.key_attributes)
    }
    partials = {}
    for place, (attribute, specification) in enumerate(zip(plan.function_attributes, specifications, strict=True)):
        held = state.read_as(specification, place, slots)
        partials[attribute.identifier] = Partial.of(specification, held, state.rows[slots], np.arange(len(slots)), None)
        found[attribute.identifier] = held.values(state.rows[slots], np.arange(len(slots))).array
    return with_places(pa.table(found), plan), partials


def _asked(plan: Aggregate, rows: pa.Table) -> tuple[list[pa.Array], list[AggregateSpecification], list[pa.Array | None]]:
    """Return the keys of rows, and the aggregates that are asked for with their arguments."""
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
    return keys, specifications, arguments


def _argument(rows: pa.Table, argument: Expression, specification: AggregateSpecification) -> pa.Array:
    return project(rows, [(argument, specification.argument_type)])[0]


def _grouped(
    keys: Sequence[pa.Array], specifications: Sequence[AggregateSpecification], arguments: Sequence[pa.Array | None], count: int
) -> tuple[GroupState, ZSet | None]:
    """Return groups, under a constant key where they have none, and their rows where all values are known exactly."""
    every = tuple(keys) or (pa.repeat(pa.scalar(True), count),)
    state = GroupState.empty(tuple(specifications), [key.type for key in every])
    try:
        return state, state.apply(ProjectedRows(every, tuple(arguments), np.ones(count, dtype=np.int64)))
    except StateCorrupt as error:
        raise NotEvaluable("a sum of integers leaves 64 bits") from error


def _table_of(found: ZSet | None, has_keys: bool, specifications: Sequence[AggregateSpecification], names: Sequence[str]) -> pa.Table:
    if found is None:
        raise NotEvaluable("an aggregate of groups is known between bounds only")
    table = found.rows if has_keys else found.rows.drop_columns(["key_0"])
    if not has_keys and not found.rows.num_rows:
        table = of_no_rows(table.schema, specifications)
    return table.rename_columns(list(names))


def of_no_rows(schema: pa.Schema, specifications: Sequence[AggregateSpecification]) -> pa.Table:
    """Return the one row of an aggregation without GROUP BY that has met no rows: counts are 0, the others NULL."""
    columns = [
        pa.array([0 if specification.kind in _COUNTS else None], field.type)
        for field, specification in zip(schema, specifications, strict=True)
    ]
    return pa.table(columns, schema=schema)
