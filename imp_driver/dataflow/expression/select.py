"""Selection of delta rows (IMP paper section 5.2.3): the rows of which the condition is TRUE, exactly as Spark decides.

What cannot be decided exactly in process raises NotEvaluable; the caller then lets Spark select.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.expression.evaluate import truth
from imp_driver.dataflow.expression.project import NotEvaluable, cast
from imp_driver.dataflow.zset import filtered
from imp_driver.values.codes import BooleanArray, one_array
from imp_driver.values.expressions import And, Column, Expression, walk
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
    operands = condition.operands if isinstance(condition, And) else (condition,)
    passed = np.ones(rows.num_rows, dtype=bool)
    for operand in operands:
        passed &= _passed(rows, operand)
    return passed


def _passed(rows: pa.Table, condition: Expression) -> BooleanArray:
    read = {each.name for each in walk(condition) if isinstance(each, Column)}
    found = one_array(rows.column(next(iter(read)))) if len(read) == 1 and read <= set(rows.column_names) else None
    if found is None or not pa.types.is_dictionary(found.type) or len(found.dictionary) >= len(found):
        return _are_true(truth(rows, condition))
    # Of equal values one is enough; the last is NULL.
    distinct = pa.concat_arrays([found.dictionary, pa.nulls(1, found.dictionary.type)])
    alike = _are_true(truth(pa.table({next(iter(read)): distinct}), condition))
    passed: BooleanArray = alike[found.indices.fill_null(len(found.dictionary)).to_numpy(zero_copy_only=False)]
    return passed


def _are_true(values: pa.Array) -> BooleanArray:
    found: BooleanArray = values.fill_null(False).to_numpy(zero_copy_only=False)
    return found


def selected(zset: ZSet, condition: Expression | None) -> ZSet:
    """Return the signed rows that pass; without a condition, all. Raises NotEvaluable."""
    return zset if condition is None else filtered(zset, select(zset.rows, condition))
