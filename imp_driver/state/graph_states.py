"""The states of queries over graphs: solutions that are kept in memory and follow their tables, by what they are of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Protocol

from imp_driver.state.costs import Costs
from imp_driver.state.values import Usage
from imp_driver.values.bounded_cache import BoundedCache

MOST_GRAPHS = 256


class GraphState(Protocol):
    """What is told of the solutions of one pattern; what follows them is its reader's to know (answer/graphs/followed.py)."""

    @property
    def identifier(self) -> str: ...

    @property
    def statement(self) -> str:
        """The query that they were first kept for."""

    @property
    def versions(self) -> dict[tuple[str, ...], int]:
        """Of the tables that they follow, by name; none where they are not kept."""

    @property
    def tables(self) -> Collection[tuple[str, ...]]:
        """Names of all that they read."""

    @property
    def solutions(self) -> int | None:
        """How many different ones there are, None where they are not kept."""

    @property
    def bytes(self) -> int: ...

    @property
    def usage(self) -> Usage: ...

    @property
    def costs(self) -> Costs: ...

    @property
    def problem(self) -> str:
        """Why the last reading had none, empty where it had."""


class GraphStates:
    """At most ``MOST_GRAPHS`` of them. Safe to use from several threads."""

    def __init__(self) -> None:
        self._known: BoundedCache[Hashable, GraphState] = BoundedCache(MOST_GRAPHS)

    def find(self, key: Hashable) -> GraphState | None:
        return self._known.get(key)

    def get_or_add(self, key: Hashable, make: Callable[[], GraphState]) -> GraphState:
        return self._known.get_or_add(key, make)

    def all(self) -> tuple[GraphState, ...]:
        return self._known.values()

    def trim(self, most: int) -> int:
        """Let go of what was used least recently until the rest takes no more bytes than ``most``; return how many there were."""
        return self._known.trim(lambda each: each.bytes, most)

    def drop(self, states: Collection[GraphState]) -> int:
        """Let go of some; return how many there were. Who reads one just then goes on, and the next reading loads anew."""
        return self._known.discard(lambda each: any(each is one for one in states))
