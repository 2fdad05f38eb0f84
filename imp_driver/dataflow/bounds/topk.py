"""Top-k above groups: ORDER BY ... LIMIT k (IMP paper section 5.2.6).

In: what the condition may be for each group, the order, k. Out: the groups to keep, a superset of the first k in whatever order Spark's own
values put them. Invariant: a group is dropped only if k groups that certainly pass are certainly strictly ahead of it.

Also here: whether the first k are the same groups whatever Spark does with ties (sketch-safety rules 1.6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from imp_driver.dataflow.bounds.condition import value
from imp_driver.dataflow.bounds.interval import Family, Interval
from imp_driver.dataflow.bounds.truth import Truth
from imp_driver.values.aggregates import OrderKey
from imp_driver.values.codes import BooleanArray, IntegerArray, float_codes

_FIRST, _LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


class OrderedGroups(Protocol):
    """Groups that an order can be evaluated over."""

    @property
    def alive(self) -> BooleanArray: ...

    def key_interval(self, index: int) -> Interval: ...

    def aggregate_interval(self, index: int) -> Interval: ...


@dataclass(frozen=True, slots=True)
class _Positions:
    """Earliest and latest place of each candidate under one order key."""

    best: IntegerArray
    worst: IntegerArray

    @property
    def exact(self) -> bool:
        return bool(np.array_equal(self.best, self.worst))


def retain_top(state: OrderedGroups, truth: Truth, order: Sequence[OrderKey], limit: int) -> BooleanArray:
    """Return the mask of groups to keep for the first ``limit`` (offset included) of those that pass; ties with the last one stay."""
    alive = state.alive
    possible = truth.broadcast(len(alive))
    candidates = alive & possible.may_be_true
    if limit <= 0:
        return np.zeros(len(alive), dtype=bool)
    chosen = np.flatnonzero(candidates)
    if len(chosen) <= limit or not order:
        return candidates
    certain = possible.must_be_true[chosen]
    first = _positions(order[0], state, len(alive), chosen)
    kept = ~_certainly_behind(first, certain, limit)
    if certain.all():
        keys = [first] + [_positions(key, state, len(alive), chosen) for key in order[1:]]
        if all(key.exact for key in keys):
            kept = _first_with_ties([key.best for key in keys], limit)
    result = np.zeros(len(alive), dtype=bool)
    result[chosen[kept]] = True
    return result


def undecided_boundary(state: OrderedGroups, truth: Truth, order: Sequence[OrderKey], boundaries: Sequence[int]) -> int | None:
    """Return the first of ``boundaries`` b for which the first b groups of those that pass may not be the same in every run; None without.

    They are when there are no more than b, or when b groups that certainly pass are each certainly strictly before all others.
    """
    size = len(state.alive)
    possible = truth.broadcast(size)
    chosen = np.flatnonzero(state.alive & possible.may_be_true)
    inner = [boundary for boundary in boundaries if 0 < boundary < len(chosen)]
    if not inner or not order:
        return inner[0] if inner else None
    keys = [_positions(key, state, size, chosen) for key in order]
    latest = np.lexsort([key.worst for key in reversed(keys)])
    certain = possible.must_be_true[chosen]
    for boundary in inner:
        first, rest = latest[:boundary], latest[boundary:]
        earliest = rest[np.lexsort([key.best[rest] for key in reversed(keys)])[0]]
        last = tuple(int(key.worst[first[-1]]) for key in keys)
        following = tuple(int(key.best[earliest]) for key in keys)
        if not (certain[first].all() and last < following):
            return boundary
    return None


def _certainly_behind(positions: _Positions, certain: BooleanArray, limit: int) -> BooleanArray:
    latest = positions.worst[certain]
    if len(latest) < limit:
        return np.zeros(len(certain), dtype=bool)
    behind: BooleanArray = positions.best > np.partition(latest, limit - 1)[limit - 1]
    return behind


def _first_with_ties(keys: Sequence[IntegerArray], limit: int) -> BooleanArray:
    order = np.lexsort(tuple(reversed(keys)))
    last = order[limit - 1]
    kept = np.zeros(len(order), dtype=bool)
    kept[order[:limit]] = True
    ties = np.ones(len(order), dtype=bool)
    for key in keys:
        ties &= key == key[last]
    return kept | ties


def _positions(key: OrderKey, state: OrderedGroups, size: int, chosen: IntegerArray) -> _Positions:
    interval = value(key.expression, state)
    lower, upper = _ranks(interval, size, chosen)
    if key.descending:
        lower, upper = ~upper, ~lower
    may_be_value = np.broadcast_to(interval.may_be_value, (size,))[chosen]
    may_be_null = np.broadcast_to(interval.may_be_null, (size,))[chosen]
    null_place = _FIRST if key.nulls_first else _LAST
    best = np.where(may_be_value, lower, null_place)
    worst = np.where(may_be_value, upper, null_place)
    best = np.where(may_be_null, np.minimum(best, null_place), best)
    worst = np.where(may_be_null, np.maximum(worst, null_place), worst)
    return _Positions(best, worst)


def _ranks(interval: Interval, size: int, chosen: IntegerArray) -> tuple[IntegerArray, IntegerArray]:
    """Return the bounds of the chosen groups as integers in their order, strictly between the two places of NULL."""
    lower = np.broadcast_to(interval.lower, (size,))[chosen]
    upper = np.broadcast_to(interval.upper, (size,))[chosen]
    if interval.family is Family.STRING:
        _, inverse = np.unique(np.concatenate((lower, upper)), return_inverse=True)
        return inverse[: len(chosen)].astype(np.int64), inverse[len(chosen) :].astype(np.int64)
    return float_codes(np.ascontiguousarray(lower)), float_codes(np.ascontiguousarray(upper))
