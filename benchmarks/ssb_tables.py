"""The Star Schema Benchmark's tables as queries over those of TPC-H: lineorder is lineitem with orders, the date dimension is made here.

Money is in whole cents, discounts and taxes in whole percents, as the benchmark has them. Cities, categories and brands follow its rules:
ten cities for each nation, five categories for each of five makers (those of TPC-H's brands), forty brands for each category.
"""

from __future__ import annotations

DATES = "SELECT explode(sequence(DATE '1992-01-01', DATE '1998-12-31')) AS d_date"
_KEY = "CAST(date_format({}, 'yyyyMMdd') AS INT)"
_CENTS = "CAST({} * 100 AS BIGINT)"


def _place(letter: str) -> str:
    """Return the columns that say where a customer or supplier is."""
    city = f"concat(rpad(substring(n_name, 1, 9), 9, ' '), CAST({letter}_{_KEYS[letter]} % 10 AS STRING))"
    return f"{city} AS {letter}_city, n_name AS {letter}_nation, r_name AS {letter}_region"


_KEYS = {"c": "custkey", "s": "suppkey"}
_NATION = "{tpch}.nation, {tpch}.region WHERE n_regionkey = r_regionkey"
LINEORDER = (
    "SELECT l_orderkey AS lo_orderkey, l_linenumber AS lo_linenumber, o_custkey AS lo_custkey, l_partkey AS lo_partkey, "
    f"l_suppkey AS lo_suppkey, {_KEY.format('o_orderdate')} AS lo_orderdate, o_orderpriority AS lo_orderpriority, "
    f"CAST(l_quantity AS INT) AS lo_quantity, {_CENTS.format('l_extendedprice')} AS lo_extendedprice, "
    f"{_CENTS.format('o_totalprice')} AS lo_ordtotalprice, CAST(l_discount * 100 AS INT) AS lo_discount, "
    f"{_CENTS.format('l_extendedprice * (1 - l_discount)')} AS lo_revenue, "
    f"{_CENTS.format('l_extendedprice * 6 / (10 * l_quantity)')} AS lo_supplycost, CAST(l_tax * 100 AS INT) AS lo_tax, "
    "l_shipmode AS lo_shipmode FROM {lineitem} AS l JOIN {orders} AS o ON l_orderkey = o_orderkey"
)
"""With places for the two tables, so that a refresh can take new rows through the same expressions."""
TABLES = {
    "dates": f"SELECT {_KEY.format('d_date')} AS d_datekey, d_date, year(d_date) AS d_year, date_format(d_date, 'MMM') AS d_month, "
    "CAST(date_format(d_date, 'yyyyMM') AS INT) AS d_yearmonthnum, concat(date_format(d_date, 'MMM'), date_format(d_date, 'yyyy')) "
    f"AS d_yearmonth, (dayofyear(d_date) - 1) DIV 7 + 1 AS d_weeknuminyear FROM ({DATES})",
    "customer": f"SELECT c_custkey, c_name, {_place('c')}, c_mktsegment FROM {{tpch}}.customer, {_NATION} AND c_nationkey = n_nationkey",
    "supplier": f"SELECT s_suppkey, s_name, {_place('s')} FROM {{tpch}}.supplier, {_NATION} AND s_nationkey = n_nationkey",
    "part": "SELECT p_partkey, p_name, concat('MFGR#', substring(p_brand, 7, 1)) AS p_mfgr, concat('MFGR#', substring(p_brand, 7, 2)) "
    "AS p_category, concat('MFGR#', substring(p_brand, 7, 2), lpad(CAST(p_partkey % 40 + 1 AS STRING), 2, '0')) AS p_brand1, "
    "p_type, p_size, p_container FROM {tpch}.part",
}
"""Query for the rows of each dimension."""
