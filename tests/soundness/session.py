"""Random changes and queries through a cursor in shadow mode, which compares each answer with the plain one."""

from __future__ import annotations

import random
from collections import Counter

import imp_driver
from tests.soundness.queries import Queries
from tests.soundness.tables import COLUMNS


def make_tables(cursor: imp_driver.Cursor, schema: str) -> None:
    """Make a schema with the tables of the queries and go there."""
    cursor.execute(f"CREATE SCHEMA {schema}")
    cursor.execute(f"USE {schema}")
    for table, columns in COLUMNS.items():
        cursor.execute(f"CREATE TABLE {table} ({', '.join(f'{column} INT' for column in columns)}) USING DELTA")


def fill(cursor: imp_driver.Cursor, chance: random.Random) -> None:
    """Insert some rows into each table, so that every later change finds rows."""
    for table in COLUMNS:
        cursor.execute(f"INSERT INTO {table} VALUES {', '.join(_row(chance) for _ in range(12))}")


def ask(cursor: imp_driver.Cursor, chance: random.Random, steps: int) -> Counter[str]:
    """Ask so many queries, with a change before every third; return how often each decision was made."""
    queries = Queries(chance)
    asked: list[str] = []
    decisions: Counter[str] = Counter()
    for step in range(steps):
        if step % 3 == 0:
            cursor.execute(_change(chance))
        # A query that was asked before is often asked again: its state is then maintained.
        make = chance.choice([queries.simple, queries.focused, queries.query])
        text = chance.choice(asked[-4:]) if asked and chance.random() < 0.6 else make()
        asked.append(text)
        cursor.execute(text).fetchall()
        assert cursor.sketch_report is not None
        assert cursor.sketch_report.reason.name != "INTERNAL", text
        decisions[cursor.sketch_report.decision.name] += 1
    return decisions


def _row(chance: random.Random) -> str:
    def number(low: int, high: int) -> str:
        return "NULL" if chance.random() < 0.15 else str(chance.randint(low, high))

    return f"({chance.randint(0, 99)}, {number(0, 3)}, {number(0, 3)}, {number(-2, 4)})"


def _change(chance: random.Random) -> str:
    table = chance.choice(list(COLUMNS))
    _, key, other, measure = COLUMNS[table]
    rows = ", ".join(_row(chance) for _ in range(chance.randint(1, 6)))
    return chance.choice(
        [
            f"INSERT INTO {table} VALUES {rows}",
            f"INSERT INTO {table} VALUES {rows}",
            f"UPDATE {table} SET {measure} = {measure} + 1 WHERE {other} = {chance.randint(0, 3)}",
            f"UPDATE {table} SET {key} = {other} WHERE {measure} > 2",
            f"DELETE FROM {table} WHERE {key} = {chance.randint(0, 3)} AND {measure} < 2",
            f"DELETE FROM {table} WHERE {other} IS NULL",
        ]
    )
