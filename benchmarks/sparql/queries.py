"""The queries of the paper (section 5), with the vocabulary of BSBM and parameters that have results.

As printed, BSBM 4 lacks the braces around what UNION joins, and a star its last line; BSBM's star is not printed at all, and is a reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from benchmarks.sparql.bsbm import BSBM, DUBLIN_CORE, FEATURE, RDFS, Bsbm
from benchmarks.sparql.graphs import LINKS
from imp_driver.sparql.terms import Term

PREFIXES: Final = f"PREFIX bsbm: <{BSBM}> PREFIX rdfs: <{RDFS}> PREFIX dc: <{DUBLIN_CORE}> PREFIX edge: <{LINKS}>\n"
ABOVE, BELOW = 500, 1_500
"""Between which the numbers of products must lie that BSBM 1, 3 and 4 ask for."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """A type with many products, three features that many of these have, and one of these products."""

    kind: Term
    features: tuple[Term, Term, Term]
    product: Term


def parameters(data: Bsbm) -> Parameters:
    """Return parameters by which every query has results."""
    products: Counter[Term] = Counter()
    branches = {each.term for each in data.types if len(each.above) == 1}
    triples = {number: data.product(number) for number in range(1, data.products + 1)}
    for found in triples.values():
        products.update({value for _, _, value in found if value in branches})
    kind = products.most_common(1)[0][0]
    members = {number: found for number, found in triples.items() if any(value == kind for _, _, value in found)}
    features = Counter(value for found in members.values() for _, predicate, value in found if predicate == FEATURE)
    first, second, third = (each for each, _ in features.most_common(3))
    return Parameters(kind, (first, second, third), data.iri_of(min(members)))


def of_products(chosen: Parameters) -> Mapping[str, str]:
    """Return the queries over products, by name."""
    kind, (first, second, third), product = chosen.kind, chosen.features, chosen.product
    return {
        name: PREFIXES + text
        for name, text in {
            "BSBM 1": f"""
                SELECT ?p ?label WHERE {{
                  ?p rdfs:label ?label . ?p a {kind} . ?p bsbm:productFeature {first} . ?p bsbm:productFeature {second} .
                  ?p bsbm:productPropertyNumeric1 ?value1 . FILTER (?value1 > {ABOVE}) }}""",
            "BSBM 2": f"""
                SELECT ?label ?comment ?p ?producer ?pFeature ?Text1 ?Text2 ?Text3 ?Num1 ?Num2 ?Text4 ?Text5 ?Num4 WHERE {{
                  {product} rdfs:label ?label . {product} rdfs:comment ?comment . {product} bsbm:producer ?p .
                  ?p rdfs:label ?producer . {product} dc:publisher ?p .
                  {product} bsbm:productFeature ?f . ?f rdfs:label ?pFeature .
                  {product} bsbm:productPropertyTextual1 ?Text1 . {product} bsbm:productPropertyTextual2 ?Text2 .
                  {product} bsbm:productPropertyTextual3 ?Text3 .
                  {product} bsbm:productPropertyNumeric1 ?Num1 . {product} bsbm:productPropertyNumeric2 ?Num2 .
                  OPTIONAL {{ {product} bsbm:productPropertyTextual4 ?Text4 }}
                  OPTIONAL {{ {product} bsbm:productPropertyTextual5 ?Text5 }}
                  OPTIONAL {{ {product} bsbm:productPropertyNumeric4 ?Num4 }} }}""",
            "BSBM 3": f"""
                SELECT ?p ?label WHERE {{
                  {{ ?p rdfs:label ?label . ?p a {kind} . ?p bsbm:productFeature {first} .
                     ?p bsbm:productPropertyNumeric1 ?p1 . FILTER (?p1 > {ABOVE})
                     ?p bsbm:productPropertyNumeric3 ?p3 . FILTER (?p3 < {BELOW}) }}
                  MINUS {{ ?p bsbm:productFeature {second} }} }}""",
            "BSBM 4": f"""
                SELECT ?p ?label ?Text WHERE {{
                  {{ ?p rdfs:label ?label . ?p a {kind} . ?p bsbm:productFeature {first} . ?p bsbm:productFeature {second} .
                     ?p bsbm:productPropertyTextual1 ?Text . ?p bsbm:productPropertyNumeric1 ?p1 . FILTER (?p1 > {ABOVE}) }}
                  UNION
                  {{ ?p rdfs:label ?label . ?p a {kind} . ?p bsbm:productFeature {first} . ?p bsbm:productFeature {third} .
                     ?p bsbm:productPropertyTextual1 ?Text . ?p bsbm:productPropertyNumeric2 ?p2 . FILTER (?p2 > {ABOVE}) }} }}""",
            "path": """
                SELECT ?feat WHERE {
                  ?product1 bsbm:producer ?producer . ?product2 bsbm:producer ?producer . ?product2 bsbm:productFeature ?feat .
                  FILTER (?product1 != ?product2) }""",
            "star": """
                SELECT ?p ?label ?comment ?producer ?value WHERE {
                  ?p rdfs:label ?label . ?p rdfs:comment ?comment . ?p bsbm:producer ?producer .
                  ?p bsbm:productPropertyNumeric1 ?value }""",
            "sum": "SELECT ?p (SUM(?value1) AS ?total) WHERE { ?p bsbm:productPropertyNumeric1 ?value1 } GROUP BY ?p",
        }.items()
    }


THREE_STEPS: Final = PREFIXES + "SELECT ?x ?y WHERE { ?x edge:link ?z1 . ?z1 edge:link ?z2 . ?z2 edge:link ?y }"
STAR: Final = PREFIXES + "SELECT ?x ?y1 ?y2 ?y3 ?y4 WHERE { ?x edge:link ?y1 . ?x edge:link ?y2 . ?x edge:link ?y3 . ?x edge:link ?y4 }"
SUM: Final = PREFIXES + "SELECT ?p (SUM(?value1) AS ?total) WHERE { ?p edge:value ?value1 } GROUP BY ?p"
