"""The view from scratch after each change, by the fastest way there is to compute it here."""

from __future__ import annotations

from benchmarks.recursion.set_at_a_time import SetAtATime, by_node
from benchmarks.recursion.spreading import Facts


class Recompute(SetAtATime):
    """Forgets all labels and spreads those of nodes' own again."""

    def follow(self, gone: Facts, new: Facts) -> None:
        self.remove(gone)
        self.add(new)
        self.labels.clear()
        self.spread(by_node((node, label) for node, labels in self.own.items() for label in labels))
