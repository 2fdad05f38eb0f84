"""Recursive relations that follow their tables: each row has the level at which it is derived first, so that no cycle keeps itself alive.

The level of a derivation is one more than the highest of its rows, that of a row the least of its derivations; it is known how many of
these there are at each level. What changes is settled level by level: when a level's turn comes, all that it rests on is settled. So a row
whose support is gone is taken away before anything that rests on it could bring it back, and no distance is ever counted up to infinity.
Only rows whose level changes are followed further.

Sources: semi-naive evaluation by rounds, with the differences of each round kept per row, like differential dataflow, but one number per
row instead of a history; aggregate selection as in ``selection``, whose rows are settled by measure first (Dijkstra's shortest paths).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeAlias

from imp_driver.dataflow.recursion.facts import Facts, Row
from imp_driver.dataflow.recursion.rules import Rule
from imp_driver.dataflow.recursion.selection import Candidates, Key, Selection

MOST_ROWS, MOST_LEVELS = 2_000_000, 2_000
"""Of recursive relations; one that counts along a cycle has more, whatever the bounds."""
_GONE, _CHECKED = -1, 1 << 14
_LEVEL_ALONE: Key = (0,)

_Time: TypeAlias = tuple[Key, int, int]
"""When rows are settled: by measure, then by level; the last is the number of their relation."""
_Entry: TypeAlias = tuple[int, ...]
"""Level of a row or _GONE, then a level and how many derivations there are at it, and so on in the order of levels."""
_NEW: _Entry = (_GONE,)


class Endless(Exception):
    """A recursion has more rows or levels than are followed."""


class TooManyRows(Endless):
    """It has more rows; it may end all the same."""


class NotOrdered(Exception):
    """A step makes a better measure from a worse one, so that the best is not known until all are."""


@dataclass(frozen=True, slots=True)
class RowChanges:
    """Rows of one relation that are there no longer, and those that are there now; with the numbers of both in ``Facts``."""

    removed: Collection[Row]
    added: Collection[Row]
    serials: Sequence[int] = ()
    new_serials: Sequence[int] = ()


@contextmanager
def _without_collection() -> Iterator[None]:
    """Have no cycles looked for: there are none among rows, and the search visits all of them, a million each time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(slots=True, eq=False)
class _Read:
    """A place at which a rule reads a relation, and the bodies that are derivations at another level than before, or at none.

    Attributes:
        is_alone: whether no other relation of the rule is recursive, so that a row alone gives its derivations their levels.
        effects: bodies with the level that all of them had and the one that they have.
        pairing: gives heads at once; None where bodies come first. ``heads`` are to these what ``effects`` are to bodies.
    """

    rule: Rule
    read: int
    is_alone: bool
    pairing: Callable[[Row], list[Row]] | None
    effects: list[tuple[list[Row], int, int]] = field(default_factory=list)
    heads: dict[tuple[int, int], list[Row]] = field(default_factory=dict)


