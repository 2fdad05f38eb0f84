"""The fixpoint operator (algorithm 1 of the paper, section 4.2), mended.

Deletions restrict the rows that depend on them, not all, and are not passed on: whoever derived something from a row hears of them too.
Base and recursive stream share one aggregate selection, since a row of one may be better than one of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.provenance.annotations import Annotations
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.selection import Selecting
from imp_driver.provenance.sizes import row_bytes
from imp_driver.provenance.updates import Kind, Update

BASE, RECURSIVE = 0, 1
"""The ports of the two inputs."""


class Passing(Enum):
    """What goes on of a derivation that changed an annotation.

    DIFFERENCE is new AND NOT old, as algorithm 1 says; DERIVATION is all of it, as figure 2 shows.
    """

    DIFFERENCE = "difference"
    DERIVATION = "derivation"


class Fixpoint:
    """Holds the rows of the recursive view that live at a node (the paper's P), and passes on what changes their annotations."""

    def __init__(self, diagrams: Diagrams, passing: Passing = Passing.DIFFERENCE, selecting: Selecting | None = None) -> None:
        self._diagrams = diagrams
        self._passing = passing
        self._selection = selecting(diagrams) if selecting else None
        self.annotations: Annotations[Row] = Annotations(diagrams)

    def process(self, port: int, update: Update) -> Sequence[Update]:
        """Take an insertion of either stream, which are treated alike."""
        selected = self._selection.process(update) if self._selection else (update,)
        return list(self._passed(selected))

    def forget(self, variables: frozenset[int]) -> Sequence[Update]:
        self.annotations.restrict(variables)
        return list(self._passed(self._selection.forget(variables))) if self._selection else ()

    @property
    def state_bytes(self) -> int:
        return self.annotations.bytes(row_bytes) + (self._selection.state_bytes if self._selection else 0)

    def _passed(self, updates: Sequence[Update]) -> Iterator[Update]:
        for update in updates:
            if update.kind is Kind.RETRACT:
                self.annotations.put(update.row, self._diagrams.false)
                yield update
                continue
            gained = self.annotations.absorb(update.row, update.provenance)
            if not self._diagrams.is_false(gained):
                yield Update(Kind.INSERT, update.row, gained) if self._passing is Passing.DIFFERENCE else update
