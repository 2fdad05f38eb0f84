"""A dashboard of twelve tiles over three tables. Filters are drawn from a Zipf distribution: few values are asked for often."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

import imp_driver

_FIRST_DAY = "DATE '2026-01-01'"
_PROPERTIES = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true')"


@dataclass(frozen=True, slots=True)
class TileTable:
    """``share`` of the rows that are asked for; ``columns`` are expressions of ``id``."""

    name: str
    share: float
    columns: str

    def create(self, connection: imp_driver.Connection, rows: int) -> int:
        """Make the table; return how many rows it has."""
        count = max(1, int(rows * self.share))
        connection.execute(f"DROP TABLE IF EXISTS {self.name}").close()
        made = f"SELECT id, {self.columns} FROM range(0, {count}, 1, 8)"
        connection.execute(f"CREATE TABLE {self.name} USING DELTA {_PROPERTIES} AS {made}").close()
        return count

    def inserted(self, first: int, count: int) -> str:
        """Return the statement that adds rows with ids from ``first`` on."""
        return f"INSERT INTO {self.name} SELECT id, {self.columns} FROM range({first}, {first + count}, 1, 1)"

    def deleted(self, first: int, count: int) -> str:
        return f"DELETE FROM {self.name} WHERE id >= {first} AND id < {first + count}"


def _drawn(name: str, salt: int, count: int) -> str:
    return f"CAST(pmod(hash(id, {salt}), {count}) AS INT) AS {name}"


def _day(salt: int, days: int = 180) -> str:
    return f"date_add({_FIRST_DAY}, pmod(hash(id, {salt}), {days})) AS day"


TABLES = (
    TileTable(
        "dashboard_sales",
        1.0,
        f"{_day(1)}, {_drawn('region', 2, 20)}, {_drawn('product', 3, 200)}, {_drawn('channel', 4, 4)}, "
        f"{_drawn('quantity', 5, 9)}, CAST(pmod(hash(id, 6), 100000) / 100.0 AS DECIMAL(12,2)) AS amount",
    ),
    TileTable(
        "dashboard_visits",
        0.5,
        f"{_day(7)}, {_drawn('country', 8, 50)}, {_drawn('page', 9, 100)}, {_drawn('device', 10, 3)}, "
        f"{_drawn('visitor', 11, 5000)}, pmod(hash(id, 12), 6000) / 10.0D AS seconds",
    ),
    TileTable(
        "dashboard_tickets",
        0.1,
        f"{_day(13)}, {_drawn('team', 14, 30)}, {_drawn('priority', 15, 5)}, {_drawn('status', 16, 4)}, {_drawn('minutes', 17, 2000)}",
    ),
)
SALES, VISITS, TICKETS = (table.name for table in TABLES)


@dataclass(frozen=True, slots=True)
class Tile:
    """A query of one table with one place for a filter's value, and one for the table as of a version."""

    name: str
    table: str
    text: str
    values: int

    def instance(self, chance: Random) -> str:
        """Return the text for a value drawn by its rank; the table is still to be filled in."""
        return self.text.replace("{value}", str(zipf(chance, self.values)))


def zipf(chance: Random, count: int) -> int:
    """Draw a rank below ``count`` with odds of 1, 1/2, 1/3, .."""
    (drawn,) = chance.choices(range(count), [1 / (rank + 1) for rank in range(count)])
    return drawn


def at(text: str, table: str, version: int | None = None) -> str:
    """Return an instance over a table, at one version of it or the newest."""
    return text.replace("{table}", table if version is None else f"{table} VERSION AS OF {version}")


def _tiles() -> tuple[Tile, ...]:
    def tile(table: str) -> Callable[[str, str, int], Tile]:
        return lambda name, text, values: Tile(name, table, text, values)

    sales, visits, tickets = tile(SALES), tile(VISITS), tile(TICKETS)
    return (
        sales("turnover by day", "SELECT day, sum(amount) AS turnover FROM {table} WHERE region = {value} GROUP BY day ORDER BY day", 20),
        sales("turnover of a product", "SELECT sum(amount) AS turnover, count(*) AS sold FROM {table} WHERE product = {value}", 200),
        sales(
            "best products",
            "SELECT product, sum(amount) AS turnover FROM {table} WHERE region = {value} GROUP BY product "
            "ORDER BY turnover DESC, product LIMIT 10",
            20,
        ),
        sales(
            "channels",
            "SELECT channel, avg(amount) AS average, sum(quantity) AS pieces FROM {table} WHERE product = {value} GROUP BY channel",
            200,
        ),
        visits("visits by day", "SELECT day, count(*) AS visits FROM {table} WHERE country = {value} GROUP BY day ORDER BY day", 50),
        visits(
            "pages",
            "SELECT page, count(*) AS visits, avg(seconds) AS stay FROM {table} WHERE country = {value} GROUP BY page "
            "HAVING count(*) > 10 ORDER BY visits DESC, page LIMIT 20",
            50,
        ),
        visits(
            "devices", "SELECT device, count(*) AS visits, max(seconds) AS longest FROM {table} WHERE page = {value} GROUP BY device", 100
        ),
        visits("visitors", "SELECT count(DISTINCT visitor) AS visitors FROM {table} WHERE country = {value}", 50),
        tickets("open tickets", "SELECT status, count(*) AS tickets FROM {table} WHERE team = {value} GROUP BY status", 30),
        tickets(
            "tickets by month",
            "SELECT date_trunc('MONTH', day) AS month, priority, count(*) AS tickets FROM {table} WHERE team = {value} "
            "GROUP BY date_trunc('MONTH', day), priority",
            30,
        ),
        tickets(
            "slow teams",
            "SELECT team, avg(minutes) AS average, max(minutes) AS longest FROM {table} WHERE priority = {value} GROUP BY team "
            "HAVING avg(minutes) > 100 ORDER BY team",
            5,
        ),
        tickets(
            "minutes", "SELECT min(minutes) AS least, max(minutes) AS most, avg(minutes) AS average FROM {table} WHERE team = {value}", 30
        ),
    )


TILES = _tiles()
ORDERS: Mapping[str, tuple[tuple[int, ...], int]] = {"best products": ((1, 0), 10), "pages": ((1, 0), 20)}
"""Positions of the order keys and the limit of the tiles that have one."""
