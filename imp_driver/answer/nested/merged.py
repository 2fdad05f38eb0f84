"""Rows of finer groups -> the groups that they fall into, each aggregate from what is held of the finer ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.by_number import by_number
from imp_driver.answer.columns import expression_over, types_of, value_of
from imp_driver.answer.nested.partial import PLACE, Partials
from imp_driver.answer.rounding import check_decided, check_unread, with_spreads
from imp_driver.dataflow.aggregate.accumulator import Values
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.evaluate import truth
from imp_driver.dataflow.expression.project import project
from imp_driver.dataflow.ranks import first_of_each, numbered
from imp_driver.plan.aggregate import bound_aggregate
from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.nodes import Attribute, Merge
from imp_driver.values.aggregates import OF_MULTISETS
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
    values = [merged_value(plan, function, rows, partials, groups) for function in plan.functions]
    return with_exact(pa.table(columns), list(zip(plan.function_attributes, values, strict=True)))


def with_exact(rows: pa.Table, found: Sequence[tuple[Attribute, Values]]) -> pa.Table:
    """Add aggregates to rows. Raises NotEvaluable where one is not known exactly."""
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
        passed = passing_places(rows, function)
        rows, groups, function = rows.take(pa.array(passed)), RollUp(groups.numbers[passed], groups.count), function.this
    name = argument_of(function)
    if not name:
        return _weighted(plan, function, rows, groups)
    return partials[name].merged(places_of(plan, rows), groups)


def argument_of(function: exp.Expr) -> str:
    """Return the name of what a function merges; empty where it is an aggregate of keys."""
    return plain_identifier(function.this if isinstance(function, exp.Filter) else function) or ""


def passing_places(rows: pa.Table, function: exp.Expr) -> IntegerArray:
    """Return which rows a function is of: those that pass its FILTER. Raises NotEvaluable where that is not certain."""
    if not isinstance(function, exp.Filter):
        return np.arange(rows.num_rows)
    condition = function.expression.this
    check_decided(rows, condition)
    return np.flatnonzero(truth(rows, expression_over(rows, condition)).fill_null(False).to_numpy(zero_copy_only=False))


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
    state, slots = by_number(aggregate.specification, groups.numbers, argument, weights)
    held, numbers = state.read_as(aggregate.specification, 0, slots), state.key_values(0, slots).to_numpy()
    return held.rolled_up(state.rows[slots], np.arange(len(slots)), RollUp(numbers, groups.count))
