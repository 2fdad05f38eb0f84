"""The types of parsed expressions over columns, as Arrow types. The rules are those of ``values/result_types.py``."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from sqlglot import exp

from imp_driver.plan.convert import row_expression
from imp_driver.values.result_types import type_of


def infer(node: exp.Expr, columns: Mapping[str, pa.DataType | None]) -> pa.DataType | None:
    """Return the type of an expression over base columns, None when it is not certain."""
    kind = type_of(row_expression(node, columns), columns)
    return None if kind is None or pa.types.is_null(kind) else kind
