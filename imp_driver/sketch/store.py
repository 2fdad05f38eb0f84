"""Store of sketch entries within a memory budget: look-up by key, listing, dropping, eviction of the least recently used: states first.

The store keeps what it is given and knows only its size; entries bring their own lock.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

SMALL = 1 << 20
"""Bytes of an entry below which it is dropped last."""


class Sized(Protocol):
    """What the store must know of an entry."""

    @property
    def identifier(self) -> str: ...

    @property
    def memory(self) -> int:
        """Bytes."""

    def park(self) -> None:
        """Give up what can be read back from a store, if it can be done at once; the sketches stay."""


EntryT = TypeVar("EntryT", bound=Sized)


class SketchStore(Generic[EntryT]):
    """Entries by key, least recently used first. All methods are safe to call from several threads."""

    def __init__(self, memory: int) -> None:
        self.memory_budget = memory
        self._entries: OrderedDict[str, EntryT] = OrderedDict()
        self._lock = threading.Lock()

    def get_or_add(self, key: str, make: Callable[[], EntryT]) -> EntryT:
        """Return the entry of a key, made when there is none, as the most recently used."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = make()
            self._entries.move_to_end(key)
            return entry

    def find(self, key: str) -> EntryT | None:
        """Return the entry of a key without counting it as used."""
        with self._lock:
            return self._entries.get(key)

    def entries(self) -> tuple[EntryT, ...]:
        with self._lock:
            return tuple(self._entries.values())

    def discard(self, key: str, entry: EntryT) -> None:
        """Drop one entry unless it has been replaced meanwhile."""
        with self._lock:
            if self._entries.get(key) is entry:
                del self._entries[key]

    def add(self, key: str, entry: EntryT) -> bool:
        """Add an entry as the least recently used; False when the key has one already."""
        with self._lock:
            if key in self._entries:
                return False
            self._entries[key] = entry
            self._entries.move_to_end(key, last=False)
            return True

    def evict(self) -> tuple[EntryT, ...]:
        """Park, then drop the least recently used entries until the budget holds; the newest stays. Return the dropped ones."""
        evicted: list[EntryT] = []
        with self._lock:
            total = sum(entry.memory for entry in self._entries.values())
            for entry in list(self._entries.values())[:-1] if total > self.memory_budget else ():
                before = entry.memory
                entry.park()
                total -= before - entry.memory
                if total <= self.memory_budget:
                    break
            oldest = list(self._entries.items())[:-1]
            # What only has sketches would make little room.
            for key, entry in sorted(oldest, key=lambda item: item[1].memory < SMALL):
                if total <= self.memory_budget:
                    break
                del self._entries[key]
                total -= entry.memory
                evicted.append(entry)
        return tuple(evicted)
