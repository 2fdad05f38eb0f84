"""Joins of rows in process: pairs of equal keys, then every condition on the pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from imp_driver.answer.columns import expression_over, value_of
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.evaluate import truth
from imp_driver.dataflow.ranks import NULL, ranks, together
from imp_driver.plan.attributes import identifiers
from imp_driver.plan.nodes import Join, JoinKind, SemiJoin
from imp_driver.values.codes import BooleanArray, IntegerArray
from imp_driver.values.widening import common_type

MOST_PAIRS = 2_000_000
"""Beyond these Spark joins: without an equality each row meets each."""
_MORE = 4
"""Times as many rows as the other side has, from which on those that can have a partner are told first."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Places of the rows that meet."""

    left: IntegerArray
    right: IntegerArray


def joined(plan: Join, left: pa.Table, right: pa.Table) -> pa.Table:
    """Return the rows of a join. Raises NotEvaluable."""
    pairs = _pairs(plan.conjuncts, left, right)
    found = [_side_by_side(left.take(pa.array(pairs.left)), right.take(pa.array(pairs.right)))]
    if plan.kind in (JoinKind.LEFT, JoinKind.FULL):
        alone = left.take(pa.array(_without(left.num_rows, pairs.left)))
        found.append(_side_by_side(alone, _nulls(right.schema, alone.num_rows)))
    if plan.kind is JoinKind.FULL:
        alone = right.take(pa.array(_without(right.num_rows, pairs.right)))
        found.append(_side_by_side(_nulls(left.schema, alone.num_rows), alone))
    return pa.concat_tables(found)


def semijoined(plan: SemiJoin, left: pa.Table, right: pa.Table) -> pa.Table:
    """Return the left rows with a partner, or without one. Raises NotEvaluable."""
    if not plan.anti:
        return left.filter(pa.array(_among(left.num_rows, _pairs(plan.conjuncts, left, right).left)))
    if not plan.null_aware:
        return left.take(pa.array(_without(left.num_rows, _pairs(plan.conjuncts, left, right).left)))
    # NOT IN: a pair that may be equal keeps the row out as well.
    pairs = _every_pair(left.num_rows, right.num_rows)
    rows = _side_by_side(left.take(pa.array(pairs.left)), right.take(pa.array(pairs.right)))
    may_be_equal = np.ones(rows.num_rows, dtype=bool)
    for conjunct in plan.conjuncts:
        may_be_equal &= _truth(rows, conjunct).fill_null(True).to_numpy(zero_copy_only=False)
    return left.take(pa.array(_without(left.num_rows, pairs.left[may_be_equal])))


def _without(count: int, places: IntegerArray) -> IntegerArray:
    return np.flatnonzero(~_among(count, places))


def _among(count: int, places: IntegerArray) -> BooleanArray:
    found = np.zeros(count, dtype=np.bool_)
    found[places] = True
    return found


def _nulls(schema: pa.Schema, count: int) -> pa.Table:
    return pa.table([pa.nulls(count, field.type) for field in schema], schema=schema)


def _side_by_side(left: pa.Table, right: pa.Table) -> pa.Table:
    return pa.table([*left.columns, *right.columns], names=[*left.column_names, *right.column_names])


def _truth(rows: pa.Table, condition: exp.Expr) -> pa.Array:
    return truth(rows, expression_over(rows, condition))


def _pairs(conjuncts: Sequence[exp.Expr], left: pa.Table, right: pa.Table) -> Pairs:
    """Return the pairs for which every conjunct is TRUE."""
    equalities = [sides for each in conjuncts if (sides := _sides(each, left, right)) is not None]
    pairs = _equal(equalities) if equalities else _every_pair(left.num_rows, right.num_rows)
    rows = _side_by_side(left.take(pa.array(pairs.left)), right.take(pa.array(pairs.right)))
    passed = np.ones(rows.num_rows, dtype=bool)
    for conjunct in conjuncts:
        passed &= _truth(rows, conjunct).fill_null(False).to_numpy(zero_copy_only=False)
    return Pairs(pairs.left[passed], pairs.right[passed])


def _every_pair(left: int, right: int) -> Pairs:
    if left * right > MOST_PAIRS:
        raise NotEvaluable(f"{left} and {right} rows without an equality to join them by")
    return Pairs(np.repeat(np.arange(left), right), np.tile(np.arange(right), left))


def _sides(conjunct: exp.Expr, left: pa.Table, right: pa.Table) -> tuple[pa.Array, pa.Array] | None:
    """Return what an equality compares, the left rows' first, in one type; None for a condition that is none."""
    inner = conjunct.unnest()
    if not isinstance(inner, exp.EQ):
        return None
    one, other = inner.left, inner.right
    if identifiers(one) <= set(right.column_names) and identifiers(other) <= set(left.column_names):
        one, other = other, one
    if not (identifiers(one) and identifiers(one) <= set(left.column_names)):
        return None
    if not (identifiers(other) and identifiers(other) <= set(right.column_names)):
        return None
    values = value_of(left, one), value_of(right, other)
    # Values of other kinds meet as Spark casts them: that is for the condition itself to decide, on every pair.
    kind = common_type([each.type for each in values])
    if kind is None or (pa.types.is_floating(kind) and values[0].type != values[1].type):
        return None
    return values[0].cast(kind), values[1].cast(kind)


def _equal(equalities: Sequence[tuple[pa.Array, pa.Array]]) -> Pairs:
    """Return the pairs of equal values; NULL equals nothing."""
    left, right = _likely(equalities)
    columns = [(one.take(left), other.take(right)) for one, other in equalities]
    numbers = np.zeros(len(left) + len(right), dtype=np.int64)
    is_null = np.zeros(len(numbers), dtype=bool)
    for one, other in columns:
        own = ranks(pa.concat_arrays([one, other]))
        is_null |= own == NULL
        numbers = together(numbers, own)
    places = np.flatnonzero(~is_null[len(left) :])
    keys = numbers[len(left) :][places]
    order = np.argsort(keys, kind="stable")
    places, keys = places[order], keys[order]
    asked = np.flatnonzero(~is_null[: len(left)])
    begin, end = (np.searchsorted(keys, numbers[asked], side=side) for side in ("left", "right"))
    lengths = end - begin
    if int(lengths.sum()) > MOST_PAIRS:
        raise NotEvaluable("a join of groups with too many pairs")
    starts = np.repeat(begin - (np.cumsum(lengths) - lengths), lengths)
    found = places[starts + np.arange(int(lengths.sum()))]
    return Pairs(left.to_numpy()[np.repeat(asked, lengths)], right.to_numpy()[found])


def _likely(equalities: Sequence[tuple[pa.Array, pa.Array]]) -> tuple[pa.Array, pa.Array]:
    """Return the places of the rows that may have a partner: of many more rows than there are partners, most have none."""
    left, right = (np.ones(len(side), dtype=np.bool_) for side in equalities[0])
    for one, other in equalities:
        if not pa.types.is_floating(one.type) and len(one) > _MORE * len(other):
            left &= _is_in(one, other)
        elif not pa.types.is_floating(one.type) and len(other) > _MORE * len(one):
            right &= _is_in(other, one)
    return pa.array(np.flatnonzero(left)), pa.array(np.flatnonzero(right))


def _is_in(values: pa.Array, others: pa.Array) -> BooleanArray:
    found: BooleanArray = pc.is_in(values, value_set=others.unique(), skip_nulls=True).to_numpy(zero_copy_only=False)
    return found
