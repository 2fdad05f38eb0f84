"""Selection of delta rows (IMP paper section 5.2.3): the rows of which the condition is TRUE, exactly as Spark decides.

What cannot be decided exactly in process raises NotEvaluable; the caller then lets Spark select.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from imp_driver.dataflow.expression.evaluate import truth
from imp_driver.dataflow.expression.project import NotEvaluable, cast
from imp_driver.dataflow.zset import filtered
from imp_driver.values.codes import BooleanArray
from imp_driver.values.expressions import Expression
from imp_driver.values.tables import ZSet

__all__ = ["NotEvaluable", "select", "selected"]


def select(rows: pa.Table, condition: Expression, types: Mapping[str, pa.DataType] | None = None) -> BooleanArray:
    """Return the mask of the rows that pass.

    Args:
        condition: over Column nodes.
        types: Arrow types of columns as the table has them, where ``rows`` may hold another layout of the same family.

    Raises NotEvaluable.
    """
    for name, data_type in (types or {}).items():
        position = rows.column_names.index(name) if name in rows.column_names else -1
        if position >= 0 and rows.schema.field(position).type != data_type:
            rows = rows.set_column(position, name, cast(rows.column(position).combine_chunks(), data_type))
    passed: BooleanArray = truth(rows, condition).fill_null(False).to_numpy(zero_copy_only=False)
    return passed


def selected(zset: ZSet, condition: Expression | None) -> ZSet:
    """Return the signed rows that pass; without a condition, all. Raises NotEvaluable."""
    return zset if condition is None else filtered(zset, select(zset.rows, condition))
