"""Groups of rows that are evaluated anew when one of their rows changed: what DISTINCT and GROUP BY below other operators share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.operator import Inputs, NotFound, Operator
from imp_driver.dataflow.zset import consolidated, empty, filtered, negated, summed
from imp_driver.values.codes import one_array
from imp_driver.values.tables import ZSet

Evaluate: TypeAlias = Callable[[ZSet], ZSet]
"""All rows of some groups -> rows of the operator."""


def step(inputs: Inputs, child: Operator, keys: Sequence[str], evaluate: Evaluate, schema: pa.Schema) -> ZSet:
    """Return the change of an operator whose rows each depend on the rows of one group; groups that did not change cancel.

    Raises what ``child`` raises, and NotFound where no key finds all rows of the groups and they are not kept.
    """
    change = consolidated(child.step(inputs))
    if not len(change.weights):
        return empty(schema)
    after = consolidated(_groups_of(change, inputs, child, keys))
    before = consolidated(summed([after, negated(change)], child.schema))
    if (after.weights < 0).any() or (before.weights < 0).any():
        # What was looked up is not of the version that it was taken for.
        raise NotFound
    return consolidated(summed([evaluate(after), negated(evaluate(before))], schema))


def _groups_of(change: ZSet, inputs: Inputs, child: Operator, keys: Sequence[str]) -> ZSet:
    """Return all new rows of the changed groups, and others: found by their keys, the most selective that may be asked for first."""
    parts: list[ZSet] = []
    left, without = change, list[str]()
    for key in sorted(keys, key=lambda key: -len(pc.unique(change.rows.column(key)))):
        values = one_array(left.rows.column(key))
        if values.null_count == len(values):
            continue
        try:
            found = child.rows(inputs, key, pc.unique(values), is_new=True)
        except NotFound:
            continue
        # Rows with NULL are not found by it; the next key finds them, and must not find the others again.
        parts.append(_with_nulls(found, without))
        left, without = _with_nulls(left, [key]), [*without, key]
        if not len(left.weights):
            return summed(parts, child.schema)
    # Rows that are NULL throughout, or that no key finds.
    return child.every(inputs, is_new=True)


def _with_nulls(zset: ZSet, columns: Sequence[str]) -> ZSet:
    """Return the rows that have NULL in all of the columns."""
    for column in columns:
        zset = filtered(zset, one_array(zset.rows.column(column)).is_null().to_numpy(zero_copy_only=False))
    return zset
