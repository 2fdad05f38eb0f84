"""The demo's dashboard: queries with changing constants, and updates beside them. Reproducible by its seed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from imp_driver.cli.synthetic import GROUPS, SyntheticTable, having, row_expressions


@dataclass(frozen=True, slots=True)
class Query:
    label: str
    text: str
    table: str

    def at(self, version: int) -> str:
        """Return the query of one version of its table."""
        return self.text.replace(f"FROM {self.table}", f"FROM {self.table} VERSION AS OF {version}")


@dataclass(frozen=True, slots=True)
class Update:
    label: str
    text: str


def queries(table: SyntheticTable, count: int, seed: int) -> Iterator[Query]:
    chance = random.Random(seed)
    for number in range(count):
        yield _query(table.name, number, chance)


def updates(table: SyntheticTable, seed: int) -> Iterator[Update]:
    """Yield inserts, updates and deletes by turns, without end."""
    chance = random.Random(seed + 1)
    for number in itertools.count():
        yield _update(table.name, number, table.rows + 20 * number, chance)


def _query(table: str, number: int, chance: random.Random) -> Query:
    low = chance.randrange(1, GROUPS - 60)
    window = (low, low + 50)
    match number % 5:
        case 0:
            return Query("1 aggregate", f"SELECT a, avg(b) AS ab FROM {table} GROUP BY a {having(1, *window)}", table)
        case 1:
            return Query("3 aggregates", f"SELECT a, avg(b) AS ab FROM {table} GROUP BY a {having(3, *window)}", table)
        case 2:
            return Query("10 aggregates", f"SELECT a, avg(b) AS ab FROM {table} GROUP BY a {having(10, *window)}", table)
        case 3:
            return Query(
                "top 10", f"SELECT a, sum(c) AS total, count(*) AS n FROM {table} GROUP BY a ORDER BY total DESC, a LIMIT 10", table
            )
        case _:
            inner = f"SELECT a, max(d) AS peak FROM {table} GROUP BY a HAVING max(d) BETWEEN {3 * low} AND {3 * (low + 50)}"
            return Query("derived table", f"SELECT count(*) AS groups, max(peak) AS peak FROM ({inner}) t", table)


def _update(table: str, number: int, next_id: int, chance: random.Random) -> Update:
    group = chance.randrange(1, GROUPS - 3)
    match number % 3:
        case 0:
            source = f"(SELECT id, CAST(floor(rand({number}) * {GROUPS}) + 1 AS INT) AS a FROM range({next_id}, {next_id + 20}, 1, 1))"
            return Update("insert 20 rows", f"INSERT INTO {table} SELECT {row_expressions('id', 'a', number)} FROM {source}")
        case 1:
            return Update("update a group", f"UPDATE {table} SET b = b + 1, c = c - 1 WHERE a = {group} AND id % 50 = 7")
        case _:
            return Update("delete from a group", f"DELETE FROM {table} WHERE a = {group} AND id % 50 = 3")
