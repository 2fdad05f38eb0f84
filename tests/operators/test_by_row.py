"""Values of simple expressions one row at a time are those of whole columns, or there is no such form."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.answer.recursion.convert import as_rows
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.dataflow.recursion.by_row import by_row
from imp_driver.values.expressions import And, Arithmetic, Cast, Column, Comparison, Constant, Expression, Function, IsNull, Not, Or

SCHEMA = pa.schema([("i", pa.int32()), ("j", pa.int64()), ("d", pa.float64()), ("e", pa.float64()), ("s", pa.string())])
WHOLE, LONG, DOUBLE, TEXT = Column("i"), Column("j"), Column("d"), Column("s")
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "i": st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1), st.integers(-3, 3)),
            "j": st.one_of(st.none(), st.integers(-3, 3)),
            "d": st.one_of(st.none(), st.floats(), st.sampled_from([0.0, -0.0, math.nan, math.inf])),
            "e": st.one_of(st.none(), st.floats(), st.sampled_from([0.0, -0.0, math.inf])),
            "s": st.one_of(st.none(), st.text(max_size=3)),
        }
    ),
    min_size=1,
    max_size=5,
)
NUMBERS: st.SearchStrategy[Expression] = st.recursive(
    st.sampled_from([WHOLE, LONG, Constant(1), Constant(-7), Constant(2**40)]),
    lambda inner: st.one_of(
        st.builds(Arithmetic, st.sampled_from("+-*"), inner, inner),
        st.builds(lambda name, one, other: Function(name, (one, other)), st.sampled_from(["least", "greatest"]), inner, inner),
    ),
    max_leaves=4,
)
TEXTS = st.one_of(st.just(TEXT), st.just(Constant("ab")), st.builds(Cast, NUMBERS, st.just(pa.string())))
CONDITIONS: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(
        st.builds(Comparison, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), NUMBERS, NUMBERS),
        st.builds(Comparison, st.sampled_from(["=", "<", ">="]), TEXTS, TEXTS),
        st.builds(IsNull, NUMBERS),
    ),
    lambda inner: st.one_of(
        st.builds(Not, inner), st.builds(lambda *parts: And(parts), inner, inner), st.builds(lambda *parts: Or(parts), inner, inner)
    ),
    max_leaves=4,
)
DOUBLES = st.builds(Arithmetic, st.sampled_from("+-*"), st.sampled_from([DOUBLE, Column("e")]), st.sampled_from([DOUBLE, Column("e")]))
TOGETHER = st.builds(lambda *parts: Function("concat", parts), TEXTS, TEXTS)


@given(rows=ROWS, expression=st.one_of(NUMBERS, CONDITIONS, DOUBLES, TEXTS, TOGETHER))
def test_values_are_those_of_columns(rows: list[dict[str, object]], expression: Expression) -> None:
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    own = by_row(expression, SCHEMA)
    if own is None:
        return
    try:
        expected = as_rows([computed(table, expression)])
    except NotEvaluable:
        # One row at a time what AND need not read may be left out.
        return
    found = [(own(row),) for row in as_rows(table.columns)]
    assert list(map(repr, found)) == list(map(repr, expected))


def test_there_is_a_form_for_what_shortest_paths_need() -> None:
    simple: list[Expression] = [Arithmetic("+", WHOLE, LONG), Arithmetic("+", DOUBLE, DOUBLE), Function("concat", (TEXT, Constant(".")))]
    assert all(by_row(expression, SCHEMA) is not None for expression in simple)
    others: list[Expression] = [
        Arithmetic("/", WHOLE, LONG),
        Comparison("<", DOUBLE, DOUBLE),
        Constant(1.5),
        Arithmetic("+", WHOLE, DOUBLE),
    ]
    assert all(by_row(expression, SCHEMA) is None for expression in others)


def test_a_sum_that_overflows_is_none() -> None:
    own = by_row(Arithmetic("+", WHOLE, Constant(1)), SCHEMA)
    assert own is not None
    with pytest.raises(NotEvaluable):
        own((2**31 - 1, 0, 0.0, 0.0, ""))
