"""Small tables with the columns of TPC-H and of the Star Schema Benchmark, whose money, discounts and quantities are whole numbers.

Constants of the queries are found in them, which small shares of the official generator's would not allow. The engine without a JVM has
other types for decimals than Spark, hence the whole numbers: cents and percents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from random import Random
from typing import Any

import pyarrow as pa

from benchmarks.ssb_texts import city
from benchmarks.tpch_parameters import COLORS, CONTAINERS, NATIONS, REGIONS, SEGMENTS, SHIP_MODES, TYPES

CUSTOMERS, ORDERS, PARTS, SUPPLIERS = 120, 900, 60, 25
FIRST_DAY, DAYS = date(1992, 1, 1), 2406
_CONTAINERS = tuple(f"{size} {kind}" for size in CONTAINERS[0] for kind in CONTAINERS[1])
_COMMENTS = ("special packages", "pending requests", "unusual accounts", "express deposits", "quick foxes", "Customer Complaints")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def tpch_tables() -> dict[str, pa.Table]:
    chance = Random(1)
    nations = list(NATIONS)
    parts = _table(PARTS, _part(chance))
    supplies = [(part, (part + place * 7) % SUPPLIERS + 1) for part in range(1, PARTS + 1) for place in range(4)]
    lines = [(order, number) for order in range(1, ORDERS + 1) for number in range(1, order % 4 + 2)]
    ordered = [FIRST_DAY + timedelta(chance.randrange(DAYS)) for _ in range(ORDERS)]
    return {
        "region": _table(5, {"r_regionkey": lambda place: place, "r_name": lambda place: REGIONS[place]}),
        "nation": _table(
            25,
            {
                "n_nationkey": lambda place: place,
                "n_name": lambda place: nations[place],
                "n_regionkey": lambda place: REGIONS.index(NATIONS[nations[place]]),
            },
        ),
        "supplier": _table(SUPPLIERS, _partner(chance, "s", "suppkey", "Supplier")),
        "customer": _table(
            CUSTOMERS, {**_partner(chance, "c", "custkey", "Customer"), "c_mktsegment": lambda place: chance.choice(SEGMENTS)}
        ),
        "part": parts,
        "partsupp": _table(
            len(supplies),
            {
                "ps_partkey": lambda place: supplies[place][0],
                "ps_suppkey": lambda place: supplies[place][1],
                "ps_availqty": lambda place: chance.randint(1, 200),
                "ps_supplycost": lambda place: chance.randint(100, 100_000),
            },
        ),
        "orders": _table(ORDERS, _order(chance, ordered)),
        "lineitem": _table(len(lines), _line(chance, lines, ordered)),
    }


def ssb_tables(tpch: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Return the star schema over tables of TPC-H."""
    chance = Random(2)
    orders, lines = (tpch[name].to_pylist() for name in ("orders", "lineitem"))
    by_key = {order["o_orderkey"]: order for order in orders}
    dates = [FIRST_DAY + timedelta(day) for day in range(DAYS)]
    parts = tpch["part"].to_pylist()
    lineorder = {
        "lo_orderkey": lambda place: lines[place]["l_orderkey"],
        "lo_custkey": lambda place: by_key[lines[place]["l_orderkey"]]["o_custkey"],
        "lo_partkey": lambda place: lines[place]["l_partkey"],
        "lo_suppkey": lambda place: lines[place]["l_suppkey"],
        "lo_orderdate": lambda place: _number_of(by_key[lines[place]["l_orderkey"]]["o_orderdate"]),
        "lo_quantity": lambda place: lines[place]["l_quantity"],
        "lo_extendedprice": lambda place: lines[place]["l_extendedprice"],
        "lo_discount": lambda place: lines[place]["l_discount"],
        "lo_revenue": lambda place: lines[place]["l_extendedprice"] * (100 - lines[place]["l_discount"]) // 100,
        "lo_supplycost": lambda place: chance.randint(100, 50_000),
    }
    return {
        "lineorder": _table(len(lines), lineorder),
        "dates": _table(
            len(dates),
            {
                "d_datekey": lambda place: _number_of(dates[place]),
                "d_year": lambda place: dates[place].year,
                "d_yearmonthnum": lambda place: dates[place].year * 100 + dates[place].month,
                "d_yearmonth": lambda place: f"{_MONTHS[dates[place].month - 1]}{dates[place].year}",
                "d_weeknuminyear": lambda place: (dates[place].timetuple().tm_yday - 1) // 7 + 1,
            },
        ),
        "customer": _places(tpch["customer"], "c", "custkey"),
        "supplier": _places(tpch["supplier"], "s", "suppkey"),
        "part": _table(
            len(parts),
            {
                "p_partkey": lambda place: parts[place]["p_partkey"],
                "p_mfgr": lambda place: f"MFGR#{parts[place]['p_brand'][6]}",
                "p_category": lambda place: f"MFGR#{parts[place]['p_brand'][6:]}",
                "p_brand1": lambda place: f"MFGR#{parts[place]['p_brand'][6:]}{place % 40 + 1:02}",
            },
        ),
    }


