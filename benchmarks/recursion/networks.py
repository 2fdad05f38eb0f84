"""Networks of directed links, by seed: transit-stub ones as in the recursive-view paper, and one whose degrees follow a power law.

The paper's are made by GT-ITM (section 7.1): four nodes a transit domain, three stubs of eight nodes a transit node, so 100 nodes a domain,
and about 200 links in both directions, 400 rows. That package cannot be had anywhere, so this is a generator of the same shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import TypeAlias

Link: TypeAlias = tuple[int, int]
"""Source and target."""

TRANSIT_NODES = 4
"""In a domain."""
STUBS = 3
"""Of a transit node."""
STUB_NODES = 8
BETWEEN_TRANSIT, TO_STUB, INSIDE_STUB = 50, 10, 2
"""Latencies in milliseconds (section 7.1)."""
HOMES = 4
"""Of so many links that are more than what connects a network, one goes from a stub to a transit node, and the others lie inside stubs."""
MUTUAL = 400
"""Of so many links of a network by power law, one has its counterpart."""


class Density(Enum):
    """Rows of links for each node (section 7.3): *sparse* has half of the links."""

    DENSE = 4
    SPARSE = 2


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes are 0, 1, ..; ``costs`` has the latency of each link in milliseconds, in the order in which links are inserted."""

    nodes: int
    costs: Mapping[Link, int]

    @property
    def links(self) -> list[Link]:
        return list(self.costs)


def transit_stub(nodes: int, density: Density, seed: int = 1) -> Network:
    """Return a network of any number of nodes, of which all reach all others.

    A dense one has four rows of links for each node. A sparse one has two, which is just what connects a domain; domains among each other
    take two more for each but the first. Very small networks have as many as there are pairs.
    """
    chance = Random(seed)
    shape = _Shape.of(nodes)
    edges = dict(_connected(shape, chance))
    missing = density.value * nodes // 2 - len(edges)
    if missing > 0:
        edges |= _more(shape, chance, edges, missing)
    return _shuffled(nodes, edges, chance)


def power_law(nodes: int, seed: int = 1) -> Network:
    """Return a network in which each newcomer links to two nodes that are there, those with many links first (preferential attachment).

    Links lead from the younger node to the older, so that few nodes reach each other: with mutual links everywhere, 10,000 nodes would have
    100 million pairs. One in 400 has its counterpart, which makes some cycles: with the first seed, 10,000 nodes and 20,030 links have
    1.55 million pairs, and 190 nodes reach themselves. All links cost the same.
    """
    chance = Random(seed)
    ends = [0]
    edges: dict[Link, int] = {}
    for newcomer in range(1, nodes):
        for older in {chance.choice(ends), chance.choice(ends)}:
            ends += (newcomer, older)
            edges[newcomer, older] = 1
            if chance.randrange(MUTUAL) == 0:
                edges[older, newcomer] = 1
    links = list(edges)
    chance.shuffle(links)
    return Network(nodes, dict.fromkeys(links, 1))


@dataclass(frozen=True, slots=True)
class _Shape:
    """Transit nodes come first, then the stubs one after the other."""

    domains: Sequence[range]
    stubs: Sequence[range]

    @classmethod
    def of(cls, nodes: int) -> _Shape:
        transit = -(-nodes // (1 + STUBS * STUB_NODES))
        return cls(_cut(0, transit, TRANSIT_NODES), _cut(transit, nodes, STUB_NODES))

    def home(self, stub: int) -> int:
        """Return the transit node of a stub, by the stub's number."""
        return stub // STUBS

    def domain(self, stub: int) -> range:
        return self.domains[self.home(stub) // TRANSIT_NODES]


def _cut(begin: int, end: int, width: int) -> list[range]:
    return [range(start, min(start + width, end)) for start in range(begin, end, width)]


def _connected(shape: _Shape, chance: Random) -> Iterator[tuple[Link, int]]:
    """Yield what connects all nodes: rings of transit nodes, a tree of domains, trees inside stubs, a link from each stub to its home."""
    for number, domain in enumerate(shape.domains):
        for node in domain[:-1]:
            yield (node, node + 1), BETWEEN_TRANSIT
        if len(domain) > 2:
            yield (domain[0], domain[-1]), BETWEEN_TRANSIT
        if number:
            yield (chance.choice(shape.domains[chance.randrange(number)]), chance.choice(domain)), BETWEEN_TRANSIT
    for number, stub in enumerate(shape.stubs):
        for node in stub[1:]:
            yield (chance.choice(range(stub[0], node)), node), INSIDE_STUB
        yield (shape.home(number), chance.choice(stub)), TO_STUB


def _more(shape: _Shape, chance: Random, edges: Mapping[Link, int], missing: int) -> dict[Link, int]:
    """Return so many more edges, or all that there can be: most inside stubs, some from stubs to transit nodes of their domain."""
    inside = [(one, two) for stub in shape.stubs for two in stub for one in range(stub[0], two) if (one, two) not in edges]
    homes = [
        (transit, node)
        for number, stub in enumerate(shape.stubs)
        for transit in shape.domain(number)
        for node in stub
        if (transit, node) not in edges
    ]
    chance.shuffle(inside)
    chance.shuffle(homes)
    to_homes = homes[: max(missing // HOMES, missing - len(inside))]
    return dict.fromkeys(to_homes, TO_STUB) | dict.fromkeys(inside[: missing - len(to_homes)], INSIDE_STUB)


def _shuffled(nodes: int, edges: Mapping[Link, int], chance: Random) -> Network:
    """Return the edges in both directions, in an order that says nothing about them: a share of it is a share of the network."""
    costs = {link: cost for (one, two), cost in edges.items() for link in ((one, two), (two, one))}
    links = list(costs)
    chance.shuffle(links)
    return Network(nodes, {link: costs[link] for link in links})
