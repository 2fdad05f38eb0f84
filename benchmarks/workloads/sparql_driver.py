"""Queries of SPARQL through Delta and the driver: after each commit of a product's triples, beside plain Spark that runs their SQL.

Triples like those of the Berlin benchmark. A change takes a product's triples away, or brings them back, in one commit. From execute to
fetchall.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.answering import ANSWERS, PLAIN, Connections, answered, opened
from benchmarks.harness import ask
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Way, Work, take_turns
from benchmarks.sparql.bsbm import Bsbm, Triple
from benchmarks.sparql.queries import of_products, parameters
from imp_driver.values.quoting import quoted_text

SCHEMA, GRAPH = "sparql", "products"
PRODUCTS = (1_000, 10_000)
QUERIES = ("BSBM 1", "BSBM 2", "BSBM 3", "BSBM 4", "star", "sum")


def run(journal: Journal, plan: Plan, warehouse: str, *, is_quick: bool) -> None:
    """Measure one case per size of the graph and query; ``is_quick`` leaves out the larger graph."""
    for products in PRODUCTS[:1] if is_quick else PRODUCTS:
        data = Bsbm(products)
        with opened(warehouse, f"{SCHEMA}_{products}") as connections:
            shop = _Shop(connections, data)
            count = shop.create()
            texts = of_products(parameters(data))
            for query in QUERIES:
                shop.measure(journal, plan, {"query": query, "products": products, "rows": count}, texts[query])


@dataclass(slots=True)
class _Shop:
    """A graph from which one product after the other is gone for a while."""

    connections: Connections
    data: Bsbm
    changes: int = 0
    gone: Sequence[Triple] = ()

    def create(self) -> int:
        """Make the graph; return how many triples it has."""
        for text in (f"DROP GRAPH IF EXISTS {GRAPH}", f"CREATE GRAPH {GRAPH}"):
            self.connections.plain.execute(text).close()
        columns = dict(zip("spo", map(list, zip(*self.data.triples(), strict=True)), strict=True))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "triples.parquet"
            pq.write_table(pa.table(columns), file)
            self.connections.plain.execute(f"INSERT INTO {GRAPH} (s, p, o) SELECT DISTINCT s, p, o FROM parquet.`{file}`").close()
        return len(set(zip(*columns.values(), strict=True)))

    def measure(self, journal: Journal, plan: Plan, axes: dict[str, str | int], text: str) -> None:
        text = "SPARQL " + text.replace("WHERE {", f"FROM <{GRAPH}> WHERE {{", 1)
        ways: dict[str, Way] = {PLAIN: partial(self._ask, PLAIN, text), ANSWERS: partial(self._ask, ANSWERS, text)}
        take_turns(journal.page(axes), plan, Work(ways, self._change))

    def _ask(self, system: str, text: str) -> Turn:
        connection = self.connections.plain if system == PLAIN else self.connections.answers
        return answered(ask(connection, text))

    def _change(self) -> None:
        if self.gone:
            rows = ", ".join(f"({', '.join(map(quoted_text, triple))})" for triple in self.gone)
            self.connections.plain.execute(f"INSERT INTO {GRAPH} (s, p, o) VALUES {rows}").close()
            self.gone = ()
            return
        self.changes += 1
        product = 1 + self.changes * 37 % self.data.products
        self.gone = sorted(set(self.data.product(product)))
        subject = quoted_text(self.data.iri_of(product))
        self.connections.plain.execute(f"DELETE FROM {GRAPH} WHERE s = {subject}").close()
