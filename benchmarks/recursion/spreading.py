"""Linear recursive views as labels that spread over nodes: the form in which all other ways to maintain them are written here.

A node has the labels of its own and those of its sources. ``reachable`` (query 1 of the recursive-view paper) is this with the target of
each link as a label of its source's own, and the link itself as an edge; ``activeRegion`` (query 3) with regions as labels of sensors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from benchmarks.recursion.maintained import ATTRIBUTE_BYTES, Copies, Counters, Row
from benchmarks.recursion.sensors import Field

Labelled: TypeAlias = tuple[int, int]
"""A node and a label that it has: a row of the view."""
Edge: TypeAlias = tuple[int, int]
"""A node and one of its sources."""

PARTITIONS = 12
"""Machines that rows would lie on: the paper's default (section 7)."""
ROW_BYTES = 2 * ATTRIBUTE_BYTES
NOTHING: frozenset[int] = frozenset()


@dataclass(slots=True)
class Facts:
    """What base rows say; different rows never say the same."""

    own: list[Labelled] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Program:
    """A view: what one base row says, and what a label of a node is called in the view.

    ``moves_edges`` says that an edge is stored with its node and must be shipped to its source to be joined there (figure 4).
    """

    facts: Callable[[Row], tuple[Iterable[Labelled], Iterable[Edge]]]
    row: Callable[[Labelled], Row]
    moves_edges: bool


REACHABLE = Program(lambda link: (((link[0], link[1]),), ((link[0], link[1]),)), lambda labelled: labelled, moves_edges=True)
"""reachable(x, y) :- link(x, y). reachable(x, y) :- link(x, z), reachable(z, y)."""


def regions(sensors: Field) -> Program:
    """Return ``activeRegion`` over the rows of ``istriggered``; sensors and where regions begin do not change."""
    near = sensors.near()
    begins: dict[int, list[int]] = defaultdict(list)
    for region, sensor in sensors.mains:
        begins[sensor].append(region)

    def facts(row: Row) -> tuple[list[Labelled], list[Edge]]:
        (sensor,) = row
        return [(sensor, region) for region in begins.get(sensor, ())], [(each, sensor) for each in near[sensor]]

    return Program(facts, lambda labelled: labelled[::-1], moves_edges=False)


class Spreading(ABC):
    """Keeps base rows and what they say; how the labels follow is what its subclasses differ in."""

    def __init__(self, program: Program = REACHABLE, partitions: int = PARTITIONS) -> None:
        self.counters = Counters()
        self.labels: dict[int, set[int]] = defaultdict(set)
        self.own: dict[int, set[int]] = defaultdict(set)
        self.sources: dict[int, set[int]] = defaultdict(set)
        self.readers: dict[int, set[int]] = defaultdict(set)
        self.elsewhere: dict[int, int] = defaultdict(int)
        """How many readers of a node lie on other machines: what each of its labels is shipped to."""
        self._program, self._partitions = program, partitions
        self._copies = Copies()

    @property
    def touched(self) -> int:
        return self.counters.touched

    def load(self, rows: Iterable[Row]) -> None:
        self.apply((), list(rows))

    def apply(self, deleted: Sequence[Row], inserted: Sequence[Row]) -> None:
        """Follow a change.

        Raises:
            ValueError: a row is deleted more often than it is there.
        """
        gone, new = self._copies.net(deleted, inserted)
        self.counters.touched += len(gone) + len(new)
        self.follow(self._facts(gone), self._facts(new))

    def _facts(self, rows: Iterable[Row]) -> Facts:
        facts = Facts()
        for row in rows:
            own, edges = self._program.facts(row)
            facts.own += own
            facts.edges += edges
        return facts

    @abstractmethod
    def follow(self, gone: Facts, new: Facts) -> None:
        """Bring the labels up to a change of the facts, which are still those of before."""

    def rows(self) -> Iterator[Row]:
        row = self._program.row
        return (row((node, label)) for node, labels in self.labels.items() for label in labels)

    @property
    def state_bytes(self) -> int:
        """Bytes of the attributes in all rows kept: those of the view, and edges both with their node and with their source."""
        edges = sum(map(len, self.sources.values()))
        return ROW_BYTES * (sum(map(len, self.labels.values())) + (2 if self._program.moves_edges else 1) * edges)

    def partition(self, node: int) -> int:
        return node % self._partitions

    def ship(self, rows: int, width: int = ROW_BYTES) -> None:
        self.counters.shipped += rows
        self.counters.shipped_bytes += rows * width

    def remove(self, facts: Facts) -> None:
        """Take facts out."""
        for node, label in facts.own:
            self.own[node].remove(label)
        for node, source in facts.edges:
            self.sources[node].remove(source)
            self.readers[source].remove(node)
            self._moved(node, source, -1)

    def add(self, facts: Facts) -> None:
        """Put facts in."""
        for node, label in facts.own:
            self.own[node].add(label)
        for node, source in facts.edges:
            self.sources[node].add(source)
            self.readers[source].add(node)
            self._moved(node, source, 1)

    def _moved(self, node: int, source: int, weight: int) -> None:
        if self.partition(node) != self.partition(source):
            self.elsewhere[source] += weight
            if self._program.moves_edges:
                self.ship(1)
