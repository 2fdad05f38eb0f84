"""Two texts of one shape have columns of the same names and types, whatever their values."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from imp_driver.parse.statement import parse
from imp_driver.parse.template import typed_text
from imp_driver.values.execution import Parameters


def _typed(text: str, parameters: Parameters = None) -> tuple[object, ...]:
    return typed_text(parse(text), parameters)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT g FROM t WHERE x > 5 GROUP BY g", "SELECT g FROM t WHERE x > 77 GROUP BY g"),
        ("SELECT g, sum(x) * 2 AS s FROM t GROUP BY g", "SELECT g, sum(x) * 3 AS s FROM t GROUP BY g"),
        ("SELECT g FROM t WHERE d = DATE'2024-01-01' GROUP BY g LIMIT 3", "SELECT g FROM t WHERE d = DATE'2025-02-02' GROUP BY g LIMIT 9"),
        ("SELECT g FROM t WHERE t IN ('a') GROUP BY g", "SELECT g FROM t WHERE t IN ('b') GROUP BY g"),
        ("SELECT g FROM t WHERE x > (SELECT 0.5 * max(x) FROM t)", "SELECT g FROM t WHERE x > (SELECT 0.6 * max(x) FROM t)"),
        (
            "SELECT g FROM t GROUP BY g HAVING max(x) IN (SELECT x + 1 FROM t)",
            "SELECT g FROM t GROUP BY g HAVING max(x) IN (SELECT x + 2 FROM t)",
        ),
    ],
)
def test_values_are_left_out(one: str, other: str) -> None:
    assert _typed(one) == _typed(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT g, sum(x) * 2 AS s FROM t GROUP BY g", "SELECT g, sum(x) * 2.5 AS s FROM t GROUP BY g"),
        ("SELECT g, sum(x) * 2.5 AS s FROM t GROUP BY g", "SELECT g, sum(x) * 2.55 AS s FROM t GROUP BY g"),
        ("SELECT g, sum(x) + 1 AS s FROM t GROUP BY g", "SELECT g, sum(x) + 3000000000 AS s FROM t GROUP BY g"),
        ("SELECT g, sum(x) + 1 FROM t GROUP BY g", "SELECT g, sum(x) + 2 FROM t GROUP BY g"),
        ("SELECT * FROM (SELECT x + 1 FROM t WHERE x > 2) q", "SELECT * FROM (SELECT x + 2 FROM t WHERE x > 2) q"),
        ("SELECT (SELECT max(x) + 1 FROM t) FROM t", "SELECT (SELECT max(x) + 2 FROM t) FROM t"),
        ("SELECT g, x FROM t GROUP BY 1, 2", "SELECT g, x FROM t GROUP BY 2, 1"),
        ("SELECT g AS a FROM t GROUP BY g", "SELECT g AS A FROM t GROUP BY g"),
    ],
)
def test_what_names_and_types_depend_on_is_kept(one: str, other: str) -> None:
    assert _typed(one) != _typed(other)


def test_values_of_markers_count_by_their_types() -> None:
    text = "SELECT g, sum(x) + ? AS s FROM t GROUP BY g"
    assert _typed(text, (1,)) == _typed(text, (2,))
    assert len({_typed(text, (value,)) for value in (1, 2**40, 1.5, Decimal("1.5"), Decimal("1.55"), "1", True, date(2024, 1, 1))}) == 8
    assert _typed(text, (1,)) != _typed(text, (10,))
    rounded = "SELECT g, round(sum(x), ?) AS s FROM t GROUP BY g HAVING sum(x) > 1"
    assert _typed(rounded, (1,)) != _typed(rounded, (2,))
    condition = "SELECT g, sum(x) AS s FROM t GROUP BY g HAVING sum(x) > 2 * ?"
    assert _typed(condition, (1,)) == _typed(condition, (10,))
    unnamed = "SELECT g, sum(x) + ? FROM t GROUP BY g"
    assert _typed(unnamed, (1,)) != _typed(unnamed, (2,))
