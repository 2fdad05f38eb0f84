"""The Star Schema Benchmark's 13 queries, constants drawn anew each round, over tables made from dbgen's data, under the same refresh."""

from __future__ import annotations

from random import Random

import imp_driver
from benchmarks.answering import opened
from benchmarks.dbgen_tables import FILES, PROPERTIES, create, of_orders, refresh_keys
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.recomputing import recomputing
from benchmarks.refreshed import Subject, changing_rounds, measure
from benchmarks.ssb_tables import LINEORDER, TABLES
from benchmarks.ssb_texts import TEMPLATES
from benchmarks.workloads.tpch_answers import SCHEMA as SOURCE

SCHEMA = "ssb"
_SEED = 13


def run(journal: Journal, plan: Plan, warehouse: str, scale: float) -> None:
    """Measure one case per query and one for the changes."""
    keys = refresh_keys(Random(_SEED), changing_rounds(plan))
    with opened(warehouse, SOURCE) as source:
        create(source.plain, scale)
    with opened(warehouse, SCHEMA) as connections:
        create_stars(connections.plain)
        with recomputing(connections.plain, ("lineorder", *TABLES)) as engine:
            subject = Subject(
                TEMPLATES,
                scale,
                connections,
                lambda each: [inserted(keys.copied[each])],
                lambda each: [deleted(keys.deleted[each])],
                engine,
            )
            measure(journal, plan, subject)


def create_stars(connection: imp_driver.Connection) -> None:
    """Make the dimensions and lineorder, clustered by order key."""
    lines = LINEORDER.format(lineitem=f"{SOURCE}.lineitem", orders=f"{SOURCE}.orders")
    clustered = f"SELECT * FROM (SELECT /*+ REPARTITION_BY_RANGE({FILES}, lo_orderkey) */ * FROM ({lines})) SORT BY lo_orderkey"
    rows = {name: text.format(tpch=SOURCE) for name, text in TABLES.items()} | {"lineorder": clustered}
    for name, text in rows.items():
        connection.execute(f"DROP TABLE IF EXISTS {name}").close()
        connection.execute(f"CREATE TABLE {name} USING DELTA {PROPERTIES} AS {text}").close()


def inserted(number: int) -> str:
    """Return the statement that inserts a thousandth of the orders, copies under free keys with other discounts."""
    discount = "CAST((lo_discount + lo_orderkey) % 11 AS INT)"
    return (
        "INSERT INTO lineorder SELECT lo_orderkey + 8, lo_linenumber, lo_custkey, lo_partkey, lo_suppkey, lo_orderdate, lo_orderpriority, "
        f"lo_quantity, lo_extendedprice, lo_ordtotalprice, {discount}, CAST(lo_extendedprice * (100 - {discount}) DIV 100 AS BIGINT), "
        f"lo_supplycost, lo_tax, lo_shipmode FROM lineorder WHERE {of_orders('lo_orderkey', number)}"
    )


def deleted(number: int) -> str:
    """Return the statement that deletes a thousandth of the orders."""
    return f"DELETE FROM lineorder WHERE {of_orders('lo_orderkey', number)}"
