"""The PAI map of the RPAI paper (section 2): partial results by the value of an aggregate, in a dictionary.

A point is found, moved and taken out in constant time, which is all that an equality needs. Sums up to a key and shifts of keys touch all
keys: what an inequality needs, and ``RpaiTree`` has in logarithmic time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, TypeAlias

Number: TypeAlias = Any
"""Exact: whole numbers, fractions."""


class PaiMap:
    """Values by key. A key stays until it is deleted, whatever its value is."""

    def __init__(self) -> None:
        self._values: dict[Number, Number] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Number) -> Number:
        """Return the value of a key, 0 where it is not there."""
        return self._values.get(key, 0)

    def put(self, key: Number, value: Number) -> None:
        """Give a key a value."""
        self._values[key] = value

    def add(self, key: Number, value: Number) -> None:
        """Add to the value of a key, 0 where it is not there yet."""
        self._values[key] = self._values.get(key, 0) + value

    def delete(self, key: Number) -> Number:
        """Take a key out and return its value. Raises KeyError where it is not there."""
        return self._values.pop(key)

    def get_sum(self, key: Number) -> Number:
        """Return the sum of the values of all keys up to one, with it."""
        return sum([value for each, value in self._values.items() if each <= key])

    def shift_keys(self, key: Number, distance: Number) -> None:
        """Move all keys above one by a distance; values whose keys meet are added."""
        self._shift({each: each + distance if each > key else each for each in self._values})

    def shift_keys_inclusive(self, key: Number, distance: Number) -> None:
        """Move a key and all above it by a distance; values whose keys meet are added."""
        self._shift({each: each + distance if each >= key else each for each in self._values})

    def _shift(self, moved: dict[Number, Number]) -> None:
        values: dict[Number, Number] = {}
        for key, value in self._values.items():
            new = moved[key]
            values[new] = values.get(new, 0) + value
        self._values = values

    def items(self) -> Iterator[tuple[Number, Number]]:
        """Return keys in their order with their values."""
        return iter(sorted(self._values.items()))

    @property
    def memory(self) -> int:
        """Bytes, of which those of numbers are estimated."""
        return sys.getsizeof(self._values) + 64 * len(self._values)
