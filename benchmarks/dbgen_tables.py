"""TPC-H's tables with the data of dbgen, by ``tpchgen-cli`` (extra ``benchmarks``), and their refresh, made here and seeded.

Refresh function 1 inserts a thousandth of the orders with their lines, under keys that dbgen leaves free (of every 32 it uses the first 8);
refresh function 2 deletes a thousandth. Both are spread over the whole range of keys, as those of dbgen are. The new orders are copies of
others with dates, discounts and taxes moved. Each is one commit a table, and the same statement for every engine.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import imp_driver

TABLES = ("region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem")
CLUSTERED = {"orders": "o_orderkey", "lineitem": "l_orderkey"}
PROPERTIES = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true')"
FILES = 32
_PROGRAM = "tpchgen-cli"
_SHARE = 1000
"""One of so many orders is inserted, and one deleted."""
_DAYS = "CAST({key} % 61 - 30 AS INT)"
_PERCENTS = "CAST((CAST({column} * 100 AS INT) + {key}) % {most} * 0.01 AS DECIMAL(15, 2))"


def create(connection: imp_driver.Connection, scale: float) -> None:
    """Make all tables, orders and lineitem clustered by order key, with a change data feed.

    Raises:
        FileNotFoundError: there is no tpchgen-cli beside this Python.
    """
    program = Path(sys.executable).with_name(_PROGRAM)
    if not program.exists():
        raise FileNotFoundError(f"{_PROGRAM} is not installed: pip install -e '.[benchmarks]'")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "parquet", "-s", str(scale), "--output-dir", folder, "--quiet"], check=True)
        for name in TABLES:
            rows = f"parquet.`{folder}/{name}.parquet`"
            key = CLUSTERED.get(name)
            if key is not None:
                rows = f"(SELECT * FROM (SELECT /*+ REPARTITION_BY_RANGE({FILES}, {key}) */ * FROM {rows}) SORT BY {key})"
            connection.execute(f"DROP TABLE IF EXISTS {name}").close()
            connection.execute(f"CREATE TABLE {name} USING DELTA {PROPERTIES} AS SELECT * FROM {rows}").close()


@dataclass(frozen=True, slots=True)
class RefreshKeys:
    """Which of dbgen's orders each round copies and deletes: none twice."""

    copied: Sequence[int]
    deleted: Sequence[int]


def refresh_keys(chance: Random, rounds: int) -> RefreshKeys:
    """Draw them for so many rounds, fewer than 500."""
    drawn = chance.sample(range(_SHARE), 2 * rounds)
    return RefreshKeys(drawn[:rounds], drawn[rounds:])


def of_orders(key: str, number: int) -> str:
    """Return the condition on a column of order keys that one of a thousand of dbgen's orders meets, by its number (0 to 999)."""
    return f"{key} % 32 < 8 AND ({key} DIV 32 * 8 + {key} % 8) % {_SHARE} = {number}"


def inserted(number: int) -> tuple[str, ...]:
    """Return the statements of refresh function 1."""
    day, percents = _DAYS.format, _PERCENTS.format
    orders = (
        f"SELECT o_orderkey + 8, o_custkey, o_orderstatus, o_totalprice, date_add(o_orderdate, {day(key='o_orderkey')}), "
        f"o_orderpriority, o_clerk, o_shippriority, o_comment FROM orders WHERE {of_orders('o_orderkey', number)}"
    )
    dates = ", ".join(f"date_add({each}, {day(key='l_orderkey')})" for each in ("l_shipdate", "l_commitdate", "l_receiptdate"))
    lines = (
        "SELECT l_orderkey + 8, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, "
        f"{percents(column='l_discount', key='l_orderkey', most=11)}, {percents(column='l_tax', key='l_orderkey', most=9)}, "
        f"l_returnflag, l_linestatus, {dates}, l_shipinstruct, l_shipmode, l_comment "
        f"FROM lineitem WHERE {of_orders('l_orderkey', number)}"
    )
    return f"INSERT INTO orders {orders}", f"INSERT INTO lineitem {lines}"


def deleted(number: int) -> tuple[str, ...]:
    """Return the statements of refresh function 2."""
    return (
        f"DELETE FROM lineitem WHERE {of_orders('l_orderkey', number)}",
        f"DELETE FROM orders WHERE {of_orders('o_orderkey', number)}",
    )