class Levels:
    """Recursive relations under rules; all other relations that these read are given."""

    def __init__(
        self,
        rules: Sequence[Rule],
        *,
        selections: Mapping[int, Selection] | None = None,
        most_rows: int = MOST_ROWS,
        most_levels: int = MOST_LEVELS,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        count = 1 + max(max(rule.head, *rule.reads) for rule in rules)
        self._facts = [Facts() for _ in range(count)]
        self._entries: dict[int, dict[Row, _Entry]] = {rule.head: {} for rule in rules}
        self._candidates = {relation: Candidates(selection) for relation, selection in (selections or {}).items()}
        self._reads = [self._read(rule, read) for rule in rules for read in range(len(rule.reads))]
        self._readers = [[each for each in self._reads if each.rule.reads[each.read] == number] for number in range(count)]
        self._waiting: dict[_Time, dict[Row, None]] = {}
        self._times: list[_Time] = []
        self._most_rows, self._most_levels, self._check = most_rows, most_levels, check
        self._before: dict[int, dict[Row, int]] = {}
        self.touched = 0

    def rows(self, relation: int) -> Collection[Row]:
        """Return the rows of a recursive relation, as they are at any time."""
        return self._facts[relation].matching((), ())

    def level(self, relation: int, row: Row) -> int | None:
        """Return the level of a row of a recursive relation; None for one that is not there."""
        entry = self._entries[relation].get(row)
        return None if entry is None or entry[0] == _GONE else entry[0]

    def support(self, relation: int, row: Row) -> tuple[int | None, dict[int, int]]:
        """Return the level of a row, and how many derivations it has at each level."""
        entry = self._entries[relation].get(row, _NEW)
        return self.level(relation, row), dict(sorted(zip(entry[1::2], entry[2::2], strict=True)))

    def memory_rows(self) -> int:
        """Return how many rows are derived at all, best or not."""
        return sum(map(len, self._entries.values()))

    def apply(self, changes: Mapping[int, RowChanges]) -> Mapping[int, RowChanges]:
        """Change given relations, and return what changed of the recursive ones.

        Raises:
            Endless, NotOrdered: it cannot be followed; the object is of no use afterwards.
        """
        self._before = {relation: {} for relation in self._entries}
        with _without_collection():
            for relation, change in changes.items():
                for row in change.removed:
                    self._change_given(relation, row, is_there=False)
                for row in change.added:
                    self._change_given(relation, row, is_there=True)
            self._count_effects()
            while self._times:
                time = heappop(self._times)
                self._settle(time, self._waiting.pop(time))
                self._count_effects()
        return {relation: self._changed(relation, before) for relation, before in self._before.items()}

    def _changed(self, relation: int, before: Mapping[Row, int]) -> RowChanges:
        facts = self._facts[relation]
        removed, serials, added = list[Row](), list[int](), list[Row]()
        for row, serial in before.items():
            if row not in facts:
                if serial >= 0:
                    removed.append(row)
                    serials.append(serial)
            elif serial >= 0:
                # It was away only meanwhile.
                facts.renumber(row, serial)
            else:
                added.append(row)
        added.sort(key=facts.serial)
        return RowChanges(removed, added, serials, list(map(facts.serial, added)))

    def _change_given(self, relation: int, row: Row, *, is_there: bool) -> None:
        facts = self._facts[relation]
        if (row in facts) == is_there:
            return
        self.touched += 1
        if is_there:
            facts.add(row)
        for reader in self._readers[relation]:
            bodies = reader.rule.joined(self._facts, reader.read, row)
            for level, at_level in self._by_level(reader, bodies, row):
                reader.effects.append((at_level, _GONE, level + 1) if is_there else (at_level, level + 1, _GONE))
        if not is_there:
            facts.remove(row)

    def _change_level(self, relation: int, row: Row, before: int, after: int) -> None:
        """Have a row of a recursive relation at another level, at one for the first time, or at none any more."""
        facts = self._facts[relation]
        if before == _GONE:
            self._before[relation].setdefault(row, -1)
            facts.add(row)
            if not len(facts) % _CHECKED:
                self._check()
            if len(facts) > self._most_rows:
                raise TooManyRows(f"it has more than {self._most_rows} rows")
        self.touched += 1
        for reader in self._readers[relation]:
            if reader.pairing is not None:
                levels = before + (before != _GONE), after + (after != _GONE)
                found = reader.heads.get(levels)
                if found is None:
                    reader.heads[levels] = reader.pairing(row)
                else:
                    found += reader.pairing(row)
                continue
            bodies = reader.rule.joined(self._facts, reader.read, row)
            for level, at_level in self._by_level(reader, bodies, row):
                old = _GONE if before == _GONE else max(before, level) + 1
                new = _GONE if after == _GONE else max(after, level) + 1
                if old != new:
                    reader.effects.append((at_level, old, new))
        if after == _GONE:
            self._before[relation].setdefault(row, facts.serial(row))
            facts.remove(row)

    def _read(self, rule: Rule, read: int) -> _Read:
        is_alone = not any(relation in self._entries for place, relation in enumerate(rule.reads) if place != read)
        # The order of measures is checked by bodies.
        is_paired = is_alone and rule.reads[read] in self._entries and rule.head not in self._candidates
        return _Read(rule, read, is_alone, rule.pairing(self._facts, read) if is_paired else None)

    def _by_level(self, reader: _Read, bodies: list[Row], row: Row) -> Iterable[tuple[int, list[Row]]]:
        """Return bodies by the highest level of their recursive rows but one."""
        if not bodies:
            return ()
        if reader.is_alone:
            return ((_GONE, bodies),)
        rule, found = reader.rule, dict[int, list[Row]]()
        relation = rule.reads[reader.read]
        others = [(number, place, self._entries[number]) for place, number in enumerate(rule.reads) if number in self._entries]
        for body in bodies:
            parts = rule.rows_of(body)
            levels = [entries[parts[place]][0] for number, place, entries in others if number != relation or parts[place] != row]
            found.setdefault(max(levels, default=_GONE), []).append(body)
        return found.items()

    def _count_effects(self) -> None:
        """Count derivations at the levels at which they are now."""
        for reader in self._reads:
            if reader.heads:
                found, reader.heads = reader.heads, {}
                for (before, after), paired in found.items():
                    self._count_at(reader.rule.head, paired, before, after)
            if not reader.effects:
                continue
            effects, reader.effects = reader.effects, []
            rule = reader.rule
            bodies = effects[0][0] if len(effects) == 1 else [body for part, _, _ in effects for body in part]
            heads = rule.heads(bodies)
            if rule.head in self._candidates:
                self._check_ordered(rule, bodies, heads)
            begin = 0
            for part, before, after in effects:
                self._count_at(rule.head, heads[begin : begin + len(part)], before, after)
                begin += len(part)

    def _count_at(self, relation: int, heads: Sequence[Row | None], before: int, after: int) -> None:
        if before != _GONE:
            self._count(relation, heads, before, -1)
        if after != _GONE:
            self._count(relation, heads, after, 1)

    def _check_ordered(self, rule: Rule, bodies: Iterable[Row], heads: Iterable[Row | None]) -> None:
        """Raise NotOrdered where a row that follows is better than one that it follows from."""
        own = self._candidates[rule.head].selection
        others = [(read, self._candidates[number].selection) for read, number in enumerate(rule.reads) if number in self._candidates]
        for body, head in zip(bodies, heads, strict=True):
            if head is not None and not own.is_ordered(head):
                raise NotOrdered(f"{head[own.measure]} among the values")
            rows = rule.rows_of(body)
            for read, selection in others:
                if head is not None and own.key(head) < selection.key(rows[read]):
                    raise NotOrdered(f"{head[own.measure]} follows from {rows[read][selection.measure]}")

    def _count(self, relation: int, rows: Sequence[Row | None], level: int, change: int) -> None:
        """Count one derivation of each of some rows more or less at a level."""
        entries = self._entries[relation]
        waiting: dict[Row, None] = {}
        self.touched += len(rows)
        for row in rows:
            if row is None:
                continue
            entry = entries.get(row, _NEW)
            count, place = change, 1
            for place in range(1, len(entry), 2):
                if entry[place] >= level:
                    break
            else:
                place = len(entry)
            if place < len(entry) and entry[place] == level:
                count += entry[place + 1]
                after = entry[place + 2 :]
            else:
                after = entry[place:]
            entries[row] = (*entry[:place], level, count, *after) if count else entry[:place] + after
            # A row that is there already at this level, or before it, is so all the same, unless that was all.
            if entry[0] == _GONE or level < entry[0] or (level == entry[0] and not count):
                waiting[row] = None
        if waiting:
            self._wait(relation, waiting, level)

    def _wait(self, relation: int, rows: dict[Row, None], level: int) -> None:
        """Have rows settled when the turn of a level comes."""
        if level > self._most_levels:
            raise Endless(f"it has not ended after {self._most_levels} rounds")
        candidates = self._candidates.get(relation)
        if candidates is None:
            self._at((_LEVEL_ALONE, level, relation)).update(rows)
            return
        for row in rows:
            self._at((candidates.selection.key(row), level, relation))[row] = None

    def _at(self, time: _Time) -> dict[Row, None]:
        """Return what is settled at a time."""
        waiting = self._waiting.get(time)
        if waiting is None:
            waiting = self._waiting[time] = {}
            heappush(self._times, time)
        return waiting

    def _settle(self, time: _Time, rows: Iterable[Row]) -> None:
        """Have rows at the level at which they are now, all that is settled before being as it will be."""
        key, level, relation = time
        entries, is_selected = self._entries[relation], relation in self._candidates
        for row in rows:
            entry = entries.get(row)
            if entry is None:
                continue
            before, is_derived = entry[0], len(entry) > 1
            is_best = not is_selected or self._is_best(relation, row, key, is_derived=is_derived)
            if is_best and _GONE < before < level:
                continue
            after = _GONE
            if is_best and is_derived:
                if entry[1] <= level:
                    after = entry[1]
                elif before > level:
                    continue
                else:
                    self._wait(relation, {row: None}, entry[1])
            if after != before:
                self._change_level(relation, row, before, after)
                entry = entries[row] = (after, *entry[1:])
            if entry == _NEW:
                del entries[row]

    def _is_best(self, relation: int, row: Row, key: Key, *, is_derived: bool) -> bool:
        """Note whether a row is derived, have those settled again of which that changes whether they are best, and say whether it is."""
        candidates = self._candidates[relation]
        for other in list(candidates.put(row, key) if is_derived else candidates.drop(row, key)):
            entry = self._entries[relation][other]
            levels = [level for level in (entry[0], *entry[1:2]) if level != _GONE]
            if levels:
                self._wait(relation, {other: None}, min(levels))
        return candidates.is_best(row, key)
