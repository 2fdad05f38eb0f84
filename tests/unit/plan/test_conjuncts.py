"""Conditions split at their ANDs: all parts together say what the whole says, of unknown values too."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import parse_one

from imp_driver.dataflow.expression.evaluate import truth
from imp_driver.plan.attributes import conjuncts_of
from imp_driver.plan.convert import row_expression
from imp_driver.values.expressions import And

NAMES = ("a", "b", "c", "d")
ROWS = pa.table(dict(zip(NAMES, map(pa.array, zip(*product((True, False, None), repeat=len(NAMES)), strict=True)), strict=True)))
conditions = st.recursive(
    st.sampled_from(NAMES),
    lambda inner: (
        st.builds("({} AND {})".format, inner, inner) | st.builds("({} OR {})".format, inner, inner) | st.builds("(NOT {})".format, inner)
    ),
    max_leaves=9,
)


@given(conditions)
def test_the_parts_say_what_the_whole_says(text: str) -> None:
    types = {field.name: field.type for field in ROWS.schema}
    whole = parse_one(text, read="spark")
    parts = And(tuple(row_expression(each, types) for each in conjuncts_of(whole)))
    assert truth(ROWS, parts).to_pylist() == truth(ROWS, row_expression(whole, types)).to_pylist()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a = 1 AND (b = 2 AND c = 3)", ["a = 1", "b = 2", "c = 3"]),
        ("a BETWEEN 1 AND 2", ["a >= 1", "a <= 2"]),
        ("(k = j AND a = 1) OR (k = j AND a = 2) OR (b = 3 AND k = j)", ["k = j", "a = 1 OR a = 2 OR b = 3"]),
        ("(k = j AND a = 1 AND b = 2) OR (k = j AND a = 2)", ["k = j", "(a = 1 AND b = 2) OR a = 2"]),
        ("(a = 1 AND b = 2) OR a = 1", ["a = 1"]),
        ("a BETWEEN 1 AND 5 OR (a >= 1 AND b = 2)", ["a >= 1", "a <= 5 OR b = 2"]),
        ("a = 1 OR b = 2", ["a = 1 OR b = 2"]),
        ("(k IN (SELECT x FROM t) AND a = 1) OR (k IN (SELECT x FROM t) AND a = 2)", None),
    ],
)
def test_what_all_sides_have_in_common_is_a_part(text: str, parts: list[str] | None) -> None:
    found = [each.sql(dialect="spark") for each in conjuncts_of(parse_one(text, read="spark"))]
    assert found == (parts or [text])
