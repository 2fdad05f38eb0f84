"""Tuples with their annotations: the function of base rows that says when a tuple is there, and an index from variables to tuples.

The paper's hash maps P, with what a deletion needs besides: it looks at the tuples that depend on what is deleted, not at all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.library import Function

_Key = TypeVar("_Key", bound=Hashable)
_ENTRY_BYTES = 100
"""Of an entry in a map, about what CPython takes."""


@dataclass(frozen=True, slots=True, eq=False)
class Restricted(Generic[_Key]):
    """A tuple whose annotation a deletion changed; it is gone where ``after`` is false."""

    key: _Key
    before: Function
    after: Function


class Annotations(Generic[_Key]):
    """A map from tuples to functions that are not false. All methods raise TooManyNodes."""

    def __init__(self, diagrams: Diagrams) -> None:
        self._diagrams = diagrams
        self._functions: dict[_Key, Function] = {}
        self._dependents: dict[int, dict[_Key, None]] = {}
        # Tuples that changed since the index was made, with the functions that it knows; many changes of one tuple are one of the index.
        self._indexed: dict[_Key, Function | None] = {}

    def __len__(self) -> int:
        return len(self._functions)

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._functions)

    def __contains__(self, key: _Key) -> bool:
        return key in self._functions

    def __getitem__(self, key: _Key) -> Function:
        """Return the annotation of a tuple that is there. Raises KeyError."""
        return self._functions[key]

    def get(self, key: _Key) -> Function:
        """Return the annotation of a tuple, false where it is not there."""
        return self._functions.get(key, self._diagrams.false)

    def variables_of(self, key: _Key) -> frozenset[int]:
        """Return the variables on which a tuple depends; none where it is not there."""
        return self._diagrams.variables_of(self.get(key))

    def absorb(self, key: _Key, function: Function) -> Function:
        """Add a derivation to a tuple (OR), and return what it adds: new AND NOT old; false where it was absorbed.

        Where this raises, nothing has changed.
        """
        old = self.get(key)
        new = self._diagrams.or_(old, function)
        if new == old:
            return self._diagrams.false
        gained = self._diagrams.minus(new, old)
        self._diagrams.keep_within_limit(new)
        self.put(key, new)
        return gained

    def put(self, key: _Key, function: Function) -> None:
        """Give a tuple this annotation; false removes it."""
        self._indexed.setdefault(key, self._functions.get(key))
        if self._diagrams.is_false(function):
            self._functions.pop(key, None)
        else:
            self._functions[key] = function

    def restricted(self, variables: Iterable[int]) -> list[Restricted[_Key]]:
        """Return the tuples that depend on any of these variables, with their functions where all of these are false; changes nothing."""
        gone: dict[_Key, list[int]] = {}
        for key, variable in self.depending(variables):
            gone.setdefault(key, []).append(variable)
        found = []
        for key, gone_here in gone.items():
            before = self._functions[key]
            found.append(Restricted(key, before, self._diagrams.restrict_false(before, gone_here)))
        return found

    def restrict(self, variables: Iterable[int]) -> list[Restricted[_Key]]:
        """Make variables false for good, and return the tuples that this changed."""
        found = self.restricted(variables)
        for each in found:
            self.put(each.key, each.after)
        return found

    def depending(self, variables: Iterable[int]) -> Iterator[tuple[_Key, int]]:
        """Yield each tuple with each of these variables on which its annotation depends."""
        self.index()
        for variable in variables:
            for key in self._dependents.get(variable, ()):
                yield key, variable

    def index(self) -> None:
        """Bring the index up to date, and let go of functions that only it still knew."""
        for key, before in self._indexed.items():
            now = self._functions.get(key)
            known = frozenset[int]() if before is None else self._diagrams.variables_of(before)
            needed = frozenset[int]() if now is None else self._diagrams.variables_of(now)
            for variable in needed - known:
                self._dependents.setdefault(variable, {})[key] = None
            for variable in known - needed:
                self._drop(variable, key)
        self._indexed.clear()

    def moved(self, diagrams: Diagrams) -> Annotations[_Key]:
        """Return the same annotations as functions of other diagrams, which have the variables in the same order."""
        self.index()
        other: Annotations[_Key] = Annotations(diagrams)
        copies = self._diagrams.copied(self._functions.values(), diagrams)
        other._functions = dict(zip(self._functions, copies, strict=True))
        other._dependents = {variable: dict(keys) for variable, keys in self._dependents.items()}
        return other

    def bytes(self, size: Callable[[_Key], int]) -> int:
        """Return about the memory of the tuples, of the nodes that their annotations have together, and of the index.

        Args:
            size: bytes of a tuple itself.
        """
        self.index()
        nodes = self._diagrams.nodes_of(list(self._functions.values()))
        entries = sum(map(len, self._dependents.values()))
        return sum(map(size, self._functions)) + nodes * self._diagrams.node_bytes + entries * _ENTRY_BYTES

    def _drop(self, variable: int, key: _Key) -> None:
        keys = self._dependents[variable]
        del keys[key]
        if not keys:
            del self._dependents[variable]
