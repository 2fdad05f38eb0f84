"""One partition of a selection: the states of its inner aggregates, its rows by group and key, and which of them pass."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from imp_driver.dataflow.nested.conditions import Compiled, all_of
from imp_driver.dataflow.nested.key_ranges import NOTHING, KeyRange
from imp_driver.dataflow.nested.keys import Key
from imp_driver.dataflow.nested.masks import Mask
from imp_driver.dataflow.nested.sides import States
from imp_driver.dataflow.nested.sorted_sums import SortedSums
from imp_driver.dataflow.nested.vectors import exact, magnitude

Amounts = Sequence[Any]
"""For each value its sum and how many rows have none, then the number of rows."""


class Group:
    """Rows of one group of one partition.

    Attributes:
        rows: by key.
        without_key: sums of the rows whose key is NULL, or of all where there is no key.
        passed: sums of the rows that pass; ``range`` and ``takes_null`` say which.
        range: None where keys pass that are no range.
    """

    __slots__ = ("passed", "range", "rows", "takes_null", "without_key")

    def __init__(self, width: int) -> None:
        self.rows = SortedSums(width - 1)
        self.without_key: list[Any] = [0] * width
        self.passed: list[Any] = [0] * width
        self.range: KeyRange | None = NOTHING
        self.takes_null = False

    def add(self, key: Key | None, amounts: Amounts) -> bool:
        """Add a row, with its amounts signed, and return whether it is among those that pass."""
        if key is None:
            self.without_key = list(map(operator.add, self.without_key, amounts))
            passes = self.takes_null
        else:
            self.rows.add(key, amounts[:-1], amounts[-1])
            passes = self.range is not None and self.range.has(key)
        if passes:
            self.passed = list(map(operator.add, self.passed, amounts))
        return passes

    def move(self, new: KeyRange | None, conditions: Sequence[Compiled], states: States, *, takes_null: bool) -> None:
        """Let other rows pass."""
        if new is not None and new == self.range and takes_null == self.takes_null:
            return
        found = self._moved(new, conditions, states)
        self.passed = list(map(operator.add, found, self.without_key)) if takes_null else list(found)
        self.range, self.takes_null = new, takes_null

    def _moved(self, new: KeyRange | None, conditions: Sequence[Compiled], states: States) -> Amounts:
        if new is None:
            return self._masked(conditions, states)
        if new.is_nothing:
            return [0] * len(self.passed)
        old = self.range
        if old is None or old.is_nothing or self.takes_null or (new.low is None) != (old.low is None):
            return self.rows.between(new.low, new.high)
        if new.low == old.low and new.high is not None and old.high is not None:
            return list(map(operator.add, self.passed, self.rows.between(old.high, new.high)))
        if new.high == old.high and new.low is not None and old.low is not None:
            return list(map(operator.add, self.passed, self.rows.between(new.low, old.low)))
        return self.rows.between(new.low, new.high)

    def _masked(self, conditions: Sequence[Compiled], states: States) -> Amounts:
        keys, *columns = self.rows.vectors()
        mask: Mask | None = None
        for condition in conditions:
            found = condition.mask(states, keys)
            mask = found if mask is None else mask & found
        passing = columns if mask is None else [column[mask] for column in columns]
        return [
            exact(column, magnitude(column)).sum() if column.dtype == object else int(exact(column, magnitude(column)).sum())
            for column in passing
        ]

    @property
    def is_empty(self) -> bool:
        return not len(self.rows) and not any(self.without_key)


class Cell:
    """What is kept for one partition.

    Attributes:
        states: those of the inner aggregates; what all partitions share is in the lists of all.
        range, takes_null: which rows pass, of all groups; ``range`` is None where each group has its own.
        is_masked: the rows that pass were found by masks.
        is_to_clean: a group has no rows.
        has_null: a row without a key has come.
    """

    __slots__ = ("groups", "has_null", "is_masked", "is_to_clean", "range", "states", "takes_null")

    def __init__(self, states: States) -> None:
        self.states = states
        self.groups: dict[Any, Group] = {}
        self.range: KeyRange | None = NOTHING
        self.takes_null = self.is_masked = self.is_to_clean = self.has_null = False

    def group(self, key: Any, width: int) -> Group:
        """Return the group of a key, a new one where it has none yet."""
        found = self.groups.get(key)
        if found is None:
            found = self.groups[key] = Group(width)
            found.range, found.takes_null = self.range, self.takes_null
        return found

    def settle(self, conditions: Sequence[Compiled], *, is_general: bool) -> list[tuple[Any, Amounts]]:
        """Find the rows that pass now; return groups whose rows may be others than before, with the sums that passed until now."""
        states = self.states
        takes_null = self.has_null and all(condition.holds_for_null(states) for condition in conditions)
        is_one = not is_general and not any(condition.needs_candidates for condition in conditions)
        new = all_of(conditions, states, _NO_KEYS) if is_one else None
        if new is not None and new == self.range and takes_null == self.takes_null:
            self.is_masked = False
            return []
        self.range, self.takes_null, self.is_masked = new, takes_null, False
        before: list[tuple[Any, Amounts]] = []
        for key, group in self.groups.items():
            old = group.passed
            own = new if is_one or is_general else all_of(conditions, states, group.rows)
            group.move(own, conditions, states, takes_null=takes_null)
            self.is_masked |= own is None
            if group.passed is not old:
                before.append((key, old))
        return before


_NO_KEYS = SortedSums(0)
