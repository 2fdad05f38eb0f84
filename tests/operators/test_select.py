"""Selection and projection of delta rows against the twin, which evaluates row by row. Stateless operators: recomputation is the operator
itself.
"""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.dataflow.expression.project import NotEvaluable, project
from imp_driver.dataflow.expression.select import select
from imp_driver.values.expressions import (
    And,
    Arithmetic,
    Case,
    Coalesce,
    Column,
    Comparison,
    Constant,
    DatePart,
    Expression,
    IsNull,
    Like,
    Not,
    Opaque,
    Or,
)
from tests.operators.answers import COLUMNS, answer, divides_decimals, mixes_families
from tests.operators.model import budget
from tests.operators.twin import NAN, canonical

SCHEMA = pa.schema(
    zip(COLUMNS, [pa.int32(), pa.int64(), pa.decimal128(10, 2), pa.float64(), pa.string(), pa.bool_(), pa.date32()], strict=True)
)
numbers = [0.1, 0.25, -0.0, 0.0, math.nan, math.inf, -math.inf, 1e16, 2.0**53]
rows = st.tuples(
    st.none() | st.integers(-5, 5) | st.just(2**31 - 1),
    st.none() | st.integers(-5, 5) | st.sampled_from([2**53 + 1, 2**62]),
    st.none() | st.decimals(-5, 5, places=2) | st.just(Decimal("0.10")),
    st.none() | st.sampled_from(numbers),
    st.none() | st.sampled_from(["", "a", "ab", "ä", "\uffff", "\U0001f600", "a\nb", "\n"]),
    st.none() | st.booleans(),
    st.none() | st.dates(datetime.date(1582, 10, 1), datetime.date(2000, 3, 3)),
)
parts = st.sampled_from(["year", "month", "day"])
constants = st.none() | st.integers(-5, 5) | st.sampled_from([2**53, *numbers, Decimal("0.1"), Decimal("2.505")])
terms: st.SearchStrategy[Expression] = st.sampled_from([Column(name) for name in ("small", "big", "money", "number")]) | st.builds(
    Constant, constants
)
plain_terms = terms
terms = terms | st.builds(Arithmetic, st.sampled_from("+-*/"), terms, terms) | st.builds(DatePart, parts, st.just(Column("day")))
texts = st.just(Column("text")) | st.builds(Constant, st.sampled_from(["", "a", "ä", "\U0001f600", None]))
operators = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "<=>"])
tests: st.SearchStrategy[Expression] = st.builds(Comparison, operators, plain_terms, plain_terms) | st.builds(IsNull, plain_terms)
branches = st.lists(st.tuples(tests, terms), min_size=1, max_size=2).map(tuple)
choices: st.SearchStrategy[Expression] = st.builds(Case, branches, st.none() | terms) | st.builds(
    Coalesce, st.lists(terms, min_size=1, max_size=3).map(tuple)
)
terms = terms | choices | st.builds(Arithmetic, st.sampled_from("+-*/"), choices, plain_terms)
patterns = st.sampled_from(["", "%", "_", "a%", "%b", "%ä%", "_b", "a_", "__", "%_%", "a%b", "\n%", "."])
leaves: st.SearchStrategy[Expression] = (
    st.builds(Comparison, operators, terms, terms)
    | st.builds(Comparison, operators, texts, texts)
    | st.builds(Like, texts, patterns)
    | st.builds(IsNull, terms)
    | st.just(Column("flag"))
    | st.builds(Constant, st.sampled_from([True, None]))
)
conditions = st.recursive(
    leaves,
    lambda inner: (
        st.builds(Not, inner) | st.builds(And, st.tuples(inner, inner)) | st.builds(Or, st.tuples(inner, inner)) | st.builds(IsNull, inner)
    ),
    max_leaves=5,
)


def table(values: list[tuple[Any, ...]]) -> pa.Table:
    columns = [pa.array([row[i] for row in values], type=field.type) for i, field in enumerate(SCHEMA)]
    return pa.table(columns, schema=SCHEMA)


@budget(250)
@given(st.lists(rows, max_size=15), conditions)
def test_selected_rows_are_those_of_the_twin(values: list[tuple[Any, ...]], condition: Expression) -> None:
    if mixes_families(condition) or divides_decimals(condition):
        return
    try:
        mask = select(table(values), condition)
    except NotEvaluable:
        return
    assert mask.tolist() == [answer(condition, row, ()) is True for row in values]
    repeated = pa.concat_tables([table(values)] * 3).combine_chunks()
    encoded = pa.table({name: repeated.column(name).combine_chunks().dictionary_encode() for name in COLUMNS})
    assert select(encoded, condition).tolist() == 3 * mask.tolist()


EXAMPLE = (3, 2**40, Decimal("1.50"), math.nan, "ä", True, datetime.date(2000, 1, 2))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Comparison("=", Column("number"), Constant(math.nan)), True),
        (Comparison(">", Column("number"), Constant(math.inf)), True),
        (Comparison("=", Column("money"), Constant(1.5)), True),
        (Comparison("<", Column("money"), Constant(Decimal("1.51"))), True),
        (Comparison(">", Column("day"), Constant(datetime.date(2000, 1, 1))), True),
        (Comparison("<=", Constant("2000-01-02"), Column("day")), True),
        (Comparison("<", Column("day"), Constant("2000-01-02")), False),
        (Comparison(">=", Arithmetic("*", Column("small"), Constant(2)), Constant(6)), True),
        (Comparison("=", Column("flag"), Constant(True)), True),
        (Comparison("<", Column("text"), Constant("a")), False),
        (Not(Comparison("=", Column("small"), Constant(None))), False),
        (Like(Column("text"), "_"), True),
        (Like(Column("text"), "ä_%"), False),
        (Comparison("=", DatePart("year", Column("day")), Constant(2000)), True),
        (Comparison("=", Case(((Column("flag"), Column("small")),), Constant(0)), Constant(3)), True),
        (Comparison("=", Coalesce((Constant(None), Column("big"))), Constant(2**40)), True),
        (Comparison("=", Arithmetic("/", Column("small"), Constant(2)), Constant(1.5)), True),
    ],
)
def test_evaluable_conditions(condition: Expression, expected: bool) -> None:
    assert select(table([EXAMPLE]), condition).tolist() == [expected]


