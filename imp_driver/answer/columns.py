"""Expressions of a plan over rows whose columns are named by its attributes."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.plan.convert import row_expression
from imp_driver.plan.minus_zero import NAME as MINUS_ZERO
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.expressions import Column, Expression, Function, Opaque, walk
from imp_driver.values.result_types import type_of

_CONVERTED: BoundedCache[int, tuple[exp.Expr, frozenset[str], Expression]] = BoundedCache(2_000)
"""By the ``id`` of a node, which is held so that no other one has it; with the columns that it reads, all of which rows had."""


def types_of(rows: pa.Table) -> dict[str, pa.DataType | None]:
    return {field.name: field.type for field in rows.schema}


def expression_over(rows: pa.Table, node: exp.Expr) -> Expression:
    """Return an expression over such rows. Raises NotEvaluable where it asks for the sign of a zero, which extremes of doubles lose."""
    known = _CONVERTED.get(id(node))
    if known is not None and known[0] is node and known[1] <= frozenset(rows.column_names):
        return known[2]
    found = row_expression(node, types_of(rows))
    parts = list(walk(found))
    if any(isinstance(each, Function) and each.name == MINUS_ZERO for each in parts):
        raise NotEvaluable("the sign of a zero among groups is Spark's")
    if not any(isinstance(each, Opaque) for each in parts):
        _CONVERTED[id(node)] = node, frozenset(each.name for each in parts if isinstance(each, Column)), found
    return found


def value_of(rows: pa.Table, node: exp.Expr) -> pa.Array:
    """Return an expression's value per row, in Spark's type. Raises NotEvaluable, also where the type is not certain."""
    types = types_of(rows)
    expression = expression_over(rows, node)
    found = computed(rows, expression)
    # What is computed from this column next depends on its digits.
    if pa.types.is_decimal(found.type) and type_of(expression, types) != found.type:
        raise NotEvaluable("a decimal of a type that is not certain")
    return found
