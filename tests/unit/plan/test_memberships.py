"""IN over groups that read the row around it is refused; where it is one value, the detail says what to write."""

from __future__ import annotations

import pytest

from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import plan_of

SCHEMA = tuple(SchemaColumn(name, "integer", True) for name in ("k", "x", "y"))


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("x IN (SELECT max(y) FROM t c WHERE c.k = b.k)", "write = in the place of IN"),
        ("x NOT IN (SELECT max(y) + 1 AS m FROM t c WHERE c.k = b.k)", "write <> in the place of NOT IN"),
        ("(x = 1 OR x IN (SELECT max(y) FROM t c WHERE c.k = b.k))", "write = in the place of IN"),
        (
            "x = (SELECT max(x) FROM t d WHERE d.x IN (SELECT max(y) FROM t c WHERE c.k = d.k) AND d.y > b.y)",
            "write = in the place of IN",
        ),
        ("x IN (SELECT max(y) FROM t c WHERE c.k = b.k GROUP BY c.x)", ""),
        ("x IN (SELECT max(y) FROM t c WHERE c.k = b.k HAVING max(y) > 1)", ""),
        ("(x, y) IN (SELECT max(x), max(y) FROM t c WHERE c.k = b.k)", ""),
        ("EXISTS (SELECT max(y) FROM t c WHERE c.k = b.k)", ""),
    ],
)
def test_one_value_is_compared_instead(condition: str, told: str) -> None:
    with pytest.raises(Refused) as refused:
        plan_of(f"SELECT count(*) FROM r b WHERE {condition}", SCHEMA)
    expected = f"an aggregate that has one value for each row around it: {told}" if told else "below groups, DISTINCT or LIMIT"
    assert (refused.value.reason, refused.value.detail) == (Reason.CORRELATED_SUBQUERY, expected)


@pytest.mark.parametrize("operator", ["=", "<>"])
def test_what_is_told_has_a_plan(operator: str) -> None:
    assert plan_of(f"SELECT count(*) FROM r b WHERE x {operator} (SELECT max(y) FROM t c WHERE c.k = b.k)", SCHEMA).output
