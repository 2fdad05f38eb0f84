"""Which rows of which groups lie between two places: what a boundary that all groups share passes when it moves a little."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from imp_driver.dataflow.nested.key_ranges import KeyRange
from imp_driver.dataflow.nested.keys import Key
from imp_driver.dataflow.nested.sorted_sums import SortedSums

MOST_KEYS = 16
"""Keys that are looked through, at most: beyond, each group is asked for its sums between the places."""


class GroupsByKey:
    """The sums of each key, by group, and the keys in their order."""

    def __init__(self) -> None:
        self._sums: dict[Key, dict[Any, list[Any]]] = {}
        self._order = SortedSums(0)

    def add(self, key: Key, group: Any, amounts: Sequence[Any]) -> None:
        """Add signed amounts of a group to a key."""
        if step := self._added(key, group, amounts):
            self._order.add_sums(key, (step,))

    def add_many(self, keys: Sequence[Key], group: Any, columns: Sequence[Sequence[Any]]) -> None:
        """Add columns of signed amounts of a group, one to each key."""
        steps = [self._added(key, group, amounts) for key, *amounts in zip(keys, *columns, strict=True)]
        self._order.add_many(keys, (), steps)

    def _added(self, key: Key, group: Any, amounts: Sequence[Any]) -> int:
        """Add signed amounts, and return 1 where the key has come with them, -1 where it has gone."""
        groups = self._sums.get(key)
        if groups is None:
            self._sums[key] = {group: list(amounts)}
            return 1
        found = groups.get(group)
        new = list(amounts) if found is None else list(map(operator.add, found, amounts))
        if any(new):
            groups[group] = new
            return 0
        del groups[group]
        if groups:
            return 0
        del self._sums[key]
        return -1

    def crossed(self, old: KeyRange, new: KeyRange) -> dict[Any, list[Any]] | None:
        """Return by how much the sums of which groups change where another range of keys passes; None where it is too far from the old."""
        if old.is_nothing or new.is_nothing:
            return None
        found: dict[Any, list[Any]] = {}
        # A lower beginning and a later end bring keys in.
        for one, other in ((new.low, old.low), (old.high, new.high)):
            if one == other:
                continue
            if one is None or other is None:
                return None
            keys = self._order.keys_between(min(one, other), max(one, other), MOST_KEYS)
            if keys is None:
                return None
            self._collect(found, keys, is_adding=one < other)
        return found

    def _collect(self, found: dict[Any, list[Any]], keys: Sequence[Key], *, is_adding: bool) -> None:
        for key in keys:
            for group, amounts in self._sums[key].items():
                signed = amounts if is_adding else list(map(operator.neg, amounts))
                known = found.get(group)
                found[group] = list(signed) if known is None else list(map(operator.add, known, signed))

    @property
    def memory(self) -> int:
        """Bytes, estimated."""
        return self._order.memory + 400 * len(self._sums)
