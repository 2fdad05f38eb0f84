"""Expressions that are computed in process against Spark, over values at the edges: the type and each value are Spark's, or Spark computes.

Each expression is evaluated for each row alone; Spark computes it for those rows for which that was possible, under both ANSI settings.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import imp_driver
from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.parse.literals import literal_node
from imp_driver.parse.statement import DIALECT
from imp_driver.plan.convert import row_expression
from imp_driver.plan.types import infer
from imp_driver.values.expressions import Value
from tests.spark.expressions import COLUMNS, EXPRESSIONS, ROWS

_numbers = itertools.count()


@pytest.fixture(scope="module")
def table(engine: imp_driver.Connection) -> str:
    name = f"expression_values{next(_numbers)}"
    columns = ", ".join(f"{column} {kind}" for column, (kind, _) in COLUMNS.items())
    cursor = engine.cursor()
    cursor.execute(f"CREATE TABLE {name} (id INT, {columns}) USING DELTA")
    values = ", ".join(f"({place}, {', '.join(row)})" for place, row in enumerate(ROWS))
    cursor.execute(f"INSERT INTO {name} VALUES {values}")
    return name


@pytest.mark.parametrize("is_ansi", [True, False])
@pytest.mark.parametrize("group", EXPRESSIONS)
def test_types_and_values_are_those_of_spark(engine: imp_driver.Connection, table: str, group: str, is_ansi: bool) -> None:
    cursor = engine.cursor()
    # As users have it: with code that is generated for each plan.
    settings = {"ansi.enabled": str(is_ansi), "codegen.wholeStage": "true", "codegen.factoryMode": "FALLBACK"}
    for name, value in settings.items():
        cursor.execute(f"SET spark.sql.{name} = {value}")
    try:
        rows = _rows(cursor, table)
        texts = EXPRESSIONS[group]
        found = [_by_row(text, rows) for text in texts]
        guarded = [
            f"CASE WHEN id IN ({', '.join(map(str, values)) or -1}) THEN {text} END AS v{place}"
            for place, (text, values) in enumerate(zip(texts, found, strict=True))
        ]
        expected = cursor.execute(f"SELECT {', '.join(guarded)} FROM {table} ORDER BY id").fetch_arrow_table()
        wrong = [
            difference
            for text, values, column in zip(texts, found, expected.columns, strict=True)
            for difference in _differences(text, values, column, rows)
        ]
        assert wrong == []
    finally:
        for name in settings:
            cursor.execute(f"RESET spark.sql.{name}")


MARKERS: tuple[tuple[str, Value], ...] = (
    ("m * :v", 5),
    ("m * :v", -5),
    ("m / :v", 70),
    ("1 - m - :v", 0),
    ("q % :v", 7),
    ("y + :v", 1),
    ("f * :v", 0.1),
    ("m / :v", 2.5),
    ("round(m, :v)", 1),
    ("substring(s, :v, 2)", -2),
    ("concat(s, :v)", "'"),
    ("date_add(d, :v)", -3),
    ("datediff(d, :v)", datetime.date(2024, 2, 28)),
    ("m < :v", Decimal("2.5")),
)


@pytest.mark.parametrize("is_ansi", [True, False])
def test_bound_values_have_the_types_of_literals(engine: imp_driver.Connection, table: str, is_ansi: bool) -> None:
    cursor = engine.cursor()
    cursor.execute(f"SET spark.sql.ansi.enabled = {is_ansi}")
    try:
        rows = _rows(cursor, table)
        for text, value in MARKERS:
            literal = exp.Paren(this=literal_node(value)).sql(dialect=DIALECT)
            written = text.replace(":v", literal)
            values = _by_row(written, rows)
            guarded = f"SELECT CASE WHEN id IN ({', '.join(map(str, values))}) THEN {text} END AS v FROM {table} ORDER BY id"
            expected = cursor.execute(guarded, {"v": value}).fetch_arrow_table()
            assert _differences(written, values, expected.column(0), rows) == []
    finally:
        cursor.execute("RESET spark.sql.ansi.enabled")


def _rows(cursor: imp_driver.Cursor, table: str) -> pa.Table:
    rows = cursor.execute(f"SELECT * FROM {table} ORDER BY id").fetch_arrow_table()
    return rows.cast(pa.schema([("id", pa.int32()), *((name, kind) for name, (_, kind) in COLUMNS.items())]))


def _by_row(text: str, rows: pa.Table) -> dict[int, Any]:
    """Return the values of the rows for which an expression is evaluable."""
    found = {}
    for place in range(rows.num_rows):
        try:
            [found[place]] = _values(text, rows.slice(place, 1))
        except NotEvaluable:
            continue
    return found


def _values(text: str, rows: pa.Table) -> pa.Array:
    columns = {field.name: field.type for field in rows.schema}
    return computed(rows, row_expression(sqlglot.parse_one(text, read=DIALECT), columns))


def _differences(text: str, values: dict[int, Any], expected: pa.ChunkedArray, rows: pa.Table) -> list[str]:
    if not values:
        return [f"{text}: evaluable for no row"]
    kind = infer(sqlglot.parse_one(text, read=DIALECT), {field.name: field.type for field in rows.schema})
    together = _values(text, rows.take(list(values)))
    wrong = [f"{text}: {kind} and {together.type}, not {expected.type}"] if {kind, together.type} != {expected.type} else []
    wanted = _plain([expected[place] for place in values])
    for which, got in (("alone", _plain(list(values.values()))), ("together", _plain(list(together)))):
        pairs = zip(values, got, wanted, strict=True)
        wrong += [f"{text} in row {place} {which}: {one}, not {other}" for place, one, other in pairs if one != other]
    return wrong


def _plain(values: Sequence[Any]) -> list[str]:
    return [repr(each.as_py()) for each in values]
