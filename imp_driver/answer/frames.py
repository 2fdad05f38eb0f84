"""Rows in the order of a window, and which of them each row's frame has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.plan.convert import constant
from imp_driver.values.codes import BooleanArray, IntegerArray


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


def rows_to_here(ordered: Ordered) -> Frames:
    """Return the frames of ROWS from a partition's first to the row itself."""
    return Frames(ordered, ordered.start, np.arange(len(ordered.places)) + 1)


def frames_of(spec: exp.Expr, ordered: Ordered) -> Frames:
    """Return the frames of ROWS BETWEEN, or of RANGE between a partition's ends and the rows that tie. Raises NotEvaluable."""
    if spec.args.get("exclude"):
        raise NotEvaluable("EXCLUDE in a window")
    is_range = str(spec.args.get("kind")).upper() == "RANGE"
    here = np.arange(len(ordered.places))
    ends: list[IntegerArray] = []
    for name, otherwise in (("start", ordered.start), ("end", ordered.end)):
        bound, side = spec.args.get(name), str(spec.args.get(f"{name}_side")).upper()
        is_end = int(name == "end")
        if bound == "UNBOUNDED":
            if side == ("PRECEDING" if is_end else "FOLLOWING"):
                raise NotEvaluable("a frame of a window that ends before it begins")
            ends.append(otherwise)
        elif bound is None or bound == "CURRENT ROW":
            own = (ordered.peers_end if is_end else ordered.peers_start) if is_range else here + is_end
            ends.append(own)
        elif is_range or not isinstance(bound, exp.Expr):
            raise NotEvaluable("a frame by RANGE of values")
        else:
            value = constant(bound)
            if value is None or not isinstance(value.value, int) or isinstance(value.value, bool):
                raise NotEvaluable("a frame whose size is not written down")
            moved = here + (value.value if side == "FOLLOWING" else -value.value) + is_end
            ends.append(np.clip(moved, ordered.start, ordered.end))
    return Frames(ordered, *ends)
