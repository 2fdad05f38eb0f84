"""Sides of conditions, compiled: what they are for one key, how they grow with it, and from which key on they pass a threshold.

A side is shared by all partitions; what it is made of, the states of the inner aggregates, is given by whoever asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from imp_driver.dataflow.nested.description import Comparison, Inner, Measure
from imp_driver.dataflow.nested.inner_sums import Quotient, Sorted, State, Total, threshold
from imp_driver.dataflow.nested.key_ranges import EVERYTHING, NOTHING, KeyRange, after, before
from imp_driver.dataflow.nested.keys import Key
from imp_driver.dataflow.nested.sorted_sums import SortedSums

States: TypeAlias = Sequence[State]


class Window(Protocol):
    """Which rows of a correlated aggregate count: what ``conditions.Compiled`` says of a condition within it."""

    def range(self, states: States, candidates: SortedSums) -> KeyRange | None:
        """Return the keys that pass; None where they are no range."""

    @property
    def needs_outermost(self) -> bool:
        """Whether the outermost row decides too."""


@dataclass(frozen=True, slots=True)
class Multiple:
    """What multiplies a side, apart since fractions are slow to read, and how the side treats NULL."""

    numerator: int
    denominator: int
    is_zero_when_empty: bool = False

    @classmethod
    def of(cls, inner: Inner) -> Multiple:
        factor = Fraction(inner.factor)
        return cls(factor.numerator, factor.denominator, inner.is_zero_when_empty)

    def quotient(self, measure: Measure, total: Any, count: int) -> Quotient | None:
        """Return an aggregate of values with this sum and number; None for NULL."""
        if measure is Measure.SUM:
            if count:
                return self.numerator * total, self.denominator
        elif measure is Measure.COUNT:
            return self.numerator * count, self.denominator
        elif count:
            return self.numerator * total, self.denominator * count
        return (0, 1) if self.is_zero_when_empty else None


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same for all rows (of a partition): a constant, or an aggregate without a correlation."""

    constant: Quotient | None
    measure: Measure = Measure.SUM
    multiple: Multiple = Multiple(1, 1)
    place: int = -1
    direction: int = 0

    def value(self, states: States) -> Quotient | None:
        """Return the value; None for NULL."""
        if self.place < 0:
            return self.constant
        state = states[self.place]
        assert isinstance(state, Total)
        if self.measure is Measure.SUM and state.count:
            return self.multiple.numerator * state.sum, self.multiple.denominator
        return self.multiple.quotient(self.measure, state.sum, state.count)

    def at(self, states: States, key: Key | None) -> Quotient | None:
        """Return the value for a key, which may be NULL."""
        return self.value(states)


@dataclass(frozen=True, slots=True)
class OfKey:
    """A multiple of the key."""

    factor: Fraction

    @property
    def direction(self) -> int:
        """1 where it grows with the key, -1 where it falls, 0 where it stays."""
        return (self.factor > 0) - (self.factor < 0)

    def at(self, states: States, key: Key | None) -> Quotient | None:
        """Return the value for a key, which may be NULL."""
        return None if key is None else (self.factor.numerator * key, self.factor.denominator)


