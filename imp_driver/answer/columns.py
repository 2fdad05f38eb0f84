"""Expressions of a plan over rows whose columns are named by its attributes."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.plan.convert import row_expression


def types_of(rows: pa.Table) -> dict[str, pa.DataType | None]:
    return {field.name: field.type for field in rows.schema}


def value_of(rows: pa.Table, node: exp.Expr) -> pa.Array:
    """Return an expression's value per row, in Spark's type. Raises NotEvaluable."""
    return computed(rows, row_expression(node, types_of(rows)))
