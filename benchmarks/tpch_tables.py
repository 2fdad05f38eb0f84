"""Tables with TPC-H's schema, keys and value ranges, made by SQL: enough of its columns for the queries measured here.

Values are drawn by hashing, so the tables are the same on every machine; texts and correlations of the official generator are not imitated.
"""

from __future__ import annotations

import imp_driver

_FIRST_DAY = "DATE'1992-01-01'"
_LINES = 4

_NATION = "SELECT CAST(id AS INT) AS n_nationkey, concat('nation ', id) AS n_name, CAST(id % 5 AS INT) AS n_regionkey FROM range(25)"
_CUSTOMER = (
    "SELECT id + 1 AS c_custkey, concat('Customer#', id + 1) AS c_name, CAST(pmod(hash(id, 1), 25) AS INT) AS c_nationkey, "
    "element_at(array('BUILDING', 'AUTOMOBILE', 'MACHINERY', 'HOUSEHOLD', 'FURNITURE'), pmod(hash(id, 2), 5) + 1) AS c_mktsegment, "
    "CAST(pmod(hash(id, 3), 1100000) / 100.0 - 1000 AS DECIMAL(12,2)) AS c_acctbal FROM range({customers})"
)
_ORDERS = (
    "SELECT id + 1 AS o_orderkey, CAST(pmod(hash(id, 4), {customers}) + 1 AS BIGINT) AS o_custkey, "
    f"date_add({_FIRST_DAY}, pmod(hash(id, 5), 2406)) AS o_orderdate, 0 AS o_shippriority, "
    "CAST(1000 + pmod(hash(id, 6), 40000000) / 100.0 AS DECIMAL(12,2)) AS o_totalprice FROM range({orders})"
)
_LINEITEM = (
    f"SELECT id DIV {_LINES} + 1 AS l_orderkey, CAST(id % {_LINES} + 1 AS INT) AS l_linenumber, "
    "CAST(pmod(hash(id, 7), 50) + 1 AS DECIMAL(12,2)) AS l_quantity, "
    "CAST(900 + pmod(hash(id, 8), 9500000) / 100.0 AS DECIMAL(12,2)) AS l_extendedprice, "
    "CAST(pmod(hash(id, 9), 11) / 100.0 AS DECIMAL(12,2)) AS l_discount, "
    "element_at(array('R', 'A', 'N', 'N'), pmod(hash(id, 10), 4) + 1) AS l_returnflag, "
    f"date_add({_FIRST_DAY}, pmod(hash(id DIV {_LINES}, 5), 2406) + pmod(hash(id, 11), 121) + 1) AS l_shipdate FROM range({{lines}})"
)


def create(connection: imp_driver.Connection, scale: float, files: int = 32) -> None:
    """Make nation, customer, orders and lineitem, the last two clustered by order key in ``files`` files each."""
    sizes = {"customers": int(150_000 * scale), "orders": int(1_500_000 * scale), "lines": _LINES * int(1_500_000 * scale)}
    for name, text, key in (
        ("nation", _NATION, ""),
        ("customer", _CUSTOMER, ""),
        ("orders", _ORDERS, "o_orderkey"),
        ("lineitem", _LINEITEM, "l_orderkey"),
    ):
        rows = f"({text.format(**sizes)})"
        if key:
            rows = f"(SELECT * FROM (SELECT /*+ REPARTITION_BY_RANGE({files}, {key}) */ * FROM {rows}) SORT BY {key})"
        connection.execute(f"DROP TABLE IF EXISTS {name}").close()
        connection.execute(f"CREATE TABLE {name} USING DELTA AS SELECT * FROM {rows}").close()


def insert_lines(connection: imp_driver.Connection, scale: float, count: int, seed: int) -> None:
    """Insert lines of orders drawn uniformly, shipped after 1995 and returned."""
    orders = int(1_500_000 * scale)
    rows = (
        f"SELECT CAST(floor(rand({seed}) * {orders}) + 1 AS BIGINT), 9, CAST(40 AS DECIMAL(12,2)), "
        f"CAST(floor(rand({seed + 1}) * 90000) + 900 AS DECIMAL(12,2)), CAST(0.02 AS DECIMAL(12,2)), 'R', "
        f"DATE'1995-06-01' FROM range({count})"
    )
    connection.execute(f"INSERT INTO lineitem {rows}").close()


QUERIES = {
    "Q3": "SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority "
    "FROM customer, orders, lineitem WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey "
    "AND o_orderdate < DATE'1995-03-15' AND l_shipdate > DATE'1995-03-15' "
    "GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate, l_orderkey LIMIT 10",
    "Q10": "SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal, n_name "
    "FROM customer, orders, lineitem, nation WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey "
    "AND o_orderdate >= DATE'1993-10-01' AND o_orderdate < DATE'1994-01-01' AND l_returnflag = 'R' AND c_nationkey = n_nationkey "
    "GROUP BY c_custkey, c_name, c_acctbal, n_name ORDER BY revenue DESC, c_custkey LIMIT 20",
    "Q18": "SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS quantity "
    "FROM customer, orders, lineitem WHERE o_orderkey IN "
    "(SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 190) "
    "AND c_custkey = o_custkey AND o_orderkey = l_orderkey GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice "
    "ORDER BY o_totalprice DESC, o_orderdate, o_orderkey LIMIT 100",
}
"""TPC-H's queries that have a filter above their groups, with an order that decides between all rows."""
