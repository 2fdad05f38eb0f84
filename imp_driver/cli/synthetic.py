"""The papers' synthetic table: a key, a group column drawn uniformly, and columns linear in it with Gaussian noise (IMP report, section 8).

Everything goes through SQL on a public connection, so the table is made where the data lives.
"""

from __future__ import annotations

from dataclasses import dataclass

from imp_driver.dbapi.connection import Connection

GROUPS = 5_000
VALUE_COLUMNS = "bcdefghij"
FILES = 64


@dataclass(frozen=True, slots=True)
class SyntheticTable:
    """``name`` has ``rows`` rows in GROUPS groups. Column number n (b is 1) is ``a * n`` plus noise of deviation ``5 * n``."""

    name: str
    rows: int
    seed: int = 1


def slope(column: str) -> int:
    """Return the factor between the group column and a value column."""
    return VALUE_COLUMNS.index(column) + 1


def row_expressions(identifier: str, group: str, seed: int) -> str:
    """Return the SELECT list of rows of the table for SQL expressions of ``id`` and ``a``."""
    values = ", ".join(
        f"{group} * {slope(column)} + randn({seed + place}) * {5 * slope(column)} AS {column}" for place, column in enumerate(VALUE_COLUMNS)
    )
    return f"{identifier} AS id, {group} AS a, {values}"


def create(connection: Connection, table: SyntheticTable) -> None:
    """Make the table, clustered by ``a``: FILES files, each with a range of groups, sorted. An older one of this name is replaced."""
    group = f"CAST(floor(rand({table.seed}) * {GROUPS}) + 1 AS INT)"
    source = f"(SELECT id, {group} AS a FROM range(0, {table.rows}, 1, 8))"
    rows = f"(SELECT {row_expressions('id', 'a', table.seed + 1)} FROM {source})"
    clustered = f"SELECT * FROM (SELECT /*+ REPARTITION_BY_RANGE({FILES}, a) */ * FROM {rows}) SORT BY a"
    connection.execute(f"DROP TABLE IF EXISTS {table.name}").close()
    connection.execute(f"CREATE TABLE {table.name} USING DELTA AS {clustered}").close()


def insert_rows(connection: Connection, table: str, first_id: int, count: int, seed: int) -> int:
    """Insert rows with groups drawn uniformly; return how many."""
    source = f"(SELECT id, CAST(floor(rand({seed}) * {GROUPS}) + 1 AS INT) AS a FROM range({first_id}, {first_id + count}, 1, 1))"
    with connection.execute(f"INSERT INTO {table} SELECT {row_expressions('id', 'a', seed + 1)} FROM {source}") as cursor:
        return cursor.rowcount


def having(aggregates: int, low: float, high: float) -> str:
    """Return the SQL of the papers' HAVING query on 1, 3 or 10 aggregates; groups with ``low < a < high`` pass, about.

    The first aggregate is the one of the SELECT list; with 1 it stands alone and HAVING tests it.
    """
    if aggregates == 1:
        return f"HAVING avg(b) > {low} AND avg(b) < {high}"
    tested = [f"avg(c) > {2 * low} AND avg(c) < {2 * high}"]
    tested += [f"avg({column}) > 0" for column in ("defghijb" if aggregates == 10 else "d")[: aggregates - 2]]
    return f"HAVING {' AND '.join(tested)}" + (f" AND max(c) > {2 * low}" if aggregates == 10 else "")
