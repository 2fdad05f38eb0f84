"""Q17 and Q18 of TPC-H through the driver while lines, parts and orders come, go and change, some far more often than others.

After each commit the rows are those of the query's definition, and of an engine that optimises nothing. Quantities and prices are whole
numbers: of their averages Spark and that engine make the same doubles.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pyarrow as pa
import pytest

from imp_driver.reasons import Decision, Reason, ServedBy
from tests.seeds import SEED, WIDE
from tests.soundness.judged_path import JudgedPath

Row: TypeAlias = tuple[Any, ...]
Rows: TypeAlias = Sequence[dict[str, Any]]
SCHEMAS = {
    "part": pa.schema([("p_partkey", pa.int32()), ("p_brand", pa.string()), ("p_container", pa.string())]),
    "lineitem": pa.schema(
        [("l_orderkey", pa.int32()), ("l_partkey", pa.int32()), ("l_quantity", pa.int32()), ("l_extendedprice", pa.int64())]
    ),
    "orders": pa.schema([("o_orderkey", pa.int32()), ("o_custkey", pa.int32()), ("o_totalprice", pa.int64())]),
    "customer": pa.schema([("c_custkey", pa.int32()), ("c_name", pa.string())]),
}
Q17 = (
    "SELECT sum(l_extendedprice) / 7 AS avg_yearly FROM lineitem, part WHERE p_partkey = l_partkey AND p_brand = '{brand}' AND "
    "p_container = '{container}' AND l_quantity < (SELECT 0.2 * avg(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)"
)
Q18 = (
    "SELECT c_name, c_custkey, o_orderkey, o_totalprice, sum(l_quantity) AS pieces FROM customer, orders, lineitem WHERE o_orderkey IN "
    "(SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > {pieces}) AND c_custkey = o_custkey "
    "AND o_orderkey = l_orderkey GROUP BY c_name, c_custkey, o_orderkey, o_totalprice"
)
BRANDS, CONTAINERS = ("Brand#12", "Brand#23"), ("JUMBO PKG", "MED BOX")
PARTS, ORDERS, CUSTOMERS = 12, 25, 6
LINES = 120
STEPS = 120 if WIDE else 14
LEARNING = 6
"""Steps until all groups are there that serve any constants."""


def q17(tables: dict[str, Rows], brand: str, container: str) -> list[Row]:
    quantities = defaultdict[Any, list[int]](list)
    for line in tables["lineitem"]:
        if line["l_quantity"] is not None:
            quantities[line["l_partkey"]].append(line["l_quantity"])
    found: list[int] = []
    for part in tables["part"]:
        if (part["p_brand"], part["p_container"]) == (brand, container):
            of_part = [line for line in tables["lineitem"] if line["l_partkey"] == part["p_partkey"] and line["l_quantity"] is not None]
            mean = sum(quantities[part["p_partkey"]]) / len(of_part) if of_part else 0.0
            found += [line["l_extendedprice"] for line in of_part if line["l_quantity"] < 0.2 * mean]
    return [(sum(found) / 7 if found else None,)]


def q18(tables: dict[str, Rows], pieces: int) -> list[Row]:
    names = {each["c_custkey"]: each["c_name"] for each in tables["customer"]}
    quantities = defaultdict[Any, list[int]](list)
    for line in tables["lineitem"]:
        if line["l_quantity"] is not None:
            quantities[line["l_orderkey"]].append(line["l_quantity"])
    return [
        (names[each["o_custkey"]], each["o_custkey"], each["o_orderkey"], each["o_totalprice"], sum(quantities[each["o_orderkey"]]))
        for each in tables["orders"]
        if sum(quantities.get(each["o_orderkey"], ())) > pieces
    ]


class Shop:
    """Keys of lines are drawn with a skew: the first part and the first order have about a third of all."""

    def __init__(self, path: JudgedPath, chance: Random) -> None:
        self.path, self._chance = path, chance
        self._next_order = ORDERS
        parts = [(key, chance.choice(BRANDS), chance.choice(CONTAINERS)) for key in range(PARTS)]
        self._append("part", parts)
        self._append("customer", [(key, f"Customer {key % 4}") for key in range(CUSTOMERS)])
        self._append("orders", [self._order(key) for key in range(ORDERS)])
        self._append("lineitem", [self._line() for _ in range(LINES)])

    def _append(self, name: str, rows: Iterable[Row]) -> None:
        given = list(rows)
        columns = [pa.array([row[place] for row in given], field.type) for place, field in enumerate(SCHEMAS[name])]
        self.path.append(name, pa.table(columns, schema=SCHEMAS[name]))

    def _skewed(self, most: int) -> int:
        return min(int(self._chance.paretovariate(0.7)) - 1, most - 1)

    def _order(self, key: int) -> Row:
        return (key, self._chance.randrange(CUSTOMERS), self._chance.randrange(1_000))

    def _line(self) -> Row:
        chance = self._chance
        quantity = None if chance.random() < 0.05 else chance.choice([1, 1, 2, 5, chance.randint(1, 50)])
        return (self._skewed(self._next_order), self._skewed(PARTS), quantity, chance.randint(1, 10_000))

    def change(self) -> None:
        """Commit one change, rarely one of many lines."""
        chance = self._chance
        part, order = self._skewed(PARTS), self._skewed(self._next_order)
        match chance.choices(range(7), (5, 4, 2, 3, 2, 1, 1))[0]:
            case 0:
                self._append("lineitem", [self._line() for _ in range(chance.choice([1, 3, 10]))])
            case 1:
                self.path.delete("lineitem", f"l_partkey = {part} AND l_quantity < {chance.choice([2, 6, 51])}")
            case 2:
                self.path.delete("lineitem", f"l_orderkey = {order}")
            case 3:
                self.path.update("lineitem", {"l_quantity": "l_quantity + 3"}, f"l_partkey = {part} AND l_quantity < 9")
            case 4:
                self._append("orders", [self._order(self._next_order)])
                self._next_order += 1
            case 5:
                self.path.delete("orders", f"o_orderkey = {order}")
            case _:
                self.path.update("part", {"p_brand": f"'{chance.choice(BRANDS)}'"}, f"p_partkey = {part}")

    def tables(self) -> dict[str, Rows]:
        return {name: self.path.judged_rows(name) for name in SCHEMAS}


@pytest.mark.parametrize("seed", [0, SEED])
def test_q17_and_q18_follow_lines_that_come_and_go(seed: int, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    chance, missed, asked = Random(f"lines {seed}"), [], 0
    with closing(JudgedPath(tmp_path)) as path:
        shop = Shop(path, chance)
        for step in range(STEPS):
            tables = shop.tables()
            brand, container, pieces = chance.choice(BRANDS), chance.choice(CONTAINERS), chance.choice([0, 20, 60, 120])
            for name, text, expected in (
                ("Q17", Q17.format(brand=brand, container=container), q17(tables, brand, container)),
                ("Q18", Q18.format(pieces=pieces), q18(tables, pieces)),
            ):
                rows, report = path.ask(text)
                assert sorted(rows, key=repr) == sorted(path.judged(text), key=repr) == sorted(expected, key=repr), (text, tables)
                assert report.reason is not Reason.INTERNAL, report
                is_followed = report.served_by is ServedBy.STATE and report.decision in (Decision.FRESH, Decision.MAINTAINED)
                asked += 1
                if step >= LEARNING and not is_followed:
                    missed.append((step, name, report.served_by.name, report.decision.name, report.not_answered))
            path.settle()
            shop.change()
    record_property("cases", asked)
    assert missed == []
