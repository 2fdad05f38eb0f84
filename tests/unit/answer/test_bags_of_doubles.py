"""Rows without groups that have doubles: 0.0 and -0.0 are one group, and two values to whoever reads them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from sqlglot import exp

from imp_driver.answer.combine import combined
from imp_driver.plan.nodes import Attribute, Scan, SetKind, SetOperation
from imp_driver.reasons import Reason, ServedBy
from tests.unit.answer.lake_table import LakeTable

SCHEMA = pa.schema([("k", pa.int32()), ("f", pa.float64()), ("e", pa.float32())])
DOUBLES = (0.0, 1.5, -2.25, float("inf"), float("nan"), None)


def _row(chance: random.Random) -> list[object]:
    return [chance.randrange(10, 50), chance.choice(DOUBLES), chance.choice(DOUBLES)]


@pytest.fixture
def table(tmp_path: Path) -> Iterator[LakeTable]:
    found = LakeTable(tmp_path, "t", SCHEMA, _row, rows=50)
    yield found
    found.close()


def test_minus_zero_is_told_apart_by_how_often_it_occurs(table: LakeTable) -> None:
    text = "SELECT k, f, e FROM t WHERE k < 40"
    for _ in range(2):
        table.ask(text)
    table.settle()
    assert table.ask(text).served_by is ServedBy.STATE
    table.insert([[1, -0.0, 7.0], [1, -0.0, 7.0], [2, 7.0, -0.0], [3, -0.0, -0.0], [4, None, 0.0]])
    assert table.ask(text).served_by is ServedBy.STATE
    table.insert([[1, 0.0, 7.0]])
    report = table.ask(text)
    assert report.served_by is ServedBy.SPARK
    assert report.not_answered is not None
    assert (report.not_answered.reason, report.not_answered.detail) == (Reason.NOT_EXACT, "f: rows differ in 0.0 and -0.0 alone")
    assert table.ask("SELECT k, e FROM t WHERE k <> 1 AND k < 40").served_by is ServedBy.STATE
    table.delete("k = 1")
    assert table.ask(text).served_by is ServedBy.STATE


def test_what_is_grouped_does_not_tell_rows_of_doubles(table: LakeTable) -> None:
    """Of the groups that are there nothing says which of their zeros are -0.0."""
    assert table.ask("SELECT k, f, e, count(*) AS n FROM t GROUP BY k, f, e").served_by is ServedBy.STATE
    assert table.ask("SELECT k, f FROM t").served_by is ServedBy.SPARK
    assert table.ask("SELECT k FROM t").served_by is ServedBy.STATE


@pytest.mark.parametrize(
    "text",
    [
        "SELECT f * 2 AS d, count(*) AS n FROM t GROUP BY f * 2",
        "SELECT count(*) AS c FROM (SELECT f * 2 AS d, count(*) AS n FROM t GROUP BY f * 2) q WHERE d > 30",
        "SELECT CASE WHEN k > 30 THEN f ELSE f * 2 END AS d, count(*) AS n FROM t GROUP BY 1",
        "SELECT f FROM t WHERE k > 20 INTERSECT SELECT f FROM t WHERE k < 40",
        "SELECT f FROM t WHERE k > 20 EXCEPT SELECT f FROM t WHERE f < 1",
    ],
)
def test_keys_that_are_computed_doubles_are_doubles(table: LakeTable, text: str) -> None:
    table.ask("SELECT k, f, e, count(*) AS n FROM t GROUP BY k, f, e")
    for _ in range(2):
        table.ask(text)
        table.settle()
    assert table.ask(text).served_by is ServedBy.STATE


@pytest.mark.parametrize("distinct", [True, False])
def test_set_operations_give_the_values_of_groups(distinct: bool) -> None:
    """Whichever zeros their inputs have, Spark groups by 0.0 and gives that."""
    [one, other, out] = (Attribute(name, name, "double") for name in ("one", "other", "out"))
    left, right = (Scan(place, ("t",), (each,), exp.Table()) for place, each in enumerate((one, other)))
    plan = SetOperation(SetKind.INTERSECT, left, right, (out,), distinct)
    found = combined(plan, pa.table({"one": [-0.0, 1.5]}), pa.table({"other": [0.0, 2.0]}))
    assert str(found.column("out").to_pylist()) == "[0.0]"


def test_groups_by_no_column_follow_changes(table: LakeTable) -> None:
    """Nothing is read of the changed rows but how many they are."""
    texts = ("SELECT 'c' AS name, count(*) AS n FROM t GROUP BY 'c'", "SELECT count(*) AS n FROM t WHERE 2 > 1")
    for _ in range(3):
        for text in texts:
            assert table.ask(text).served_by is ServedBy.STATE
        table.insert([[1, 1.0, 2.0]])
        table.delete("k = 12")
    assert table.ask(texts[0]).reason is not Reason.INTERNAL
