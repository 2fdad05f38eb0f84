"""Tables with TPC-H's schema, keys and value ranges, made by SQL: enough of its columns for the queries measured here.

Values are drawn by hashing, so the tables are the same on every machine; texts and correlations of the official generator are not imitated.
"""

from __future__ import annotations

from collections.abc import Sequence

import imp_driver

_FIRST_DAY = "DATE'1992-01-01'"
_LINES = 4
_REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
_NATIONS = (
    *("ALGERIA", "ARGENTINA", "BRAZIL", "CANADA", "EGYPT", "ETHIOPIA", "FRANCE", "GERMANY", "INDIA", "INDONESIA", "IRAN", "IRAQ", "JAPAN"),
    *("JORDAN", "KENYA", "MOROCCO", "MOZAMBIQUE", "PERU", "CHINA", "ROMANIA", "SAUDI ARABIA", "VIETNAM", "RUSSIA", "UNITED KINGDOM"),
    "UNITED STATES",
)
_REGION_OF_NATION = (0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1)


def _one_of(words: Sequence[str], number: str) -> str:
    return f"element_at(array({', '.join(repr(word) for word in words)}), CAST({number} AS INT) + 1)"


def _drawn(words: Sequence[str], key: str, salt: int) -> str:
    return _one_of(words, f"pmod(hash({key}, {salt}), {len(words)})")


def _number(key: str, salt: int, least: int, count: int) -> str:
    return f"pmod(hash({key}, {salt}), {count}) + {least}"


def _money(key: str, salt: int, least: int, cents: int) -> str:
    return f"CAST({least} + pmod(hash({key}, {salt}), {cents}) / 100.0 AS DECIMAL(12,2))"


def _supplier_of(part: str, place: str) -> str:
    """Return the supplier in place 0..3 of a part."""
    return f"pmod({part} + ({place}) * ({{suppliers}} DIV 4 + 1), {{suppliers}}) + 1"


_LINE_ORDER = f"id DIV {_LINES}"
_ORDER_DATE = f"date_add({_FIRST_DAY}, pmod(hash({{}}, 5), 2406))"
_SHIP_DATE = f"date_add({_ORDER_DATE.format(_LINE_ORDER)}, {_number('id', 11, 1, 121)})"
TABLES = {
    "region": f"SELECT CAST(id AS INT) AS r_regionkey, {_one_of(_REGIONS, 'id')} AS r_name FROM range({len(_REGIONS)})",
    "nation": f"SELECT CAST(id AS INT) AS n_nationkey, {_one_of(_NATIONS, 'id')} AS n_name, "
    f"element_at(array({', '.join(map(str, _REGION_OF_NATION))}), CAST(id AS INT) + 1) AS n_regionkey FROM range({len(_NATIONS)})",
    "supplier": "SELECT id + 1 AS s_suppkey, concat('Supplier#', id + 1) AS s_name, "
    f"CAST({_number('id', 20, 0, 25)} AS INT) AS s_nationkey, {_money('id', 21, -1000, 1_100_000)} AS s_acctbal FROM range({{suppliers}})",
    "part": f"SELECT id + 1 AS p_partkey, concat({_drawn(('green', 'blue', 'red', 'white', 'lime', 'plum', 'tan'), 'id', 22)}, ' ', "
    f"{_drawn(('almond', 'azure', 'beige', 'ivory'), 'id', 23)}) AS p_name, "
    f"concat('Brand#', {_number('id', 24, 1, 5)}, {_number('id', 25, 1, 5)}) AS p_brand, "
    f"concat({_drawn(('STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO'), 'id', 26)}, ' ', "
    f"{_drawn(('ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED'), 'id', 27)}, ' ', "
    f"{_drawn(('TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER'), 'id', 28)}) AS p_type, CAST({_number('id', 29, 1, 50)} AS INT) AS p_size, "
    f"concat({_drawn(('SM', 'LG', 'MED', 'JUMBO', 'WRAP'), 'id', 30)}, ' ', "
    f"{_drawn(('CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM'), 'id', 31)}) AS p_container FROM range({{parts}})",
    "partsupp": f"SELECT id DIV 4 + 1 AS ps_partkey, {_supplier_of('(id DIV 4 + 1)', 'id % 4')} AS ps_suppkey, "
    f"{_money('id', 32, 1, 99_900)} AS ps_supplycost FROM range(4 * {{parts}})",
    "customer": "SELECT id + 1 AS c_custkey, concat('Customer#', id + 1) AS c_name, CAST(pmod(hash(id, 1), 25) AS INT) AS c_nationkey, "
    f"{_drawn(('BUILDING', 'AUTOMOBILE', 'MACHINERY', 'HOUSEHOLD', 'FURNITURE'), 'id', 2)} AS c_mktsegment, "
    f"{_money('id', 3, -1000, 1_100_000)} AS c_acctbal FROM range({{customers}})",
    "orders": "SELECT id + 1 AS o_orderkey, CAST(pmod(hash(id, 4), {customers}) + 1 AS BIGINT) AS o_custkey, "
    f"{_ORDER_DATE.format('id')} AS o_orderdate, 0 AS o_shippriority, {_money('id', 6, 1000, 40_000_000)} AS o_totalprice, "
    f"{_drawn(('1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'), 'id', 13)} AS o_orderpriority FROM range({{orders}})",
    "lineitem": f"SELECT {_LINE_ORDER} + 1 AS l_orderkey, CAST(id % {_LINES} + 1 AS INT) AS l_linenumber, "
    f"CAST(pmod(hash(id, 7), 50) + 1 AS DECIMAL(12,2)) AS l_quantity, {_money('id', 8, 900, 9_500_000)} AS l_extendedprice, "
    f"{_money('id', 9, 0, 11)} AS l_discount, {_drawn('RANN', 'id', 10)} AS l_returnflag, {_SHIP_DATE} AS l_shipdate, "
    f"CAST(l_part AS BIGINT) AS l_partkey, CAST({_supplier_of('l_part', _number('id', 14, 0, 4))} AS BIGINT) AS l_suppkey, "
    f"{_money('id', 15, 0, 9)} AS l_tax, IF({_SHIP_DATE} > DATE'1995-06-17', 'O', 'F') AS l_linestatus, "
    f"date_add({_ORDER_DATE.format(_LINE_ORDER)}, {_number('id', 16, 30, 61)}) AS l_commitdate, "
    f"date_add({_SHIP_DATE}, {_number('id', 17, 1, 30)}) AS l_receiptdate, "
    f"{_drawn(('REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB', 'AIR REG'), 'id', 18)} AS l_shipmode, "
    f"{_drawn(('DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'), 'id', 19)} AS l_shipinstruct "
    "FROM (SELECT id, pmod(hash(id, 12), {parts}) + 1 AS l_part FROM range({lines}))",
}
"""Query for the rows of each table, with places for the sizes."""
CLUSTERED = {"orders": "o_orderkey", "lineitem": "l_orderkey"}


