"""Extremes of doubles have lost the sign of their zeros: nothing is made of these that tells it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.reasons import ServedBy
from tests.unit.answer.lake_table import LakeTable

SCHEMA = pa.schema([("k", pa.int32()), ("f", pa.float64()), ("e", pa.float32())])
STATES = (ServedBy.STATE, ServedBy.STATE_AND_SPARK)


def _row(chance: random.Random) -> list[object]:
    return [chance.randrange(10, 20), chance.choice((1.5, -2.25, None)), chance.choice((2.5, -1.0, None))]


@pytest.fixture
def table(tmp_path: Path) -> Iterator[LakeTable]:
    found = LakeTable(tmp_path, "t", SCHEMA, _row, rows=50)
    yield found
    found.close()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT k FROM t GROUP BY k HAVING CAST(min(f) AS STRING) = '-0.0'",
        "SELECT k, CAST(max(f) AS STRING) AS s FROM t GROUP BY k",
        "SELECT s, count(*) AS n FROM (SELECT k, concat(max(e)) AS s FROM t GROUP BY k) q GROUP BY s",
        "SELECT md5(CAST(CASE WHEN m > 5 THEN 1 ELSE m END AS STRING)) AS s FROM (SELECT k, min(e) AS m FROM t GROUP BY k) q",
        "SELECT CAST(w AS STRING) AS s FROM (SELECT max(m) OVER (ORDER BY k) AS w FROM (SELECT k, min(e) AS m FROM t GROUP BY k) q) p",
    ],
)
def test_texts_of_zeros_are_left_to_spark(table: LakeTable, text: str) -> None:
    for _ in range(2):
        table.ask(text)
    table.insert([[1, -0.0, -0.0], [2, 1.0, 1.0]])
    assert table.ask(text).served_by is ServedBy.SPARK
    table.delete("k = 1")
    if "= '-0.0'" not in text:
        assert table.ask(text).served_by in STATES


BELOW = "FROM t JOIN (SELECT k, max(f) AS m FROM t GROUP BY k) q ON t.k = q.k"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT t.k, count(*) AS n {BELOW} WHERE CAST(q.m AS STRING) = '-0.0' GROUP BY t.k",
        f"SELECT t.k, count(CASE WHEN CAST(q.m AS STRING) = '-0.0' THEN 1 END) AS n {BELOW} GROUP BY t.k",
        f"SELECT t.k, CAST(q.m AS STRING) AS s {BELOW} WHERE t.e > -5",
    ],
)
def test_zeros_of_groups_below_are_not_asked_for_their_sign(table: LakeTable, text: str) -> None:
    for _ in range(3):
        table.ask(text)
        table.settle()
    table.insert([[1, -0.0, -0.0], [2, 1.0, 1.0]])
    for _ in range(2):
        table.ask(text)
        table.settle()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT k FROM t GROUP BY k HAVING min(f) >= 0",
        "SELECT k, rank() OVER (ORDER BY min(f), k) AS place FROM t GROUP BY k",
        "SELECT count(*) AS n FROM (SELECT k, min(f) AS m FROM t GROUP BY k) q GROUP BY m",
        "SELECT k, md5(CAST(k AS STRING)) AS s, min(f) + 1 AS m FROM t GROUP BY k",
    ],
)
def test_comparisons_of_zeros_are_answered(table: LakeTable, text: str) -> None:
    table.insert([[1, -0.0, -0.0], [2, 0.0, 1.0]])
    for _ in range(2):
        assert table.ask(text).served_by in STATES
        table.insert([[3, -0.0, -0.0]])
