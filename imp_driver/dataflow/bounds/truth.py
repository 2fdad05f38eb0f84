"""What a condition may evaluate to, per group, in SQL's three-valued logic.

In: Intervals. Out: Truth. Invariant: the outcome that Spark computes is among the possible ones; where a possibility is ruled out, it is
ruled out for every value inside the intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from imp_driver.dataflow.bounds.interval import Family, Interval, aligned, comparable
from imp_driver.values.codes import BooleanArray
from imp_driver.values.expressions import MIRRORED


@dataclass(frozen=True, slots=True)
class Truth:
    """Possible outcomes; arrays of one length, or of one entry that broadcasts."""

    may_be_true: BooleanArray
    may_be_false: BooleanArray
    may_be_null: BooleanArray

    @property
    def must_be_true(self) -> BooleanArray:
        return self.may_be_true & ~self.may_be_false & ~self.may_be_null

    def broadcast(self, size: int) -> Truth:
        """Return arrays of ``size`` entries."""
        parts = (self.may_be_true, self.may_be_false, self.may_be_null)
        return Truth(*(np.broadcast_to(part, (size,)) for part in parts))

    def as_interval(self) -> Interval:
        """Return the outcome as a BOOLEAN value (0 or 1)."""
        lower = np.where(self.may_be_false, 0.0, 1.0)
        upper = np.where(self.may_be_true, 1.0, 0.0)
        return Interval(Family.BOOLEAN, lower, upper, self.may_be_null, self.may_be_true | self.may_be_false)


def anything() -> Truth:
    """Return a truth of which nothing is known."""
    possible = np.ones(1, dtype=bool)
    return Truth(possible, possible, possible)


def truth_of(interval: Interval) -> Truth:
    """Return a value used as a condition: known for booleans and NULL, anything else is refused or cast by Spark."""
    if interval.family is Family.NULL:
        return Truth(interval.may_be_value, interval.may_be_value, interval.may_be_null)
    if interval.family is not Family.BOOLEAN:
        return anything()
    value = interval.may_be_value
    return Truth(value & (interval.upper == 1), value & (interval.lower == 0), interval.may_be_null)


def conjunction(operands: Sequence[Truth]) -> Truth:
    """AND: NULL needs a NULL operand and no false one."""
    no_false = _all([operand.may_be_true | operand.may_be_null for operand in operands])
    return Truth(
        _all([operand.may_be_true for operand in operands]),
        _any([operand.may_be_false for operand in operands]),
        no_false & _any([operand.may_be_null for operand in operands]),
    )


def disjunction(operands: Sequence[Truth]) -> Truth:
    """OR, by De Morgan."""
    return negation(conjunction([negation(operand) for operand in operands]))


def negation(operand: Truth) -> Truth:
    return Truth(operand.may_be_false, operand.may_be_true, operand.may_be_null)


def is_null(operand: Interval) -> Truth:
    return Truth(operand.may_be_null, operand.may_be_value, np.zeros(1, dtype=bool))


def compare(operator: str, left: Interval, right: Interval) -> Truth:
    """Compare by one of ``= <> < <= > >= <=>``; anything is possible where Spark would cast. Raises ValueError for another operator."""
    if operator == "<>":
        return negation(compare("=", left, right))
    if operator in (">", ">="):
        return compare(MIRRORED[operator], right, left)
    if operator not in ("=", "<", "<=", "<=>"):
        raise ValueError(f"comparison operator must be one of = <> < <= > >= <=>, not {operator!r}")
    no_value = left.family is Family.NULL or right.family is Family.NULL
    both = left.may_be_value & right.may_be_value
    if not no_value and not comparable(left, right):
        # A cast may make NULL of a value, but never a value of NULL.
        return anything() if operator == "<=>" else Truth(both, both, np.ones(1, dtype=bool))
    if no_value:
        may_hold = may_fail = both
    else:
        if left.family is Family.NUMBER:
            left, right, _ = aligned(left, right)
        may_hold, may_fail = (both & outcome for outcome in _outcomes(operator, left, right))
    if operator == "<=>":
        one_null = (left.may_be_null & right.may_be_value) | (left.may_be_value & right.may_be_null)
        return Truth(may_hold | (left.may_be_null & right.may_be_null), may_fail | one_null, np.zeros(1, dtype=bool))
    return Truth(may_hold, may_fail, left.may_be_null | right.may_be_null)


def _outcomes(operator: str, left: Interval, right: Interval) -> tuple[BooleanArray, BooleanArray]:
    """Return (may hold, may fail) for two values."""
    if operator == "<":
        return less(left.lower, right.upper), ~less(left.upper, right.lower)
    if operator == "<=":
        return ~less(right.upper, left.lower), less(right.lower, left.upper)
    overlap = ~less(left.upper, right.lower) & ~less(right.upper, left.lower)
    return overlap, less(left.lower, right.upper) | less(right.lower, left.upper)


def less(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> BooleanArray:
    """Spark's ``<``: NaN is above every number and not below itself."""
    result: BooleanArray = np.asarray(left < right, dtype=bool)
    if left.dtype != object:
        result = result | (np.isnan(right) & ~np.isnan(left))
    return result


def _all(parts: Sequence[BooleanArray]) -> BooleanArray:
    result = np.ones(1, dtype=bool)
    for part in parts:
        result = result & part
    return result


def _any(parts: Sequence[BooleanArray]) -> BooleanArray:
    result = np.zeros(1, dtype=bool)
    for part in parts:
        result = result | part
    return result
