"""Patterns as tools write them: ``lower(name) LIKE lower('%A%')``, with constants that change."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.reasons import ServedBy
from tests.unit.answer.lake_table import LakeTable

SCHEMA = pa.schema([("name", pa.string()), ("x", pa.int64())])


def _row(chance: random.Random) -> list[object]:
    return [chance.choice(("Alpha", "BETA", "gamma", "Delta 3", None)), chance.randrange(100)]


@pytest.fixture
def table(tmp_path: Path) -> Iterator[LakeTable]:
    found = LakeTable(tmp_path, "t", SCHEMA, _row)
    yield found
    found.close()


def test_patterns_in_lower_case_are_answered_by_key(table: LakeTable) -> None:
    for pattern in ("%ALP%", "%ta%", "Delta _", "%z%"):
        report = table.ask(f"SELECT name, sum(x) AS s FROM t WHERE lower(name) LIKE lower('{pattern}') GROUP BY name")
        table.settle()
        table.change("x > 90")
    assert report.served_by is ServedBy.STATE


def test_patterns_beside_other_keys_are_lifted(table: LakeTable) -> None:
    text = "SELECT x % 3 AS k, count(*) AS n FROM t WHERE lower(name) LIKE lower('{}') GROUP BY x % 3"
    for pattern in ("%A%", "%B%", "%C%"):
        report = table.ask(text.format(pattern))
        table.settle()
    assert report.served_by is ServedBy.STATE
    assert table.ask(text.format("%Z%")).served_by is ServedBy.STATE
