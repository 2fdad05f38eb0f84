"""Sides of conditions for many keys at once, by vectors: the general way, which asks nothing of what is compared (algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from imp_driver.dataflow.nested.description import Comparison, Measure
from imp_driver.dataflow.nested.keys import Key
from imp_driver.dataflow.nested.sides import CompiledSide, Correlated, Fixed, OfKey, States
from imp_driver.dataflow.nested.vectors import EXACT, Column, running

Mask: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = npt.NDArray[np.int64]
MOST_PAIRS = 20_000_000
"""Pairs of an outermost key and an inner one up to which a condition on both is looked at for each."""


class TooManyPairsError(Exception):
    """A condition on the outermost row, which does not grow with the inner key, over more than ``MOST_PAIRS`` pairs."""


@dataclass(frozen=True, slots=True)
class Values:
    """Quotients, one for each key or one for all; ``is_null`` says which are NULL."""

    numerators: Any
    denominators: Any
    is_null: Mask | bool


def values(side: CompiledSide, states: States, keys: Column, outermost: Key | None) -> Values:
    """Return a side for each of some ascending keys."""
    if isinstance(side, Fixed):
        value = side.value(states)
        return Values(0, 1, True) if value is None else Values(*value, False)
    if isinstance(side, OfKey):
        return Values(_times(keys, side.factor.numerator), side.factor.denominator, False)
    if side.is_outermost:
        value = side.at(states, outermost)
        return Values(0, 1, True) if value is None else Values(*value, False)
    own, sums, counts = side.sums(states).vectors()
    begins, ends = _parts(side, own, keys)
    if side.window is not None:
        if side.window.needs_outermost:
            return _by_outermost(side, states, keys, (begins, ends))
        counted = _mask_of(side, states, own, None)
        sums, counts = _where(counted, sums), _where(counted, counts)
    return _aggregated(side, running(sums), running(counts), begins, ends)


def _mask_of(side: Correlated, states: States, own: Column, outermost: Key | None) -> Mask:
    window: Any = side.window
    mask: Mask = window.mask(states, own, outermost)
    return mask


def _where(mask: Mask, column: Column) -> Column:
    return (
        np.where(mask, column, 0)
        if column.dtype != object
        else np.array([v if m else 0 for m, v in zip(mask, column, strict=True)], dtype=object)
    )


def _parts(side: Correlated, own: Column, keys: Column) -> tuple[Places, Places]:
    """Return from which of the inner keys to which the aggregate of each key goes."""
    places = _places(own, keys, "left" if side.is_growing == side.is_open else "right")
    if side.is_growing:
        return np.zeros(len(keys), dtype=np.int64), places
    return places, np.full(len(keys), len(own), dtype=np.int64)


def _places(own: Column, keys: Column, side: str) -> Places:
    if own.dtype != keys.dtype:
        own, keys = own.astype(object), keys.astype(object)
    places: Places = np.searchsorted(own, keys, side=side).astype(np.int64)  # type: ignore[call-overload]
    return places


def _aggregated(side: Correlated, sums: Column, counts: Column, begins: Places, ends: Places) -> Values:
    """Return the aggregate over a part for each key, of running sums and counts."""
    multiple, number = side.multiple, counts[ends] - counts[begins]
    if side.measure is Measure.COUNT:
        return Values(_times(number, multiple.numerator), multiple.denominator, False)
    total = _times(sums[ends] - sums[begins], multiple.numerator)
    is_empty = (number == 0).astype(np.bool_)
    is_null: Mask | bool = False if multiple.is_zero_when_empty else is_empty
    if side.measure is Measure.AVERAGE:
        return Values(total, _times(np.where(is_empty, 1, number), multiple.denominator), is_null)
    return Values(total, multiple.denominator, is_null)


def _by_outermost(side: Correlated, states: States, keys: Column, parts: tuple[Places, Places]) -> Values:
    """Return an aggregate whose inner rows pass a condition that the outermost row decides too: a range of them for each key."""
    own, sums, counts = side.sums(states).vectors()
    window = _windows(side, states, own, keys)
    if window is not None:
        begins = np.maximum(parts[0], window[0])
        ends = np.maximum(begins, np.minimum(parts[1], window[1]))
        return _aggregated(side, running(sums), running(counts), begins, ends)
    if len(keys) * len(own) > MOST_PAIRS:
        raise TooManyPairsError(f"{len(keys)} keys and {len(own)} inner ones that are looked at one by one")
    totals, numbers = [], []
    for place, key in enumerate(keys):
        counted = _mask_of(side, states, own, key)
        begin, end = parts[0][place], parts[1][place]
        totals.append(_where(counted, sums)[begin:end].astype(object).sum())
        numbers.append(int(_where(counted, counts)[begin:end].sum()))
    every = np.arange(len(keys))
    return _aggregated(side, _apart(totals), _apart(numbers), 2 * every, 2 * every + 1)


def _apart(sums: list[Any]) -> Column:
    """Return sums as those of parts: each stands between itself and 0."""
    found = np.zeros(2 * len(sums), dtype=object)
    found[1::2] = sums
    return found


def _windows(side: Correlated, states: States, own: Column, keys: Column) -> tuple[Places, Places] | None:
    """Return from which inner key to which the condition holds, for each outermost key; None where they are no such ranges."""
    window: Any = side.window
    sides = (window.left, window.right)
    outer = [isinstance(each, Correlated) and each.is_outermost for each in sides]
    if sum(outer) != 1 or window.comparison in (Comparison.EQUAL, Comparison.UNEQUAL):
        return None
    of_outer, of_own = (sides[0], sides[1]) if outer[0] else (sides[1], sides[0])
    comparison = window.comparison if outer[0] else window.comparison.mirrored
    inner = values(of_own, states, own, None)
    if inner.is_null is not False and np.any(inner.is_null):
        return None
    limits = _unwound(of_outer, states, keys)
    steps = np.broadcast_to(_times(inner.numerators, 1), len(own))
    if isinstance(limits.denominators, np.ndarray) or isinstance(inner.denominators, np.ndarray) or np.any(steps[1:] < steps[:-1]):
        return None
    # ``outer comparison own`` holds from some key on, or up to some key, since own values grow.
    scaled = _times(limits.numerators, inner.denominators)
    mine = _times(steps, limits.denominators)
    is_from = comparison in (Comparison.LESS, Comparison.AT_MOST)
    places = _places(mine, scaled, "right" if comparison in (Comparison.LESS, Comparison.AT_LEAST) else "left")
    whole = np.full(len(keys), len(own), dtype=np.int64)
    begins, ends = (places, whole) if is_from else (np.zeros(len(keys), dtype=np.int64), places)
    none = np.broadcast_to(np.asarray(limits.is_null), len(keys))
    return np.where(none, whole, begins), np.where(none, whole, ends)


def _unwound(side: Correlated, states: States, keys: Column) -> Values:
    """Return a side of the outermost key for each of these keys."""
    own, sums, counts = side.sums(states).vectors()
    return _aggregated(side, running(sums), running(counts), *_parts(side, own, keys))


def _times(column: Any, factor: Any) -> Any:
    """Multiply whole numbers, with Python's where int64 may not hold the product."""
    if isinstance(column, np.ndarray) and column.dtype == np.int64:
        if factor == 1:
            return column
        if float(np.abs(column).max(initial=0)) * abs(factor) >= EXACT:
            return column.astype(object) * factor
    elif isinstance(column, np.ndarray):
        return column * factor
    return column * factor


