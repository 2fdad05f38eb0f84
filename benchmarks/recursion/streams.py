"""Changes of a base table, drawn by seed: what one measurement applies, and what brings the table back before the next one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from benchmarks.records import Scalar
from benchmarks.recursion.maintained import Maintained, Row

Step: TypeAlias = tuple[Sequence[Row], Sequence[Row]]
"""Rows deleted and inserted at once."""


@dataclass(frozen=True, slots=True)
class Change:
    """``batches`` times so many rows, each batch followed before the next one comes; ``share`` percent of all rows where it is given."""

    is_insert: bool
    batch: int = 1
    batches: int = 1
    share: int = 0

    @property
    def labels(self) -> dict[str, Scalar]:
        batch: Scalar = f"{self.share} %" if self.share else self.batch
        return {"change": "insert" if self.is_insert else "delete", "batch": batch, "batches": self.batches}


class Stream:
    """Each round deletes other rows of the whole table, or inserts rows that were taken out before, untimed: the table keeps its size."""

    def __init__(self, rows: Sequence[Row], change: Change, seed: int = 1) -> None:
        self.steps: list[Step] = []
        self._rows, self._change, self._chance = rows, change, Random(seed)
        self._missing: list[Row] = []

    def prepare(self, systems: Collection[Maintained]) -> None:
        """Undo the last round in all systems, draw the next one, and take out what it is to insert."""
        self.restore(systems)
        change = self._change
        batch = len(self._rows) * change.share // 100 or change.batch
        drawn = self._chance.sample(self._rows, min(batch * change.batches, len(self._rows)))
        if change.is_insert:
            for system in systems:
                system.apply(drawn, ())
        self._missing = [] if change.is_insert else drawn
        parts = [drawn[begin : begin + batch] for begin in range(0, len(drawn), batch)]
        self.steps = [((), part) if change.is_insert else (part, ()) for part in parts]

    def restore(self, systems: Collection[Maintained]) -> None:
        """Bring all systems back to the whole table."""
        if self._missing:
            for system in systems:
                system.apply((), self._missing)
        self._missing = []
