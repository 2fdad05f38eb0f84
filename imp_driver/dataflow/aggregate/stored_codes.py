"""Codes of one group key over slots: numbers as they are, Python objects (text, wide decimals) each once, however many groups have them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from imp_driver.dataflow.sorted_runs import OrderedNumbers
from imp_driver.values.codes import BooleanArray, CodeArray, IntegerArray
from imp_driver.values.mixing import HashArray, mixed

_FEW = 1_000
"""Objects that may be those of groups that are gone, however few slots there are."""


class StoredCodes(Protocol):
    """Growing; a slot without a group has any code."""

    def take(self, slots: slice | IntegerArray) -> CodeArray: ...

    def put(self, slots: IntegerArray, codes: CodeArray) -> None: ...

    def grow(self, capacity: int) -> None: ...

    @property
    def memory(self) -> int:
        """Bytes, those of objects included."""


class PlainCodes:
    """Whole numbers, in 32 bits where ``is_narrow``."""

    def __init__(self, codes: CodeArray, *, is_narrow: bool) -> None:
        self._codes = codes.astype(np.int32) if is_narrow else codes.copy()

    def take(self, slots: slice | IntegerArray) -> CodeArray:
        return self._codes[slots].astype(np.int64, copy=False)

    def put(self, slots: IntegerArray, codes: CodeArray) -> None:
        self._codes[slots] = codes

    def grow(self, capacity: int) -> None:
        missing = capacity - len(self._codes)
        if missing > 0:
            self._codes = np.concatenate((self._codes, np.zeros(missing, dtype=self._codes.dtype)))

    @property
    def memory(self) -> int:
        return int(self._codes.nbytes)


class ObjectCodes:
    """Objects of which hardly any is there twice."""

    def __init__(self, codes: CodeArray) -> None:
        self._codes = codes.copy()
        self._object_bytes = _bytes_of(codes)

    def take(self, slots: slice | IntegerArray) -> CodeArray:
        taken: CodeArray = self._codes[slots]
        return taken

    def put(self, slots: IntegerArray, codes: CodeArray) -> None:
        self._object_bytes += _bytes_of(codes) - _bytes_of(self._codes[slots])
        self._codes[slots] = codes

    def grow(self, capacity: int) -> None:
        missing = capacity - len(self._codes)
        if missing > 0:
            self._codes = np.concatenate((self._codes, np.full(missing, None, dtype=object)))
            self._object_bytes += missing * sys.getsizeof(None)

    @property
    def memory(self) -> int:
        return int(self._codes.nbytes) + self._object_bytes


class SharedCodes:
    """Objects with a number each, and the number of each slot's object. Of objects with the same hash the second has several numbers."""

    def __init__(self, codes: CodeArray) -> None:
        self._forget()
        self._numbers = self._numbered(codes)

    def take(self, slots: slice | IntegerArray) -> CodeArray:
        taken: CodeArray = self._objects[self._numbers[slots]]
        return taken

    def numbered(self, slots: IntegerArray) -> tuple[npt.NDArray[np.int32], CodeArray]:
        """Return numbers of the objects of some slots, and all objects by number; hardly any is there twice."""
        return self._numbers[slots], self._objects[: self._count]

    def put(self, slots: IntegerArray, codes: CodeArray) -> None:
        self._numbers[slots] = self._numbered(codes)
        if self._count > 2 * len(self._numbers) + _FEW:
            living = self.take(slice(None))
            self._forget()
            self._numbers = self._numbered(living)

    def grow(self, capacity: int) -> None:
        missing = capacity - len(self._numbers)
        if missing > 0:
            self._numbers = np.concatenate((self._numbers, np.zeros(missing, dtype=np.int32)))

    def _forget(self) -> None:
        self._known = OrderedNumbers(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), absent=-1)
        self._objects: CodeArray = np.empty(0, dtype=object)
        self._count = self._object_bytes = 0

    def _numbered(self, codes: CodeArray) -> npt.NDArray[np.int32]:
        hashes = hashes_of(codes).view(np.int64)
        numbers = self._known.find(hashes)
        there = np.flatnonzero(numbers >= 0)
        numbers[there[~_are_equal(self._objects[numbers[there]], codes[there])]] = -1
        missing = np.flatnonzero(numbers < 0)
        if len(missing):
            own, first, inverse = np.unique(hashes[missing], return_index=True, return_inverse=True)
            is_alike = _are_equal(codes[missing], codes[missing[first]][inverse])
            numbers[missing[is_alike]] = self._added(codes[missing[first]])[inverse[is_alike]]
            numbers[missing[~is_alike]] = self._added(codes[missing[~is_alike]])
            fresh = self._known.find(own) < 0
            self._known.put(own[fresh], numbers[missing[first]][fresh])
        return numbers.astype(np.int32)

    def _added(self, codes: CodeArray) -> IntegerArray:
        """Return new numbers of objects."""
        count = self._count + len(codes)
        if count > len(self._objects):
            larger = np.empty(max(count, len(self._objects) + len(self._objects) // 2), dtype=object)
            larger[: self._count] = self._objects[: self._count]
            self._objects = larger
        self._objects[self._count : count] = codes
        self._object_bytes += _bytes_of(codes)
        numbers = np.arange(self._count, count)
        self._count = count
        return numbers

    @property
    def memory(self) -> int:
        return int(self._numbers.nbytes + self._objects.nbytes) + self._object_bytes + self._known.memory


def hashes_of(codes: CodeArray) -> HashArray:
    """Return a hash of each code; equal ones have equal hashes."""
    if codes.dtype == object:
        return mixed(np.fromiter(map(hash, codes.tolist()), dtype=np.int64, count=len(codes)).view(np.uint64))
    return mixed(codes.view(np.uint64))


def _are_equal(one: CodeArray, other: CodeArray) -> BooleanArray:
    return np.asarray(one == other, dtype=bool)


def _bytes_of(objects: Iterable[Any]) -> int:
    return sum(map(sys.getsizeof, objects))
