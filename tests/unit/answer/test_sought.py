"""What is sought of a table: the condition holds for these values alone, in whatever number they come."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot

from imp_driver.answer.recursion.sought import MOST_RANGES, Sought


@pytest.mark.parametrize("count", [0, 1, 2, MOST_RANGES, MOST_RANGES + 1, 200])
@pytest.mark.parametrize("with_null", [False, True])
def test_a_condition_holds_for_its_values_alone(count: int, with_null: bool) -> None:
    condition = Sought("a b", [3 * number - 50 for number in range(count)], with_null=with_null).condition
    table = '(SELECT unnest(range(-100, 700)) AS "a b" UNION ALL SELECT NULL)'
    found = duckdb.execute(f'SELECT "a b" FROM {table} WHERE {condition.replace("`", chr(34))} ORDER BY 1 NULLS LAST').fetchall()
    assert [value for (value,) in found] == [*(3 * number - 50 for number in range(count)), *[None] * with_null]
    assert condition.count(" BETWEEN ") <= MOST_RANGES


def test_texts_are_quoted() -> None:
    condition = Sought("c", ["", "it's", "ü"]).condition
    (text,) = sqlglot.transpile(condition, read="spark", write="duckdb")
    found = duckdb.execute(f"SELECT c FROM (VALUES (''), ('it''s'), ('its'), ('ü'), ('u')) t(c) WHERE {text}")
    assert sorted(found.fetchall()) == [("",), ("it's",), ("ü",)]
