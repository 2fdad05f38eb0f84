"""What was found out about texts, as long as there is room for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

FoundT = TypeVar("FoundT")


class TextCache(Generic[FoundT]):
    """Values by text, the least recently used first.

    ``each`` is what a character of a text takes in a value, ``most`` what all may take together, in bytes.

    Safe to use from several threads, which may find the same value twice.
    """

    def __init__(self, find: Callable[[str], FoundT], each: int, most: int) -> None:
        self._find = find
        self._most_characters = most // each
        self._characters = 0
        self._found: OrderedDict[str, FoundT] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, text: str) -> FoundT:
        with self._lock:
            if text in self._found:
                self._found.move_to_end(text)
                return self._found[text]
        found = self._find(text)
        with self._lock:
            if text not in self._found:
                self._characters += len(text)
            self._found[text] = found
            while self._characters > self._most_characters:
                self._characters -= len(self._found.popitem(last=False)[0])
        return found

    def __len__(self) -> int:
        return len(self._found)
