"""What a maintained recursive view looks like to the workload, and what is compared of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Row: TypeAlias = tuple[int, ...]
"""Of a base table or of a view."""

ATTRIBUTE_BYTES = 8
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class Maintained(Protocol):
    """A recursive view over one base table that changes; base rows are a multiset, the rows of the view a set."""

    @property
    def touched(self) -> int:
        """How many rows were touched since it was made.

        Each base row that comes or goes is one, each derivation that is formed or tested, whatever it leads to, and each row of the view
        that is put in or taken out.
        """

    def load(self, rows: Iterable[Row]) -> None:
        """Take the first rows of the base table in."""

    def apply(self, deleted: Sequence[Row], inserted: Sequence[Row]) -> None:
        """Bring the view up to one change of the base table. Only rows that are there are deleted."""

    def rows(self) -> Iterable[Row]:
        """Return the rows of the view, each once."""


class Copies:
    """How often each base row is there. The rules of a view know rows alone, so it is told only of the first copy and of the last."""

    def __init__(self) -> None:
        self._number: Counter[Row] = Counter()

    def net(self, deleted: Sequence[Row], inserted: Sequence[Row]) -> tuple[list[Row], list[Row]]:
        """Take in a change; return the rows that are gone and those that are new.

        Raises:
            ValueError: a row is deleted more often than it is there; nothing is changed then.
        """
        change = Counter(inserted)
        change.subtract(deleted)
        gone, new = [], []
        for row, weight in change.items():
            before = self._number[row]
            if before + weight < 0:
                raise ValueError(f"{row} is deleted {-weight} times and is there {before} times")
            if before > 0 >= before + weight:
                gone.append(row)
            elif before + weight > 0 >= before:
                new.append(row)
        self._number.update(change)
        return gone, new


@dataclass(slots=True)
class Counters:
    """What maintenance cost beside its time, since the view was made.

    ``shipped`` and ``shipped_bytes`` are what would go from one machine to another if rows lay on several by their first attribute (section
    3.2 of the paper); an attribute counts eight bytes.
    """

    touched: int = 0
    shipped: int = 0
    shipped_bytes: int = 0


def whole(value: object) -> int:
    """Return a value of a row of the product as what rows hold here."""
    assert isinstance(value, int)
    return value


def fingerprint(rows: Iterable[Row]) -> tuple[int, int]:
    """Return the number of rows, which all have two columns or all more, and the sum of their hashes: that of the peer too."""
    listed = list(rows)
    if not listed:
        return 0, 0
    width = len(listed[0])
    values = np.fromiter(chain.from_iterable(listed), np.int64, len(listed) * width).reshape(-1, width).astype(np.uint64)
    with np.errstate(over="ignore"):
        words = _mixed(values[:, 0] << np.uint64(32) | values[:, 1])
        for column in range(2, width):
            words = _mixed(words ^ values[:, column])
        return len(listed), int(words.sum(dtype=np.uint64))


def _mixed(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the step and finalizer of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators)."""
    words = words + np.uint64(_GOLDEN)
    words = (words ^ words >> np.uint64(30)) * np.uint64(_FIRST)
    words = (words ^ words >> np.uint64(27)) * np.uint64(_SECOND)
    return words ^ words >> np.uint64(31)
