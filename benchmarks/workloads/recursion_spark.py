"""A recursion whose rounds Spark computes: followed from the rows that it keeps, beside computed anew, after commits of a few links.

A random network of ``rows`` links, of which the nodes are kept that one node reaches. A commit deletes some links and inserts others. The
facts of a case are what the last reading of each way told: rounds or questions, rows and bytes handed over and fetched.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import count

import imp_driver
from benchmarks.harness import Systems, ask
from benchmarks.journal import Journal, Page
from benchmarks.protocol import Plan, Turn, Work, take_turns, turn_of

NAME = "trecursion_spark"
LINKS_PER_NODE = 4
CHANGES = (10, 1_000)
"""Links that a commit deletes, and inserts."""
TEXT = (
    "SELECT count(*) AS n, sum(node) AS s FROM (WITH RECURSIVE reach(node) AS "
    f"(SELECT 0 UNION SELECT l.dst FROM reach r JOIN {NAME} l ON l.src = r.node) SELECT node FROM reach)"
)


@dataclass(slots=True)
class Commits:
    """Takes other links away each time, and puts as many in."""

    systems: Systems
    links: int
    nodes: int
    size: int
    number: count[int] = field(default_factory=count)

    def commit(self) -> None:
        first = next(self.number) * self.size
        old = f"SELECT {first} + id AS id, 0 AS src, 0 AS dst FROM range({self.size})"
        src, dst = (_node("id", self.nodes, first + seed) for seed in (1, 2))
        new = f"SELECT {self.links + first} + id, {src}, {dst} FROM range({self.size})"
        self.systems.incremental.execute(
            f"MERGE INTO {NAME} t USING ({old} UNION ALL {new}) c ON t.id = c.id "
            "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, src, dst) VALUES (c.id, c.src, c.dst)"
        ).close()


def run(journal: Journal, plan: Plan, systems: Systems, warehouse: str, rows: int) -> None:
    """Measure one case per size of commits."""
    nodes = max(1, rows // LINKS_PER_NODE)
    for size in CHANGES:
        systems.incremental.execute(f"DROP TABLE IF EXISTS {NAME}").close()
        links = f"SELECT id, {_node('id', nodes, 0)} AS src, {_node('id', nodes, 7)} AS dst FROM range({rows})"
        systems.incremental.execute(f"CREATE TABLE {NAME} AS SELECT /*+ REPARTITION_BY_RANGE(32, id) */ * FROM ({links})").close()
        page = journal.page({"links": rows, "nodes": nodes, "links changed": 2 * size})
        with imp_driver.connect(warehouse=warehouse, recursion="spark", policy="incremental") as connection:
            ways = {"followed": partial(_ask, page, "followed", connection), "anew": partial(_anew, page, warehouse)}
            take_turns(page, plan, Work(ways, Commits(systems, rows, nodes, size).commit))
    systems.incremental.execute(f"DROP TABLE {NAME}").close()


def _node(number: str, nodes: int, seed: int) -> str:
    return f"CAST(pmod(xxhash64({number}, {seed}), {nodes}) AS INT)"


def _anew(page: Page, warehouse: str) -> Turn:
    """Ask on a connection that keeps nothing yet."""
    with imp_driver.connect(warehouse=warehouse, recursion="spark", policy="incremental") as connection:
        return _ask(page, "anew", connection)


def _ask(page: Page, way: str, connection: imp_driver.Connection) -> Turn:
    answer = ask(connection, TEXT)
    page.facts[way] = answer.report.detail
    return turn_of(answer)
