"""What changes in a round: triples of products that have results, of products that have none, edges, and numbers that are summed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import NamedTuple

from benchmarks.sparql.bsbm import Bsbm, Triple
from benchmarks.sparql.graphs import Layers, Numbers
from imp_driver.sparql.terms import Term


class Step(NamedTuple):
    """What changes untimed, to come back to all triples or to take away what is to come, and then what changes while all are measured."""

    before: Sequence[tuple[Triple, int]]
    change: Sequence[tuple[Triple, int]]


class Kind(Enum):
    """The paper's four kinds of updates."""

    DELETE_RESULTS = "delete products with results"
    INSERT_RESULTS = "insert products with results"
    INSERT_OTHERS = "insert a product without"
    DELETE_OTHERS = "delete a product without"

    @property
    def is_insert(self) -> bool:
        return self in (Kind.INSERT_RESULTS, Kind.INSERT_OTHERS)


@dataclass(frozen=True, slots=True)
class Products:
    """All triples of some products of ``members``, which have results, or of one of ``others``, another one in each round."""

    data: Bsbm
    kind: Kind
    members: Sequence[int]
    others: Sequence[int]
    most: int = 10

    def steps(self) -> Iterator[Step]:
        chance = Random(f"changes {self.kind.value}")
        back: list[tuple[Triple, int]] = []
        while True:
            triples = [triple for number in self._drawn(chance) for triple in self.data.product(number)]
            gone = [(triple, -1) for triple in triples]
            come = [(triple, 1) for triple in triples]
            if self.kind.is_insert:
                yield Step(gone, come)
            else:
                yield Step(back, gone)
                back = come

    def _drawn(self, chance: Random) -> list[int]:
        if self.kind in (Kind.INSERT_OTHERS, Kind.DELETE_OTHERS):
            return [chance.choice(self.others)]
        return chance.sample(self.members, min(self.most, len(self.members)))


def members(data: Bsbm, kind: Term) -> tuple[list[int], list[int]]:
    """Return the numbers of the products of a type, and of the others."""
    of_kind = {number: any(value == kind for _, _, value in data.product(number)) for number in range(1, data.products + 1)}
    return [number for number, is_one in of_kind.items() if is_one], [number for number, is_one in of_kind.items() if not is_one]


def edges(layers: Layers, triples: Sequence[Triple], number: int, *, is_insert: bool, are_isolated: bool) -> Iterator[Step]:
    """Return steps in which edges come, or go; what they change is taken back before the next one."""
    chance, there = Random(f"edges {number} {is_insert}"), set(triples)
    back: list[tuple[Triple, int]] = []
    isolated = layers.isolated_edges(number)
    while True:
        if is_insert:
            chosen = isolated if are_isolated else [each for each in layers.new_edges(number, chance) if each not in there]
        else:
            chosen = isolated if are_isolated else chance.sample(triples, min(number, len(triples)))
        come, gone = [(triple, 1) for triple in chosen], [(triple, -1) for triple in chosen]
        if is_insert:
            yield Step(back, come)
            back = gone
        elif are_isolated:
            yield Step(come, gone)
        else:
            yield Step(back, gone)
            back = come


def numbers(data: Numbers, products: int, changed: int) -> Iterator[Step]:
    """Return steps in which ``changed`` numbers of each of some products go, and as many others come."""
    chance = Random("numbers")
    back: list[tuple[Triple, int]] = []
    while True:
        gone, new = data.change(products, changed, chance)
        change = [*((triple, -1) for triple in gone), *((triple, 1) for triple in new)]
        yield Step(back, change)
        back = [(triple, -sign) for triple, sign in change]
