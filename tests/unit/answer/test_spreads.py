"""Bounds of expressions over sums of doubles: Spark's value is within them whatever its own sums are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import sqlglot

from imp_driver.answer.columns import value_of
from imp_driver.answer.rounding import check_decided, with_spreads
from imp_driver.answer.spreads import spread_within
from imp_driver.dataflow.expression.arithmetic import NotEvaluable

EXPRESSIONS = [
    *("s + t", "s - t", "-s", "0.75 * s", "s * t", "s / t", "s / 3", "2 / t", "(s - t) * (s + 1)", "coalesce(s, 0)", "coalesce(s, t)"),
    *("s * s - t * t", "coalesce(s, 1) / coalesce(t, 2)", "1 + s"),
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_every_value_within_the_spreads_is_within_that_of_the_expression(text: str) -> None:
    random = np.random.default_rng(len(text))
    count = 400
    spreads = {name: random.choice([0.0, 1e-12, 1e-3, 5.0], count) for name in "st"}
    values = {name: random.choice([0.0 if name == "s" else 0.5, 1.5, -7.25, 1e6, 3e-4], count) for name in "st"}
    nulls = {name: random.random(count) < 0.2 for name in "st"}
    expression = sqlglot.parse_one(text, read="spark")

    def table(moved: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]) -> pa.Table:
        return pa.table({name: pa.array(values[name] + moved[name], mask=nulls[name]) for name in "st"})

    ours = table({name: np.zeros(count) for name in "st"})

    def leaf(each: object) -> object:
        name = getattr(each, "name", "") if type(each).__name__ == "Column" else ""
        return spreads.get(name)

    bound = spread_within(ours, expression, leaf)  # type: ignore[arg-type]
    safe = np.isfinite(bound)
    assert safe.any()
    own = value_of(ours.filter(pa.array(safe)), expression).fill_null(0.0).to_numpy()
    for _ in range(20):
        theirs = table({name: spreads[name] * random.uniform(-1, 1, count) for name in "st"}).filter(pa.array(safe))
        found = value_of(theirs, expression).fill_null(0.0).to_numpy()
        assert np.all(np.abs(found - own) <= bound[safe] * (1 + 1e-9))


def test_a_condition_on_an_expression_is_decided_where_its_bound_says_so() -> None:
    rows = with_spreads(pa.table({"s": [100.0, 3.0]}), {"s": np.array([0.5, 0.5])})
    check_decided(rows, sqlglot.parse_one("0.75 * s > 50", read="spark"))
    for text in ("0.75 * s > 75.2", "s + 1 > 4.2", "2 * s - 1 = 5", "abs(s) > 1"):
        with pytest.raises(NotEvaluable):
            check_decided(rows, sqlglot.parse_one(text, read="spark"))
