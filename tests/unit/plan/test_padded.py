"""IN compares otherwise than an equality: CHAR columns as they are, and NOT IN zeros of both signs as two. Then it stays with Spark."""

from __future__ import annotations

import pytest

from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import plan_of

SCHEMA = tuple(
    SchemaColumn(name, kind, True)
    for name, kind in (("k", "integer"), ("c", "char(3)"), ("e", "char(5)"), ("s", "string"), ("x", "double"))
)


@pytest.mark.parametrize("operator", ["IN", "NOT IN"])
@pytest.mark.parametrize(("one", "other"), [("c", "e"), ("c", "s"), ("s", "c"), ("(k, e)", "k, c"), ("e", "c FROM (SELECT c FROM t) q")])
def test_in_of_char_columns_of_other_lengths(operator: str, one: str, other: str) -> None:
    inner = other if "FROM" in other else f"{other} FROM t"
    with pytest.raises(Refused) as refused:
        plan_of(f"SELECT count(*) FROM r WHERE {one} {operator} (SELECT {inner})", SCHEMA)
    assert refused.value.reason is Reason.SUBQUERY


@pytest.mark.parametrize("text", ["c IN (SELECT c FROM t)", "s NOT IN (SELECT s FROM t)", "(k, c) IN (SELECT k, c FROM t)"])
def test_in_of_columns_of_one_type(text: str) -> None:
    assert plan_of(f"SELECT count(*) FROM r WHERE {text}", SCHEMA).output


def test_not_in_over_floating_numbers_stays_with_spark_and_in_does_not() -> None:
    with pytest.raises(Refused) as refused:
        plan_of("SELECT count(*) FROM r WHERE x NOT IN (SELECT x FROM t)", SCHEMA)
    assert (refused.value.reason, "zeros" in refused.value.detail) == (Reason.SUBQUERY, True)
    assert plan_of("SELECT count(*) FROM r WHERE x IN (SELECT x FROM t)", SCHEMA).output
