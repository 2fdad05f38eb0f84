"""Aggregate function of a query -> how it is maintained; None for one that is left to Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.dialect import OrderedPercentile, SparkText
from imp_driver.plan.convert import constant, row_expression
from imp_driver.plan.types import infer
from imp_driver.values.aggregates import DIGITS_OF_DOUBLES, AccumulatorKind, AggregateSpecification, Share, ValueForm
from imp_driver.values.codes import is_string
from imp_driver.values.decimal_types import PLAIN_SCALE
from imp_driver.values.expressions import Expression
from imp_driver.values.widening import is_number

_VARIANCES: dict[type[exp.Expr], ValueForm] = {
    exp.VariancePop: ValueForm.POPULATION_VARIANCE,
    exp.Variance: ValueForm.SAMPLE_VARIANCE,
    exp.StddevPop: ValueForm.POPULATION_DEVIATION,
    exp.StddevSamp: ValueForm.SAMPLE_DEVIATION,
    exp.Stddev: ValueForm.SAMPLE_DEVIATION,
}
_BITS: dict[type[exp.Expr], AccumulatorKind] = {
    exp.BitwiseAndAgg: AccumulatorKind.BIT_AND,
    exp.BitwiseOrAgg: AccumulatorKind.BIT_OR,
    exp.BitwiseXorAgg: AccumulatorKind.BIT_XOR,
}
_BOOLEANS: dict[type[exp.Expr], AccumulatorKind] = {
    exp.LogicalAnd: AccumulatorKind.BOOLEAN_AND,
    exp.LogicalOr: AccumulatorKind.BOOLEAN_OR,
}
_PERCENTILES = (exp.Median, exp.Quantile, OrderedPercentile)
_SAME_WITH_DISTINCT = (exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr, exp.BitwiseAndAgg, exp.BitwiseOrAgg)
_SUMMED_DIGITS = 28
"""Of decimals no ten thousand million of which add up to more than 38 digits."""
_DIGITS_OF_SQUARES = 18
"""Of a decimal whose square Spark has exactly."""


@dataclass(frozen=True, slots=True)
class BoundAggregate:
    """One maintained aggregate; its argument is over the source, None for count(*)."""

    specification: AggregateSpecification
    argument_sql: str | None
    argument: Expression | None
    argument_node: exp.Expr | None = field(default=None, compare=False)


def bound_aggregate(
    node: exp.Expr, columns: Mapping[str, pa.DataType | None], *, rounds_once: bool = False
) -> tuple[BoundAggregate, exp.Expr | None] | None:
    """Return an aggregate and its argument, None for one that is not maintained.

    Args:
        rounds_once: sums of floats are to be the correctly rounded ones, not only known between bounds.
    """
    function = _plain(_unconditional(node), columns)
    if function is None:
        return None
    node, argument, is_distinct = function
    if isinstance(node, exp.Count) and not is_distinct and isinstance(argument, (exp.Star, exp.Literal)):
        return BoundAggregate(AggregateSpecification(AccumulatorKind.COUNT_ROWS, ValueForm.TOTAL, None), None, None), None
    kind = pa.bool_() if type(node) in _BOOLEANS else infer(argument, dict(columns))
    if kind is None:
        return None
    specification = _specification(node, kind, is_distinct=is_distinct)
    if specification is None:
        return None
    if rounds_once and specification.kind is AccumulatorKind.SUM_FLOAT:
        specification = AggregateSpecification(AccumulatorKind.SUM_FLOAT_EXACT, specification.form, kind)
    return BoundAggregate(specification, argument.sql(dialect=SparkText), row_expression(argument, columns), argument), argument


def _plain(node: exp.Expr, columns: Mapping[str, pa.DataType | None]) -> tuple[exp.AggFunc, exp.Expr, bool] | None:
    """Return an aggregate of one argument, that argument, and whether of its distinct values alone."""
    if not isinstance(node, exp.AggFunc) or isinstance(node.parent, (exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        return None
    argument = node.this
    is_distinct = isinstance(argument, exp.Distinct)
    if is_distinct and len(argument.expressions) > 1:
        may_be_texts = isinstance(node, exp.Count) and all(_is_told_by_text(infer(each, columns)) for each in argument.expressions)
        return (node, _together(argument.expressions), True) if may_be_texts else None
    if is_distinct:
        argument = argument.expressions[0]
    if node.args.get("expressions"):
        arguments = (argument, *node.args["expressions"])
        is_counted = isinstance(node, exp.Count) and not is_distinct and not any(each.find(exp.Star) for each in arguments)
        return (node, _where_all(*arguments), False) if is_counted else None
    if not isinstance(argument, exp.Expr) or isinstance(argument, exp.Distinct):
        return None
    return node, argument, is_distinct and not isinstance(node, _SAME_WITH_DISTINCT)


def _where_all(*arguments: exp.Expr) -> exp.Expr:
    """Return what is 1 where no argument is NULL, else NULL: what count(a, b) counts."""
    conditions = [exp.Not(this=exp.Is(this=exp.Paren(this=each.copy()), expression=exp.Null())) for each in arguments]
    return _only_where(exp.and_(*conditions), exp.Literal.number(1))


def _is_told_by_text(kind: pa.DataType | None) -> bool:
    """Say whether values are equal where their texts are, which are known in process: not doubles, nor times that a zone shows twice."""
    if kind is None or pa.types.is_decimal(kind):
        return kind is not None and kind.scale <= PLAIN_SCALE
    return bool(is_string(kind) or pa.types.is_integer(kind) or pa.types.is_date32(kind) or pa.types.is_boolean(kind))


def _together(values: Sequence[exp.Expr]) -> exp.Expr:
    """Return one text for each list of values, NULL where one of them is: each value as text, behind the length of that."""
    texts = [exp.cast(each.copy(), exp.DType.TEXT) for each in values]
    lengths = [exp.cast(exp.Length(this=each.copy()), exp.DType.TEXT) for each in texts]
    parts = [part for length, each in zip(lengths, texts, strict=True) for part in (length, exp.Literal.string(":"), each)]
    found: exp.Expr = exp.func("concat", *parts, dialect=SparkText)
    return found


def _unconditional(node: exp.Expr) -> exp.Expr:
    """Return ``f(x) FILTER (WHERE c)`` as ``f(CASE WHEN c THEN x END)`` and ``count_if(c)`` as ``count(CASE WHEN c THEN 1 END)``."""
    if isinstance(node, exp.CountIf) and isinstance(node.this, exp.Expr) and not isinstance(node.this, exp.Distinct):
        return exp.Count(this=_only_where(node.this, exp.Literal.number(1)))
    if not (isinstance(node, exp.Filter) and isinstance(node.this, exp.AggFunc) and isinstance(node.expression, exp.Where)):
        return node
    function, condition = _unconditional(node.this).copy(), node.expression.this
    argument = function.this
    if isinstance(argument, exp.Distinct):
        argument.set("expressions", [_only_where(condition, each) for each in argument.expressions])
    elif isinstance(argument, exp.Star):
        function.set("this", _only_where(condition, exp.Literal.number(1)))
    elif isinstance(argument, exp.Expr):
        function.set("this", _only_where(condition, argument))
    return function


def _only_where(condition: exp.Expr, value: exp.Expr) -> exp.Case:
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])


def _specification(node: exp.AggFunc, kind: pa.DataType, *, is_distinct: bool) -> AggregateSpecification | None:
    if is_distinct:
        return _of_distinct(node, kind)
    if type(node) in _VARIANCES:
        is_maintained = pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.precision <= _DIGITS_OF_SQUARES)
        return AggregateSpecification(AccumulatorKind.VARIANCE, _VARIANCES[type(node)], kind) if is_maintained else None
    if isinstance(node, _PERCENTILES):
        share = _share(node)
        is_maintained = is_number(kind) and share is not None
        return AggregateSpecification(AccumulatorKind.PERCENTILE, ValueForm.TOTAL, kind, share) if is_maintained else None
    found = _BOOLEANS.get(type(node)) or (_BITS.get(type(node)) if pa.types.is_integer(kind) else None) or _kind(node, kind)
    form = ValueForm.AVERAGE if isinstance(node, exp.Avg) else ValueForm.TOTAL
    return None if found is None else AggregateSpecification(found, form, kind)


def _of_distinct(node: exp.AggFunc, kind: pa.DataType) -> AggregateSpecification | None:
    if isinstance(node, exp.Count):
        return AggregateSpecification(AccumulatorKind.COUNT_DISTINCT, ValueForm.TOTAL, kind)
    if isinstance(node, (exp.Sum, exp.Avg)) and is_number(kind):
        form = ValueForm.AVERAGE if isinstance(node, exp.Avg) else ValueForm.TOTAL
        return AggregateSpecification(AccumulatorKind.SUM_DISTINCT, form, kind)
    return None


def _share(node: exp.AggFunc) -> Share | None:
    """Return the share that a percentile asks for, None where it is no single number between 0 and 1."""
    if isinstance(node, exp.Median):
        return Share(0.5)
    found = constant(node.args["quantile"]) if isinstance(node.args.get("quantile"), exp.Expr) else None
    if found is None or not isinstance(found.value, (int, float, Decimal)) or isinstance(found.value, bool) or not 0 <= found.value <= 1:
        return None
    if isinstance(node, OrderedPercentile):
        return Share(float(found.value), not node.is_discrete, node.is_descending)
    return Share(float(found.value))


def _kind(node: exp.AggFunc, kind: pa.DataType) -> AccumulatorKind | None:
    if isinstance(node, exp.Count):
        return AccumulatorKind.COUNT
    if isinstance(node, exp.Min):
        return AccumulatorKind.MINIMUM
    if isinstance(node, exp.Max):
        return AccumulatorKind.MAXIMUM
    return sum_kind(kind, is_average=isinstance(node, exp.Avg)) if isinstance(node, (exp.Sum, exp.Avg)) else None


def sum_kind(kind: pa.DataType, *, is_average: bool) -> AccumulatorKind | None:
    """Return how a sum or an average of values of a type is maintained, None where it is not."""
    if pa.types.is_integer(kind):
        if is_average:
            return AccumulatorKind.AVERAGE_INTEGER
        return AccumulatorKind.SUM_LONG if kind.bit_width == 64 else AccumulatorKind.SUM_INTEGER
    if pa.types.is_decimal(kind):
        # Of both what is known of the absolute values decides what is known of the result.
        is_bounded = kind.precision <= DIGITS_OF_DOUBLES if is_average else kind.precision > _SUMMED_DIGITS
        return AccumulatorKind.SUM_WIDE_DECIMAL if is_bounded else AccumulatorKind.SUM_DECIMAL
    return AccumulatorKind.SUM_FLOAT if pa.types.is_floating(kind) else None