def compared(comparison: Comparison, left: Values, right: Values, number: int) -> Mask:
    """Compare quotients by their products; what is NULL compares with nothing."""
    one = _crossed(left.numerators, right.denominators)
    other = _crossed(right.numerators, left.denominators)
    holds = np.broadcast_to(np.asarray(comparison.holds(one, other)).astype(np.bool_), number)
    return np.asarray(holds & ~np.broadcast_to(np.asarray(left.is_null) | np.asarray(right.is_null), number))


def _crossed(numerators: Any, denominators: Any) -> Any:
    if not isinstance(denominators, np.ndarray):
        return _scalar_compared(_times(numerators, denominators))
    if not isinstance(numerators, np.ndarray):
        numerators = np.full(len(denominators), numerators, dtype=object)
    bound = _largest(numerators) * _largest(denominators)
    return numerators * denominators if bound < EXACT else numerators.astype(object) * denominators


def _largest(column: Column) -> float:
    return float("inf") if column.dtype == object else float(np.abs(column).max(initial=0))


def _scalar_compared(value: Any) -> Any:
    """Return a number that compares exactly with a vector of int64: NumPy would take a fraction or a large number for a double."""
    if isinstance(value, np.ndarray) or (type(value) is int and abs(value) < EXACT):
        return value
    boxed = np.empty(1, dtype=object)
    boxed[0] = value
    return boxed
