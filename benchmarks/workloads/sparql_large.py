"""The queries of ``sparql`` over millions of triples of the Berlin benchmark."""

from __future__ import annotations

from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.workloads.sparql import measure_products

PRODUCTS = (10_000, 15_000)
FEW_PRODUCTS = (10_000,)


def run(journal: Journal, plan: Plan, *, is_quick: bool) -> None:
    """Measure all queries with all kinds of changes; ``is_quick`` leaves out all but the smallest size."""
    for products in FEW_PRODUCTS if is_quick else PRODUCTS:
        measure_products(journal, plan, products)
