"""A table whose groups are asked for in many ways: by key, by what the key determines, under conditions on another column, joined."""

from __future__ import annotations

from dataclasses import dataclass

import imp_driver

REGIONS = 25
AREAS = 5
PLACES = "answered_places"
_DOUBLES = "bcdefg"
_AGGREGATES = (
    *("avg(b)", "sum(m)", "count(*)", "min(c)", "max(c)"),
    *("avg(d)", "sum(e)", "count(f)", "avg(g)", "min(m)"),
)


@dataclass(frozen=True, slots=True)
class AnsweredTable:
    """``rows`` rows in ``groups`` groups ``a``, drawn uniformly; ``r`` is the region of a group, ``k`` one of ``kinds`` kinds of a row.

    Column b is the group plus noise, c to g are multiples of it with noise, m is money.
    """

    name: str
    rows: int
    groups: int
    kinds: int
    files: int = 64

    def create(self, connection: imp_driver.Connection) -> None:
        """Make the table, clustered by group, and that of the regions. Older ones of these names are replaced."""
        self.drop(connection)
        hint = f"REPARTITION_BY_RANGE({self.files}, a)"
        clustered = f"SELECT * FROM (SELECT /*+ {hint} */ * FROM ({self._made(0, self.rows, 1, 8)})) SORT BY a"
        connection.execute(f"CREATE TABLE {self.name} USING DELTA AS {clustered}").close()
        places = f"SELECT CAST(id AS INT) AS r, concat('place ', id) AS place, CAST(id % {AREAS} AS INT) AS area FROM range({REGIONS})"
        connection.execute(f"CREATE TABLE {PLACES} USING DELTA AS {places}").close()

    def insert(self, connection: imp_driver.Connection, first: int, count: int) -> None:
        """Insert rows with ids from ``first`` on, drawn by it, in one commit."""
        connection.execute(f"INSERT INTO {self.name} {self._made(first, count, first, 1)}").close()

    def drop(self, connection: imp_driver.Connection) -> None:
        for name in (self.name, PLACES):
            connection.execute(f"DROP TABLE IF EXISTS {name}").close()

    def _made(self, first: int, count: int, seed: int, parts: int) -> str:
        group = f"CAST(floor(rand({seed}) * {self.groups}) + 1 AS INT)"
        kind = f"CAST(floor(rand({seed + 1}) * {self.kinds}) AS INT)"
        doubles = ", ".join(
            f"a * {place} + randn({seed + 2 + place}) * {5 * place} AS {column}" for place, column in enumerate(_DOUBLES, start=1)
        )
        money = f"CAST(a + rand({seed + 2}) * 100 AS DECIMAL(12,2)) AS m"
        source = f"(SELECT id, {group} AS a, {kind} AS k FROM range({first}, {first + count}, 1, {parts}))"
        return f"SELECT id, a, CAST(a % {REGIONS} AS INT) AS r, k, {money}, {doubles} FROM {source}"


def aggregates(number: int) -> str:
    """Return the first so many of ten aggregates."""
    return ", ".join(_AGGREGATES[:number])
