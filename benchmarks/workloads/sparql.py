"""Queries of SPARQL after changes of the triples (section 5 of the paper on the counting algorithm, figures 3 to 5 and 8 to 11).

The driver's operators follow a change in one step; rdflib and pyoxigraph are asked anew, their stores changed apart. All are in this
process, and all hold the same triples. A case is one query, one size and one kind of change; ``query ms`` is the step with all rows read
after it, ``maintenance ms`` the step alone, ``tuples`` what the operators keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Work, take_turns
from benchmarks.records import Scalar
from benchmarks.sparql.bsbm import Bsbm, Triple
from benchmarks.sparql.changes import Kind, Products, Step, edges, members, numbers
from benchmarks.sparql.graphs import Layers, Numbers
from benchmarks.sparql.queries import STAR, SUM, THREE_STEPS, of_products, parameters
from benchmarks.sparql.systems import OURS, Maintained, OxigraphStore, RdflibStore, Recomputed, Store, System

PRODUCTS = 1_000
WITHOUT_OTHERS = ("path", "star", "sum")
"""Queries to which each product is something."""
NODES = 1_000
DEGREES = (1, 10, 20, 1000 / 35, 1000 / 30, 40)
"""Edges of a node to the next layer: the paper's chances of 1/1000, 1/100, 1/50, 1/35, 1/30 and 1/25 for each edge."""
FEW_DEGREES = (1, 10)
EDGES, ISOLATED_EDGES, DEGREE_OF_ISOLATED = 50, 25, 1000 / 35
STAR_DEGREES = (1, 3)
SUMS = (
    (1_000, 50),
    (5_000, 50),
    (10_000, 50),
    (20_000, 50),
    (50_000, 50),
    (1_000, 100),
    (5_000, 100),
    (10_000, 100),
    (20_000, 100),
    (50_000, 100),
)
FEW_SUMS = ((1_000, 50),)
CHANGED_PRODUCTS, CHANGED_NUMBERS = 10, 5

MOST_TRIPLES_OF_RDFLIB = 500_000
MOST_ROWS_OF_RDFLIB = 200_000
"""Beyond these a turn of rdflib takes minutes, and most memory of a machine."""
MOST_ROWS = 10_000_000
"""Of an answer that is compared: pyoxigraph makes all rows, one by one, where the driver counts equal ones."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Triples, and the engines that hold them."""

    triples: Sequence[Triple]
    stores: Mapping[str, Store]

    @staticmethod
    def of(triples: Sequence[Triple]) -> Loaded:
        stores: dict[str, Store] = {"pyoxigraph": OxigraphStore()}
        if len(triples) <= MOST_TRIPLES_OF_RDFLIB:
            stores["rdflib"] = RdflibStore()
        for store in stores.values():
            store.load(triples)
        return Loaded(triples, stores)


def run(journal: Journal, plan: Plan, *, is_quick: bool) -> None:
    """Measure all experiments with products of the smallest size; ``is_quick`` leaves out all but the smallest sizes of the others."""
    measure_products(journal, plan, PRODUCTS)
    for degree in FEW_DEGREES if is_quick else DEGREES:
        measure_paths(journal, plan, degree)
    for degree in STAR_DEGREES:
        measure_star(journal, plan, degree)
    for products, properties in FEW_SUMS if is_quick else SUMS:
        measure_sum(journal, plan, products, properties)


def measure_products(journal: Journal, plan: Plan, products: int) -> None:
    """Measure all queries over the products of BSBM, each with all kinds of changes that it has."""
    data = Bsbm(products)
    chosen = parameters(data)
    loaded = Loaded.of(list(data.triples()))
    inside, outside = members(data, chosen.kind)
    for name, text in of_products(chosen).items():
        of_one = [number for number in inside if data.iri_of(number) == chosen.product]
        touched = {"BSBM 2": of_one}.get(name, list(range(1, products + 1)) if name in WITHOUT_OTHERS else inside)
        for kind in Kind:
            if name in WITHOUT_OTHERS and kind in (Kind.INSERT_OTHERS, Kind.DELETE_OTHERS):
                continue
            labels: dict[str, Scalar] = {"query": name, "products": products, "change": kind.value}
            _measure(journal, plan, labels, text, loaded, Products(data, kind, touched, outside).steps())


