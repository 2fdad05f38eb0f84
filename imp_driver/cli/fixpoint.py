"""What the recursive demo compares with: all pairs of a network that reach each other, computed from its links alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from imp_driver.cli.network import Link


def closure(links: Iterable[Link]) -> set[Link]:
    """Return all pairs with a way from the first to the second: round by round, each over the pairs that the one before has found."""
    found = set(links)
    ahead: dict[int, list[int]] = defaultdict(list)
    for src, dst in found:
        ahead[src].append(dst)
    new = found
    while new:
        new = {(src, further) for src, dst in new for further in ahead.get(dst, ())} - found
        found |= new
    return found


def unreachable(domains: Sequence[Sequence[int]], links: Iterable[Link]) -> dict[int, int]:
    """Return the pairs without a way, by the number of the domain of the first; none of a domain that reaches all nodes."""
    reached = Counter(src for src, dst in closure(links) if src != dst)
    others = sum(map(len, domains)) - 1
    counts = {number: sum(others - reached[node] for node in domain) for number, domain in enumerate(domains)}
    return {number: count for number, count in counts.items() if count}
