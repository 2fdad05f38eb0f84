"""A recursion whose rows lie elsewhere, brought to changed tables by what changes alone: two phases by levels, the newest rows here.

Rows and their levels are kept where the tables are, as they were before a change; here is only what a change touches. The level of a
derivation is one more than the highest of its rows, that of a row the least of its derivations. Both phases go from level to level.

Losses. A row that has lost a derivation at its own level leaves unless it has another one, of that level at most, by rows that have not
left. All its derivations are fetched when its turn comes, so that no row that has left is ever asked for again.

Gains. Rows that have left return by the derivations that were fetched for them; others come, or come to a lower level, by new given rows.
Only rows that are new or lower than they were are followed further.

Sources: as ``settling``, which does the same where the rows are in this process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Protocol, TypeAlias

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.levels import MOST_LEVELS, Endless

Fact: TypeAlias = tuple[int, Row]
"""A row and the number of its recursive relation."""
MOST_ROWS = 100_000
"""That a change may touch; beyond these it is cheaper to compute all anew where the rows are."""


class TooMuchChanges(Exception):
    """A change touches more rows than are followed here."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """One way in which a row follows: ``body`` has the recursive rows that it follows from."""

    head: Fact
    body: tuple[Fact, ...]


class Elsewhere(Protocol):
    """Where the rows of a recursion are kept, with the tables before a change and after it. All methods may raise TooMuchChanges.

    Derivations may come several times. In those of a ``body`` of several rows each is kept, unless it is among ``more`` or ``rows``.
    """

    def lost(self) -> Iterable[Derivation]:
        """Return the derivations, by the tables as they were, that had a given row which is gone; others beside do no harm."""

    def led_to(self, rows: Collection[Fact]) -> Iterable[Derivation]:
        """Return the derivations, by the tables as they were, that have one of some kept rows in their body."""

    def of(self, rows: Collection[Fact], level: int) -> Iterable[Derivation]:
        """Return all derivations of some rows of a level from kept ones, by the tables as they are.

        Those without a recursive row may be left away above level 0: if there are any, they are won.
        """

    def won(self) -> Iterable[Derivation]:
        """Return the derivations from kept rows, by the tables as they are, that have a given row which is new; others do no harm.

        A row that the tables do not have is in none of them.
        """

    def leads_to(self, rows: Collection[Fact], more: Collection[Fact]) -> Iterable[Derivation]:
        """Return the derivations, by the tables as they are, that have one of some rows in their body; ``more`` are not kept."""

    def levels(self, rows: Collection[Fact]) -> Mapping[Fact, int]:
        """Return the levels of those of some rows that are kept."""


class Frontier:
    """One change. ``changes`` has, in the end, the new levels of rows whose level is another one; None for those that are gone."""

    def __init__(self, kept: Elsewhere, *, most_rows: int = MOST_ROWS, most_levels: int = MOST_LEVELS) -> None:
        self._kept = kept
        self._most_rows, self._most_levels = most_rows, most_levels
        self._before: dict[Fact, int | None] = {}
        self._after: dict[Fact, int | None] = {}
        self._blocked: dict[Fact, list[Derivation]] = {}
        self._of_left: list[Derivation] = []
        self._waiting: dict[int, dict[Fact, None]] = {}
        self._levels: list[int] = []

    @property
    def changes(self) -> dict[Fact, int | None]:
        return {fact: level for fact, level in self._after.items() if level != self._before[fact]}

    def before(self, relation: int) -> dict[Row, int | None]:
        """Return the levels that rows of a relation had which were looked at; None for those that were not there."""
        return {row: level for (number, row), level in self._before.items() if number == relation}

    @property
    def touched(self) -> int:
        """How many rows were looked at."""
        return len(self._before)

    def follow(self) -> None:
        """Find all changes.

        Raises:
            TooMuchChanges: they touch too many rows.
            Endless: there are too many levels.
        """
        self._lose(self._kept.lost())
        while self._levels:
            level, facts = self._next()
            left = self._without_support(level, [fact for fact in facts if fact not in self._after])
            self._after.update(dict.fromkeys(left))
            if left:
                self._lose(self._kept.led_to(left))
        self._gain([*self._of_left, *self._known(self._kept.won())])
        while self._levels:
            level, facts = self._next()
            if level > self._most_levels:
                raise Endless(f"it has not ended after {self._most_levels} rounds")
            lower = [fact for fact in facts if self._is_above(fact, level)]
            self._after.update(dict.fromkeys(lower, level))
            self._gain([each for fact in lower for each in self._blocked.pop(fact, ())])
            new = [fact for fact in lower if (before := self._before[fact]) is None or before > level]
            if new:
                more = [fact for fact, at in self._after.items() if at is not None and self._before[fact] is None]
                self._gain(self._known(self._kept.leads_to(new, more)))

    def _lose(self, derivations: Iterable[Derivation]) -> None:
        """Have those rows looked at that may have had their level by derivations that are gone."""
        for each in self._known(derivations):
            level = self._level(each, self._before)
            if level is not None and self._before[each.head] == level and each.head not in self._after:
                self._wait(level, each.head)

    def _without_support(self, level: int, facts: Collection[Fact]) -> list[Fact]:
        """Return those rows of a level that have no derivation of that level, or a lower one."""
        if not facts:
            return []
        found: dict[Fact, list[Derivation]] = {fact: [] for fact in facts}
        for each in self._known(self._kept.of(facts, level)):
            found[each.head].append(each)
        left = [fact for fact, own in found.items() if not any(self._is_at_most(each, level) for each in own)]
        self._of_left += [each for fact in left for each in found[fact]]
        return left

    def _is_at_most(self, derivation: Derivation, level: int) -> bool:
        found = self._level(derivation)
        return found is not None and found <= level

    def _gain(self, derivations: Iterable[Derivation]) -> None:
        """Have those rows looked at whose level is to be a lower one; what needs rows that have left waits for these."""
        for each in derivations:
            level = self._level(each)
            if level is None:
                for fact in each.body:
                    if self._now(fact) is None:
                        self._blocked.setdefault(fact, []).append(each)
            elif self._is_above(each.head, level):
                self._wait(level, each.head)

    def _known(self, derivations: Iterable[Derivation]) -> list[Derivation]:
        """Return derivations, each once, after asking for the levels of their rows that are not known yet."""
        found = list(dict.fromkeys(derivations))
        asked = dict.fromkeys(fact for each in found for fact in (each.head, *each.body) if fact not in self._before)
        if len(asked) + len(self._before) > self._most_rows:
            raise TooMuchChanges(f"a change touches more than {self._most_rows} rows")
        if asked:
            levels = self._kept.levels(asked)
            self._before.update({fact: levels.get(fact) for fact in asked})
        return found

    def _is_above(self, fact: Fact, level: int) -> bool:
        own = self._now(fact)
        return own is None or own > level

    def _now(self, fact: Fact) -> int | None:
        return self._after[fact] if fact in self._after else self._before[fact]

    def _level(self, derivation: Derivation, at: Mapping[Fact, int | None] | None = None) -> int | None:
        """Return the level of a derivation as rows are, or were; None where one of its rows is none."""
        highest = -1
        for fact in derivation.body:
            level = self._now(fact) if at is None else at[fact]
            if level is None:
                return None
            highest = max(highest, level)
        return highest + 1

    def _wait(self, level: int, fact: Fact) -> None:
        waiting = self._waiting.get(level)
        if waiting is None:
            waiting = self._waiting[level] = {}
            heappush(self._levels, level)
        waiting[fact] = None

    def _next(self) -> tuple[int, list[Fact]]:
        level = heappop(self._levels)
        return level, list(self._waiting.pop(level))
