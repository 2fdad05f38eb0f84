"""Comparisons: by value where both are of one family, NULL where that is an error. Source: sections 17.3 and 17.4.1.7 to 17.4.1.9.

Literals of two known families (a number and a text) are different, as section 17.3.1 lets an implementation that knows both say;
of a datatype that is not known it is only certain that a term is itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from imp_driver.sparql.sql import facets
from imp_driver.sparql.sql.values import Known, Number, Stored, Text, Truth, Value, families, number_of, once, string_of, term_of, text_of

NO_TRUTH = "CAST(NULL AS BOOLEAN)"
_SYMBOLS = {"=": "=", "!=": "<>", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
_BY_FACET: Mapping[int, Callable[[str], str]] = {
    facets.TRUTH: facets.truth,
    facets.ZONED: facets.zoned,
    facets.LOCAL: facets.local,
    facets.DATE: facets.date,
}


def compared(operator: str, left: Value, right: Value) -> str:
    """Return BOOLEAN for one of ``= != < > <= >=``."""
    if operator == "!=":
        return f"NOT ({compared('=', left, right)})"
    common = families(left) & families(right)
    if operator == "=":
        return _equal(left, right, common)
    branches = [(family, _by_value(_SYMBOLS[operator], family, left, right)) for family in sorted(common)]
    found = [(family, text) for family, text in branches if text is not None]
    return _chosen(found, left, right, NO_TRUTH) if found else NO_TRUTH


def identical(left: Value, right: Value) -> str:
    """Return sameTerm."""
    return f"{term_of(left)} = {term_of(right)}"


def _equal(left: Value, right: Value, common: set[int]) -> str:
    same = identical(left, right)
    if families(left) == {facets.RESOURCE} or families(right) == {facets.RESOURCE}:
        # A term is no IRI's equal but itself, and an unbound one an error.
        return same
    branches = [(family, text) for family in sorted(common) if (text := _by_value("=", family, left, right)) is not None]
    kinds = [f"({_family(each)})" for each in (left, right)]
    unknown = f"{kinds[0]} = {facets.OTHER} OR {kinds[1]} = {facets.OTHER}"
    times = f"({kinds[0]} = {facets.ZONED} AND {kinds[1]} = {facets.LOCAL}) OR ({kinds[0]} = {facets.LOCAL} AND {kinds[1]} = {facets.ZONED})"
    resource = f"{kinds[0]} = {facets.RESOURCE} OR {kinds[1]} = {facets.RESOURCE}"
    either = families(left) | families(right)
    words = [f"WHEN {same} THEN TRUE"]
    if facets.RESOURCE in either:
        words.append(f"WHEN {resource} THEN FALSE")
    if facets.OTHER in either:
        words.append(f"WHEN {unknown} THEN NULL")
    if {facets.ZONED, facets.LOCAL} <= either:
        words.append(f"WHEN {times} THEN NULL")
    rest = f"CASE {' '.join(words)} WHEN {term_of(left)} IS NOT NULL AND {term_of(right)} IS NOT NULL THEN FALSE END"
    return _chosen(branches, left, right, rest)


def _chosen(branches: list[tuple[int, str]], left: Value, right: Value, otherwise: str) -> str:
    if len(branches) == 1 and otherwise == NO_TRUTH:
        # The value of another family has no such facet.
        return branches[0][1]
    words = []
    for family, text in branches:
        both = [f"({_family(each)}) = {family}" for each in (left, right) if families(each) != {family}]
        words.append(f"WHEN {' AND '.join(both) or 'TRUE'} THEN {text}")
    return f"CASE {' '.join(words)} ELSE {otherwise} END" if words else otherwise


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


def _by_value(symbol: str, family: int, left: Value, right: Value) -> str | None:
    """Return the comparison of two values of one family; None where only their terms are equal or not."""
    match family:
        case facets.NUMBER:
            return _of_numbers(symbol, number_of(left), number_of(right))
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
    return value.text if isinstance(value, Truth) else once(term_of(value), facet)


def _of_numbers(symbol: str, left: Number | None, right: Number | None) -> str | None:
    """Integers and decimals are compared exactly; with a float or a double both are doubles, where NaN is equal to nothing."""
    if left is None or right is None:
        return None
    exact = f"{left.exact} {symbol} {right.exact}"
    ranks = [each.rank for each in (left, right)]
    checks = [f"NOT isnan({each.double})" for each in (left, right) if each.rank not in ("0", "1")]
    double = " AND ".join([f"{left.double} {symbol} {right.double}", *checks])
    if all(each in ("0", "1") for each in ranks):
        return exact
    if any(each in ("2", "3") for each in ranks):
        return f"({double})"
    are_exact = " AND ".join(f"{each} <= 1" for each in ranks if each not in ("0", "1"))
    return f"CASE WHEN {are_exact} THEN {exact} ELSE {double} END"