_Columns = Mapping[str, Callable[[int], Any]]


def _table(count: int, columns: _Columns) -> pa.Table:
    """Make a table row by row, so that the values of a column are drawn one after the other."""
    return pa.table({name: pa.array([value(place) for place in range(count)]) for name, value in columns.items()})


def _partner(chance: Random, letter: str, key: str, word: str) -> _Columns:
    return {
        f"{letter}_{key}": lambda place: place + 1,
        f"{letter}_name": lambda place: f"{word}#{place + 1:09}",
        f"{letter}_nationkey": lambda place: place % 25,
        f"{letter}_acctbal": lambda place: chance.randint(-100_000, 1_000_000),
        f"{letter}_phone": lambda place: f"{place % 25 + 10}-{chance.randint(100, 999)}",
        f"{letter}_address": lambda place: f"street {place}",
        f"{letter}_comment": lambda place: chance.choice(_COMMENTS),
    }


def _part(chance: Random) -> _Columns:
    return {
        "p_partkey": lambda place: place + 1,
        "p_name": lambda place: " ".join(chance.sample(COLORS, 5)),
        "p_mfgr": lambda place: f"Manufacturer#{place % 5 + 1}",
        "p_brand": lambda place: f"Brand#{place % 5 + 1}{place // 5 % 5 + 1}",
        "p_type": lambda place: " ".join(map(chance.choice, TYPES)),
        "p_size": lambda place: chance.randint(1, 50),
        "p_container": lambda place: chance.choice(_CONTAINERS),
    }


def _order(chance: Random, ordered: Sequence[date]) -> _Columns:
    return {
        "o_orderkey": lambda place: place + 1,
        "o_custkey": lambda place: chance.randrange(CUSTOMERS * 2 // 3) + 1,
        "o_orderstatus": lambda place: chance.choice("FOP"),
        "o_totalprice": lambda place: chance.randint(100_000, 40_000_000),
        "o_orderdate": lambda place: ordered[place],
        "o_orderpriority": lambda place: chance.choice(("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")),
        "o_shippriority": lambda place: 0,
        "o_comment": lambda place: f"{chance.choice(_COMMENTS)} {chance.choice(_COMMENTS)}",
    }


def _line(chance: Random, lines: Sequence[tuple[int, int]], ordered: Sequence[date]) -> _Columns:
    shipped = [ordered[order - 1] + timedelta(chance.randint(1, 121)) for order, _ in lines]
    return {
        "l_orderkey": lambda place: lines[place][0],
        "l_linenumber": lambda place: lines[place][1],
        "l_partkey": lambda place: chance.randrange(PARTS) + 1,
        "l_suppkey": lambda place: chance.randrange(SUPPLIERS) + 1,
        "l_quantity": lambda place: chance.randint(1, 50),
        "l_extendedprice": lambda place: chance.randint(90_000, 9_500_000),
        "l_discount": lambda place: chance.randint(0, 10),
        "l_tax": lambda place: chance.randint(0, 8),
        "l_returnflag": lambda place: chance.choice("RAN"),
        "l_linestatus": lambda place: chance.choice("OF"),
        "l_shipdate": lambda place: shipped[place],
        "l_commitdate": lambda place: ordered[lines[place][0] - 1] + timedelta(chance.randint(30, 90)),
        "l_receiptdate": lambda place: shipped[place] + timedelta(chance.randint(1, 30)),
        "l_shipmode": lambda place: chance.choice(SHIP_MODES),
        "l_shipinstruct": lambda place: chance.choice(("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")),
    }


def _places(table: pa.Table, letter: str, key: str) -> pa.Table:
    nations = list(NATIONS)
    rows = table.to_pylist()
    return _table(
        len(rows),
        {
            f"{letter}_{key}": lambda place: rows[place][f"{letter}_{key}"],
            f"{letter}_name": lambda place: rows[place][f"{letter}_name"],
            f"{letter}_city": lambda place: city(nations[place % 25], place % 10),
            f"{letter}_nation": lambda place: nations[place % 25],
            f"{letter}_region": lambda place: NATIONS[nations[place % 25]],
        },
    )


def _number_of(day: date) -> int:
    return day.year * 10_000 + day.month * 100 + day.day
