"""The first rows of an order over tables: of so many rows only those up to a value of the first key are kept.

The value is learned from the data (state/thresholds.py) and stands in a condition as that of a marker. While as many rows pass it as the
query takes, all that it takes are among them: every other row comes after each of them by the first key alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from imp_driver.plan.attributes import by_identifier, column_named, plain_identifier, substituted
from imp_driver.plan.bags import is_bag
from imp_driver.plan.nodes import Filter, OrderKey, Plan, Project, TopK
from imp_driver.values.types import arrow_type


@dataclass(frozen=True, slots=True, eq=False)
class Top:
    """``marker`` has the value that the rows of ``node`` are kept up to by ``key``, the first of its order: ``column`` of what is below."""

    marker: str
    node: TopK
    key: OrderKey
    column: str


def with_top(plan: Plan) -> tuple[Plan, Top] | None:
    """Return a plan whose last rows are taken from those that pass a condition on the first key; None for another plan."""
    if isinstance(plan, Project):
        found = with_top(plan.child)
        return None if found is None else (replace(plan, child=found[0]), found[1])
    if not isinstance(plan, TopK) or not plan.order:
        return None
    key, rows = plan.order[0], plan.child
    expression = key.expression
    while isinstance(rows, Project):
        expression = substituted(expression, dict(zip((each.identifier for each in rows.output), rows.expressions, strict=True)))
        rows = rows.child
    column = plain_identifier(expression)
    attribute = by_identifier(rows.output).get(column or "")
    kind = None if attribute is None else arrow_type(attribute.type_name or "")
    if column is None or kind is None or not _has_literals(kind) or not is_bag(rows):
        return None
    top = Top(f"{column}_top", plan, key, column)
    return replace(plan, child=_filtered(plan.child, _passes(top))), top


def _filtered(plan: Plan, condition: exp.Expr) -> Plan:
    """Filter what is below projections, which are for what stands above."""
    return replace(plan, child=_filtered(plan.child, condition)) if isinstance(plan, Project) else Filter(plan, (condition,))


def _has_literals(kind: pa.DataType) -> bool:
    tests = (pa.types.is_signed_integer, pa.types.is_decimal, pa.types.is_date32, pa.types.is_timestamp, pa.types.is_string)
    return any(test(kind) for test in tests)


def _passes(top: Top) -> exp.Expr:
    compare = exp.GTE if top.key.descending else exp.LTE
    value = compare(this=column_named(top.column), expression=exp.Placeholder(this=top.marker))
    return exp.or_(exp.Is(this=column_named(top.column), expression=exp.Null()), value) if top.key.nulls_first else value
