"""A mapping that forgets what was used least recently."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")


class BoundedCache(Generic[KeyT, ValueT]):
    """At most ``most`` values by key. Safe to use from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[KeyT, ValueT] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: KeyT) -> ValueT | None:
        """Return the value of a key, None where there is none or it was forgotten."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def __contains__(self, key: KeyT) -> bool:
        with self._lock:
            return key in self._values

    def __setitem__(self, key: KeyT, value: ValueT) -> None:
        with self._lock:
            self._set(key, value)

    def get_or_add(self, key: KeyT, make: Callable[[], ValueT]) -> ValueT:
        """Return the value of a key, made when there is none. ``make`` is called under a lock, so it must be quick."""
        with self._lock:
            if key not in self._values:
                self._set(key, make())
            self._values.move_to_end(key)
            return self._values[key]

    def trim(self, weigh: Callable[[ValueT], int], most: int) -> int:
        """Forget what was used least recently until all together weigh no more than ``most``; the last one stays.

        Return how many are forgotten.
        """
        with self._lock:
            weights = {key: weigh(value) for key, value in self._values.items()}
            total, count = sum(weights.values()), len(weights)
            while total > most and len(self._values) > 1:
                key, _ = self._values.popitem(last=False)
                total -= weights[key]
            return count - len(self._values)

    def discard(self, is_unwanted: Callable[[ValueT], bool]) -> int:
        """Forget values; return how many there were."""
        with self._lock:
            unwanted = [key for key, value in self._values.items() if is_unwanted(value)]
            for key in unwanted:
                del self._values[key]
            return len(unwanted)

    def values(self) -> tuple[ValueT, ...]:
        with self._lock:
            return tuple(self._values.values())

    def __len__(self) -> int:
        return len(self._values)

    def _set(self, key: KeyT, value: ValueT) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._most:
            self._values.popitem(last=False)
