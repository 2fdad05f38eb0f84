"""Plain set-oriented execution: labels spread in whole sets, semi-naively. It knows no deletions (recursive-view paper, section 7.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from benchmarks.recursion.spreading import Facts, Labelled, Spreading


class SetAtATime(Spreading):
    """Follows what is inserted; the fastest way where nothing is ever deleted."""

    def follow(self, gone: Facts, new: Facts) -> None:
        """Spread what is new.

        Raises:
            ValueError: something is gone.
        """
        if gone.own or gone.edges:
            raise ValueError("without provenance or derivations to look for, nothing can be deleted")
        self.spread(self.arriving(new))

    def arriving(self, new: Facts) -> dict[int, set[int]]:
        """Put facts in and return the labels that nodes get by them at once."""
        self.add(new)
        arriving: dict[int, set[int]] = defaultdict(set)
        for node, label in new.own:
            arriving[node].add(label)
        for node, source in new.edges:
            labels = self.labels[source]
            arriving[node] |= labels
            self.counters.touched += len(labels)
            if self.partition(node) != self.partition(source):
                self.ship(len(labels))
        return arriving

    def spread(self, arriving: dict[int, set[int]]) -> None:
        """Give nodes labels, and their readers those among them that they do not have."""
        labels, readers, counters = self.labels, self.readers, self.counters
        while arriving:
            # The one that waits longest: until then it gathers what others give it.
            node = next(iter(arriving))
            fresh = arriving.pop(node) - labels[node]
            if not fresh:
                continue
            labels[node] |= fresh
            counters.touched += len(fresh) * (1 + len(readers[node]))
            self.ship(len(fresh) * self.elsewhere[node])
            for reader in readers[node]:
                arriving[reader] |= fresh


def by_node(rows: Iterable[Labelled]) -> dict[int, set[int]]:
    """Return labels by the nodes that have them."""
    found: dict[int, set[int]] = defaultdict(set)
    for node, label in rows:
        found[node].add(label)
    return found
