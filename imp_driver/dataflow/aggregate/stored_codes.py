"""Codes of one group key over slots: numbers as they are, Python objects (text, wide decimals) each once, however many groups have them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from imp_driver.values.codes import CodeArray, IntegerArray

_ENTRY_BYTES = 100
"""Of a dictionary's entry with its number, beside the object itself."""
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
    """Objects with a number each, and the number of each slot's object."""

    def __init__(self, codes: CodeArray) -> None:
        self._known: dict[Any, int] = {}
        self._objects: CodeArray = np.empty(0, dtype=object)
        self._object_bytes = 0
        self._numbers = self._numbered(codes)

    def take(self, slots: slice | IntegerArray) -> CodeArray:
        taken: CodeArray = self._objects[self._numbers[slots]]
        return taken

    def put(self, slots: IntegerArray, codes: CodeArray) -> None:
        self._numbers[slots] = self._numbered(codes)
        if len(self._known) > 2 * len(self._numbers) + _FEW:
            self._forget_unused()

    def grow(self, capacity: int) -> None:
        missing = capacity - len(self._numbers)
        if missing > 0:
            self._numbers = np.concatenate((self._numbers, np.zeros(missing, dtype=np.int32)))

    def _numbered(self, codes: CodeArray) -> Any:
        known, before = self._known, len(self._known)
        tokens = codes.tolist()
        numbers = np.fromiter((known.setdefault(token, len(known)) for token in tokens), dtype=np.int32, count=len(tokens))
        if len(known) > before:
            if len(known) > len(self._objects):
                larger = np.empty(max(len(known), len(self._objects) + len(self._objects) // 2), dtype=object)
                larger[:before] = self._objects[:before]
                self._objects = larger
            # In the order of their numbers: a dictionary keeps that of insertion.
            fresh = _last(known, len(known) - before)
            self._objects[before : len(known)] = fresh
            self._object_bytes += _bytes_of(fresh)
        return numbers

    def _forget_unused(self) -> None:
        codes = self.take(slice(None))
        self._known, self._objects, self._object_bytes = {}, np.empty(0, dtype=object), 0
        self._numbers = self._numbered(codes)

    @property
    def memory(self) -> int:
        return int(self._numbers.nbytes + self._objects.nbytes) + self._object_bytes + _ENTRY_BYTES * len(self._known)


def _bytes_of(objects: Iterable[Any]) -> int:
    return sum(map(sys.getsizeof, objects))


def _last(known: dict[Any, int], count: int) -> list[Any]:
    """Return the keys that came last, in the order in which they came."""
    found = [key for key, _ in zip(reversed(known), range(count), strict=False)]
    return found[::-1]
