"""Functions that jump, of sums of doubles: their value is given where it is one within the spread, else Spark decides."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import sqlglot

from imp_driver.answer.rounding import check_decided, rounded_in, spread_of_expression, with_spreads
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.parse.statement import DIALECT


def _rows(*values: float | None, spread: float = 1e-9) -> pa.Table:
    plain = pa.table({"x#1": pa.array(values, pa.float64()), "k#2": pa.array([1] * len(values), pa.int32())})
    return with_spreads(plain, {"x#1": np.full(len(values), spread)})


def _spread(rows: pa.Table, text: str) -> object:
    return spread_of_expression(rows, sqlglot.parse_one(text, read=DIALECT))


@pytest.mark.parametrize(
    "text", ["round(`x#1`, 2)", "floor(`x#1`)", "CEIL(`x#1`)", "sign(`x#1`)", "CAST(`x#1` AS INT)", "abs(round(`x#1`))"]
)
def test_a_value_far_from_where_it_jumps_is_decided(text: str) -> None:
    rows = _rows(1.234, None, -7.3)
    check_decided(rows, sqlglot.parse_one(text, read=DIALECT))
    assert rounded_in(rows) == {"x#1"}


def test_what_is_decided_is_not_rounded_any_more() -> None:
    assert _spread(_rows(1.234), "round(`x#1`, 2)") is None
    assert _spread(_rows(1.234), "CAST(`x#1` AS DOUBLE)") is not None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("round(`x#1`, 2)", 1.235),
        ("floor(`x#1`)", 2.0),
        ("ceil(`x#1`)", 2.0),
        ("sign(`x#1`)", 0.0),
        ("CAST(`x#1` AS INT)", 3.0),
        ("round(`x#1` / 3, 2)", 1.0),
        ("`x#1` % 2", 1.5),
        ("`x#1` div 2", 1.5),
        ("bround(`x#1`, 2)", 1.5),
        ("nullif(`x#1`, 0)", 0.0),
        ("CASE `x#1` WHEN 1.5D THEN 1 ELSE 0 END", 1.5),
    ],
)
def test_a_value_near_a_jump_is_left_to_spark(text: str, value: float) -> None:
    with pytest.raises(NotEvaluable):
        _spread(_rows(5.0, value), text)
