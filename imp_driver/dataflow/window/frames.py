"""Rows in the order of a window, and which of them each row's frame has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.values.codes import BooleanArray, IntegerArray
from imp_driver.values.windows import Frame


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """All rows, those of a partition side by side and in order. Per row, in this order:

    Attributes:
        places: where the row stands among the rows as they are.
        start, end: those of its partition, the end not included; ``number`` of the row in it, from 0.
        peers_start, peers_end: those of the rows that tie with it, itself included.
        is_first, is_peer_first: whether it is the first of its partition, or of the rows that tie.
    """

    places: IntegerArray
    is_first: BooleanArray
    is_peer_first: BooleanArray
    start: IntegerArray
    end: IntegerArray
    peers_start: IntegerArray
    peers_end: IntegerArray

    @classmethod
    def of(cls, parts: IntegerArray, numbers: Sequence[IntegerArray]) -> Ordered:
        """Put rows in order by the numbers of their partitions, then by others, the most significant first."""
        places = np.lexsort([*numbers[::-1], parts])
        is_first = _changes(parts[places])
        is_peer_first = is_first.copy()
        for each in numbers:
            is_peer_first |= _changes(each[places])
        return cls(places, is_first, is_peer_first, *_ends(is_first), *_ends(is_peer_first))

    @property
    def number(self) -> IntegerArray:
        return np.arange(len(self.places)) - self.start

    @property
    def is_total(self) -> bool:
        """Whether no two rows of a partition tie."""
        return bool(self.is_peer_first.all())

    def back(self, values: pa.Array) -> pa.Array:
        """Return values of the rows in order as those of the rows as they are."""
        found = np.empty(len(self.places), dtype=np.int64)
        found[self.places] = np.arange(len(self.places))
        return values.take(pa.array(found))


def _changes(numbers: IntegerArray) -> BooleanArray:
    found = np.ones(len(numbers), dtype=np.bool_)
    found[1:] = numbers[1:] != numbers[:-1]
    return found


def _ends(is_first: BooleanArray) -> tuple[IntegerArray, IntegerArray]:
    """Return for each row where its run of rows begins and ends."""
    starts = np.flatnonzero(is_first)
    run = np.cumsum(is_first) - 1
    return starts[run], np.append(starts[1:], len(is_first))[run]


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """The rows of each row's frame, from ``start`` to ``end``, which is not included; none where that comes first."""

    ordered: Ordered
    start: IntegerArray
    end: IntegerArray

    @property
    def are_from_first(self) -> bool:
        """Whether all begin where their partitions do."""
        return bool(np.array_equal(self.start, self.ordered.start))

    @property
    def are_to_last(self) -> bool:
        """Whether all end where their partitions do."""
        return bool(np.array_equal(self.end, self.ordered.end))

    @property
    def sizes(self) -> IntegerArray:
        found: IntegerArray = np.maximum(self.end - self.start, 0)
        return found


def frames_of(frame: Frame, ordered: Ordered) -> Frames:
    """Raises NotEvaluable for RANGE by values."""
    here = np.arange(len(ordered.places))
    if frame.is_range and {frame.first, frame.last} - {None, 0}:
        raise NotEvaluable("a frame by RANGE of values")

    def bound(distance: int | None, end: IntegerArray, peers: IntegerArray, more: int) -> IntegerArray:
        if distance is None:
            return end
        return peers if frame.is_range else np.clip(here + distance + more, ordered.start, ordered.end)

    return Frames(ordered, bound(frame.first, ordered.start, ordered.peers_start, 0), bound(frame.last, ordered.end, ordered.peers_end, 1))
