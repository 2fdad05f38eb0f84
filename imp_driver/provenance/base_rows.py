"""Base rows with their copies and variables: a variable lives as long as its row has copies, and is never used again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from imp_driver.dataflow.recursion.facts import Row

Fact: TypeAlias = tuple[int, Row]
"""A row and the number of its relation, as in rules."""


class Contradiction(Exception):
    """More copies of a row are deleted than there are. The caller drops the state and makes it again."""


@dataclass(frozen=True, slots=True)
class BaseChange:
    """What a batch does to base rows.

    Attributes:
        gone: rows that lose their last copy.
        fresh: rows that get their first one.
        copies: of all rows of the batch, how many there are afterwards.
    """

    gone: tuple[Fact, ...]
    fresh: tuple[Fact, ...]
    copies: Mapping[Fact, int]


class BaseRows:
    """A multiset of rows, with a variable for each different one."""

    def __init__(self) -> None:
        self._copies: dict[Fact, int] = {}
        self._variables: dict[Fact, int] = {}
        self._facts: dict[int, Fact] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._copies)

    def __contains__(self, fact: Fact) -> bool:
        return fact in self._copies

    def variable(self, fact: Fact) -> int:
        """Return the variable of a row that is there. Raises KeyError."""
        return self._variables[fact]

    def fact(self, variable: int) -> Fact:
        """Return the row of a variable that lives. Raises KeyError."""
        return self._facts[variable]

    @property
    def variables(self) -> list[int]:
        """Those that live, in the order in which they began to."""
        return list(self._facts)

    def change(self, deletions: Iterable[Fact], insertions: Iterable[Fact]) -> BaseChange:
        """Return what a batch does, whose order makes no difference: a row that it deletes and inserts stays as it is.

        Raises:
            Contradiction: a row is deleted more often than it was there and is inserted.
        """
        copies: dict[Fact, int] = {}
        for facts, sign in ((insertions, 1), (deletions, -1)):
            for fact in facts:
                copies[fact] = copies.get(fact, self._copies.get(fact, 0)) + sign
        for fact, count in copies.items():
            if count < 0:
                raise Contradiction(f"Of the row {fact[1]} of relation {fact[0]}, {-count} more are deleted than there are.")
        gone = tuple(fact for fact, count in copies.items() if not count and fact in self._copies)
        fresh = tuple(fact for fact, count in copies.items() if count and fact not in self._copies)
        return BaseChange(gone, fresh, copies)

    def numbered(self, fresh: Iterable[Fact]) -> dict[Fact, int]:
        """Return for each fresh row a variable that none had before, ascending, whether the change is made in the end or not."""
        numbers = {fact: self._next + place for place, fact in enumerate(fresh)}
        self._next += len(numbers)
        return numbers

    def make(self, change: BaseChange, numbers: Mapping[Fact, int]) -> None:
        """Make a change with the variables that its fresh rows got."""
        for fact in change.gone:
            del self._facts[self._variables.pop(fact)]
        for fact, number in numbers.items():
            self._variables[fact] = number
            self._facts[number] = fact
        for fact, count in change.copies.items():
            if count:
                self._copies[fact] = count
            else:
                self._copies.pop(fact, None)

    def expire(self, variables: Iterable[int]) -> list[int]:
        """Drop all copies of the rows of these variables, and return those that lived until now."""
        found = [variable for variable in variables if variable in self._facts]
        for variable in found:
            fact = self._facts.pop(variable)
            del self._variables[fact], self._copies[fact]
        return found
