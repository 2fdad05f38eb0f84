"""Arithmetic and casts of numbers. Source: section 17.3; XPath 2.0 functions and operators, sections 6 and 17.

Sums, differences and products of integers and decimals are exact, or unknown where they are too long. A quotient has 18 digits behind the
point, the last one rounded; how many there are is left open there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from imp_driver.sparql import terms
from imp_driver.sparql.functions.casts import as_text
from imp_driver.sparql.sql import facets
from imp_driver.sparql.sql.facets import EXACT
from imp_driver.sparql.sql.values import (
    NO_DOUBLE,
    NO_EXACT,
    Known,
    Number,
    Stored,
    Text,
    Truth,
    Value,
    number_in,
    number_of,
    once,
    string_of,
    term_of,
    text_of,
    truth_of,
)

_INFINITY, _MINUS_INFINITY = "CAST('Infinity' AS DOUBLE)", "CAST('-Infinity' AS DOUBLE)"
_WHOLE_DOUBLES = "4503599627370496D"
"""From here on a double has no digits behind the point."""


def arithmetic(operator: str, left: Number, right: Number) -> Number:
    """Return ``left operator right`` for one of ``+ - * /``."""
    rank = _greater(left.rank, right.rank, is_quotient=operator == "/")
    exact = _EXACT[operator](left.exact, right.exact)
    double = _quotient(left.double, right.double) if operator == "/" else f"({left.double} {operator} {right.double})"
    return _number(rank, exact, double)


def negated(value: Number) -> Number:
    return Number(value.rank, f"(-{value.exact})", f"(-{value.floating})")


def absolute(value: Number) -> Number:
    return Number(value.rank, f"abs({value.exact})", f"abs({value.floating})")


def rounded(name: str, value: Number) -> Number:
    """Return CEIL, FLOOR or ROUND, which has halves go up."""
    exact = f"try_cast({_ROUNDED[name](value.exact)} AS {EXACT})"
    return Number(value.rank, exact, once(value.floating, lambda x: _whole_double(name, x)))


def _whole_double(name: str, number: str) -> str:
    found = f"CAST({_ROUNDED[name](number)} AS DOUBLE)"
    return (
        f"CASE WHEN isnan({number}) OR abs({number}) >= {_WHOLE_DOUBLES} THEN {number} "
        f"WHEN {number} < 0 AND {found} = 0 THEN CAST('-0.0' AS DOUBLE) ELSE {found} END"
    )


_ROUNDED: Mapping[str, Callable[[str], str]] = {
    "CEIL": lambda x: f"ceil({x})",
    "FLOOR": lambda x: f"floor({x})",
    # The sum of a double and a half may be rounded up itself.
    "ROUND": lambda x: f"(CASE WHEN {x} - floor({x}) >= 0.5 THEN ceil({x}) ELSE floor({x}) END)",
}


def _number(rank: str, exact: str, double: str) -> Number:
    """Return a result whose parts are NULL where its type is another one; a FLOAT is rounded."""
    if rank in ("0", "1"):
        return Number(rank, exact, NO_DOUBLE)
    if rank in ("2", "3"):
        return Number(rank, NO_EXACT, _single(double) if rank == "2" else double)
    return Number(rank, exact, once(double, lambda x: f"CASE {rank} WHEN 2 THEN {_single(x)} WHEN 3 THEN {x} END"))


def _single(double: str) -> str:
    return f"CAST(CAST({double} AS FLOAT) AS DOUBLE)"


def _greater(left: str, right: str, *, is_quotient: bool) -> str:
    """Return the type of a result, NULL where one side is no number."""
    least = "1" if is_quotient else "0"
    if left.isdigit() and right.isdigit():
        return max(left, right, least)
    if left.isdigit() or right.isdigit():
        known, other = (left, right) if left.isdigit() else (right, left)
        bound = max(known, least)
        return other if bound == "0" else once(other, lambda x: f"if({x} < {bound}, {bound}, {x})")
    return once(left, lambda x: once(right, lambda y: f"CASE WHEN {x} + {y} IS NOT NULL THEN greatest({x}, {y}, {least}) END"))


def _sum(function: str) -> Callable[[str, str], str]:
    return lambda left, right: f"try_cast({function}({left}, {right}) AS {EXACT})"


def _whole(number: str, digits: int) -> str:
    cast = f"try_cast({number} AS DECIMAL({digits}, 0))"
    return f"CASE WHEN {cast} = {number} THEN {cast} END"


def _short(number: str) -> str:
    cast = f"try_cast({number} AS DECIMAL(18, 9))"
    return f"CASE WHEN {cast} = {number} THEN {cast} END"


def _by_pairs(function: str, pairs: Callable[[str, str], list[tuple[str, str]]]) -> Callable[[str, str], str]:
    """Spark rounds results of more than 38 digits, so they are made of types whose result has fewer."""

    def of(left: str, right: str) -> str:
        texts = [f"try_cast({function}({a}, {b}) AS {EXACT})" for a, b in pairs(left, right)]
        return f"coalesce({', '.join(texts)})"

    return lambda left, right: once(left, lambda x: once(right, lambda y: of(x, y)))


_product = _by_pairs(
    "try_multiply",
    lambda x, y: [(_whole(x, 19), _whole(y, 18)), (_short(x), _whole(y, 19)), (_whole(x, 19), _short(y)), (_short(x), _short(y))],
)
_exact_quotient = _by_pairs("try_divide", lambda x, y: [(_whole(x, 19), _whole(y, 18)), (_short(x), _short(y))])


def _quotient(left: str, right: str) -> str:
    """By zero a double's quotient is infinite, or NaN of zero itself."""

    def of(x: str, y: str) -> str:
        infinite = f"if(CAST({y} AS STRING) = '-0.0', {_MINUS_INFINITY}, {_INFINITY})"
        return f"if({y} = 0, {x} * {infinite}, try_divide({x}, {y}))"

    return once(left, lambda x: once(right, lambda y: of(x, y)))


