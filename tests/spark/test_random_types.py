"""A random stream of queries and changes over every kind of column, as keys, join keys, values and in conditions: NaN, -0.0, zones, bytes.

22 steps, 300 in a wide run; IMP_STREAM_SECONDS=3600 goes on for an hour instead.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from tests.seeds import SEED, WIDE

_SECONDS = float(os.environ.get("IMP_STREAM_SECONDS", "0"))
_STEPS = 300 if WIDE else 22
_VALUES = {
    "TINYINT": ["0Y", "1Y", "127Y", "-128Y"],
    "SMALLINT": ["0S", "2S", "32767S", "-1S"],
    "INT": ["0", "1", "2", "3", "-1"],
    "BIGINT": ["0L", "4L", "9007199254740993L", "-3L"],
    "FLOAT": ["0.0F", "-0.0F", "0.1F", "CAST('NaN' AS FLOAT)", "-2.5F"],
    "DOUBLE": ["0.0D", "-0.0D", "0.25D", "1.5D", "-2.75D", "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)"],
    "DECIMAL(10,2)": ["0.00", "1.25", "1.50", "-3.10", "99999999.99"],
    "DECIMAL(30,10)": ["0.0000000001", "-12345678901234567890.5", "3.0"],
    "DATE": ["DATE'2024-01-01'", "DATE'2024-02-29'", "DATE'1969-12-31'", "DATE'1582-10-15'", "DATE'9999-12-31'"],
    "TIMESTAMP": ["TIMESTAMP'2024-01-01 00:00:00'", "TIMESTAMP'2024-03-31 02:30:00.123456'", "TIMESTAMP'1969-12-31 23:59:59.999999'"],
    "TIMESTAMP_NTZ": ["TIMESTAMP_NTZ'2024-01-01 00:00:00'", "TIMESTAMP_NTZ'2024-03-31 02:30:00.5'", "TIMESTAMP_NTZ'1969-12-31 23:00:00'"],
    "STRING": ["''", "'a'", "'B'", "'ab'", "'é'", "' a'", "'10'", "'9'"],
    "VARCHAR(4)": ["''", "'a'", "'ab '", "'éa'"],
    "CHAR(3)": ["''", "'a'", "'B'", "'ab '", "'éa'"],
    "BOOLEAN": ["true", "false"],
    "BINARY": ["X''", "X'00'", "X'61'", "X'FF61'"],
}
_COLUMNS = {
    "g": "INT",
    "tiny": "TINYINT",
    "small": "SMALLINT",
    "big": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "p": "DECIMAL(10,2)",
    "q": "DECIMAL(30,10)",
    "day": "DATE",
    "t": "TIMESTAMP",
    "ntz": "TIMESTAMP_NTZ",
    "s": "STRING",
    "v": "VARCHAR(4)",
    "c": "CHAR(3)",
    "is_on": "BOOLEAN",
    "bytes": "BINARY",
}
_TABLES = ("m", "n")
_NUMBERS = ("g", "tiny", "small", "big", "f", "d", "p", "q")
_TEXTS = ("s", "v", "c")
_TIMES = ("day", "t", "ntz")
_ZONES = ("UTC", "Asia/Tokyo", "America/Los_Angeles", "Europe/Berlin")
_COMPARISONS = ("<", "<=", ">", ">=", "=", "<>")


@pytest.fixture(scope="module")
def cursors(warehouse: Path) -> Iterator[list[imp_driver.Cursor]]:
    """Cursors of connections with other settings, over the same states."""
    with ExitStack() as stack:
        settings: list[dict[str, Any]] = [{}, {"fragments": 3, "maximum_runs": 2}]
        made = [
            stack.enter_context(imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="off", **each)) for each in settings
        ]
        cursors = [connection.cursor() for connection in made]
        cursors[0].execute("CREATE SCHEMA random_types")
        for cursor in cursors:
            cursor.execute("USE random_types")
        for table in _TABLES:
            columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
            cursors[0].execute(f"CREATE TABLE {table} ({columns}) USING DELTA")
        yield cursors


@dataclass(frozen=True, slots=True)
class _Query:
    """The parts of a query; ``{column}`` in them stands for a constant of that column's type, another one each time."""

    source: str
    key: str
    function: str
    key_condition: str
    row_condition: str
    above: str

    def text(self, chance: random.Random) -> str:
        conditions = " AND ".join(filter(None, (self.key_condition, self.row_condition)))
        where = f" WHERE {conditions}" if conditions else ""
        text = f"SELECT {self.key} AS k, count(*) AS n, {self.function} AS f FROM {self.source}{where} GROUP BY {self.key} {self.above}"
        return re.sub(r"\{(\w+)\}", lambda found: chance.choice(_VALUES[_COLUMNS[found[1]]]), text)


