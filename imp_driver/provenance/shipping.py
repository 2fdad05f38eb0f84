"""What of an operator's output goes to other nodes: all of it, or what MinShip lets through (algorithm 3 of the paper, section 5), mended.

MinShip ships the first derivation of a row and keeps others. Invariant: a row of which anything is known here has been shipped with a
derivation that is not deleted. So when what was shipped is deleted, an alternative goes at once, and counts as shipped from then on: a
single smallest one. All of them, as algorithm 3 has it, are in dense networks functions that outgrow any memory once they are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.provenance.annotations import Annotations
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.minimal_sets import minimal_sets
from imp_driver.provenance.selection import Selecting
from imp_driver.provenance.sizes import row_bytes
from imp_driver.provenance.updates import Kind, Update


class Shipping(Protocol):
    """Decides what is shipped, and when."""

    def process(self, update: Update) -> Sequence[Update]:
        """Take an update, and return the insertions to ship now."""

    def flush(self) -> Sequence[Update]:
        """Return the insertions that wait to be shipped in any case, as at the end of the stream."""

    def forget(self, variables: frozenset[int]) -> Sequence[Update]:
        """Make variables false, and return the insertions that have to be shipped before others hear of the deletion."""

    @property
    def state_bytes(self) -> int: ...


class Ship:
    """Ships everything at once and holds nothing."""

    state_bytes = 0

    def process(self, update: Update) -> Sequence[Update]:
        return (update,) if update.kind is Kind.INSERT else ()

    def flush(self) -> Sequence[Update]:
        return ()

    def forget(self, variables: frozenset[int]) -> Sequence[Update]:
        return ()


class MinShip:
    """Ships one derivation of each row, and others late or never.

    Args:
        window: how many rows with other derivations wait until all of them are shipped (eager); None if they wait until what was shipped
            of their row is deleted, and then go one by one (lazy).
        selecting: makes an aggregate selection in front. Rows that it retracts stay with whoever has them, who selects too.
    """

    def __init__(self, diagrams: Diagrams, window: int | None, selecting: Selecting | None = None) -> None:
        self._diagrams = diagrams
        self._window = window
        self._selection = selecting(diagrams) if selecting else None
        self._sent: Annotations[Row] = Annotations(diagrams)
        self._waiting: Annotations[Row] = Annotations(diagrams)

    def process(self, update: Update) -> Sequence[Update]:
        updates = self._selection.process(update) if self._selection else (update,)
        return self._shipped(updates)

    def flush(self) -> Sequence[Update]:
        if self._window is None:
            return ()
        rows = list(self._waiting)
        return [self._take(row) for row in rows]

    def forget(self, variables: frozenset[int]) -> Sequence[Update]:
        self._waiting.restrict(variables)
        restricted = self._sent.restrict(variables)
        gone = [each.key for each in restricted if self._diagrams.is_false(each.after)]
        alternatives = [self._alternative(row) for row in gone if row in self._waiting]
        return [*alternatives, *(self._shipped(self._selection.forget(variables)) if self._selection else ())]

    @property
    def state_bytes(self) -> int:
        own = self._sent.bytes(row_bytes) + self._waiting.bytes(row_bytes)
        return own + (self._selection.state_bytes if self._selection else 0)

    def _shipped(self, updates: Sequence[Update]) -> list[Update]:
        found: list[Update] = []
        for update in updates:
            if update.kind is Kind.INSERT:
                found += self._first_or_later(update)
        return found

    def _first_or_later(self, update: Update) -> Sequence[Update]:
        sent = self._sent.get(update.row)
        if self._diagrams.is_false(sent):
            self._sent.put(update.row, update.provenance)
            return (update,)
        if self._diagrams.or_(sent, update.provenance) != sent:
            self._waiting.absorb(update.row, update.provenance)
        return self.flush() if self._window is not None and len(self._waiting) >= self._window else ()

    def _alternative(self, row: Row) -> Update:
        """Return what takes the place of what was shipped of a row; what it is among waits on."""
        if self._window is not None:
            return self._take(row)
        waiting = self._waiting[row]
        function = self._diagrams.all_of(next(minimal_sets(self._diagrams, waiting)))
        self._sent.put(row, function)
        if function == waiting:
            self._waiting.put(row, self._diagrams.false)
        return Update(Kind.INSERT, row, function)

    def _take(self, row: Row) -> Update:
        """Return all that waits of a row, which counts as shipped from now on."""
        function = self._waiting[row]
        self._waiting.put(row, self._diagrams.false)
        self._sent.absorb(row, function)
        return Update(Kind.INSERT, row, function)
