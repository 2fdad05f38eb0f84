"""The order of ORDER BY, MIN and MAX: unbound, blank nodes, IRIs, literals; numbers by value. Source: section 15.1.

Among literals, which the recommendation orders only within a type: numbers and truth values, times, then all others by their text.
"""

from __future__ import annotations

from imp_driver.sparql import terms
from imp_driver.sparql.algebra import Expression
from imp_driver.sparql.sql import facets
from imp_driver.sparql.sql.expressions import Scope
from imp_driver.sparql.sql.values import Number, Stored, Text, Truth, Value, number_of, once, term_of


def sort_keys(conditions: tuple[tuple[Expression, bool], ...], scope: Scope) -> list[str]:
    """Return sort expressions, each with its direction. Raises NotSupportedError."""
    found = []
    for expression, is_descending in conditions:
        first, *others = keys_of(scope.value(expression))
        directions = ("DESC NULLS LAST", "DESC NULLS FIRST") if is_descending else ("ASC NULLS FIRST", "ASC NULLS LAST")
        found += [f"{first} {directions[0]}", *(f"{key} {directions[1]}" for key in others)]
    return found


def keys_of(value: Value) -> list[str]:
    """Return what orders values, one after the other; unbound ones are NULL in the first."""
    match value:
        case Truth(text):
            return [text]
        case Number() | Stored(is_integer=True):
            number = number_of(value)
            assert number is not None
            # Rounding to doubles keeps order, so exact values decide among those with one double.
            return [number.exact] if number.is_exact else [number.double, number.exact]
        case Text(lexical, suffix):
            return [lexical] if suffix == "''" else [lexical, suffix]
        case _:
            return _keys_of_any(term_of(value), is_resource=isinstance(value, Stored) and value.is_resource)


def _keys_of_any(text: str, *, is_resource: bool) -> list[str]:
    kind = f"CASE WHEN {facets.is_blank(text)} THEN 1 WHEN {facets.is_iri(text)} THEN 2 WHEN {text} IS NOT NULL THEN 3 END"
    if is_resource:
        return [kind, text]
    # What has a value is not told apart by its text: 1 and 01 leave it to the next condition.
    others = f"CASE WHEN {text} NOT LIKE '%^^<{terms.XSD}%' THEN"
    return [
        kind,
        *(once(text, each) for each in (_number, facets.exact, _time)),
        f"{others} {facets.lexical(text)} END",
        f"{others} {text} END",
    ]


def _number(text: str) -> str:
    truth = f"CASE {facets.truth(text)} WHEN TRUE THEN 1D WHEN FALSE THEN 0D END"
    return f"coalesce({facets.floating(text)}, CAST({facets.exact(text)} AS DOUBLE), {truth})"


def _time(text: str) -> str:
    """Return a moment; a time without a zone stands where UTC has it, and a day at its beginning."""
    digits = facets.extracted(text, facets.TIME)
    zone = f"if({digits} LIKE '%T%Z' OR {digits} LIKE '%T%+%' OR {digits} LIKE '%T%-%', '', 'Z')"
    return f"try_cast(concat({digits}, if(length({digits}) = 10, 'T00:00:00', ''), {zone}) AS TIMESTAMP)"