class _Typed:
    """Makes queries and changes; every choice comes from ``chance``."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def value(self, column: str) -> str:
        return "NULL" if self.chance.random() < 0.15 else self.chance.choice(_VALUES[_COLUMNS[column]])

    def rows(self, number: int) -> str:
        return ", ".join(f"({', '.join(map(self.value, _COLUMNS))})" for _ in range(number))

    def change(self) -> str:
        table, column, other = self.chance.choice(_TABLES), self.chance.choice(list(_COLUMNS)), self.chance.choice(list(_COLUMNS))

        rows = self.rows(self.chance.randint(2, 8))
        literal = self.chance.choice(_VALUES[_COLUMNS[other]])
        return self.chance.choice(
            [
                f"INSERT INTO {table} VALUES {rows}",
                f"INSERT INTO {table} VALUES {rows}",
                f"UPDATE {table} SET {column} = {self.value(column)} WHERE {other} = {literal}",
                f"DELETE FROM {table} WHERE {column} <=> {self.value(column)} AND {other} >= {literal}",
            ]
        )

    def condition(self, name: str) -> str:
        """Return a condition on a column, of every kind that its type knows."""
        column, comparison = name.split(".")[-1], self.chance.choice(_COMPARISONS)
        constant = f"{{{column}}}"
        kinds = [
            f"{name} {comparison} {constant}",
            f"{name} {comparison} {constant}",
            f"{name} {comparison} {constant}",
            f"{name} IS NOT NULL",
            f"{name} <=> {constant}",
            f"{name} IN ({constant}, {constant})",
            f"({name} < {constant} OR {name} > {constant})",
            f"coalesce({name}, {constant}) >= {constant}",
            f"nullif({name}, {constant}) IS NOT NULL",
            f"CASE WHEN {name} > {constant} THEN 1 ELSE 0 END = 1",
        ]
        if column in _NUMBERS:
            kinds += [
                f"CAST({name} AS DOUBLE) + 1 > {constant}",
                f"greatest({name}, {constant}) = {constant}",
                f"-CAST({name} AS DOUBLE) < 2",
            ]
        if column in _TEXTS:
            kinds += [f"upper({name}) = {constant}", f"{name} LIKE 'a%'", f"substring({name}, 1, 1) = {constant}", f"length({name}) > 1"]
        if column in _TIMES:
            kinds += [f"year({name}) >= 2024", f"date_trunc('MONTH', {name}) < {constant}", f"CAST({name} AS STRING) LIKE '2024%'"]
        return self.chance.choice(kinds)

    def function(self, alias: str) -> str:
        column = self.chance.choice(list(_COLUMNS))
        kinds = ["min({})", "max({})", "count({})", "count(DISTINCT {})"] + (
            ["sum({})", "avg({})", "sum({})"] if column in _NUMBERS else []
        )
        return self.chance.choice(kinds).format(f"{alias}.{column}")

    def source(self) -> tuple[str, str]:
        """Return what stands after FROM and a key of it."""
        column, join = self.chance.choice(list(_COLUMNS)), self.chance.choice(list(_COLUMNS))
        kind = self.chance.random()
        if kind < 0.5:
            return "m a", f"a.{column}"
        if kind < 0.65:
            rows = f"SELECT * FROM m WHERE {self.condition(self.chance.choice(list(_COLUMNS)))}"
            return self.chance.choice(
                [f"({rows}) a", "(SELECT DISTINCT * FROM m) a", f"({rows} UNION ALL SELECT * FROM n) a"]
            ), f"a.{column}"
        side = self.chance.choice(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        key = f"{'b' if side == 'RIGHT JOIN' else 'a'}.{self.chance.choice([column, join])}"
        return f"m a {side} n b ON a.{join} = b.{join}", key

    def above(self, function: str) -> str:
        if self.chance.random() < 0.35:
            return f"ORDER BY f{self.chance.choice(['', ' DESC', ' NULLS LAST'])}, k LIMIT {self.chance.randint(1, 3)}"
        column = re.split(r"[.)]", function)[1]
        constant = "2" if function.startswith("count") else f"{{{column}}}"
        return f"HAVING {function} {self.chance.choice(_COMPARISONS)} {constant}"

    def maybe(self, condition: str) -> str:
        return condition if self.chance.random() < 0.45 else ""

    def query(self) -> _Query:
        source, key = self.source()
        function = self.function(key[0])
        row_condition = self.maybe(self.condition(f"{key[0]}.{self.chance.choice(list(_COLUMNS))}"))
        return _Query(source, key, function, self.maybe(self.condition(key)), row_condition, self.above(function))

    def like(self, asked: _Query) -> _Query:
        """Return a query that differs in one part, or in constants alone."""
        other = self.function(asked.key[0])
        return self.chance.choice(
            [
                asked,
                asked,
                replace(asked, key_condition=self.maybe(self.condition(asked.key))),
                replace(asked, above=self.above(asked.function)),
                replace(asked, function=other, above=self.above(other)),
            ]
        )


def _steps() -> Iterator[int]:
    began = time.monotonic()
    for step in count():
        if time.monotonic() - began >= _SECONDS if _SECONDS else step >= _STEPS:
            return
        yield step


def test_answers_are_those_of_plain_spark(cursors: list[imp_driver.Cursor]) -> None:
    chance = random.Random(SEED if WIDE or _SECONDS else 11)
    typed = _Typed(chance)
    for table in _TABLES:
        for _ in range(3):
            cursors[0].execute(f"INSERT INTO {table} VALUES {typed.rows(20)}")
    asked: list[tuple[_Query, str]] = []
    decisions: Counter[str] = Counter()
    for step in _steps():
        cursor = cursors[chance.random() < 0.2]
        if step % 3 == 2:
            cursor.execute(typed.change())
        if step % 7 == 6:
            cursor.execute(f"SET TIME ZONE '{chance.choice(_ZONES)}'")
        query, text = chance.choice(asked[-4:]) if asked and chance.random() < 0.7 else (typed.query(), "")
        if not text or chance.random() < 0.5:
            query = typed.like(query)
            text = query.text(chance)
        cursor.execute(text).fetchall()
        report = cursor.sketch_report
        assert report is not None
        assert report.reason.name not in ("INTERNAL", "CAPTURE_FAILED"), f"{text}: {report.detail}"
        decisions[report.decision.name] += 1
        if report.decision.name != "NOT_USED":
            asked.append((query, text))
    assert decisions["CAPTURED"] > 5
    assert decisions["MAINTAINED"] > 2
