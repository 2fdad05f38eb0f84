"""Conditions between a question and inner groups -> the run of groups, in an order, that each question is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.columns import value_of
from imp_driver.answer.rounding import rounded_in
from imp_driver.dataflow.aggregate.framed import Runs
from imp_driver.dataflow.ranks import NULL, ranks, together
from imp_driver.plan.attributes import identifiers
from imp_driver.values.codes import BooleanArray, IntegerArray
from imp_driver.values.widening import common_type

_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {exp.EQ: exp.EQ, exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE}
"""The comparisons that runs are made of, and what each is with its sides exchanged."""
_MOST_KEYS = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class _Comparison:
    """``inner kind outer``; ranks of both sides together, NULL below all."""

    kind: type[exp.Expr]
    inner: IntegerArray
    outer: IntegerArray

    def turned(self) -> _Comparison:
        """Return the same by ranks that fall where these rise."""
        most = max(int(self.inner.max(initial=0)), int(self.outer.max(initial=0)))
        inner, outer = (np.where(each == NULL, NULL, most - each) for each in (self.inner, self.outer))
        return _Comparison(_MIRRORED[self.kind], inner, outer)


@dataclass(frozen=True, slots=True, eq=False)
class OrderedRuns:
    """``places`` are those of the inner groups in an order, without such as no question can be about."""

    places: IntegerArray
    runs: Runs


def ordered_runs(conjuncts: Sequence[exp.Expr], rows: pa.Table, questions: pa.Table, is_asked: BooleanArray) -> OrderedRuns | None:
    """Return the runs of rows for which all conditions are TRUE; None where they are no runs in any order known here.

    Args:
        is_asked: which questions are about any rows at all.

    Raises NotEvaluable.
    """
    compared = [_comparison(each, rows, questions) for each in conjuncts]
    found = [each for each in compared if each is not None]
    if len(found) < len(compared):
        return None
    is_there = np.ones(rows.num_rows, dtype=bool)
    for each in found:
        is_there &= each.inner != NULL
        is_asked = is_asked & (each.outer != NULL)
    equal = [each for each in found if each.kind is exp.EQ]
    others = [each for each in found if each.kind is not exp.EQ]
    inner, outer = _partitions(equal, rows.num_rows, questions.num_rows)
    places = np.flatnonzero(is_there)
    places = places[np.lexsort([*(each.inner[places] for each in others[::-1]), inner[places]])]
    own = inner[places]
    ordered = [_rising(each, own, places) for each in others]
    if None in ordered:
        return None
    return OrderedRuns(places, _runs([each for each in ordered if each is not None], own, outer, places, is_asked))


def _comparison(conjunct: exp.Expr, rows: pa.Table, questions: pa.Table) -> _Comparison | None:
    node = conjunct.unnest()
    if type(node) not in _MIRRORED:
        return None
    kind, inner, outer = type(node), node.this, node.expression
    if not identifiers(inner) <= set(rows.column_names) or not identifiers(inner):
        kind, inner, outer = _MIRRORED[kind], outer, inner
    is_apart = identifiers(inner) <= set(rows.column_names) and identifiers(outer) <= set(questions.column_names)
    is_rounded = bool(identifiers(inner) & rounded_in(rows) or identifiers(outer) & rounded_in(questions))
    if not is_apart or is_rounded:
        return None
    values = value_of(rows, inner), value_of(questions, outer)
    # Values of other kinds are compared as Spark casts them: that is for the condition itself to decide, on every pair.
    common = common_type([each.type for each in values])
    if common is None or (pa.types.is_floating(common) and values[0].type != values[1].type):
        return None
    both = ranks(pa.concat_arrays([each.cast(common) for each in values]))
    return _Comparison(kind, both[: rows.num_rows], both[rows.num_rows :])


def _partitions(equal: Sequence[_Comparison], rows: int, questions: int) -> tuple[IntegerArray, IntegerArray]:
    """Return the numbers of what rows and questions are equal by."""
    numbers = np.zeros(rows + questions, dtype=np.int64)
    for each in equal:
        numbers = together(numbers, np.concatenate((each.inner, each.outer)))
    numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
    return numbers[:rows], numbers[rows:]


def _rising(each: _Comparison, partitions: IntegerArray, places: IntegerArray) -> _Comparison | None:
    """Return a comparison by ranks that nowhere fall within a partition; None where they do both."""
    steps = np.diff(each.inner[places])[partitions[1:] == partitions[:-1]]
    if np.all(steps >= 0):
        return each
    return each.turned() if np.all(steps <= 0) else None


def _runs(
    ordered: Sequence[_Comparison], partitions: IntegerArray, asked: IntegerArray, places: IntegerArray, is_asked: BooleanArray
) -> Runs:
    start, end = (np.searchsorted(partitions, asked, side=side).astype(np.int64) for side in ("left", "right"))
    for each in ordered:
        many = max(int(each.inner.max(initial=0)), int(each.outer.max(initial=0))) + 1
        keys, wanted = partitions * many + each.inner[places], asked * many + np.maximum(each.outer, 0)
        if each.kind in (exp.LT, exp.LTE):
            end = np.minimum(end, np.searchsorted(keys, wanted, side="left" if each.kind is exp.LT else "right"))
        else:
            start = np.maximum(start, np.searchsorted(keys, wanted, side="right" if each.kind is exp.GT else "left"))
    first, last = (np.searchsorted(partitions, partitions, side=side).astype(np.int64) for side in ("left", "right"))
    return Runs(
        start=start,
        end=np.where(is_asked, end, start),
        partition_start=first,
        partition_end=last,
        from_first=all(each.kind in (exp.LT, exp.LTE) for each in ordered),
        to_last=all(each.kind in (exp.GT, exp.GTE) for each in ordered),
    )
