"""Slow, obvious versions: rules followed from nothing, supports found among all subsets, shortest paths; and the rules that tests use."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, product

import pytest

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.rules import Place, Rule, copied
from imp_driver.provenance.base_rows import Fact
from imp_driver.provenance.library import LibraryName

LINEAR = (Rule(1, (0,), (2,), (), copied((0, 1))), Rule(1, (0, 1), (2, 2), ((Place(0, 1), Place(1, 0)),), copied((0, 3))))
"""Relation 1: what a link of relation 0 reaches. Each rule adds a link in front."""
DOUBLING = (Rule(1, (0,), (2,), (), copied((0, 1))), Rule(1, (1, 1), (2, 2), ((Place(0, 1), Place(1, 0)),), copied((0, 3))))
"""The same by joining what is reached with itself."""
MUTUAL = (
    Rule(2, (0,), (2,), (), copied((0, 1))),
    Rule(3, (2, 1), (2, 2), ((Place(0, 1), Place(1, 0)),), copied((0, 3))),
    Rule(2, (3, 0), (2, 2), ((Place(0, 1), Place(1, 0)),), copied((0, 3))),
)
"""Relations 2 and 3: ways whose links are of relations 0 and 1 in turn, that end with one of 0 and of 1."""
RULES = {"linear": LINEAR, "doubling": DOUBLING, "mutual": MUTUAL}


def libraries() -> list[object]:
    """Return both libraries as parameters of a test, the compiled one skipped where it is missing."""
    try:
        import dd.cudd  # noqa: F401
    except ImportError:
        return [pytest.param(LibraryName.CUDD, marks=pytest.mark.skip("dd.cudd is not installed")), LibraryName.PYTHON]
    return [LibraryName.CUDD, LibraryName.PYTHON]


def closure(rules: Sequence[Rule], base: Iterable[Fact]) -> set[Fact]:
    """Return what follows from base rows, without them: all rules over all choices of rows until nothing is new."""
    rows: set[Fact] = set(base)
    given = set(rows)
    while True:
        found = {(rule.head, head) for rule in rules for head in _heads(rule, rows)}
        if found <= rows:
            return rows - given
        rows |= found


def _heads(rule: Rule, rows: Collection[Fact]) -> Iterator[Row]:
    for body in product(*([row for number, row in rows if number == read] for read in rule.reads)):
        pairs = [(body[one.read][one.column], body[other.read][other.column]) for one, other in rule.equalities]
        if all(one == other and one is not None for one, other in pairs):
            yield from (head for head in rule.follow([body]) if head is not None)


def subsets(values: Collection[Fact]) -> Iterator[frozenset[Fact]]:
    """Yield all subsets, smallest first."""
    yield from map(frozenset, chain.from_iterable(combinations(values, size) for size in range(len(values) + 1)))


def supports(rules: Sequence[Rule], base: Collection[Fact]) -> Mapping[Fact, list[frozenset[Fact]]]:
    """Return the minimal sets of base rows from which each row follows, smallest first."""
    found: dict[Fact, list[frozenset[Fact]]] = {}
    for subset in subsets(base):
        for fact in closure(rules, subset):
            if not any(known <= subset for known in found.get(fact, ())):
                found.setdefault(fact, []).append(subset)
    return found


def reached(links: Iterable[Row]) -> set[Row]:
    return {row for _, row in closure(LINEAR, [(0, link) for link in links])}


def distances(links: Iterable[tuple[int, int, int]]) -> dict[tuple[int, int], int]:
    """Return the least cost of a way of at least one link, by pairs."""
    listed = list(links)
    found: dict[tuple[int, int], int] = {}
    for start in {link[0] for link in listed}:
        waiting = [(0, start)]
        while waiting:
            cost, node = heapq.heappop(waiting)
            for source, target, more in listed:
                if source == node and cost + more < found.get((start, target), 1 << 60):
                    found[start, target] = cost + more
                    heapq.heappush(waiting, (cost + more, target))
    return found
