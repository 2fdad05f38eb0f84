"""Aggregates of quotients in a state of more rows than a query asks for: rows with a divisor of 0 are left out of them, and counted.

Plain Spark stops with an error when such a row is among those that a query asks for, and only then. So whoever asks for a group with such
rows goes to Spark; the other groups are as if there were none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.dialect import SparkText
from imp_driver.plan.aggregate import BoundAggregate
from imp_driver.plan.constants import constant
from imp_driver.plan.convert import row_expression
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ValueForm

_QUOTIENTS = (exp.Div, exp.IntDiv, exp.Mod)
ERRORS = AggregateSpecification(AccumulatorKind.COUNT, ValueForm.TOTAL, pa.int32())
"""The count of the rows that are left out."""


@dataclass(frozen=True, slots=True)
class Guard:
    """``value`` is NULL where a divisor is 0, and what it was elsewhere; ``errors`` is not NULL where one is."""

    value: exp.Expr
    errors: exp.Expr


def guard(node: exp.Expr) -> Guard | None:
    """Return how an argument is guarded; None where it divides by nothing that may be 0, or a divisor has a divisor itself."""
    divisors = {each.sql(): each for quotient in node.find_all(*_QUOTIENTS) if not _is_never_zero(each := quotient.expression)}
    if not divisors or any(each.find(*_QUOTIENTS) for each in divisors.values()):
        return None
    is_zero = exp.or_(*(exp.EQ(this=exp.Paren(this=each.copy()), expression=exp.Literal.number(0)) for each in divisors.values()))
    value = exp.Case(ifs=[exp.If(this=is_zero.copy(), true=exp.Null())], default=exp.Paren(this=node.copy()))
    return Guard(value, exp.Case(ifs=[exp.If(this=is_zero, true=exp.Literal.number(1))]))


def _is_never_zero(divisor: exp.Expr) -> bool:
    found = constant(divisor)
    return found is not None and found.value is not None and not isinstance(found.value, (bool, str)) and found.value != 0


def guarded(aggregate: BoundAggregate, types: Mapping[str, pa.DataType | None]) -> tuple[BoundAggregate, ...]:
    """Return an aggregate, or the guarded one and the count of what is left out of it."""
    found = None if aggregate.argument_node is None else guard(aggregate.argument_node)
    if found is None:
        return (aggregate,)
    value = replace(
        aggregate,
        argument_sql=found.value.sql(dialect=SparkText),
        argument=row_expression(found.value, types),
        argument_node=found.value,
    )
    return value, BoundAggregate(ERRORS, found.errors.sql(dialect=SparkText), row_expression(found.errors, types), found.errors)