def measure_paths(journal: Journal, plan: Plan, degree: float) -> None:
    """Measure three steps through a graph of layers (figure 3)."""
    layers = Layers(NODES, degree)
    loaded = Loaded.of(layers.triples())
    for is_insert in (True, False):
        word = "insert" if is_insert else "delete"
        for isolated in (False, True) if degree == DEGREE_OF_ISOLATED else (False,):
            number = ISOLATED_EDGES if isolated else EDGES
            labels: dict[str, Scalar] = {
                "query": "three steps",
                "degree": round(degree, 2),
                "change": f"{word} {number} {'isolated ' if isolated else ''}edges",
            }
            steps = edges(layers, loaded.triples, number, is_insert=is_insert, are_isolated=isolated)
            _measure(journal, plan, labels, THREE_STEPS, loaded, steps, rows=NODES * degree**3)


def measure_star(journal: Journal, plan: Plan, degree: float) -> None:
    """Measure four edges from one node (figure 10)."""
    layers = Layers(NODES, degree)
    loaded = Loaded.of(layers.triples())
    for is_insert in (True, False):
        labels: dict[str, Scalar] = {
            "query": "star of edges",
            "degree": round(degree, 2),
            "change": f"{'insert' if is_insert else 'delete'} {EDGES} edges",
        }
        steps = edges(layers, loaded.triples, EDGES, is_insert=is_insert, are_isolated=False)
        # Degrees vary as by chance: the mean of fourth powers of Poisson's distribution.
        rows = 3 * NODES * (degree**4 + 6 * degree**3 + 7 * degree**2 + degree)
        _measure(journal, plan, labels, STAR, loaded, steps, rows=rows)


def measure_sum(journal: Journal, plan: Plan, products: int, properties: int) -> None:
    """Measure sums by product (figure 11)."""
    data = Numbers(products, properties)
    loaded = Loaded.of(data.triples())
    labels: dict[str, Scalar] = {"query": "sum", "products": products, "properties": properties, "change": "exchange numbers"}
    _measure(journal, plan, labels, SUM, loaded, numbers(data, CHANGED_PRODUCTS, CHANGED_NUMBERS))


def _measure(
    journal: Journal, plan: Plan, labels: Mapping[str, Scalar], text: str, loaded: Loaded, steps: Iterator[Step], rows: float = 0
) -> None:
    plan = replace(plan, settling=0, warm_up=min(plan.warm_up, 1))
    page = journal.page(labels)
    page.facts["triples"] = len(loaded.triples)
    ours = Maintained(text, loaded.triples)
    rows = max(rows, ours.number_of_rows)
    page.facts["rows"] = ours.number_of_rows
    stores = {} if rows > MOST_ROWS else dict(loaded.stores)
    if rows > MOST_ROWS_OF_RDFLIB:
        stores.pop("rdflib", None)
    systems: dict[str, System] = {OURS: ours, **{name: Recomputed(store, text) for name, store in stores.items()}}
    # Stores are those of the next case too: at the end they have all triples again.
    undone: list[tuple[Triple, int]] = []
    step: list[Step] = []

    def change_all(changes: Sequence[tuple[Triple, int]]) -> None:
        undone.extend((triple, -sign) for triple, sign in changes)
        for system in systems.values():
            system.change(changes)

    def before() -> None:
        step[:] = [next(steps)]
        change_all(step[0].before)
        ours.prepare()

    def change() -> None:
        change_all(step[0].change)

    ways: Any = {name: system.turn for name, system in systems.items()}
    take_turns(page, plan, Work(ways, change=change, before=before))
    page.facts.update({f"ms in {name}": round(spent, 4) for name, spent in ours.milliseconds_of_operators.items()})
    for name in stores:
        systems[name].change(undone[::-1])
