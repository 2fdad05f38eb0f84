"""Columns of SQL types, where all values of a variable are of one type whatever the triples are.

That is known of what is computed (a cast to a number, arithmetic with one, a comparison, COUNT) and of variables that the query itself
keeps to one datatype: ``FILTER (datatype(?day) = xsd:date)``. Other columns are text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from imp_driver.sparql import terms
from imp_driver.sparql.algebra import Call, Constant, Expression, Extend, Filter, Pattern, Project, Read, Variable
from imp_driver.sparql.sql import facets
from imp_driver.sparql.sql.patterns import Patterns
from imp_driver.sparql.sql.relations import Column, Relation
from imp_driver.sparql.sql.values import Known, Number, Stored, Truth, Value, number_in, number_of, term_of

_INTEGER = "DECIMAL(19, 0)"
"""Of the integers that SQL has exactly (``facets``)."""


def typed_columns(pattern: Pattern, patterns: Patterns) -> tuple[Relation, Mapping[Variable, str]] | None:
    """Return what a query selects from, and the values of variables that have a type as SQL of that type.

    None for other queries than a SELECT of solutions as they are, without DISTINCT and ORDER BY: of these only what they count is typed.
    """
    if not isinstance(pattern, Project) or not isinstance(pattern.pattern, (Extend, Filter)):
        return None
    values: dict[Variable, Value] = {}
    relation = _solutions(pattern.pattern, patterns, values)
    found = {variable: text for variable, value in values.items() if (text := typed_value(value)) is not None}
    for variable, datatype in _kept_to(pattern.pattern).items():
        column = relation.columns.get(variable)
        if column is not None and variable not in found and datatype in _OF_DATATYPE:
            found[variable] = _OF_DATATYPE[datatype](column.text)
    return relation, found


def typed_value(value: Value) -> str | None:
    """Return a value as SQL of its type, None where the type is not certain."""
    match value:
        case Truth(text):
            return text
        case Stored(text, is_integer=True):
            return f"try_cast({facets.number_text(text)} AS BIGINT)"
        case Stored():
            return None
    number = number_of(value)
    return None if number is None else _of_number(number)


def _of_number(number: Number) -> str | None:
    match number.rank:
        case "0":
            return f"CAST({number.exact} AS {_INTEGER})"
        case "1":
            return number.exact
        case "2" | "3":
            return number.floating
        case _:
            return None


def _solutions(pattern: Pattern, patterns: Patterns, values: dict[Variable, Value]) -> Relation:
    """Return the solutions of a pattern; what is bound at its top is told in ``values`` too, as it was before it became a term."""
    match pattern:
        case Extend(inner, variable, expression):
            found = _solutions(inner, patterns, values)
            value = patterns.scope(found.columns).value(expression)
            values[variable] = value
            is_resource = isinstance(value, Stored) and value.is_resource
            return found.with_columns({**found.columns, variable: Column(term_of(value), isinstance(value, Known), is_resource)})
        case Filter(inner, condition):
            found = _solutions(inner, patterns, values)
            return found.with_conditions(patterns.truths(condition, found.columns))
        case _:
            return patterns.of(pattern)


def _kept_to(pattern: Pattern) -> dict[Variable, str]:
    """Return the datatypes of variables that a pattern has no other values of, by their IRIs without brackets."""
    match pattern:
        case Filter(inner, condition):
            return _kept_to(inner) | dict(filter(None, map(_datatype, _conjuncts(condition))))
        case Extend(inner, _, _):
            return _kept_to(inner)
        case _:
            return {}


def _conjuncts(condition: Expression) -> list[Expression]:
    if isinstance(condition, Call) and condition.name == "&&":
        return [each for argument in condition.arguments for each in _conjuncts(argument)]
    return [condition]


def _datatype(condition: Expression) -> tuple[Variable, str] | None:
    match condition:
        case Call("=", (Call("DATATYPE", (Read(variable),)), Constant(term))) | Call(
            "=", (Constant(term), Call("DATATYPE", (Read(variable),)))
        ):
            return variable, terms.lexical(term)
        case _:
            return None


def _floating(text: str) -> str:
    return number_in(text).floating


_OF_DATATYPE: Mapping[str, Callable[[str], str]] = {
    f"{terms.XSD}integer": lambda text: f"CAST({number_in(text).exact} AS {_INTEGER})",
    f"{terms.XSD}decimal": lambda text: number_in(text).exact,
    f"{terms.XSD}double": _floating,
    f"{terms.XSD}float": _floating,
    f"{terms.XSD}boolean": facets.truth,
    f"{terms.XSD}date": facets.date,
}
