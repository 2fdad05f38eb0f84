"""Random queries over every kind of column, as keys, join keys, values and in conditions: NaN, -0.0, decimals, dates, strings."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from tests.seeds import WIDE

_VALUES = {
    "INT": ["0", "1", "2", "3", "-1"],
    "DOUBLE": ["0.0D", "-0.0D", "0.25D", "1.5D", "-2.75D", "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)"],
    "DECIMAL(10,2)": ["0.00", "1.25", "1.50", "-3.10", "99999999.99"],
    "DATE": ["DATE'2024-01-01'", "DATE'2024-02-29'", "DATE'1969-12-31'", "DATE'1582-10-15'", "DATE'9999-12-31'"],
    "TIMESTAMP": ["TIMESTAMP'2024-01-01 00:00:00'", "TIMESTAMP'2024-03-31 02:30:00.123456'", "TIMESTAMP'1969-12-31 23:59:59.999999'"],
    "STRING": ["''", "'a'", "'B'", "'ab'", "'é'", "' a'"],
    "CHAR(3)": ["''", "'a'", "'B'", "'ab '", "'éa'"],
}
_COLUMNS = {"g": "INT", "d": "DOUBLE", "p": "DECIMAL(10,2)", "day": "DATE", "t": "TIMESTAMP", "s": "STRING", "c": "CHAR(3)"}
_TABLES = ("m", "n")
_NUMBERS = ("g", "d", "p")


@pytest.fixture(scope="module")
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow") as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE SCHEMA random_types")
        cursor.execute("USE random_types")
        for table in _TABLES:
            cursor.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in _COLUMNS.items())}) USING DELTA")
        yield cursor


class _Typed:
    """Makes queries and changes; every choice comes from ``chance``."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def literal(self, column: str) -> str:
        return self.chance.choice(_VALUES[_COLUMNS[column]])

    def change(self) -> str:
        table, column, other = self.chance.choice(_TABLES), self.chance.choice(list(_COLUMNS)), self.chance.choice(list(_COLUMNS))

        def value(name: str) -> str:
            return "NULL" if self.chance.random() < 0.15 else self.literal(name)

        rows = ", ".join(f"({', '.join(map(value, _COLUMNS))})" for _ in range(self.chance.randint(2, 8)))
        return self.chance.choice(
            [
                f"INSERT INTO {table} VALUES {rows}",
                f"INSERT INTO {table} VALUES {rows}",
                f"UPDATE {table} SET {column} = {value(column)} WHERE {other} = {self.literal(other)}",
                f"DELETE FROM {table} WHERE {column} <=> {value(column)} AND {other} >= {self.literal(other)}",
            ]
        )

    def predicate(self, column: str) -> str:
        literal, comparison = self.literal(column.split(".")[-1]), self.chance.choice(["<", "<=", ">", ">=", "=", "<>"])
        return self.chance.choice([f"{column} {comparison} {literal}", f"{column} {comparison} {literal}", f"{column} IS NOT NULL"])

    def function(self, alias: str) -> tuple[str, str]:
        """Return an aggregate and a literal of its type."""
        column = self.chance.choice(list(_COLUMNS))
        kinds = ["min", "max", "count", "count distinct"] + (["sum", "avg", "sum"] if column in _NUMBERS else [])
        kind = self.chance.choice(kinds)
        if kind == "count distinct":
            return f"count(DISTINCT {alias}.{column})", "2"
        return f"{kind}({alias}.{column})", "2" if kind == "count" else self.literal(column)

    def query(self) -> str:
        key = self.chance.choice(list(_COLUMNS))
        source, alias = "m a", "a"
        if self.chance.random() < 0.4:
            join = self.chance.choice(list(_COLUMNS))
            source = f"m a {self.chance.choice(['JOIN', 'JOIN', 'LEFT JOIN'])} n b ON a.{join} = b.{join}"
            key = self.chance.choice([key, join])
            alias = self.chance.choice(["a", "b"])
        function, literal = self.function(alias)
        where = f" WHERE {self.predicate('a.' + self.chance.choice(list(_COLUMNS)))}" if self.chance.random() < 0.5 else ""
        text = f"SELECT a.{key}, count(*) AS n, {function} AS f FROM {source}{where} GROUP BY a.{key}"
        if self.chance.random() < 0.3:
            return f"{text} ORDER BY f{self.chance.choice(['', ' DESC', ' NULLS LAST'])}, a.{key} LIMIT {self.chance.randint(1, 3)}"
        extra = f" AND {self.predicate('a.' + key)}" if self.chance.random() < 0.3 else ""
        return f"{text} HAVING {function} {self.chance.choice(['<', '<=', '>', '>=', '=', '<>'])} {literal}{extra}"


def test_answers_are_those_of_plain_spark(cursor: imp_driver.Cursor) -> None:
    chance = random.Random(11)
    typed = _Typed(chance)
    for _ in range(6):
        cursor.execute(typed.change())
    asked: list[str] = []
    decisions: Counter[str] = Counter()
    for step in range(300 if WIDE else 30):
        if step % 3 == 2:
            cursor.execute(typed.change())
        text = chance.choice(asked[-4:]) if asked and chance.random() < 0.5 else typed.query()
        asked.append(text)
        cursor.execute(text).fetchall()
        report = cursor.sketch_report
        assert report is not None
        assert report.reason.name != "INTERNAL", f"{text}: {report.detail}"
        decisions[report.decision.name] += 1
    assert decisions["CAPTURED"] > 5
    assert decisions["MAINTAINED"] > 2