_EXACT: Mapping[str, Callable[[str, str], str]] = {
    "+": _sum("try_add"),
    "-": _sum("try_subtract"),
    "*": _product,
    "/": _exact_quotient,
}


def cast_to_number(value: Value, datatype: str) -> Number | None:
    """Return the cast to integer, decimal, float or double, of a number, a text or a truth value; None for another datatype.

    A double becomes the decimal of the digits that are written for it, where these are at most 18 behind the point.
    """
    rank = {"integer": "0", "decimal": "1", "float": "2", "double": "3"}.get(datatype)
    if rank is None:
        return None
    sources = [number_of(value), _number_in(text_of(value), datatype), _number_of_truth(value)]
    known = [each for each in sources if each is not None]
    if not known:
        return Number(rank, NO_EXACT, NO_DOUBLE)
    exact = _coalesced([_decimal_of(each) for each in known])
    if rank == "0":
        exact = f"try_cast(try_cast({once(exact, _cut)} AS DECIMAL(38, 0)) AS {EXACT})"
    return _number(rank, exact, _coalesced([each.double for each in known]))


def _cut(number: str) -> str:
    return f"(({number}) - ({number}) % 1)"


def _decimal_of(number: Number) -> str:
    if number.is_exact:
        return number.exact
    cast = once(number.floating, lambda x: f"CASE WHEN CAST(try_cast({x} AS {EXACT}) AS DOUBLE) = {x} THEN try_cast({x} AS {EXACT}) END")
    return cast if number.is_floating else f"coalesce({number.exact}, {cast})"


def _number_in(text: Text | None, datatype: str) -> Number | None:
    """Return what a text without a language says as a literal of the datatype."""
    if text is None:
        return None
    lexical = text.lexical if text.suffix == "''" else f"CASE WHEN {text.suffix} = '' THEN {text.lexical} END"
    term = f"concat('\"', {lexical}, '\"^^<{terms.XSD}{datatype}>')"
    return number_in(term)


def _number_of_truth(value: Value) -> Number | None:
    truth = truth_value(value)
    return None if truth is None else Number("0", f"CAST(CASE WHEN {truth} THEN 1 WHEN NOT ({truth}) THEN 0 END AS {EXACT})", NO_DOUBLE)


def truth_value(value: Value) -> str | None:
    """Return the value of an xsd:boolean, NULL for other terms; None where it can be none."""
    match value:
        case Truth(text):
            return text
        case Stored(_, is_resource) if is_resource:
            return None
        case Stored() | Known():
            return once(term_of(value), facets.truth)
        case _:
            return None


def cast_to_truth(value: Value) -> str:
    """Return the cast to xsd:boolean."""
    number, text = number_of(value), text_of(value)
    found = [each for each in (truth_value(value), None if number is None else truth_of(number)) if each is not None]
    if text is not None:
        words = f"CASE WHEN {text.lexical} IN ('true', '1') THEN TRUE WHEN {text.lexical} IN ('false', '0') THEN FALSE END"
        found.append(words if text.suffix == "''" else f"CASE WHEN {text.suffix} = '' THEN {words} END")
    return _coalesced(found) if found else "CAST(NULL AS BOOLEAN)"


def cast_to_string(value: Value) -> Text | Known | None:
    """Return the cast to xsd:string, which is no STR: ``2.0`` becomes ``2``. None where the form hangs on what the value is then."""
    match value:
        case Text(lexical, suffix):
            return Text(lexical if suffix == "''" else f"CASE WHEN {suffix} = '' THEN {lexical} END")
        case Truth():
            return Text(string_of(value))
        case Known(term):
            text = as_text(term)
            return None if text is None else Known(text)
        case Stored(_, is_resource) if is_resource:
            return Text(string_of(value))
        case Number() if value.rank in ("0", "1"):
            return Text(f"regexp_replace({string_of(value)}, '[.]0$', '')")
        case _:
            return None


def _coalesced(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"coalesce({', '.join(texts)})"
