"""Sums of doubles of which some are too large to be split: those of the other groups are known, before and after."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.reasons import ServedBy
from tests.unit.answer.lake_table import LakeTable

SCHEMA = pa.schema([("k", pa.int32()), ("x", pa.float64()), ("y", pa.float64())])
SUMS = "SELECT k, sum(x) AS s, count(x) AS n, avg(y) AS m FROM sales {}GROUP BY k"


def _row(chance: random.Random) -> list[object]:
    return [chance.randrange(4), chance.choice([None, chance.randrange(-400, 400) / 4]), chance.randrange(10) / 8]


@pytest.mark.parametrize("large", [2.0**60, -(2.0**61), 2.0**300, math.nan, math.inf, -math.inf])
def test_groups_without_large_values_are_answered(tmp_path: Path, large: float) -> None:
    sales = LakeTable(tmp_path, "sales", SCHEMA, _row)
    sales.insert([[7, large, 1.0]])
    for condition in ("WHERE k < 5 ", "WHERE k <> 7 ", "WHERE k IN (1, 2) "):
        assert sales.ask(SUMS.format(condition)).served_by is ServedBy.STATE
    assert sales.ask(SUMS.format("")).served_by is not ServedBy.STATE
    sales.delete("k = 7")
    sales.change("k = 2 AND x > 50")
    assert sales.ask(SUMS.format("")).served_by is ServedBy.STATE
    sales.insert([[7, large, 1.0], [7, 2.5, 1.0]])
    sales.ask(SUMS.format(""))
    sales.delete("k = 7 AND y = 1 AND x <> 2.5")
    assert sales.ask(SUMS.format("WHERE k < 5 ")).served_by is ServedBy.STATE
    sales.close()


def test_sums_without_large_values_are_exact_after_deletes(tmp_path: Path) -> None:
    sales = LakeTable(tmp_path, "sales", SCHEMA, _row)
    sales.insert([[place, 2.0**40 * (-1) ** place, 0.125] for place in (0, 1, 2, 3, 3)])
    for limit in (10, 7, 5, 3):
        assert sales.ask(SUMS.format("")).served_by is ServedBy.STATE
        sales.delete(f"x > {limit} AND x < 1000")
    assert sales.ask(f"{SUMS.format('')} HAVING sum(x) < 0").served_by is ServedBy.STATE
    sales.close()
