"""Conditions, compiled: for which keys they hold, as a range where descents find one, else as a mask over given keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from imp_driver.dataflow.nested import masks
from imp_driver.dataflow.nested.description import Comparison, Condition, Constant, Inner, KeyMultiple, Selection, Side, Value
from imp_driver.dataflow.nested.inner_sums import Quotient
from imp_driver.dataflow.nested.key_ranges import EVERYTHING, NOTHING, KeyRange, after, before
from imp_driver.dataflow.nested.keys import Key
from imp_driver.dataflow.nested.sides import CompiledSide, Correlated, Fixed, Multiple, OfKey, States, of_key
from imp_driver.dataflow.nested.sorted_sums import SortedSums
from imp_driver.dataflow.nested.vectors import Column

_GROWING = (Comparison.LESS, Comparison.AT_MOST)


@dataclass(slots=True)
class Whole:
    """Whether all keys that ever came are whole numbers, which a bound that is none can then be rounded for."""

    are_whole: bool = True


@dataclass(frozen=True, slots=True)
class Compiled:
    """A condition whose sides are compiled; a fixed side is never on the right of another.

    Attributes:
        turned: the comparison as the right side sees it, where its multiple is positive.
        needs_outermost: a side is of the outermost key, so there is no range for all of them.
        needs_candidates: a range is found among the keys that are there, by bisection, and not by descents alone.
    """

    left: CompiledSide
    comparison: Comparison
    right: CompiledSide
    turned: Comparison
    keys: Whole
    needs_outermost: bool
    needs_candidates: bool

    def range(self, states: States, candidates: SortedSums) -> KeyRange | None:
        """Return the keys for which it holds; None where they are no range, or none that descents find."""
        left, right, is_unequal = self.left, self.right, self.comparison is Comparison.UNEQUAL
        if not isinstance(left, Fixed):
            return None if is_unequal else self._bisected(states, candidates)
        value = left.value(states)
        if value is None:
            return NOTHING
        if isinstance(right, Fixed):
            other = right.value(states)
            return EVERYTHING if other is not None and _holds(self.comparison, value, other) else NOTHING
        if is_unequal:
            return self._unequal(states, value, right)
        if isinstance(right, OfKey):
            return of_key(self.turned, value, right.factor, are_whole=self.keys.are_whole)
        if not right.is_monotone(states):
            return None
        window = EVERYTHING if right.window is None else right.within(states)
        return None if window is None else right.compared(states, self.turned, value, window)

    def _unequal(self, states: States, value: Quotient, right: OfKey | Correlated) -> KeyRange | None:
        """Return the keys for which a side differs from a value: those that compare but the run of equal ones, mostly none or at an end."""
        if isinstance(right, OfKey):
            return EVERYTHING.without(of_key(Comparison.EQUAL, value, right.factor, are_whole=self.keys.are_whole))
        window = right.within(states) if right.is_monotone(states) else None
        if window is None:
            return None
        return right.not_null(states, window).without(right.compared(states, Comparison.EQUAL, value, window))

    def _bisected(self, states: States, candidates: SortedSums) -> KeyRange | None:
        """Find the key at which sides that grow against each other pass each other."""
        left, right = self.left, self.right
        assert not isinstance(left, Fixed)
        assert not isinstance(right, Fixed)
        nulls = EVERYTHING
        for side in (left, right):
            if isinstance(side, Correlated):
                window = side.within(states) if side.is_monotone(states) else None
                if window is None:
                    return None
                nulls = nulls.meeting(side.not_null(states, window))
        grows = left.direction <= 0 <= right.direction
        if self.comparison is Comparison.EQUAL or not (grows or left.direction >= 0 >= right.direction):
            return None
        is_up = grows == (self.comparison in _GROWING)

        def holds(key: Key) -> bool:
            return _holds(self.comparison, left.at(states, key) or (0, 1), right.at(states, key) or (0, 1)) is is_up

        first = candidates.first_where(holds)
        if first is None:
            return NOTHING if is_up else nulls
        return nulls.meeting(after((first, 0)) if is_up else before((first, 0)))

    def holds_for_null(self, states: States) -> bool:
        """Say whether it holds for rows whose key is NULL."""
        left, right = self.left.at(states, None), self.right.at(states, None)
        return left is not None and right is not None and _holds(self.comparison, left, right)

    def mask(self, states: States, keys: Column, outermost: Key | None = None) -> masks.Mask:
        """Say for ascending keys whether it holds, by vectors; sides of the outermost key are taken at ``outermost``."""
        sides = [masks.values(side, states, keys, outermost) for side in (self.left, self.right)]
        return masks.compared(self.comparison, sides[0], sides[1], len(keys))


def _holds(comparison: Comparison, one: Quotient, other: Quotient) -> bool:
    return bool(comparison.holds(one[0] * other[1], other[0] * one[1]))


@dataclass(frozen=True, slots=True)
class Program:
    """The conditions of a selection, with the inner aggregates that they read, each once.

    Attributes:
        inners: states are numbered as these; each stands for all that read the same of the same rows.
    """

    inners: tuple[Inner, ...]
    conditions: tuple[Compiled, ...]
    keys: Whole


def compiled(selection: Selection) -> Program:
    """Compile the conditions of a selection.

    Raises:
        ValueError: what is described makes no sense; the message says what.
    """
    inners: list[Inner] = []
    keys = Whole()
    conditions = tuple(_condition(each, inners, keys, selection.key is not None, is_inner=False) for each in selection.conditions)
    if selection.partition is None and any(inner.partition is not None for inner in inners):
        raise ValueError("an inner aggregate has a partition, and the selection has none")
    return Program(tuple(inners), conditions, keys)


def _condition(condition: Condition, inners: list[Inner], keys: Whole, has_key: bool, *, is_inner: bool) -> Compiled:
    left, right = (_side(side, inners, keys, is_inner) for side in (condition.left, condition.right))
    if not has_key and not (isinstance(left, Fixed) and isinstance(right, Fixed)):
        raise ValueError("a condition asks for the key of rows, and the selection has none")
    needs = any(isinstance(each, Correlated) and each.is_outermost for each in (left, right))
    if needs and not is_inner:
        raise ValueError("the rows around are the outermost ones here")
    comparison = condition.comparison
    if isinstance(right, Fixed) and not isinstance(left, Fixed):
        left, right, comparison = right, left, comparison.mirrored
    turned = comparison.mirrored
    if isinstance(right, Correlated) and right.multiple.numerator < 0:
        turned = turned.mirrored
    return Compiled(left, comparison, right, turned, keys, needs, needs_candidates=not isinstance(left, Fixed))


def _side(side: Side, inners: list[Inner], keys: Whole, is_inner: bool) -> CompiledSide:
    if isinstance(side, Constant):
        return Fixed(None if side.value is None else (side.value.numerator, side.value.denominator))
    if isinstance(side, KeyMultiple):
        return OfKey(Fraction(side.factor))
    place = _place(side, inners)
    if side.correlation is None:
        if side.within is not None:
            raise ValueError("a condition within an aggregate needs a correlation of the aggregate")
        return Fixed(None, side.measure, Multiple.of(side), place)
    if side.correlation.comparison in (Comparison.EQUAL, Comparison.UNEQUAL):
        raise ValueError("an aggregate that is correlated by equality has a partition, and none is correlated by its opposite")
    if is_inner and side.within is not None:
        raise ValueError("conditions within conditions within an aggregate are not followed")
    window = None if side.within is None else _condition(side.within, inners, keys, True, is_inner=True)
    return Correlated.of(side, place, window)


def _place(inner: Inner, inners: list[Inner]) -> int:
    """Return the number of the state of an inner aggregate: one state serves all that read the same of the same rows."""
    read = _read(inner)
    for place, other in enumerate(inners):
        if _read(other) == read:
            return place
    inners.append(inner)
    return len(inners) - 1


def _read(inner: Inner) -> tuple[str, Value | None, Value | None, Value | None]:
    return inner.relation, inner.argument, None if inner.correlation is None else inner.correlation.value, inner.partition


def all_of(conditions: Sequence[Compiled], states: States, candidates: SortedSums) -> KeyRange | None:
    """Return the keys for which all conditions hold; None where they are no range that descents find."""
    if len(conditions) == 1:
        return conditions[0].range(states, candidates)
    found = EVERYTHING
    for condition in conditions:
        keys = condition.range(states, candidates)
        if keys is None:
            return None
        found = found.meeting(keys)
    return found
