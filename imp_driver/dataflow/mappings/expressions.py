"""Expressions over the rows of an operator, which has told of each EXISTS beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from imp_driver.dataflow.mappings.operator import Row, place_of
from imp_driver.sparql.algebra import Call, Exists, Expression, Read, Variable
from imp_driver.sparql.functions.compiled import Matches, truth_of, value_of
from imp_driver.sparql.terms import XSD, Term, literal

Truth: TypeAlias = Callable[[Row], bool]
Value: TypeAlias = Callable[[Row], Term | None]

TRUE, FALSE = (literal(text, f"{XSD}boolean") for text in ("true", "false"))


def truth(expression: Expression, variables: Sequence[Variable], matches: Matches | None = None) -> Truth:
    """Return what says whether a condition holds for a row over ``variables``; an error is false."""
    return truth_of(expression, place_of(variables), matches or _none)


def value(expression: Expression, variables: Sequence[Variable], matches: Matches | None = None) -> Value:
    """Return what gives the value of an expression for a row over ``variables``; None where it is an error."""
    return value_of(expression, place_of(variables), matches or _none)


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """Yield the conditions that are all to hold: where one is an error or false, so is the whole."""
    if isinstance(condition, Call) and condition.name == "&&":
        for argument in condition.arguments:
            yield from conjuncts(argument)
    else:
        yield condition


def conjunction(conditions: Sequence[Expression]) -> Expression:
    """Return the condition that all of some hold; there is at least one."""
    return conditions[0] if len(conditions) == 1 else Call("&&", tuple(conditions))


def existences(expression: Expression) -> Iterator[Exists]:
    """Yield each EXISTS of an expression, those inside its patterns not among them."""
    if isinstance(expression, Exists):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from existences(argument)


def read_by(expression: Expression) -> Iterator[Variable]:
    """Yield the variables that an expression reads outside of EXISTS."""
    if isinstance(expression, Read):
        yield expression.variable
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from read_by(argument)


def _none(exists: Exists) -> Callable[[object], bool]:
    raise AssertionError("An EXISTS has been left where an operator cannot tell of it.")
