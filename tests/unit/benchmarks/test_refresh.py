"""Refresh functions over dbgen's keys: a thousandth each, under keys that are free, and no order twice."""

from __future__ import annotations

from random import Random

import duckdb
import pytest

from benchmarks.dbgen_tables import deleted, inserted, refresh_keys
from benchmarks.recomputing import Recomputing
from benchmarks.workloads import ssb

ORDERS = 16_000
# As dbgen does: of every 32 keys the first eight.
KEYS = f"SELECT (range // 8) * 32 + range % 8 AS key, range FROM range({ORDERS})"


@pytest.fixture
def engine() -> Recomputing:
    made = duckdb.connect()
    made.execute(
        "CREATE TABLE orders AS SELECT key AS o_orderkey, range AS o_custkey, 'O' AS o_orderstatus, 1.5::DECIMAL(15, 2) AS o_totalprice, "
        f"DATE '1995-01-01' AS o_orderdate, 'p' AS o_orderpriority, 'c' AS o_clerk, 0 AS o_shippriority, 'x' AS o_comment FROM ({KEYS})"
    )
    made.execute(
        "CREATE TABLE lineitem AS SELECT key AS l_orderkey, 1 AS l_partkey, 1 AS l_suppkey, n::INTEGER AS l_linenumber, "
        "3::DECIMAL(15, 2) AS l_quantity, 7::DECIMAL(15, 2) AS l_extendedprice, 0.04::DECIMAL(15, 2) AS l_discount, "
        "0.02::DECIMAL(15, 2) AS l_tax, 'N' AS l_returnflag, 'O' AS l_linestatus, DATE '1995-02-01' AS l_shipdate, "
        f"DATE '1995-02-02' AS l_commitdate, DATE '1995-02-03' AS l_receiptdate, 'i' AS l_shipinstruct, 'm' AS l_shipmode, "
        f"'x' AS l_comment FROM ({KEYS}), range(1, 3) AS lines (n)"
    )
    return Recomputing(made)


def counted(engine: Recomputing, text: str) -> int:
    found = engine.engine.execute(text).fetchone()
    assert found is not None
    return int(found[0])


def test_a_round_inserts_and_deletes_a_thousandth(engine: Recomputing) -> None:
    keys = refresh_keys(Random(1), 10)
    for text in inserted(keys.copied[0]):
        engine.change(text)
    assert counted(engine, "SELECT count(*) FROM orders") == ORDERS + ORDERS // 1000
    assert counted(engine, "SELECT count(*) FROM lineitem") == 2 * (ORDERS + ORDERS // 1000)
    assert counted(engine, "SELECT count(*) - count(DISTINCT o_orderkey) FROM orders") == 0
    assert counted(engine, "SELECT count(*) FROM orders WHERE o_orderkey % 32 >= 8") == ORDERS // 1000
    assert counted(engine, "SELECT count(*) FROM lineitem WHERE l_orderkey NOT IN (SELECT o_orderkey FROM orders)") == 0
    for text in deleted(keys.deleted[0]):
        engine.change(text)
    assert counted(engine, "SELECT count(*) FROM orders") == ORDERS
    assert counted(engine, "SELECT count(*) FROM orders WHERE o_orderkey % 32 >= 8") == ORDERS // 1000
    assert counted(engine, "SELECT count(*) FROM lineitem") == 2 * ORDERS


def test_all_rounds_together_touch_no_order_twice(engine: Recomputing) -> None:
    keys = refresh_keys(Random(2), 13)
    assert len({*keys.copied, *keys.deleted}) == 26
    for number in range(13):
        for text in (*inserted(keys.copied[number]), *deleted(keys.deleted[number])):
            engine.change(text)
    assert counted(engine, "SELECT count(*) FROM orders") == ORDERS
    assert counted(engine, "SELECT count(*) - count(DISTINCT o_orderkey) FROM orders") == 0
    assert counted(engine, "SELECT count(*) FROM lineitem WHERE l_discount > 0.10 OR l_tax > 0.08") == 0


def test_the_same_for_lineorder() -> None:
    engine = Recomputing(duckdb.connect())
    engine.engine.execute(
        "CREATE TABLE lineorder AS SELECT key AS lo_orderkey, 1 AS lo_linenumber, 1 AS lo_custkey, 1 AS lo_partkey, 1 AS lo_suppkey, "
        "19950101 AS lo_orderdate, 'p' AS lo_orderpriority, 3 AS lo_quantity, 700 AS lo_extendedprice, 700 AS lo_ordtotalprice, "
        f"4 AS lo_discount, 672 AS lo_revenue, 40 AS lo_supplycost, 2 AS lo_tax, 'm' AS lo_shipmode FROM ({KEYS})"
    )
    engine.change(ssb.inserted(5))
    assert counted(engine, "SELECT count(*) FROM lineorder") == ORDERS + ORDERS // 1000
    assert counted(engine, "SELECT count(*) FROM lineorder WHERE lo_revenue <> lo_extendedprice * (100 - lo_discount) // 100") == 0
    engine.change(ssb.deleted(6))
    assert counted(engine, "SELECT count(*) FROM lineorder") == ORDERS