def sizes(scale: float) -> dict[str, int]:
    """Return the rows of the tables that grow with the scale factor."""
    orders = int(1_500_000 * scale)
    return {
        "customers": int(150_000 * scale),
        "orders": orders,
        "lines": _LINES * orders,
        "parts": int(200_000 * scale),
        "suppliers": max(8, int(10_000 * scale)),
    }


def create(connection: imp_driver.Connection, scale: float, files: int = 32) -> None:
    """Make all tables, orders and lineitem clustered by order key in ``files`` files each."""
    for name, text in TABLES.items():
        rows, key = f"({text.format(**sizes(scale))})", CLUSTERED.get(name)
        if key is not None:
            rows = f"(SELECT * FROM (SELECT /*+ REPARTITION_BY_RANGE({files}, {key}) */ * FROM {rows}) SORT BY {key})"
        connection.execute(f"DROP TABLE IF EXISTS {name}").close()
        connection.execute(f"CREATE TABLE {name} USING DELTA AS SELECT * FROM {rows}").close()


def insert_lines(connection: imp_driver.Connection, scale: float, count: int, seed: int) -> None:
    """Insert lines of orders drawn uniformly, shipped in 1995 and returned."""
    known = sizes(scale)
    part = f"(floor(rand({seed + 2}) * {known['parts']}) + 1)"
    supplier = _supplier_of(part, "0").format(**known)
    rows = (
        f"SELECT CAST(floor(rand({seed}) * {known['orders']}) + 1 AS BIGINT), 9, CAST(40 AS DECIMAL(12,2)), "
        f"CAST(floor(rand({seed + 1}) * 90000) + 900 AS DECIMAL(12,2)), CAST(0.02 AS DECIMAL(12,2)), 'R', DATE'1995-06-01', "
        f"CAST({part} AS BIGINT), CAST({supplier} AS BIGINT), CAST(0.04 AS DECIMAL(12,2)), 'F', DATE'1995-06-10', DATE'1995-06-20', "
        f"'MAIL', 'NONE' FROM range({count})"
    )
    columns = (
        "l_orderkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_returnflag, l_shipdate, l_partkey, l_suppkey, l_tax, "
        "l_linestatus, l_commitdate, l_receiptdate, l_shipmode, l_shipinstruct"
    )
    connection.execute(f"INSERT INTO lineitem ({columns}) {rows}").close()
