"""Equality and order of terms by their values, and effective boolean values: what is an error is None.

SPARQL 1.1 sections 17.2.2 (effective boolean value), 17.3 (operators) and 17.4.1.7 (RDFterm-equal). Beyond the table of section 17.3, which
17.3.1 allows: dates, times and durations compare too; and literals of two known datatypes that have no value in common are not equal, in
place of an error, as the tests of the recommendation have it. A text of a language is no value of any datatype.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from imp_driver.sparql.functions import durations, moments
from imp_driver.sparql.functions.durations import Duration, DurationKind
from imp_driver.sparql.functions.moments import Moment
from imp_driver.sparql.functions.numerals import RANKS, Number, promoted
from imp_driver.sparql.functions.values import NUMERIC, LanguageText, Value, value
from imp_driver.sparql.terms import XSD, Term, datatype

Comparison = Callable[[Any, Any], bool]

COMPARISONS: Final[Mapping[str, Comparison]] = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
MIRRORED: Final[Mapping[str, str]] = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}


def equal(one: Term, other: Term) -> bool | None:
    """Return whether ``one = other``, None where it is an error."""
    if one[0] != '"' or other[0] != '"':
        return one == other
    first, second = value(one), value(other)
    if first is not None and second is not None:
        return values_equal(first, second)
    if one == other:
        return True
    return False if isinstance(first, LanguageText) or isinstance(second, LanguageText) else None


def values_equal(first: Value, second: Value) -> bool | None:
    if type(first) in RANKS and type(second) in RANKS:
        return numbers_compared(operator.eq, first, second)  # type: ignore[arg-type]  # both are numbers
    if type(first) is not type(second):
        return False
    if isinstance(first, Moment) and isinstance(second, Moment):
        if first.kind is not second.kind:
            return False
        found = moments.difference(first, second)
        return None if found is None else found == 0
    if isinstance(first, Duration) and isinstance(second, Duration):
        return (first.months, first.seconds) == (second.months, second.seconds)
    return first == second


def compared(comparison: Comparison, one: Term, other: Term) -> bool | None:
    """Return whether ``one < other``, or another of COMPARISONS; None where it is an error."""
    first, second = value(one), value(other)
    return None if first is None or second is None else values_compared(comparison, first, second)


def values_compared(comparison: Comparison, first: Value, second: Value) -> bool | None:
    if type(first) in RANKS and type(second) in RANKS:
        return numbers_compared(comparison, first, second)  # type: ignore[arg-type]  # both are numbers
    if type(first) is not type(second):
        return None
    if isinstance(first, (str, bool)):
        return comparison(first, second)
    if isinstance(first, Moment) and isinstance(second, Moment):
        found = moments.difference(first, second) if first.kind is second.kind else None
    elif isinstance(first, Duration) and isinstance(second, Duration) and first.kind is second.kind is not DurationKind.ANY:
        found = durations.difference(first, second)
    else:
        return None
    return None if found is None else comparison(found, 0)


def numbers_compared(comparison: Comparison, first: Number, second: Number) -> bool:
    """Return what a comparison says of two numbers, both promoted to one type first."""
    if type(first) is not type(second):
        ranks = RANKS[type(first)], RANKS[type(second)]
        if max(ranks) > 1:
            first, second = promoted(first, max(ranks)), promoted(second, max(ranks))
    return comparison(first, second)


def effective(term: Term) -> bool | None:
    """Return the effective boolean value, None where it is an error. That of a false form of a boolean or a number is false."""
    found = value(term)
    match found:
        case bool():
            return found
        case str():
            return found != ""
        case int() | Decimal():
            return found != 0
        case float():
            return found == found and found != 0
        case LanguageText(text, _):
            return text != ""
        case None:
            kind = datatype(term)
            return False if kind in NUMERIC or kind == f"{XSD}boolean" else None
        case _:
            return None
