"""Codes in ascending order with a number each: what every look-up of rows, groups and pairs by a key rests on.

What grows is a few sorted runs of shrinking sizes, and runs of like size become one (a log-structured merge tree; differential dataflow
arranges its rows so). A step then costs what it brings, where an insertion into one sorted array copies all that is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from imp_driver.values.codes import CodeArray, IntegerArray

Numbers: TypeAlias = npt.NDArray[np.signedinteger[Any]]
Part = TypeVar("Part")

GROWTH = 8
"""Times that a run is larger than the next one, at least."""
_FEW = 1_000
"""Codes without a number that may stay however few have one."""


@dataclass(frozen=True, slots=True, eq=False)
class SortedRun:
    """Ascending codes, which may repeat, and the number of each."""

    codes: CodeArray
    numbers: Numbers

    @classmethod
    def of(cls, codes: CodeArray, numbers: Numbers) -> SortedRun:
        """Sort codes in any order."""
        order = np.argsort(codes, kind="stable")
        return cls(codes[order], numbers[order])

    def extents(self, codes: CodeArray) -> tuple[IntegerArray, IntegerArray]:
        """Return where the entries of each code begin and end."""
        return np.searchsorted(self.codes, codes, side="left"), np.searchsorted(self.codes, codes, side="right")

    def places(self, codes: CodeArray) -> IntegerArray:
        """Return where the first entry of each code is, -1 where there is none."""
        places = np.searchsorted(self.codes, codes)
        inside = np.flatnonzero(places < len(self.codes))
        places[places == len(self.codes)] = -1
        places[inside[self.codes[places[inside]] != codes[inside]]] = -1
        return places

    def merged(self, other: SortedRun) -> SortedRun:
        """Return the entries of both; cheap where ``other`` is short."""
        places = np.searchsorted(self.codes, other.codes, side="right")
        return SortedRun(np.insert(self.codes, places, other.codes), np.insert(self.numbers, places, other.numbers))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(self.codes.nbytes + self.numbers.nbytes)


def compacted(parts: tuple[Part, ...], size: Callable[[Part], int], merge: Callable[[Part, Part], Part]) -> tuple[Part, ...]:
    """Return parts (runs, or layers of an arrangement) whose sizes shrink by GROWTH: the last ones are merged until they do."""
    while len(parts) > 1 and size(parts[-2]) <= GROWTH * size(parts[-1]):
        parts = (*parts[:-2], merge(parts[-2], parts[-1]))
    return parts


class OrderedNumbers:
    """Distinct codes with a number each; all others have the number ``absent``. Mutable, and ordered by code."""

    def __init__(self, codes: CodeArray, numbers: Numbers, absent: int) -> None:
        """Take over codes in any order, each once, with numbers other than ``absent``."""
        self._absent = absent
        self._runs: tuple[SortedRun, ...] = (SortedRun.of(codes, numbers),)
        self._living = len(codes)

    def __len__(self) -> int:
        """Codes that have a number."""
        return self._living

    def find(self, codes: CodeArray) -> IntegerArray:
        """Return the number of each code."""
        found = np.full(len(codes), self._absent, dtype=np.int64)
        for run in self._runs:
            places = run.places(codes)
            here = places >= 0
            found[here] = run.numbers[places[here]]
        return found

    def put(self, codes: CodeArray, numbers: Numbers) -> None:
        """Give codes, each once, another number; ``absent`` takes a code out."""
        if not len(codes):
            return
        fresh = numbers != self._absent
        self._living += int(np.count_nonzero(fresh))
        for run in self._runs:
            places = run.places(codes)
            here = places >= 0
            places = places[here]
            self._living -= int(np.count_nonzero(run.numbers[places] != self._absent))
            # A code stays in the run that it came to, also without a number, so no run hides an older one.
            run.numbers[places] = numbers[here]
            fresh &= ~here
        if fresh.any():
            added = SortedRun.of(codes[fresh], numbers[fresh].astype(self._runs[0].numbers.dtype))
            self._runs = compacted((*self._runs, added), len, self._merged)
        if sum(map(len, self._runs)) > 2 * self._living + _FEW:
            self._runs = (self.items(),)

    def _merged(self, one: SortedRun, other: SortedRun) -> SortedRun:
        return self._alive(one).merged(self._alive(other))

    def _alive(self, run: SortedRun) -> SortedRun:
        kept = run.numbers != self._absent
        return run if kept.all() else SortedRun(run.codes[kept], run.numbers[kept])

    def items(self) -> SortedRun:
        """Return all codes that have a number, in their order; not to be written to."""
        parts = [self._alive(run) for run in self._runs]
        while len(parts) > 1:
            last = parts.pop()
            parts[-1] = parts[-1].merged(last)
        return parts[0]

    @property
    def memory(self) -> int:
        """Bytes."""
        return sum(run.memory for run in self._runs)
