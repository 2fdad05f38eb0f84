"""Values and truths of the solver's encoding: each value with a flag for NULL, each truth with one for true and one for false.

Source: sketch-reuse rules 2.4. z3 comes without types, so what belongs to it is Any here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from imp_driver.reuse.constants import Constant
from imp_driver.reuse.types import Family, ValueType, integer_range


@dataclass(frozen=True, slots=True)
class Term:
    """A value. ``kind`` is None when nothing but its identity is known."""

    value: Any
    null: Any
    kind: ValueType | None


@dataclass(frozen=True, slots=True)
class Truth:
    """Neither true nor false is unknown."""

    true: Any
    false: Any


_REAL = (Family.DECIMAL, Family.DOUBLE)
ORDERED = (*_REAL, Family.INTEGER, Family.DATE, Family.TIMESTAMP, Family.TIMESTAMP_NTZ)
"""Types whose order the encoding keeps. A double stands for its place in the order only: NaN is some number above all constants."""

_SAME_ORDER = (Family.DATE, Family.TIMESTAMP, Family.TIMESTAMP_NTZ)


@dataclass(frozen=True, slots=True)
class Algebra:
    """Makes formulas of one context. ``codes`` numbers the strings that occur; ``checks_overflow`` is ANSI mode."""

    engine: Any
    context: Any
    codes: dict[bytes, int]
    checks_overflow: bool

    def truth(self, value: bool) -> Any:
        return self.engine.BoolVal(value, self.context)

    def every(self, parts: Sequence[Any]) -> Any:
        return self.engine.And(self.truth(True), *parts)

    def some(self, parts: Sequence[Any]) -> Any:
        return self.engine.Or(self.truth(False), *parts)

    def no(self, part: Any) -> Any:
        return self.engine.Not(part)

    def number(self, value: Fraction) -> Any:
        if value.denominator == 1:
            return self.engine.IntVal(value.numerator, self.context)
        return self.engine.RealVal(f"{value.numerator}/{value.denominator}", self.context)

    def sort(self, kind: ValueType | None) -> Any:
        """Return the sort of values of a type; strings and unknown types are numbered."""
        if kind is not None and kind.family is Family.BOOLEAN:
            return self.engine.BoolSort(self.context)
        return self.engine.RealSort(self.context) if kind is not None and kind.family in _REAL else self.engine.IntSort(self.context)

    def attribute(self, name: str, kind: ValueType | None) -> Term:
        null = self.engine.Bool(f"{name} is null", self.context)
        return Term(self.engine.Const(name, self.sort(kind)), null, kind)

    def in_range(self, value: Any, kind: ValueType) -> Any:
        low, high = integer_range(kind)
        return self.every([value >= low, value <= high])

    def at_most(self, one: Term, other: Term) -> Any:
        """Say that a value is at most another; NULL is below everything."""
        ordered = one.kind is not None and one.kind.family in ORDERED
        return self.some([one.null, self.every([self.no(other.null), *([one.value <= other.value] if ordered else [])])])

    def at_least(self, one: Term, other: Term) -> Any:
        """Say that a value is at least another; NULL is above everything."""
        ordered = one.kind is not None and one.kind.family in ORDERED
        return self.some([one.null, self.every([self.no(other.null), *([one.value >= other.value] if ordered else [])])])

    def place(self, constant: Constant, kind: ValueType) -> Any | None:
        """Return a constant as a value of a type; None for one whose place is not known exactly."""
        if not constant.is_exact:
            return None
        if isinstance(constant.low, bytes):
            return self.number(Fraction(self.codes.setdefault(constant.low, len(self.codes))))
        return self.truth(constant.low == 1) if kind.family is Family.BOOLEAN else self.number(constant.low)

    def are_comparable(self, one: Term, other: Term, is_equality: bool) -> bool:
        """Say whether Spark compares two values by what the encoding knows of them, exactly."""
        if one.kind is None or other.kind is None:
            return False
        if one.kind.is_exact_number and other.kind.is_exact_number:
            return self.common(one.kind, other.kind) is not None
        same = one.kind.family is other.kind.family
        return same and (one.kind.family in _SAME_ORDER or (is_equality and one.kind.family in (Family.STRING, Family.BOOLEAN)))

    @staticmethod
    def common(one: ValueType, other: ValueType) -> ValueType | None:
        """Return the type in which two values meet unchanged."""
        if one.family is Family.INTEGER and other.family is Family.INTEGER:
            return one if one.bits >= other.bits else other
        if one.is_exact_number and other.is_exact_number:
            both = ValueType(Family.DECIMAL, max(one.whole, other.whole), max(one.scale, other.scale))
            return both if both.fits else None
        return one if one == other else None
