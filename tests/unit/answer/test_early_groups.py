"""Joins with the first ones of other groups: both sides are groups that are maintained, and meet when they are asked for."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.reasons import ServedBy
from tests.unit.answer.lake_table import LakeTable

SCHEMA = pa.schema([("p", pa.int32()), ("q", pa.string()), ("day", pa.int32()), ("x", pa.int64())])


def _row(chance: random.Random) -> list[object]:
    part = chance.choice([None, *range(12)])
    return [part, chance.choice([None, "a", "b", "c"]), chance.randrange(20), chance.randrange(1_000)]


FIRST = "(SELECT p AS p_, sum(x) AS total FROM sales WHERE day >= {low} GROUP BY p ORDER BY sum(x) DESC, p LIMIT {most})"
FIRST_PAIRS = "(SELECT p AS p_, q AS q_, sum(x) AS total FROM sales GROUP BY p, q ORDER BY sum(x) DESC, p, q LIMIT {most})"
RANKED = "(SELECT p AS p_, rank() OVER (ORDER BY sum(x) DESC, p) AS place FROM sales GROUP BY p)"

JOINED = [
    f"SELECT day, p, sum(x), count(*) FROM sales JOIN {FIRST} s ON p = p_ WHERE day >= {{low}} GROUP BY day, p",
    f"SELECT day % 7, p_, avg(x) FROM sales JOIN {FIRST} s ON p_ = p WHERE day >= {{low}} AND q = 'a' GROUP BY day % 7, p_",
    f"SELECT p, total, sum(x) - total FROM sales JOIN {FIRST} s ON p = p_ GROUP BY p, total HAVING count(*) > 3",
    f"SELECT day, p, sum(x) FROM sales JOIN {FIRST} s ON p = p_ AND total > 900 AND day <> p_ WHERE day >= {{low}} GROUP BY day, p",
    f"SELECT p, q, sum(x) FROM sales JOIN {FIRST_PAIRS} s ON p = p_ AND q = q_ WHERE day >= {{low}} GROUP BY p, q",
    f"SELECT p, q, sum(x) FROM sales JOIN {FIRST} s ON p = p_ JOIN {FIRST_PAIRS} t ON p = t.p_ AND q = q_ GROUP BY p, q",
    f"SELECT day, p, max(x) FROM sales JOIN {RANKED} s ON p = p_ WHERE place <= {{most}} AND day >= {{low}} GROUP BY day, p",
    f"SELECT day, p, sum(x) FROM sales WHERE p IN (SELECT p_ FROM {FIRST} s) AND day >= {{low}} GROUP BY day, p",
    f"SELECT day, p, sum(x) FROM sales WHERE day >= {{low}} AND p NOT IN (SELECT p_ FROM {FIRST} s WHERE p_ IS NOT NULL) GROUP BY day, p",
]
LEFT_AS_THEY_ARE = [
    f"SELECT day, sum(x) FROM sales JOIN {FIRST} s ON p = p_ GROUP BY day",
    f"SELECT p, sum(x) FROM sales JOIN {FIRST_PAIRS} s ON p = p_ GROUP BY p",
    f"SELECT p, sum(x + total) FROM sales JOIN {FIRST} s ON p = p_ GROUP BY p",
    f"SELECT p, sum(x) FROM sales JOIN {FIRST} s ON p = p_ AND x < total / 3 GROUP BY p",
    f"SELECT p, q, sum(x) FROM sales JOIN {FIRST} s ON p = p_ AND coalesce(length(q), 0) < p_ AND x <> p_ GROUP BY p, q",
    f"SELECT q, sum(x) FROM sales WHERE p IN (SELECT p_ FROM {FIRST} s) GROUP BY q",
]


@pytest.fixture
def sales(tmp_path: Path) -> LakeTable:
    return LakeTable(tmp_path, "sales", SCHEMA, _row)


@pytest.mark.parametrize("text", JOINED)
def test_both_sides_are_answered_from_groups_with_other_constants_and_after_changes(sales: LakeTable, text: str) -> None:
    for low, most in ((3, 4), (5, 3), (2, 6)):
        sales.ask(text.format(low=low, most=most))
        sales.settle()
    for low in range(4, 8):
        served_by = sales.ask(text.format(low=low, most=low // 2)).served_by
        assert served_by is ServedBy.STATE
        sales.change(f"x % 11 = {low}")


@pytest.mark.parametrize("text", LEFT_AS_THEY_ARE)
def test_rows_of_a_group_with_different_partners_are_joined_before(sales: LakeTable, text: str) -> None:
    for low in range(2, 5):
        sales.ask(text.format(low=low, most=low))
        sales.settle()
        sales.change(f"x % 11 = {low}")
