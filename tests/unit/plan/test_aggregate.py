"""Which aggregates are maintained, and as what."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.parse.dialect import OrderedPercentile, SparkText
from imp_driver.plan.aggregate import bound_aggregate
from imp_driver.values.aggregates import AccumulatorKind as K
from imp_driver.values.aggregates import AggregateSpecification, Share, ValueForm

COLUMNS = {
    "i": pa.int32(),
    "n": pa.int64(),
    "m": pa.decimal128(18, 2),
    "w": pa.decimal128(19, 2),
    "f": pa.float64(),
    "b": pa.bool_(),
    "t": pa.string(),
    "small": pa.decimal128(18, 7),
}


def parsed(text: str) -> exp.Expr:
    select = sqlglot.parse_one(f"SELECT {text} FROM r", read=SparkText)
    assert isinstance(select, exp.Select)
    found: exp.Expr = select.selects[0]
    return found


def found(text: str) -> tuple[AggregateSpecification, str | None] | None:
    bound = bound_aggregate(parsed(text), COLUMNS)
    return None if bound is None else (bound[0].specification, bound[0].argument_sql)


@pytest.mark.parametrize(
    ("text", "kind", "form", "argument"),
    [
        ("sum(DISTINCT n)", K.SUM_DISTINCT, ValueForm.TOTAL, "n"),
        ("avg(DISTINCT m)", K.SUM_DISTINCT, ValueForm.AVERAGE, "m"),
        ("sum(DISTINCT n) FILTER (WHERE b)", K.SUM_DISTINCT, ValueForm.TOTAL, "CASE WHEN b THEN n END"),
        ("min(DISTINCT t)", K.MINIMUM, ValueForm.TOTAL, "t"),
        ("max(DISTINCT f)", K.MAXIMUM, ValueForm.TOTAL, "f"),
        ("count(DISTINCT t)", K.COUNT_DISTINCT, ValueForm.TOTAL, "t"),
        ("count(n, t)", K.COUNT, ValueForm.TOTAL, "CASE WHEN NOT (n) IS NULL AND NOT (t) IS NULL THEN 1 END"),
        ("mean(m)", K.SUM_DECIMAL, ValueForm.AVERAGE, "m"),
        ("every(b)", K.BOOLEAN_AND, ValueForm.TOTAL, "b"),
        ("bool_and(DISTINCT b)", K.BOOLEAN_AND, ValueForm.TOTAL, "b"),
        ("any(n > 1)", K.BOOLEAN_OR, ValueForm.TOTAL, "n > 1"),
        ("some(n > 1)", K.BOOLEAN_OR, ValueForm.TOTAL, "n > 1"),
        ("bit_and(i)", K.BIT_AND, ValueForm.TOTAL, "i"),
        ("bit_or(DISTINCT i)", K.BIT_OR, ValueForm.TOTAL, "i"),
        ("bit_xor(n)", K.BIT_XOR, ValueForm.TOTAL, "n"),
        ("var_pop(i)", K.VARIANCE, ValueForm.POPULATION_VARIANCE, "i"),
        ("variance(n)", K.VARIANCE, ValueForm.SAMPLE_VARIANCE, "n"),
        ("std(m)", K.VARIANCE, ValueForm.SAMPLE_DEVIATION, "m"),
        ("stddev_pop(i)", K.VARIANCE, ValueForm.POPULATION_DEVIATION, "i"),
    ],
)
def test_what_is_maintained(text: str, kind: K, form: ValueForm, argument: str) -> None:
    specification = found(text)
    assert specification is not None
    assert (specification[0].kind, specification[0].form, specification[1]) == (kind, form, argument)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("median(w)", Share(0.5)),
        ("percentile(n, 0.3)", Share(0.3)),
        ("percentile(n, 1)", Share(1.0)),
        ("percentile_cont(0.25) WITHIN GROUP (ORDER BY f)", Share(0.25)),
        ("percentile_cont(0.25) WITHIN GROUP (ORDER BY f DESC)", Share(0.25, is_descending=True)),
        ("percentile_disc(0) WITHIN GROUP (ORDER BY i)", Share(0.0, is_interpolated=False)),
        ("percentile_disc(0.9) WITHIN GROUP (ORDER BY i DESC NULLS FIRST)", Share(0.9, is_interpolated=False, is_descending=True)),
    ],
)
def test_shares_of_percentiles(text: str, share: Share) -> None:
    specification = found(text)
    assert specification is not None
    assert (specification[0].kind, specification[0].share) == (K.PERCENTILE, share)


def test_lists_of_values_are_told_apart_by_one_text() -> None:
    bound = bound_aggregate(parsed("count(DISTINCT t, i, m)"), COLUMNS)
    assert bound is not None
    assert bound[0].specification == AggregateSpecification(K.COUNT_DISTINCT, ValueForm.TOTAL, pa.string())
    assert bound[0].argument is not None
    rows = pa.table(
        {
            "t": ["a", "a1:1", "a1", "", None, "a", "1:a"],
            "i": pa.array([1, 1, 11, None, 3, 1, 2], pa.int32()),
            "m": pa.array(
                [Decimal("1.00"), Decimal("1.00"), Decimal("1.00"), Decimal(0), Decimal(5), Decimal("1.00"), None], pa.decimal128(18, 2)
            ),
        }
    )
    texts = computed(rows, bound[0].argument).to_pylist()
    assert texts == ["1:a1:14:1.00", "4:a1:11:14:1.00", "2:a12:114:1.00", None, None, "1:a1:14:1.00", None]


@pytest.mark.parametrize(
    "text",
    [
        "count(DISTINCT n, f)",
        "count(DISTINCT n, small)",
        "sum(DISTINCT n, t)",
        "count(*, n)",
        "sum(DISTINCT t)",
        "sum(DISTINCT b)",
        "median(t)",
        "median(DISTINCT n)",
        "percentile(n, 0.5, 2)",
        "percentile(n, array(0.5))",
        "percentile(n, 1.5)",
        "percentile(n, -0.5)",
        "percentile(n, NULL)",
        "percentile(n, '0.5')",
        "percentile(n, i)",
        "percentile(DISTINCT n, 0.5)",
        "var_pop(f)",
        "stddev(w)",
        "variance(DISTINCT n)",
        "bit_xor(DISTINCT n)",
        "bit_and(m)",
        "bit_and(b)",
        "count_if(DISTINCT n > 1)",
        "mode(n)",
        "mode() WITHIN GROUP (ORDER BY n)",
        "any_value(n)",
        "skewness(n)",
    ],
)
def test_what_is_left_to_spark(text: str) -> None:
    assert found(text) is None


def test_texts_tell_percentiles_apart_in_every_dialect() -> None:
    """The library writes them all as one approximate percentile."""
    texts = [f"percentile_{kind}(0.5) WITHIN GROUP (ORDER BY n{order})" for kind in ("cont", "disc") for order in ("", " DESC")]
    nodes = [parsed(text) for text in texts]
    assert all(isinstance(node, OrderedPercentile) for node in nodes)
    assert [node.sql(dialect=SparkText).lower() for node in nodes] == [text.lower() for text in texts]
    assert len({node.sql(dialect="spark") for node in nodes}) == len(texts)
    assert [parsed(node.sql(dialect=SparkText)) for node in nodes] == nodes


def test_any_is_a_function_but_after_comparisons_and_like() -> None:
    assert isinstance(parsed("any(b)"), exp.LogicalOr)
    assert isinstance(parsed("coalesce(any(b), true)").this, exp.LogicalOr)
    assert parsed("n = ANY (SELECT 1)").find(exp.LogicalOr) is None
    assert parsed("t LIKE ANY ('a', 'b')").find(exp.LogicalOr) is None
    assert parsed("t LIKE SOME ('a', 'b')").find(exp.LogicalOr) is None
