"""Relative provenance: each row keeps its derivations, which make a graph; what is derivable is found by walking it back to base rows.

Green, Karvounarakis, Ives, Tannen: Update exchange with mappings and provenance; recursive-view paper, sections 4 and 7.2. *Eager* ships
every derivation to the machine of the row that it derives. *Lazy* ships the first one that a machine makes of a row; the others wait
there until the shipped one is lost (MinShip, section 5).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from benchmarks.recursion.maintained import ATTRIBUTE_BYTES
from benchmarks.recursion.spreading import NOTHING, PARTITIONS, REACHABLE, ROW_BYTES, Facts, Labelled, Program, Spreading

Source: TypeAlias = int
OWN: Source = -1
"""Stands for the base row in the place of a source."""
DERIVATION_BYTES = 2 * ATTRIBUTE_BYTES
"""The base row and the row that it was joined with, each by its number."""


class Relative(Spreading):
    """A derivation of a row is the source that its label came from, or OWN."""

    def __init__(self, program: Program = REACHABLE, partitions: int = PARTITIONS, *, is_lazy: bool = False) -> None:
        super().__init__(program, partitions)
        self._is_lazy = is_lazy
        self._derivations: dict[Labelled, dict[Source, None]] = {}
        """Of each row that is there, those that were shipped."""
        self._waiting: dict[Labelled, dict[int, dict[Source, None]]] = {}
        """The others, by the machine that made them."""

    @property
    def provenance_bytes(self) -> int:
        """Bytes of all annotations."""
        waiting = sum(len(each) for machines in self._waiting.values() for each in machines.values())
        return DERIVATION_BYTES * (sum(map(len, self._derivations.values())) + waiting)

    @property
    def state_bytes(self) -> int:
        return super().state_bytes + self.provenance_bytes

    def follow(self, gone: Facts, new: Facts) -> None:
        lost = [(row, OWN) for row in gone.own]
        lost += [((node, label), source) for node, source in gone.edges for label in self.labels[source]]
        self.remove(gone)
        self._insert(self._replacements(self._delete(lost)))
        self.add(new)
        arriving = [(row, OWN) for row in new.own]
        self._insert(arriving + [((node, label), source) for node, source in new.edges for label in self.labels[source]])

    def _insert(self, pending: list[tuple[Labelled, Source]]) -> None:
        """Add derivations, and those that follow from the rows that they make."""
        while pending:
            row, source = pending.pop()
            self.counters.touched += 1
            if self._waits(row, source):
                continue
            node, label = row
            self._ship(node, source)
            derivations = self._derivations.get(row)
            if derivations is not None:
                derivations[source] = None
                continue
            self._derivations[row] = {source: None}
            self.labels[node].add(label)
            self.counters.touched += 1
            pending += [((reader, label), node) for reader in self.readers[node]]

    def _waits(self, row: Labelled, source: Source) -> bool:
        """Keep a derivation where it was made, if that is what becomes of it, and say so."""
        if not self._is_lazy or source == OWN:
            return False
        machine = self.partition(source)
        if all(each == OWN or self.partition(each) != machine for each in self._derivations.get(row, ())):
            return False
        self._waiting.setdefault(row, {}).setdefault(machine, {})[source] = None
        return True

    def _delete(self, lost: Iterable[tuple[Labelled, Source]]) -> dict[tuple[Labelled, int], None]:
        """Remove derivations, and the rows with none left that leads to a base row; return whose shipped ones were lost, by machine."""
        replaceable: dict[tuple[Labelled, int], None] = {}
        suspects = self._forget(lost, replaceable)
        derivable: set[Labelled] = set()
        while suspects:
            row = suspects.pop()
            removed = self._underivable(row, derivable)
            if removed:
                suspects += self._forget(self._take_out(removed, replaceable), replaceable)
        return replaceable

    def _forget(self, lost: Iterable[tuple[Labelled, Source]], replaceable: dict[tuple[Labelled, int], None]) -> list[Labelled]:
        """Remove derivations; return the rows that lost one that had been shipped."""
        suspects = []
        for row, source in lost:
            self.counters.touched += 1
            if source != OWN and self._waiting:
                self._waiting.get(row, {}).get(self.partition(source), {}).pop(source, None)
            derivations = self._derivations.get(row)
            if derivations is not None and source in derivations:
                del derivations[source]
                self._ship(row[0], source)
                suspects.append(row)
                if source != OWN:
                    replaceable[row, self.partition(source)] = None
        return suspects

    def _underivable(self, row: Labelled, derivable: set[Labelled]) -> set[Labelled]:
        """Walk the derivations of a row back; return all rows seen where none is derived from a base row, and nothing where one is.

        What is found to be derivable stays so as long as no more base rows go: only underivable rows are removed meanwhile.
        """
        if row not in self._derivations:
            return set()
        seen, pending = {row: row}, [row]
        while pending:
            row = pending.pop()
            if row in derivable or OWN in self._derivations[row]:
                self._remember(row, seen, derivable)
                return set()
            for source in self._derivations[row]:
                self.counters.touched += 1
                self._ship(row[0], source)
                below = (source, row[1])
                if below not in seen:
                    seen[below] = row
                    pending.append(below)
        return set(seen)

    @staticmethod
    def _remember(row: Labelled, seen: dict[Labelled, Labelled], derivable: set[Labelled]) -> None:
        """Note the rows between the one that was asked for and a derivable one."""
        derivable.add(row)
        while seen[row] not in derivable:
            row = seen[row]
            derivable.add(row)

    def _take_out(self, removed: set[Labelled], replaceable: dict[tuple[Labelled, int], None]) -> list[tuple[Labelled, Source]]:
        """Remove rows; return the derivations that others have from them."""
        lost = []
        for row in removed:
            node, label = row
            replaceable |= dict.fromkeys((row, self.partition(source)) for source in self._derivations.pop(row))
            self.labels[node].remove(label)
            self.counters.touched += 1
            lost += [((reader, label), node) for reader in self.readers.get(node, NOTHING)]
        return lost

    def _replacements(self, replaceable: Iterable[tuple[Labelled, int]]) -> list[tuple[Labelled, Source]]:
        """Take one of the waiting derivations for each shipped one that is gone; all of these are from rows that are there."""
        found = []
        for row, machine in replaceable:
            waiting = self._waiting.get(row, {}).get(machine)
            if waiting:
                found.append((row, waiting.popitem()[0]))
        return found

    def _ship(self, node: int, source: Source) -> None:
        if source != OWN and self.partition(source) != self.partition(node):
            self.ship(1, ROW_BYTES + DERIVATION_BYTES)
