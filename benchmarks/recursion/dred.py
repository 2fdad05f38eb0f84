"""Delete and rederive (Gupta, Mumick, Subrahmanian: Maintaining views incrementally; recursive-view paper, section 3.2 and figure 5).

First everything is deleted that has any derivation from what is gone, though others may support it; then what still has a derivation is put
in again, with all that follows from it. Both steps are semi-naive: each row is propagated once.
"""

from __future__ import annotations

from collections import defaultdict

from benchmarks.recursion.set_at_a_time import SetAtATime, by_node
from benchmarks.recursion.spreading import NOTHING, Facts, Labelled, Spreading


class DRed(Spreading):
    """Row by row, as the paper's engine pipelines them and as this driver does: what the two differ in is the algorithm."""

    def follow(self, gone: Facts, new: Facts) -> None:
        self.remove(gone)
        over = self._over_deleted(gone)
        for node, label in over:
            self.labels[node].remove(label)
        self.counters.touched += len(over)
        self.add(new)
        self._insert([*self._rederived(over), *new.own, *self._along(new)])

    def _over_deleted(self, gone: Facts) -> dict[Labelled, None]:
        """Return all rows with a derivation from what is gone. Facts that are gone are not among the facts any more, labels still are."""
        readers, elsewhere = self.readers, self.elsewhere
        over = dict.fromkeys([*gone.own, *self._along(gone)])
        pending, touched, shipped = list(over), 0, 0
        while pending:
            node, label = pending.pop()
            touched += len(readers[node])
            shipped += elsewhere[node]
            for reader in readers[node]:
                row = (reader, label)
                if row not in over:
                    over[row] = None
                    pending.append(row)
        self.counters.touched += touched
        self.ship(shipped)
        return over

    def _rederived(self, over: dict[Labelled, None]) -> list[Labelled]:
        """Return those of the deleted rows that follow at once from what is left."""
        labels, own, sources = self.labels, self.own, self.sources
        found, touched, shipped = [], 0, 0
        for row in over:
            node, label = row
            if label in own.get(node, NOTHING):
                found.append(row)
                continue
            for source in sources.get(node, NOTHING):
                touched += 1
                if label in labels[source]:
                    shipped += self.partition(source) != self.partition(node)
                    found.append(row)
                    break
        self.counters.touched += touched
        self.ship(shipped)
        return found

    def _along(self, facts: Facts) -> list[Labelled]:
        """Return what follows from edges and the labels that there are."""
        found = []
        for node, source in facts.edges:
            labels = self.labels[source]
            found += [(node, label) for label in labels]
            if self.partition(node) != self.partition(source):
                self.ship(len(labels))
        self.counters.touched += len(found)
        return found

    def _insert(self, pending: list[Labelled]) -> None:
        labels, readers, elsewhere = self.labels, self.readers, self.elsewhere
        touched = shipped = 0
        while pending:
            node, label = pending.pop()
            if label in labels[node]:
                continue
            labels[node].add(label)
            touched += 1 + len(readers[node])
            shipped += elsewhere[node]
            for reader in readers[node]:
                if label not in labels[reader]:
                    pending.append((reader, label))
        self.counters.touched += touched
        self.ship(shipped)


class DRedOfSets(SetAtATime):
    """The same with whole sets of labels at a time, whose steps Python's sets take in C: the fastest that it can be made here."""

    def follow(self, gone: Facts, new: Facts) -> None:
        self.remove(gone)
        over = self._over_deleted(gone)
        for node, labels in over.items():
            self.labels[node] -= labels
        self.counters.touched += sum(map(len, over.values()))
        arriving = self._rederived(over)
        for node, labels in self.arriving(new).items():
            arriving[node] |= labels
        self.spread(arriving)

    def _over_deleted(self, gone: Facts) -> dict[int, set[int]]:
        over = by_node(gone.own)
        for node, source in gone.edges:
            over[node] |= self.labels[source]
            self.counters.touched += len(self.labels[source])
            if self.partition(node) != self.partition(source):
                self.ship(len(self.labels[source]))
        pending = defaultdict(set, {node: set(labels) for node, labels in over.items()})
        while pending:
            node = next(iter(pending))
            labels = pending.pop(node)
            self.counters.touched += len(labels) * len(self.readers[node])
            self.ship(len(labels) * self.elsewhere[node])
            for reader in self.readers[node]:
                fresh = labels - over[reader]
                if fresh:
                    over[reader] |= fresh
                    pending[reader] |= fresh
        return over

    def _rederived(self, over: dict[int, set[int]]) -> dict[int, set[int]]:
        found: dict[int, set[int]] = defaultdict(set)
        for node, labels in over.items():
            found[node] |= labels & self.own.get(node, NOTHING)
            for source in self.sources.get(node, NOTHING):
                self.counters.touched += len(labels)
                derived = labels & self.labels[source]
                if self.partition(source) != self.partition(node):
                    self.ship(len(derived))
                found[node] |= derived
        return found