@dataclass(frozen=True, slots=True)
class Correlated:
    """An aggregate over the rows up to the key, or from it on.

    Attributes:
        is_growing: it has more rows the greater the key is.
        column: of the state's sums, the one that is compared.
        is_open: rows with the key itself are not in it.
        may_be_monotone: it grows or falls with the key while it adds nothing negative.
    """

    measure: Measure
    multiple: Multiple
    place: int
    is_growing: bool
    is_open: bool
    column: int
    window: Window | None
    is_outermost: bool
    may_be_monotone: bool

    @classmethod
    def of(cls, inner: Inner, place: int, window: Window | None) -> Correlated:
        """Compile an aggregate that has a correlation, not by equality."""
        assert inner.correlation is not None
        comparison = inner.correlation.comparison
        return cls(
            inner.measure,
            Multiple.of(inner),
            place,
            is_growing=comparison in (Comparison.LESS, Comparison.AT_MOST),
            is_open=comparison in (Comparison.LESS, Comparison.GREATER),
            column=Sorted.COUNT if inner.measure is Measure.COUNT else Sorted.SUM,
            window=window,
            is_outermost=inner.correlation.is_outermost,
            may_be_monotone=inner.measure is not Measure.AVERAGE and inner.factor != 0,
        )

    @property
    def direction(self) -> int:
        """1 where it grows with the key, -1 where it falls, provided that nothing it adds is negative."""
        sign = (self.multiple.numerator > 0) - (self.multiple.numerator < 0)
        return sign if self.is_growing else -sign

    @property
    def is_never_null(self) -> bool:
        return self.multiple.is_zero_when_empty or self.measure is Measure.COUNT

    def sums(self, states: States) -> SortedSums:
        state = states[self.place]
        assert isinstance(state, Sorted)
        return state.sums

    def is_monotone(self, states: States) -> bool:
        """Say whether it grows or falls with the key."""
        negatives = self.sums(states).negatives
        return self.may_be_monotone and not negatives[Sorted.COUNT] and not negatives[self.column]

    def within(self, states: States) -> KeyRange | None:
        """Return the keys of the rows that count; None where they are no range."""
        if self.window is None:
            return EVERYTHING
        return None if self.window.needs_outermost else self.window.range(states, self.sums(states))

    def at(self, states: States, key: Key | None) -> Quotient | None:
        """Return the value for a key, which may be NULL. The rows that count must be a range."""
        count, total = 0, 0
        if key is not None:
            window = self.within(states)
            assert window is not None
            part = window.meeting(self._part(key))
            if not part.is_nothing:
                total, count = self.sums(states).between(part.low, part.high)
        return self.multiple.quotient(self.measure, total, count)

    def _part(self, key: Key) -> KeyRange:
        if self.is_growing:
            return before((key, 0 if self.is_open else 1))
        return after((key, 1 if self.is_open else 0))

    def not_null(self, states: States, window: KeyRange) -> KeyRange:
        """Return the keys for which it is not NULL."""
        if self.is_never_null:
            return EVERYTHING
        sums = self.sums(states)
        if window is EVERYTHING:
            # Each key that is there has a row.
            if self.is_growing:
                return NOTHING if (key := sums.first()) is None else KeyRange((key, 1 if self.is_open else 0), None)
            return NOTHING if (key := sums.last()) is None else KeyRange(None, (key, 0 if self.is_open else 1))
        return self._passing(sums, Sorted.COUNT, 0, is_strict=True, window=window)

    def compared(self, states: States, comparison: Comparison, limit: Quotient, window: KeyRange) -> KeyRange:
        """Return the keys for which it is not NULL and compares with a quotient.

        Args:
            comparison: ``aggregate comparison quotient``, mirrored where the aggregate's multiple is negative.
        """
        sums, column, multiple = self.sums(states), self.column, self.multiple
        numerator, denominator = limit[0] * multiple.denominator, limit[1] * multiple.numerator
        if denominator < 0:
            numerator, denominator = -numerator, -denominator
        is_whole = type(sums.total_of(column)) is int
        if comparison is Comparison.GREATER or comparison is Comparison.AT_MOST:
            limit_above = threshold(numerator, denominator, is_whole=is_whole, is_strict=True)
            above = self._passing(sums, column, limit_above, is_strict=True, window=window)
            if comparison is Comparison.AT_MOST:
                return _others(above).meeting(self.not_null(states, window))
            # What is above 0 or more is a sum of something.
            return above if numerator >= 0 else above.meeting(self.not_null(states, window))
        least = threshold(numerator, denominator, is_whole=is_whole, is_strict=False)
        found = self._passing(sums, column, least, is_strict=False, window=window)
        if comparison is Comparison.AT_LEAST and numerator > 0:
            return found
        if comparison is Comparison.LESS:
            found = _others(found)
        elif comparison is Comparison.EQUAL:
            limit_above = threshold(numerator, denominator, is_whole=is_whole, is_strict=True)
            found = found.meeting(_others(self._passing(sums, column, limit_above, is_strict=True, window=window)))
        return found.meeting(self.not_null(states, window))

    def _passing(self, sums: SortedSums, column: int, limit: Any, *, is_strict: bool, window: KeyRange) -> KeyRange:
        """Return the keys for which a sum is above a limit or, where not ``is_strict``, at it: a descent."""
        if limit < 0 or (limit == 0 and not is_strict):
            return EVERYTHING
        base, whole = 0, sums.total_of(column)
        if window is not EVERYTHING:
            if window.is_nothing:
                return NOTHING
            base = base if window.low is None else sums.before_in(column, window.low)
            whole = whole if window.high is None else sums.before_in(column, window.high)
        if whole - base < limit or (is_strict and whole - base == limit):
            return NOTHING
        if self.is_growing:
            return KeyRange((sums.first_passing(column, base + limit, is_strict=is_strict), 1 if self.is_open else 0), None)
        # The sum from a key on passes while that before the key does not: up to the first key with which it does.
        return KeyRange(None, (sums.first_passing(column, whole - limit, is_strict=not is_strict), 0 if self.is_open else 1))


CompiledSide: TypeAlias = Fixed | OfKey | Correlated


def of_key(comparison: Comparison, limit: Quotient, factor: Fraction, *, are_whole: bool) -> KeyRange:
    """Return the keys for which ``key times factor`` compares with a quotient."""
    if not factor:
        return EVERYTHING if comparison.holds(0, limit[0]) else NOTHING
    if factor < 0:
        comparison = comparison.mirrored
    quotient = Fraction(limit[0]) / limit[1] / factor
    if quotient.denominator == 1:
        low, high = (quotient.numerator, 0), (quotient.numerator, 1)
    elif are_whole:
        low = high = (quotient.numerator // quotient.denominator, 1)
    else:
        low, high = (quotient, 0), (quotient, 1)
    match comparison:
        case Comparison.LESS:
            return before(low)
        case Comparison.AT_MOST:
            return before(high)
        case Comparison.GREATER:
            return after(high)
        case Comparison.AT_LEAST:
            return after(low)
        case Comparison.EQUAL:
            return NOTHING if low == high else KeyRange(low, high)
        case Comparison.UNEQUAL:
            raise ValueError("the keys that differ from one are two ranges")


def _others(keys: KeyRange) -> KeyRange:
    """Return the keys that are not in a range with an end."""
    if keys is EVERYTHING:
        return NOTHING
    if keys.is_nothing:
        return EVERYTHING
    return before(keys.low) if keys.high is None else after(keys.high)
