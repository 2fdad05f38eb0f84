"""Absorption provenance between machines (sections 4 to 6 of the recursive-view paper) in the form that the workloads measure views in.

The operators are the product's own (``imp_driver/provenance``), with all nodes in this process; what they would ship is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from benchmarks.recursion.maintained import Copies, Row, whole
from benchmarks.recursion.sensors import Field
from imp_driver.dataflow.recursion import facts
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.partitions import Network, Strategy
from imp_driver.provenance.plan import Plan
from imp_driver.provenance.queries import COST, LENGTH, active_region, best, path, reachable
from imp_driver.provenance.selection import Aggregate, AggregateName

MOST_NODES = 20_000_000
"""Of all decision diagrams of one view."""
CHEAPEST = (Aggregate(AggregateName.MIN, COST),)
CHEAPEST_AND_SHORTEST = (*CHEAPEST, Aggregate(AggregateName.MIN, LENGTH))
Made: TypeAlias = Callable[[Iterable[facts.Row]], Iterator[facts.Row]]
"""What is compared, of the rows of a view."""


class Absorbed:
    """A view whose rows lie on several nodes, with their provenance; ``changing`` is its base relation that changes."""

    def __init__(self, plan: Plan, strategy: Strategy, partitions: int, changing: str = "link", made: Made = iter) -> None:
        # Eager ones wait for the end of a batch, as those of the paper do for the end of a second.
        self._network = Network(
            plan, partitions, strategy, window=1 << 30, diagrams=Diagrams(limit=MOST_NODES), place=lambda value: whole(value) % partitions
        )
        self._changing, self._made = changing, made
        self._copies = Copies()

    def put(self, relation: str, rows: Iterable[Row]) -> None:
        """Give base rows that never change."""
        for row in rows:
            self._network.insert(relation, row)
        self._network.settle()

    def load(self, rows: Iterable[Row]) -> None:
        self.apply((), list(rows))

    def apply(self, deleted: Sequence[Row], inserted: Sequence[Row]) -> None:
        gone, new = self._copies.net(deleted, inserted)
        for row in gone:
            self._network.delete(self._changing, row)
        for row in new:
            self._network.insert(self._changing, row)
        self._network.settle()

    def rows(self) -> Iterator[Row]:
        return (tuple(map(whole, row)) for row in self._made(self._network.annotations()))

    @property
    def touched(self) -> int:
        """Rows and deletions in all messages, each of which an operator follows."""
        return self._network.traffic.tuples + self._network.traffic.announcements

    @property
    def shipped(self) -> int:
        return self.touched

    @property
    def shipped_bytes(self) -> int:
        return self._network.traffic.bytes

    @property
    def state_bytes(self) -> int:
        return sum(self._network.state_bytes())

    @property
    def most_state_bytes(self) -> int:
        """Of the node that has most."""
        return max(self._network.state_bytes())

    @property
    def provenance_bytes(self) -> float:
        """Of a row of the view, on average."""
        return self._network.provenance_bytes()


def reachable_nodes(strategy: Strategy, partitions: int) -> Absorbed:
    """Return ``reachable`` over rows of links."""
    return Absorbed(reachable(), strategy, partitions)


def regions(sensors: Field, strategy: Strategy, partitions: int) -> Absorbed:
    """Return ``activeRegion`` over rows of ``istriggered``."""
    made = Absorbed(active_region(), strategy, partitions, "triggered")
    made.put("main", sensors.mains)
    made.put("near", [(one, two) for one, others in sensors.near().items() for two in others])
    return made


def shortest_paths(aggregates: tuple[Aggregate, ...], partitions: int) -> Absorbed:
    """Return ``minCost`` over rows of links with costs, by paths that are best for some of the aggregates."""
    return Absorbed(path(aggregates), Strategy.LAZY, partitions, made=_least_costs)


def _least_costs(paths: Iterable[facts.Row]) -> Iterator[facts.Row]:
    return iter(dict.fromkeys((*row[:2], row[COST]) for row in best(paths, COST)))