@pytest.mark.parametrize(
    "condition",
    [
        Opaque("length(text) > 1"),
        Comparison("=", Column("text"), Constant(1)),
        Comparison("<", Column("day"), Constant("2000-1-1")),
        Comparison("<", Column("day"), Constant("2000-02-30")),
        Comparison("<", Column("day"), Constant(datetime.datetime(2000, 1, 1))),
        Comparison("<", Column("absent"), Constant(1)),
        Comparison("=", Column("money"), Constant(Decimal("1." + "0" * 18 + "1"))),
        Comparison("<", Arithmetic("*", Column("big"), Column("big")), Constant(1)),
        Column("text"),
        Like(Column("small"), "1%"),
        Comparison("<", Arithmetic("/", Column("small"), Constant(0)), Constant(1)),
        Comparison("=", Case(((Column("flag"), Column("text")),), Column("small")), Constant("a")),
        Comparison("=", DatePart("year", Constant(datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC))), Constant(2000)),
    ],
)
def test_what_is_not_certain_is_refused(condition: Expression) -> None:
    with pytest.raises(NotEvaluable):
        select(table([EXAMPLE]), condition)


def test_columns_of_another_layout_are_taken_for_their_type() -> None:
    data = pa.table({"text": pa.array(["a", None, "b"], type=pa.large_string()).dictionary_encode()})
    assert select(data, Comparison("=", Column("text"), Constant("b"))).tolist() == [False, False, True]
    plain = pa.table({"small": pa.array([1, 2], type=pa.int8())})
    assert select(plain, Comparison("=", Column("small"), Constant(2)), {"small": pa.int32()}).tolist() == [False, True]


@budget(150)
@given(st.lists(rows, max_size=15), terms)
def test_projected_values_are_those_of_the_twin(values: list[tuple[Any, ...]], expression: Expression) -> None:
    if divides_decimals(expression):
        return
    expected = [answer(expression, row, ()) for row in values]
    try:
        (doubles,) = project(table(values), [(Arithmetic("*", expression, Constant(1.0)), pa.float64())])
    except NotEvaluable:
        return
    for got, value in zip(doubles.to_pylist(), expected, strict=True):
        assert (got is None) == (value is None)
        if value is not None:
            assert canonical(got) == (value if value is NAN else float(value) + 0.0)


@pytest.mark.parametrize(
    ("expression", "kind", "expected"),
    [
        (Column("small"), pa.int64(), 3),
        (Arithmetic("+", Column("small"), Column("big")), pa.int64(), 2**40 + 3),
        (Arithmetic("*", Column("money"), Column("money")), pa.decimal128(21, 4), Decimal("2.2500")),
        (Arithmetic("-", Constant(1), Column("money")), pa.decimal128(13, 2), Decimal("-0.50")),
        (Column("text"), pa.string(), "ä"),
        (Case(((Column("flag"), Column("money")),), Constant(0)), pa.decimal128(12, 2), Decimal("1.50")),
        (Case(((Not(Column("flag")), Constant(1)),), None), pa.int32(), None),
        (Arithmetic("/", Column("small"), Column("big")), pa.float64(), 3 / 2**40),
        (DatePart("day", Column("day")), pa.int32(), 2),
    ],
)
def test_exact_projection(expression: Expression, kind: pa.DataType, expected: Any) -> None:
    (array,) = project(table([EXAMPLE]), [(expression, kind)])
    assert array.type == kind
    assert array.to_pylist() == [expected]


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        (Arithmetic("+", Column("small"), Constant(2**31 - 1)), pa.int32()),
        (Arithmetic("*", Column("money"), Constant(Decimal("0.00001"))), pa.decimal128(38, 7)),
        (Column("big"), pa.int32()),
        (Column("money"), pa.decimal128(10, 1)),
        (Column("text"), pa.int32()),
        (Opaque("abs(small)"), pa.int32()),
    ],
)
def test_inexact_projection_is_refused(expression: Expression, kind: pa.DataType) -> None:
    values = [*EXAMPLE[:2], Decimal("1.55"), *EXAMPLE[3:]]
    with pytest.raises(NotEvaluable):
        project(table([tuple(values)]), [(expression, kind)])


@pytest.mark.parametrize("part", ["year", "month", "day"])
@pytest.mark.parametrize(
    ("days", "is_there"), [(-719_162, True), (2_932_896, True), (-719_163, False), (2_932_897, False), (17_930_000, False)]
)
def test_parts_of_dates_beyond_four_digit_years_are_left_to_spark(part: str, days: int, is_there: bool) -> None:
    rows = pa.table({"day": pa.array([days, None, 0], pa.int32()).cast(pa.date32())})
    if is_there:
        known = datetime.date(1970, 1, 1) + datetime.timedelta(days=days)
        assert computed(rows, DatePart(part, Column("day"))).to_pylist() == [getattr(known, part), None, 1970 if part == "year" else 1]
        return
    with pytest.raises(NotEvaluable):
        computed(rows, DatePart(part, Column("day")))
