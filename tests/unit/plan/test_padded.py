"""IN compares CHAR columns as they are, an equality pads the shorter one: where that differs IN stays with Spark."""

from __future__ import annotations

import pytest

from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import plan_of

SCHEMA = tuple(SchemaColumn(name, kind, True) for name, kind in (("k", "integer"), ("c", "char(3)"), ("e", "char(5)"), ("s", "string")))


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
