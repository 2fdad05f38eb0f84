"""The network of the recursive demo: transit nodes with stub domains, in the form of GT-ITM, and what happens to its links.

Reproducible by its seed. Source of the sizes: section 7.1 of the paper on recursive views: four transit nodes, three stubs each, eight
nodes a stub, some 400 links, each way counted.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

Link: TypeAlias = tuple[int, int]
"""From one node to another."""

TRANSIT_NODES, STUBS, STUB_NODES, CHORDS = 4, 3, 8, 7
"""Stubs of a transit node; nodes of a stub, which are a ring, and links across it."""
NODES, LINKS, REACH = "demo_node", "demo_link", "demo_reach"
"""Tables, and the view of all pairs that reach each other."""
RECURSION = (
    f"WITH RECURSIVE reach(src, dst) AS (SELECT src, dst FROM {LINKS} "
    f"UNION SELECT l.src, r.dst FROM {LINKS} l JOIN reach r ON l.dst = r.src) SELECT src, dst FROM reach"
)
UNREACHABLE = (
    f"SELECT a.domain, count(*) AS pairs FROM {NODES} a CROSS JOIN {NODES} b WHERE a.id <> b.id "
    f"AND NOT EXISTS (SELECT 1 FROM {REACH} r WHERE r.src = a.id AND r.dst = b.id) GROUP BY a.domain"
)
"""Ordered pairs without a way from the first to the second, by the domain of the first; none of a domain that reaches all nodes."""
_MOST_BROKEN = 6


@dataclass(frozen=True, slots=True)
class Network:
    """``domains`` are the transit nodes, then the nodes of each stub; ``links`` go both ways."""

    domains: tuple[tuple[int, ...], ...]
    links: tuple[Link, ...]

    @property
    def nodes(self) -> tuple[int, ...]:
        return tuple(node for domain in self.domains for node in domain)


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to the network, and the statement that writes it."""

    label: str
    text: str


def network(seed: int) -> Network:
    """Make a network of 100 nodes and 396 links; which nodes of a stub are linked across its ring is drawn."""
    chance = random.Random(seed)
    transit = tuple(range(TRANSIT_NODES))
    domains, found = [transit], list(combinations(transit, 2))
    for number in range(TRANSIT_NODES * STUBS):
        first = TRANSIT_NODES + STUB_NODES * number
        stub = tuple(range(first, first + STUB_NODES))
        ring = list(zip(stub, (*stub[1:], first), strict=True))
        across = [link for link in combinations(stub, 2) if link not in ring and link[::-1] not in ring]
        found += [(number // STUBS, first), *ring, *chance.sample(across, CHORDS)]
        domains.append(stub)
    return Network(tuple(domains), tuple(way for link in found for way in (link, link[::-1])))


def name_of(domain: int) -> str:
    """Return the name of a domain by its number: that of its transit node, and which stub of it."""
    return "transit" if domain == 0 else f"stub {(domain - 1) // STUBS}.{(domain - 1) % STUBS}"


def changes(whole: Network, seed: int) -> Iterator[Change]:
    """Yield failures and repairs by turns of chance, without end; at most _MOST_BROKEN failures last at once."""
    chance = random.Random(seed + 1)
    up = set(whole.links)
    broken: list[tuple[str, list[Link]]] = []
    while True:
        if broken and (len(broken) == _MOST_BROKEN or chance.random() < 0.4):
            what, links = broken.pop(chance.randrange(len(broken)))
            up |= set(links)
            yield Change(f"{what} is back", f"INSERT INTO {LINKS} VALUES {_listed(links)}")
        else:
            what, links = _failure(whole, up, chance)
            up -= set(links)
            broken.append((what, links))
            yield Change(f"{what} fails", f"DELETE FROM {LINKS} WHERE (src, dst) IN ({_listed(links)})")


def _failure(whole: Network, up: set[Link], chance: random.Random) -> tuple[str, list[Link]]:
    """Return what fails next, with its links that are up, of which there is at least one."""
    while True:
        if chance.random() < 0.3:
            node = chance.choice(whole.nodes[TRANSIT_NODES:])
            what, lost = f"node {node}", {link for link in up if node in link}
        else:
            # A stub that is cut off shows more than a link of its own that is missed by none.
            is_outer = chance.random() < 0.6
            links = sorted(link for link in up if (min(link) < TRANSIT_NODES) is is_outer)
            src, dst = chance.choice(links)
            is_one_way = chance.random() < 0.3
            what = f"link {src} -> {dst}" if is_one_way else f"link {src} - {dst}"
            lost = {(src, dst)} if is_one_way else {(src, dst), (dst, src)} & up
        if lost:
            return what, sorted(lost)


def _listed(links: Iterable[Link]) -> str:
    return ", ".join(f"({src}, {dst})" for src, dst in links)
