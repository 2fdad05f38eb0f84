"""Random graphs of layers, and properties of products: what the experiments beside BSBM are made of.

Figure 3 of the paper has four layers of nodes, with each edge from one layer to the next there by chance; figure 11 has products with
numbers that are summed.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from benchmarks.sparql.bsbm import Triple
from imp_driver.sparql.terms import XSD, Term, iri, literal

LINKS: Final = "http://example.org/links/"
LINK: Final = iri(f"{LINKS}link")
VALUE: Final = iri(f"{LINKS}value")
LAYERS: Final = 4


def node(layer: int, number: int) -> Term:
    return iri(f"{LINKS}layer{layer}/node{number}")


@dataclass(frozen=True, slots=True)
class Layers:
    """``LAYERS`` layers of ``nodes`` nodes; from each node there are about ``degree`` edges to the next layer."""

    nodes: int
    degree: float
    seed: int = 1

    def triples(self) -> list[Triple]:
        chance = Random(f"{self.seed} {self.nodes} {self.degree}")
        wanted = round(self.nodes * self.degree)
        found: list[Triple] = []
        for layer in range(LAYERS - 1):
            edges = chance.sample(range(self.nodes * self.nodes), wanted)
            found += [self._edge(layer, each) for each in edges]
        return found

    def new_edges(self, number: int, chance: Random) -> list[Triple]:
        """Draw edges anywhere between neighbouring layers; some may be there."""
        drawn = ((chance.randrange(LAYERS - 1), chance.randrange(self.nodes * self.nodes)) for _ in range(number))
        return list(dict.fromkeys(self._edge(layer, each) for layer, each in drawn))

    def isolated_edges(self, number: int) -> list[Triple]:
        """Return edges between nodes that nothing else leads to or from."""
        return [(node(1, self.nodes + each), LINK, node(2, self.nodes + each)) for each in range(number)]

    def _edge(self, layer: int, number: int) -> Triple:
        return node(layer, number // self.nodes), LINK, node(layer + 1, number % self.nodes)


@dataclass(frozen=True, slots=True)
class Numbers:
    """``products`` with ``properties`` numbers each, of which no two are equal."""

    products: int
    properties: int

    def triples(self) -> list[Triple]:
        return [triple for product in range(self.products) for triple in self._of(product, range(self.properties))]

    def change(self, products: int, changed: int, chance: Random) -> tuple[list[Triple], list[Triple]]:
        """Return what leaves and what comes: ``changed`` numbers of each of some products."""
        chosen = chance.sample(range(self.products), min(products, self.products))
        gone = [triple for product in chosen for triple in self._of(product, chance.sample(range(self.properties), changed))]
        new = [triple for product in chosen for triple in self._of(product, range(self.properties, self.properties + changed))]
        return gone, new

    def _of(self, product: int, places: range | list[int]) -> list[Triple]:
        subject = iri(f"{LINKS}product{product}")
        return [(subject, VALUE, literal(str(1 + place * 7), f"{XSD}integer")) for place in places]
