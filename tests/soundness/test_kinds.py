"""Nothing monotone and nothing constant is proven where Spark converts a value before it compares it."""

from __future__ import annotations

import pytest
import sqlglot

from imp_driver.plan.context import TableDefinition
from imp_driver.plan.nodes import scans
from imp_driver.plan.resolve import resolve
from imp_driver.safety.setting import Assignment, Setting
from imp_driver.safety.verdict import Verdict, judge
from imp_driver.values.tables import SchemaColumn

SCHEMA = tuple(
    SchemaColumn(name, type_name, True)
    for name, type_name in (("g", "integer"), ("x", "integer"), ("s", "string"), ("d", "date"), ("f", "double"), ("z", "decimal(10,2)"))
)


class _Tables:
    def find(self, name: tuple[str, ...]) -> TableDefinition:
        return TableDefinition(name, SCHEMA)


def _judged(text: str, column: str) -> Verdict:
    plan = resolve(sqlglot.parse_one(text, read="spark"), _Tables())
    (scan,) = scans(plan)
    attribute = next(each.identifier for each in scan.output if each.name == column)
    return judge(plan, Setting(Assignment({scan.occurrence: attribute}), may_pin=False))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT g FROM r GROUP BY g HAVING max(s) > 9",
        "SELECT g FROM r GROUP BY g HAVING max(s) > 9.5",
        "SELECT g FROM r GROUP BY g HAVING max(s) > DATE '2020-01-07'",
        "SELECT g FROM r GROUP BY g HAVING max(d) > '2020-1-5'",
        "SELECT g FROM r GROUP BY g HAVING min(s) < 10",
        "SELECT g FROM r GROUP BY g HAVING max(s) > min(x)",
        "SELECT g FROM r GROUP BY g HAVING max(s) + 1 > 3",
        "SELECT g FROM r GROUP BY g HAVING -max(s) < 3",
        "SELECT g FROM r GROUP BY g HAVING max(CAST(s AS INT)) > '3'",
        "SELECT x FROM (SELECT g, x, count(*) AS n FROM r GROUP BY g, x) t GROUP BY x HAVING count(DISTINCT n, x) > 1",
        "SELECT x FROM (SELECT g, x, count(*) AS n FROM r GROUP BY g, x) t GROUP BY x HAVING count(g, nullif(n, 1)) > 1",
    ],
)
def test_comparison_with_a_conversion_is_not_upward_closed(text: str) -> None:
    verdict = _judged(text, "z")
    assert not verdict.is_safe, verdict.derivation


@pytest.mark.parametrize(
    "text",
    [
        "SELECT g FROM r GROUP BY g HAVING max(s) > '9'",
        "SELECT g FROM r GROUP BY g HAVING max(d) > DATE '2020-01-07'",
        "SELECT g FROM r GROUP BY g HAVING max(z) > 1.5 AND max(f) + max(x) > 2",
        "SELECT g FROM r GROUP BY g HAVING max(CAST(s AS INT)) > 3",
        "SELECT g FROM r GROUP BY g HAVING count(*) > min(x)",
        "SELECT g FROM r GROUP BY g HAVING count(DISTINCT s, x) > 1",
    ],
)
def test_comparison_within_a_kind_is_upward_closed(text: str) -> None:
    verdict = _judged(text, "z")
    assert verdict.is_safe, verdict.derivation


@pytest.mark.parametrize(
    ("condition", "column", "is_safe"),
    [
        ("x = 5", "x", True),
        ("s = '5'", "s", True),
        ("s = 5", "s", False),
        ("x = 5.5", "x", False),
        ("x = '5'", "x", False),
        ("x = ?", "x", False),
        ("x > 5", "x", False),
        ("d = '2020-01-05'", "d", False),
    ],
)
def test_constant_only_where_one_value_equals_the_literal(condition: str, column: str, is_safe: bool) -> None:
    verdict = _judged(f"SELECT g, avg(f) FROM r WHERE {condition} GROUP BY g HAVING avg(f) > 3", column)
    assert verdict.is_safe is is_safe, verdict.derivation


def test_arithmetic_that_may_wrap_around_proves_nothing() -> None:
    plan = resolve(sqlglot.parse_one("SELECT g FROM r GROUP BY g HAVING count(*) + 9223372036854775807 > 0", read="spark"), _Tables())
    (scan,) = scans(plan)
    assignment = Assignment({scan.occurrence: scan.output[1].identifier})
    assert judge(plan, Setting(assignment, may_pin=False)).is_safe
    assert not judge(plan, Setting(assignment, checks_overflow=False, may_pin=False)).is_safe
