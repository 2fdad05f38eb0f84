"""Store of sketch entries within a memory budget: look-up by key, listing, dropping, eviction of the least recently used.

The store keeps what it is given and knows only its size; entries bring their own lock.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    """What the store must know of an entry."""

    @property
    def identifier(self) -> str: ...

    @property
    def memory(self) -> int:
        """Bytes."""


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

    def drop(self, identifier: str) -> int:
        """Drop the entries with an identifier, or all for ``ALL``; return how many there were."""
        with self._lock:
            keys = [key for key, entry in self._entries.items() if identifier.upper() == "ALL" or entry.identifier == identifier]
            for key in keys:
                del self._entries[key]
            return len(keys)

    def discard(self, key: str, entry: EntryT) -> None:
        """Drop one entry unless it has been replaced meanwhile."""
        with self._lock:
            if self._entries.get(key) is entry:
                del self._entries[key]

    def evict(self) -> tuple[EntryT, ...]:
        """Drop the least recently used entries until the budget holds; the newest stays."""
        evicted: list[EntryT] = []
        with self._lock:
            total = sum(entry.memory for entry in self._entries.values())
            while total > self.memory_budget and len(self._entries) > 1:
                _, entry = self._entries.popitem(last=False)
                total -= entry.memory
                evicted.append(entry)
        return tuple(evicted)
