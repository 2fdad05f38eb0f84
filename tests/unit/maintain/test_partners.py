"""Conditions on the other tables of a join: every partner meets them, and they are few."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from imp_driver.maintain.partners import MOST_RUNS, partner_conditions
from imp_driver.plan.bind import bind
from imp_driver.plan.nodes import scans
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import analysis_of

SCHEMA = (
    SchemaColumn("g", "integer", True),
    SchemaColumn("x", "integer", True),
    SchemaColumn("big", "long", True),
    SchemaColumn("f", "double", True),
    SchemaColumn("s", "string", True),
    SchemaColumn("p", "decimal(10,2)", True),
    SchemaColumn("d", "date", True),
)


def _conditions(source: str, changed: str, **columns: list[Any]) -> dict[str, str]:
    analysis = analysis_of(f"SELECT r.g FROM {source} GROUP BY r.g HAVING count(*) > 1", SCHEMA)
    block = bind(analysis.block, None, analysis.columns)
    every = {scan.occurrence: scan for scan in scans(block.source)}
    scan = next(scan for scan in every.values() if scan.table[-1] == changed)
    types = {"g": pa.int32(), "x": pa.int32(), "big": pa.int64(), "f": pa.float64(), "s": pa.string(), "p": pa.decimal128(10, 2)}
    rows = pa.table({name: pa.array(values, types.get(name, pa.date32())) for name, values in columns.items()})
    return {every[number].table[-1]: text for number, text in partner_conditions(block, scan, rows).items()}


@pytest.mark.parametrize(
    ("source", "columns", "expected"),
    [
        ("r JOIN s ON r.g = s.g", {"g": [3, None, 1, 3]}, {"s": "(`g` = 1 OR `g` = 3)"}),
        ("r JOIN s ON r.g = s.x", {"g": [None]}, {"s": "(FALSE)"}),
        ("r JOIN s ON r.g = s.x JOIN t ON t.big = s.big AND t.g = s.x", {"g": [3]}, {"s": "(`x` = 3)", "t": "(`g` = 3)"}),
        ("r JOIN s ON r.g = s.g AND r.x = s.x", {"g": [3], "x": [4]}, {"s": "(`g` = 3) AND (`x` = 4)"}),
        ("r JOIN s ON r.g = s.big", {"g": [3]}, {}),
        ("r JOIN s ON r.f = s.f", {"f": [0.0]}, {}),
        ("r JOIN s ON r.g > s.g", {"g": [3]}, {}),
        ("r JOIN s ON r.g = s.g OR r.x = s.x", {"g": [3], "x": [4]}, {}),
        ("r LEFT JOIN s ON r.g = s.g", {"g": [3]}, {}),
        ("r JOIN s ON r.s = s.s", {"s": ["it's"]}, {"s": "(`s` = 'it\\'s')"}),
        ("r JOIN s ON r.p = s.p", {"p": [Decimal("1.50")]}, {"s": "(`p` = CAST(CAST('1.50' AS DECIMAL(3, 2)) AS DECIMAL(10,2)))"}),
        ("r JOIN s ON r.d = s.d", {"d": [datetime.date(2024, 2, 29)]}, {"s": "(`d` = CAST('2024-02-29' AS DATE))"}),
    ],
)
def test_conditions(source: str, columns: dict[str, list[Any]], expected: dict[str, str]) -> None:
    assert _conditions(source, "r", **columns) == expected


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-(2**31), 2**31 - 1) | st.integers(0, 60), min_size=21, max_size=90))
def test_many_keys_become_few_runs_that_hold_them_all(keys: list[int]) -> None:
    text = _conditions("r JOIN s ON r.g = s.g", "r", g=keys)["s"]
    assert text.count(" OR ") < MOST_RUNS
    assert _passing(text, pa.int32(), keys) == len(keys)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text("abcä'\U0001f600", max_size=3), min_size=21, max_size=60))
def test_texts_too(keys: list[str]) -> None:
    text = _conditions("r JOIN s ON r.s = s.s", "r", s=keys)["s"]
    assert text.count(" OR ") < MOST_RUNS
    assert _passing(text.replace("`s`", "`g`"), pa.string(), keys) == len(keys)


def test_the_widest_gaps_are_left_out() -> None:
    keys = [1000 * block + value for block in range(MOST_RUNS) for value in range(5)]
    text = _conditions("r JOIN s ON r.g = s.g", "r", g=keys)["s"]
    assert "(`g` >= 3000 AND `g` <= 3004)" in text
    assert text.count(" OR ") == MOST_RUNS - 1


def _passing(text: str, kind: pa.DataType, keys: list[Any]) -> int:
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"g": pa.array(keys, kind)}))
        condition = sqlglot.transpile(f"SELECT count(*) FROM t WHERE {text}", read="spark", write="duckdb")[0]
        found = connection.execute(condition).fetchone()
        assert found is not None
        return int(found[0])
