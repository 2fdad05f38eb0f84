"""Rows of finer groups -> the groups that they fall into, each aggregate from what is held of the finer ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.columns import expression_over, types_of, value_of
from imp_driver.answer.nested.partial import PLACE, Partials
from imp_driver.answer.rounding import check_decided, check_unread, with_spreads
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt, Values
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.evaluate import truth
from imp_driver.dataflow.expression.project import project
from imp_driver.dataflow.ranks import first_of_each, numbered
from imp_driver.plan.aggregate import bound_aggregate
from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.nodes import Attribute, Merge
from imp_driver.values.aggregates import OF_MULTISETS, ProjectedRows
from imp_driver.values.codes import IntegerArray, as_grouped, is_orderable


def merged(plan: Merge, rows: pa.Table, partials: Partials) -> pa.Table:
    """Return the groups, whose columns are named by the plan's attributes. Raises NotEvaluable."""
    check_unread(rows, plan.keys, "groups by")
    keys = [as_grouped(value_of(rows, key)) for key in plan.keys]
    for attribute, key in zip(plan.key_attributes, keys, strict=True):
        if not is_orderable(key.type):
            raise NotEvaluable(f"{attribute.name}: values of type {key.type} are not grouped in process")
    numbers = numbered(keys, rows.num_rows)
    # Without GROUP BY no rows are a group as well.
    groups = RollUp(numbers, int(numbers.max(initial=-1)) + 1 if keys else 1)
    first = pa.array(first_of_each(numbers)) if keys else None
    columns = {attribute.identifier: key.take(first) for attribute, key in zip(plan.key_attributes, keys, strict=True)}
    return with_values(plan, pa.table(columns), lambda function: merged_value(plan, function, rows, partials, groups))


def with_values(plan: Merge, rows: pa.Table, value: Callable[[exp.Expr], Values]) -> pa.Table:
    """Add the aggregates of a merge to rows. Raises NotEvaluable where one is not known exactly."""
    found = [(attribute, value(function)) for attribute, function in zip(plan.function_attributes, plan.functions, strict=True)]
    return with_exact(rows, found)


def with_exact(rows: pa.Table, found: Sequence[tuple[Attribute, Values]]) -> pa.Table:
    spreads = {}
    for attribute, values in found:
        if not values.exact.all():
            raise NotEvaluable(f"{attribute.name} of finer groups is known between bounds only")
        # A table without columns has no rows either.
        rows = pa.table([*rows.columns, values.array], names=[*rows.column_names, attribute.identifier])
        if values.spread is not None:
            spreads[attribute.identifier] = values.spread
    return with_spreads(rows, spreads)


def merged_value(plan: Merge, function: exp.Expr, rows: pa.Table, partials: Partials, groups: RollUp) -> Values:
    """Return one aggregate of the groups that rows fall into. Raises NotEvaluable."""
    if isinstance(function, exp.Filter):
        condition = function.expression.this
        check_decided(rows, condition)
        passed = np.flatnonzero(truth(rows, expression_over(rows, condition)).fill_null(False).to_numpy(zero_copy_only=False))
        rows, groups, function = rows.take(pa.array(passed)), RollUp(groups.numbers[passed], groups.count), function.this
    name = plain_identifier(function)
    if name is None:
        return _weighted(plan, function, rows, groups)
    return partials[name].merged(places_of(plan, rows), groups)


def places_of(plan: Merge, rows: pa.Table) -> IntegerArray:
    """Return which of the finer groups each row is."""
    found: IntegerArray = rows.column(PLACE + plan.copies.identifier).to_numpy()
    return found


def _weighted(plan: Merge, function: exp.Expr, rows: pa.Table, groups: RollUp) -> Values:
    """Return an aggregate of an expression over finer groups, each of which counts as often as it has rows."""
    found = bound_aggregate(function, types_of(rows), rounds_once=True)
    if found is None:
        raise NotEvaluable(f"{function.key} is not computed in process")
    aggregate = found[0]
    check_decided(rows, function)
    if aggregate.specification.kind in OF_MULTISETS or aggregate.specification.is_rounded:
        check_unread(rows, (function,), "an aggregate of")
    argument = None if aggregate.argument is None else project(rows, [(aggregate.argument, aggregate.specification.argument_type)])[0]
    weights = rows.column(plan.copies.identifier).to_numpy()
    # Groups of which there are no rows are rows of none: no key, weight or argument is theirs.
    state = GroupState.empty((aggregate.specification,), [pa.int64()])
    try:
        state.apply(ProjectedRows((pa.array(groups.numbers),), (argument,), weights))
    except StateCorrupt as error:
        raise NotEvaluable("a sum of integers leaves 64 bits") from error
    slots = np.flatnonzero(state.alive)
    order = slots[np.argsort(state.key_values(0, slots).to_numpy())]
    held = state.read_as(aggregate.specification, 0, order)
    numbers = state.key_values(0, order).to_numpy()
    return held.rolled_up(state.rows[order], np.arange(len(order)), RollUp(numbers, groups.count))
