"""Random updates and random queries on one table: shadow mode compares each answer with the plain one, so any difference raises.

The table is small and its domain narrow, so that groups die and return, ties and NULLs are common, and most constants lie near a value.
IMP_WIDE=1 runs many more steps. A failing seed is printed by the test's name.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from imp_driver.reasons import Decision, Reason
from tests.seeds import WIDE, of_today

STEPS = 60 if WIDE else 10
SEEDS = range(3) if WIDE else range(1)

COLUMNS = "g INT, h STRING, x BIGINT, y DOUBLE, z DECIMAL(10,2), d DATE"


class Generator:
    """Statements over one table of these columns; about every eighth value is NULL."""

    def __init__(self, seed: int, table: str) -> None:
        self._chance = random.Random(seed)
        self._table = table
        self._keys = "g"

    def _null_or(self, text: str) -> str:
        return "NULL" if self._chance.random() < 0.12 else text

    def _row(self) -> str:
        chance = self._chance
        values = [
            str(chance.randrange(-3, 6)),
            chance.choice(["'a'", "'b'", "''", "'é'"]),
            str(chance.randrange(-5, 20)),
            chance.choice(["0.1", "-0.0", "double('NaN')", "double('inf')", "1e16", "-1e16", f"{chance.randrange(-20, 20)}.5"]),
            f"{chance.randrange(-300, 900)}.{chance.randrange(10)}5",
            f"DATE '2024-0{chance.randrange(1, 4)}-1{chance.randrange(5)}'",
        ]
        return "(" + ", ".join(self._null_or(value) for value in values) + ")"

    def rows(self, count: int) -> str:
        return ", ".join(self._row() for _ in range(count))

    def change(self) -> str:
        chance = self._chance
        g, x = chance.randrange(-3, 6), chance.randrange(-5, 20)
        return chance.choice(
            [
                f"INSERT INTO {self._table} VALUES {self.rows(chance.randrange(1, 9))}",
                f"DELETE FROM {self._table} WHERE g = {g} AND x < {x}",
                f"DELETE FROM {self._table} WHERE g IS NULL",
                f"UPDATE {self._table} SET g = {g} WHERE x = {x}",
                f"UPDATE {self._table} SET x = x + 1, y = y * 2, z = -z WHERE g = {g}",
                f"INSERT INTO {self._table} SELECT * FROM {self._table} WHERE g = {g}",
                f"OPTIMIZE {self._table}",
            ]
        )

    def _atom(self) -> str:
        chance = self._chance
        terms = ["count(*)", "count(x)", "sum(x)", "avg(x)", "sum(z)", "avg(z)", "min(x)", "max(z)", "avg(y)", "sum(y)", "max(h)", "min(d)"]
        term = chance.choice([*terms, "g"] if "g" in self._keys else terms)
        if term == "max(h)":
            return f"max(h) {chance.choice(['=', '<>', '>='])} {chance.choice(['NULL', repr('b')])}"
        if term == "min(d)":
            return f"min(d) > DATE '2024-02-1{chance.randrange(5)}'"
        constant = chance.choice([str(chance.randrange(-10, 40)), f"{chance.randrange(-10, 40)}.25"])
        return chance.choice(
            [
                f"{term} {chance.choice(['=', '<>', '<', '<=', '>', '>=', '<=>'])} {constant}",
                f"{term} BETWEEN {constant} AND {chance.randrange(0, 60)}",
                f"{term} IS NULL",
                f"{term} NOT IN ({constant}, 3, 4)",
            ]
        )

    def _condition(self, depth: int = 2) -> str:
        if depth == 0 or self._chance.random() < 0.3:
            return self._atom()
        operator = self._chance.choice(["AND", "OR", "NOT"])
        if operator == "NOT":
            return f"NOT ({self._condition(depth - 1)})"
        return f"({self._condition(depth - 1)}) {operator} ({self._condition(depth - 1)})"

    def query(self) -> str:
        chance = self._chance
        keys = self._keys = chance.choice(["g", "g", "h", "d", "g, h", "h, x"])
        where = chance.choice(
            ["", "", "WHERE x > 3", "WHERE y < 5 OR h = 'a'", "WHERE d >= DATE '2024-02-01' AND NOT z < 100", "WHERE upper(h) = 'A'"]
        )
        select = f"SELECT {keys}, count(*) AS n, sum(z) AS total FROM {self._table} {where} GROUP BY {keys}"
        shape = chance.randrange(4)
        if shape == 0:
            order = chance.choice(["n DESC", "total", "avg(x) DESC NULLS FIRST", "min(z) NULLS LAST"])
            return f"{select} ORDER BY {order}, {keys} LIMIT {chance.randrange(1, 4)} OFFSET {chance.randrange(2)}"
        if shape == 1:
            return f"SELECT count(*), sum(n) FROM ({select} HAVING {self._condition()}) q WHERE total > {chance.randrange(-500, 500)}"
        return f"{select} HAVING {self._condition()}"


def changes_and_queries(cursor: imp_driver.Cursor, seed: int, feed: bool, steps: int) -> Counter[Decision]:
    """Make a table, change it so many times, and ask three queries after each change; return how often each decision was made."""
    table = f"random_{seed}_{feed}"
    generator = Generator(seed * 2 + feed, table)
    cursor.execute(f"CREATE TABLE {table} ({COLUMNS}) USING DELTA TBLPROPERTIES (delta.enableChangeDataFeed = {str(feed).lower()})")
    cursor.execute(f"INSERT INTO {table} VALUES {generator.rows(60)}")
    queries = [generator.query() for _ in range(min(4, steps // 2))]
    decisions: Counter[Decision] = Counter()
    for step in range(steps):
        cursor.execute(generator.change())
        for query in (queries[0], generator.query(), queries[step % len(queries)]):
            cursor.execute(query).fetchall()
            report = cursor.sketch_report
            assert report is not None
            assert report.reason not in (Reason.INTERNAL, Reason.CAPTURE_FAILED), (query, report)
            decisions[report.decision] += 1
    return decisions


@pytest.fixture
def cursor(warehouse: Path, engine: imp_driver.Connection) -> Iterator[imp_driver.Cursor]:
    with (
        imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="off", fragments=3) as connection,
        connection.cursor() as cursor,
    ):
        yield cursor


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("feed", of_today([True, False]), ids=lambda feed: "feed" if feed else "files")
def test_no_difference_in_random_streams(cursor: imp_driver.Cursor, seed: int, feed: bool) -> None:
    decisions = changes_and_queries(cursor, seed, feed, STEPS)
    # One query in three is asked at each step, and two others now and then; not each of them can have a sketch.
    assert decisions[Decision.MAINTAINED] > STEPS // 4, decisions
