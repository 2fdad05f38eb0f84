"""Aggregates over some of the rows, ``f(CASE WHEN c THEN x END)`` and with ELSE 0: those of x over the finer groups that pass c.

FILTER (WHERE c) is read as such a CASE. Every aggregate leaves out NULL, so that rows of no branch do not count; with ELSE 0 they are rows
of a sum that add nothing to it, but make it 0 where it would be NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.dialect import SparkText
from imp_driver.plan.aggregate import BoundAggregate, sum_kind
from imp_driver.plan.convert import constant, row_expression
from imp_driver.plan.types import infer
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ValueForm

_SUMS_OF_NUMBERS = frozenset(
    {
        *(AccumulatorKind.SUM_INTEGER, AccumulatorKind.SUM_LONG, AccumulatorKind.AVERAGE_INTEGER),
        *(AccumulatorKind.SUM_DECIMAL, AccumulatorKind.SUM_WIDE_DECIMAL),
    }
)
"""Kinds whose parts are the same for every width of an integer, and every precision of a decimal."""
_WITH_ZEROS = _SUMS_OF_NUMBERS - {AccumulatorKind.AVERAGE_INTEGER} | {AccumulatorKind.SUM_FLOAT_EXACT}


@dataclass(frozen=True, slots=True)
class Conditional:
    """An argument that is ``value`` in rows that pass a condition, and in the others NULL, or 0."""

    condition: exp.Expr
    value: exp.Expr
    others_are_zero: bool


def conditional(aggregate: BoundAggregate) -> Conditional | None:
    """Read the argument of an aggregate; None for one of another form, or where rows that do not pass would matter."""
    node = None if aggregate.argument_node is None else aggregate.argument_node.unnest()
    branch = node.args["ifs"][0] if isinstance(node, exp.Case) and len(node.args["ifs"]) == 1 else node
    if node is None or not isinstance(branch, exp.If) or not isinstance(branch.args.get("true"), exp.Expr):
        return None
    condition = branch.this
    if isinstance(node, exp.Case) and node.this is not None:
        condition = exp.EQ(this=exp.Paren(this=node.this.copy()), expression=exp.Paren(this=condition.copy()))
    default = node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false")
    found = None if default is None else constant(default)
    if default is not None and found is None:
        return None
    value = None if found is None else found.value
    if value is not None and not (_is_zero(value) and _adds_zeros(aggregate.specification)):
        return None
    return Conditional(condition, branch.args["true"], value is not None)


def _is_zero(value: object) -> bool:
    # Added to -0.0 alone, -0.0 gives another zero than 0 does.
    return not isinstance(value, (bool, str)) and value == 0 and not str(value).startswith("-")


def _adds_zeros(specification: AggregateSpecification) -> bool:
    return specification.kind in _WITH_ZEROS and specification.form is ValueForm.TOTAL


def of_type(held: AggregateSpecification, asked: AggregateSpecification) -> AggregateSpecification:
    """Return what is held of a value as if it had the type of the CASE, which may be wider: where that changes nothing that is held."""
    one, other = held.argument_type, asked.argument_type
    if asked.kind not in _SUMS_OF_NUMBERS or one is None or other is None:
        return held
    if pa.types.is_decimal(one) and pa.types.is_decimal(other):
        is_alike = one.scale == other.scale and one.precision <= other.precision
    else:
        is_alike = pa.types.is_integer(one) and pa.types.is_integer(other)
    return replace(held, argument_type=other) if is_alike else held


def without_condition(aggregate: BoundAggregate, found: Conditional, types: Mapping[str, pa.DataType | None]) -> BoundAggregate | None:
    """Return the aggregate of the value over all rows, None where the type of the value is not known."""
    kind = infer(found.value, dict(types))
    if kind is None:
        return None
    specification = replace(aggregate.specification, argument_type=kind)
    if specification.kind in _SUMS_OF_NUMBERS:
        wanted = sum_kind(kind, is_average=specification.form is ValueForm.AVERAGE)
        if wanted is None or wanted not in _SUMS_OF_NUMBERS:
            return None
        specification = replace(specification, kind=wanted)
    return BoundAggregate(specification, found.value.sql(dialect=SparkText), row_expression(found.value, types), found.value)
