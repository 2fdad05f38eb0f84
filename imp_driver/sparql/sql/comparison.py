"""Comparisons: by value where both are of one family, NULL where that is an error. Source: sections 17.3 and 17.4.1.7 to 17.4.1.9.

Literals of two known families (a number and a text) are different, as section 17.3.1 lets an implementation that knows both say;
of a datatype that is not known it is only certain that a term is itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from imp_driver.sparql import terms
from imp_driver.sparql.sql import facets
from imp_driver.sparql.sql.values import (
    NO_DOUBLE,
    Known,
    Number,
    Stored,
    Text,
    Truth,
    Value,
    families,
    number_of,
    once,
    string_of,
    term_of,
    text_of,
)

NO_TRUTH = "CAST(NULL AS BOOLEAN)"
_SYMBOLS = {"=": "=", "!=": "<>", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
_BY_FACET: Mapping[int, Callable[[str], str]] = {
    facets.TRUTH: facets.truth,
    facets.ZONED: facets.zoned,
    facets.LOCAL: facets.local,
    facets.DATE: facets.date,
}


def compared(operator: str, left: Value, right: Value, *, is_test: bool = False) -> str:
    """Return BOOLEAN for one of ``= != < > <= >=``; with ``is_test`` it need not be told whether it is FALSE or an error."""
    if operator == "!=":
        return f"NOT ({compared('=', left, right)})"
    common = families(left) & families(right)
    if operator == "=" and {facets.RESOURCE} in (families(left), families(right)):
        # A term is no IRI's equal but itself, and an unbound one an error.
        return identical(left, right)
    # What is no number for a comparison with a constant is looked at by its term, NaN too.
    is_one = is_test or (operator == "=" and _has_no_nan(left, right))
    found = [text for family in sorted(common) if (text := _by_value(_SYMBOLS[operator], family, left, right, is_one)) is not None]
    if operator == "=":
        found.append(_same(left, right, common) if is_test else _by_term(left, right))
    # A facet is NULL for values of other families.
    return NO_TRUTH if not found else found[0] if len(found) == 1 else f"coalesce({', '.join(found)})"


def identical(left: Value, right: Value) -> str:
    """Return sameTerm."""
    return f"{term_of(left)} = {term_of(right)}"


def _same(left: Value, right: Value, common: set[int]) -> str:
    """Return identity, which makes terms equal but for NaN."""
    if facets.NUMBER not in common or _has_no_nan(left, right):
        return identical(left, right)
    return f"({identical(left, right)} AND {term_of(left)} NOT LIKE '\"NaN\"^^<{terms.XSD}%')"


def _has_no_nan(left: Value, right: Value) -> bool:
    """Say whether one of two values is a constant that is not NaN."""
    return any(isinstance(each, Known) and terms.lexical(each.term) != "NaN" for each in (left, right))


def _by_term(left: Value, right: Value) -> str:
    """Return equality of what is not equal by value: FALSE only where both families are known."""
    either = families(left) | families(right)
    kinds = [_family(each) for each in (left, right)]
    # An error on either side is one, also where the other side alone would decide.
    words = [f"WHEN {identical(left, right)} THEN TRUE WHEN ({kinds[0]}) IS NULL OR ({kinds[1]}) IS NULL THEN NULL"]
    if facets.RESOURCE in either:
        words.append(f"WHEN {facets.RESOURCE} IN ({kinds[0]}, {kinds[1]}) THEN FALSE")
    if facets.OTHER in either:
        words.append(f"WHEN {facets.OTHER} IN ({kinds[0]}, {kinds[1]}) THEN NULL")
    if {facets.ZONED, facets.LOCAL} <= either:
        # A time without a zone may be any of a day's.
        words.append(f"WHEN ({kinds[0]}) + ({kinds[1]}) = {facets.ZONED + facets.LOCAL} AND abs(({kinds[0]}) - ({kinds[1]})) = 1 THEN NULL")
    return f"CASE {' '.join(words)} ELSE FALSE END"


def _family(value: Value) -> str:
    match value:
        case Number(rank):
            return f"CASE WHEN {rank} IS NOT NULL THEN {facets.NUMBER} END"
        case Truth(text):
            return f"CASE WHEN ({text}) IS NOT NULL THEN {facets.TRUTH} END"
        case Text(lexical, suffix):
            kind = str(facets.TEXT) if suffix == "''" else f"CASE WHEN {suffix} = '' THEN {facets.TEXT} ELSE {facets.OF_LANGUAGE} END"
            return f"CASE WHEN {lexical} IS NOT NULL THEN {kind} END"
        case Stored() | Known():
            found = families(value)
            return str(*found) if len(found) == 1 else once(term_of(value), facets.family)


def _by_value(symbol: str, family: int, left: Value, right: Value, is_test: bool) -> str | None:
    """Return the comparison of two values of one family; None where only their terms are equal or not."""
    match family:
        case facets.NUMBER:
            return _of_numbers(symbol, number_of(left), number_of(right), is_test)
        case facets.TEXT:
            return None if symbol == "=" else _of_texts(symbol, left, right)
        case facets.TRUTH | facets.ZONED | facets.LOCAL | facets.DATE:
            facet = _BY_FACET[family]
            return f"({_facet(left, facet)}) {symbol} ({_facet(right, facet)})"
        case _:
            return None


def _of_texts(symbol: str, left: Value, right: Value) -> str:
    return " ".join([_simple(left), symbol, _simple(right)])


def _simple(value: Value) -> str:
    """Return the lexical form of a text without a language."""
    if isinstance(value, Known):
        return string_of(value)
    found = text_of(value)
    assert found is not None
    if found.suffix == "''":
        return found.lexical
    return f"CASE WHEN {found.suffix} = '' THEN {found.lexical} END"


def _facet(value: Value, facet: Callable[[str], str]) -> str:
    constant = facets.constant(value.term, facet) if isinstance(value, Known) else None
    return constant or (value.text if isinstance(value, Truth) else once(term_of(value), facet))


def _of_numbers(symbol: str, left: Number | None, right: Number | None, is_test: bool) -> str | None:
    """Integers and decimals are compared exactly; with a float or a double both are doubles, where NaN is equal to nothing."""
    if left is None or right is None:
        return None
    exact = f"{left.exact} {symbol} {right.exact}"
    if left.is_exact and right.is_exact:
        return exact
    a, b = (one.floating if other.is_exact else one.double for one, other in ((left, right), (right, left)))
    if is_test:
        floating = f"{_not_nan(a, left)} {symbol} {_not_nan(b, right)}"
    else:
        floating = once(a, lambda x: once(b, lambda y: _ordered(symbol, x, y, left.is_exact, right.is_exact)))
    return floating if left.is_floating or right.is_floating else f"coalesce({exact}, {floating})"


def _not_nan(double: str, number: Number) -> str:
    if double == facets.NAN:
        return NO_DOUBLE
    return double if number.is_exact or double.startswith("CAST('") else f"nullif({double}, {facets.NAN})"


def _ordered(symbol: str, left: str, right: str, *are_exact: bool) -> str:
    """Spark has NaN equal to itself and above all others."""
    checks = [f"NOT isnan({text})" for text, is_exact in zip((left, right), are_exact, strict=True) if not is_exact]
    found = f"{left} {symbol} {right}"
    # AND would have FALSE of a check stand beside NULL.
    return f"CASE WHEN {found} IS NOT NULL THEN {' AND '.join([found, *checks])} END" if checks else found
