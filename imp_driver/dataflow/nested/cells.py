"""One partition of a selection: the states of its inner aggregates, its rows by group and key, and which of them pass."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from imp_driver.dataflow.nested.batches import Batch
from imp_driver.dataflow.nested.conditions import Compiled, all_of
from imp_driver.dataflow.nested.crossed import GroupsByKey
from imp_driver.dataflow.nested.key_ranges import NOTHING, KeyRange
from imp_driver.dataflow.nested.keys import Key
from imp_driver.dataflow.nested.masks import Mask
from imp_driver.dataflow.nested.sides import States
from imp_driver.dataflow.nested.sorted_sums import SortedSums
from imp_driver.dataflow.nested.vectors import exact, magnitude

Amounts = Sequence[Any]
"""For each value its sum and how many rows have none, then the number of rows."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What all partitions of a selection have in common.

    Attributes:
        width: of amounts.
        has_groups: there may be more than one group.
        is_general: rows that pass are found by masks.
        is_one_range: the same keys pass in all groups, found without looking at them.
    """

    conditions: tuple[Compiled, ...]
    width: int
    has_groups: bool
    is_general: bool
    is_one_range: bool


class Group:
    """Rows of one group of one partition.

    Attributes:
        rows: by key.
        without_key: sums of the rows whose key is NULL, or of all where there is no key.
        passed: sums of the rows that pass.
        range: the keys that pass, where groups have ranges of their own; None where they are no range.
    """

    __slots__ = ("passed", "range", "rows", "without_key")

    def __init__(self, width: int) -> None:
        self.rows = SortedSums(width - 1)
        self.without_key: list[Any] = [0] * width
        self.passed: list[Any] = [0] * width
        self.range: KeyRange | None = NOTHING

    def passing(self, old: KeyRange | None, new: KeyRange, *, is_known: bool) -> list[Any]:
        """Return the sums of the rows in a range of keys; where ``is_known``, the sums that passed until now are those of the old range."""
        if new.is_nothing:
            return [0] * len(self.passed)
        if is_known and old is not None and not old.is_nothing:
            # Mostly one end moves a little: what lies between its places is all that changes.
            if new.high == old.high and new.low is not None and old.low is not None:
                return list(map(operator.add, self.passed, self.rows.between(new.low, old.low)))
            if new.low == old.low and new.high is not None and old.high is not None:
                return list(map(operator.add, self.passed, self.rows.between(old.high, new.high)))
        return list(self.rows.between(new.low, new.high))

    def masked(self, conditions: Sequence[Compiled], states: States) -> list[Any]:
        """Return the sums of the rows with keys for which all conditions hold."""
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
        range: the keys that pass, of all groups; None where they are no range, or where each group has its own.
        takes_null: rows without a key pass.
        has_null: a row without a key has come.
        is_masked: the rows that pass were found by masks.
        is_to_clean: a group has no rows.
    """

    __slots__ = ("_by_key", "_plan", "groups", "has_null", "is_masked", "is_to_clean", "range", "states", "takes_null")

    def __init__(self, states: States, plan: Plan) -> None:
        self.states, self._plan = states, plan
        self.groups: dict[Any, Group] = {}
        self.range: KeyRange | None = NOTHING if plan.is_one_range else None
        self.takes_null = self.is_masked = self.is_to_clean = self.has_null = False
        self._by_key = GroupsByKey() if plan.has_groups and plan.is_one_range else None

    def _group(self, key: Any) -> Group:
        found = self.groups.get(key)
        if found is None:
            found = self.groups[key] = Group(self._plan.width)
        return found

    def add(self, key_of_group: Any, key: Key | None, amounts: Amounts) -> bool:
        """Add a row, with its amounts signed, and return whether it is among those that pass."""
        group = self.groups.get(key_of_group) or self._group(key_of_group)
        if key is None:
            self.has_null = True
            group.without_key = list(map(operator.add, group.without_key, amounts))
            passes = self.takes_null
        else:
            group.rows.add_sums(key, amounts)
            if self._by_key is not None:
                self._by_key.add(key, key_of_group, amounts)
            keys = self.range if self._plan.is_one_range else group.range
            passes = keys is not None and keys.has(key)
        if passes:
            group.passed = list(map(operator.add, group.passed, amounts))
        if amounts[-1] < 0 and group.is_empty:
            self.is_to_clean = True
        return passes

    def add_many(self, key_of_group: Any, batch: Batch) -> Amounts | None:
        """Add rows of a group that have keys, and return the sums of those that pass; None where none does."""
        group, keys, columns = self._group(key_of_group), batch.keys, batch.columns
        group.rows.add_many(keys, columns[:-1], columns[-1])
        if self._by_key is not None:
            self._by_key.add_many(keys, key_of_group, columns)
        found = self.range if self._plan.is_one_range else group.range
        self.is_to_clean |= group.is_empty
        if found is None or found.is_nothing:
            return None
        passing = [place for place, key in enumerate(keys) if found.has(key)]
        if not passing:
            return None
        summed = [sum([column[place] for place in passing]) for column in columns]
        group.passed = list(map(operator.add, group.passed, summed))
        return summed

    def settle(self) -> list[tuple[Any, Amounts]]:
        """Find the rows that pass now; return groups whose rows may be others than before, with the sums that passed until now."""
        plan, states = self._plan, self.states
        takes_null = self.has_null and all(condition.holds_for_null(states) for condition in plan.conditions)
        self.is_masked = plan.is_general
        if not plan.is_one_range:
            return self._settled_apart(takes_null)
        old, new = self.range, all_of(plan.conditions, states, _NO_KEYS)
        self.is_masked = new is None
        if new is not None and new == old and takes_null == self.takes_null:
            return []
        self.range = new
        if self._by_key is not None and old is not None and new is not None and takes_null == self.takes_null:
            crossed = self._by_key.crossed(old, new)
            if crossed is not None:
                return [self._passed(group, list(map(operator.add, self.groups[group].passed, sums))) for group, sums in crossed.items()]
        was_null, self.takes_null = self.takes_null, takes_null
        return [self._settled(key, group, old, new, was_null) for key, group in self.groups.items()]

    def _settled_apart(self, takes_null: bool) -> list[tuple[Any, Amounts]]:
        """Settle each group by itself."""
        plan, before = self._plan, []
        was_null, self.takes_null = self.takes_null, takes_null
        for key, group in self.groups.items():
            old, new = group.range, None if plan.is_general else all_of(plan.conditions, self.states, group.rows)
            self.is_masked |= new is None
            if new is None or new != old or takes_null or was_null:
                before.append(self._settled(key, group, old, new, was_null))
            group.range = new
        return before

    def _settled(self, key: Any, group: Group, old: KeyRange | None, new: KeyRange | None, was_null: bool) -> tuple[Any, Amounts]:
        found = group.masked(self._plan.conditions, self.states) if new is None else group.passing(old, new, is_known=not was_null)
        return self._passed(key, list(map(operator.add, found, group.without_key)) if self.takes_null else found)

    def _passed(self, key: Any, sums: list[Any]) -> tuple[Any, Amounts]:
        group = self.groups[key]
        old, group.passed = group.passed, sums
        return key, old

    @property
    def memory(self) -> int:
        """Bytes without those of states, estimated."""
        by_key = 0 if self._by_key is None else self._by_key.memory
        return 500 + by_key + sum(group.rows.memory + 400 for group in self.groups.values())


_NO_KEYS = SortedSums(0)
