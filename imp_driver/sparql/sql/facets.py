"""What a term's text says, as SQL over the text: kind, lexical form, number, time. NULL where it does not say so, or not exactly.

Texts of numbers, truth values and times hold no quotation mark, so one regular expression tells datatype and validity at once. The
expressions have no backslash: two characters that are no ``<`` stand for ``^^``.

Numbers. Integers and decimals are DECIMAL(37, 18), doubles DOUBLE, floats the DOUBLE of a FLOAT. An integer of more than 19 digits, and a
decimal of more than 18 behind the point, has no such value: what is computed of it is unknown (NULL), never rounded.
Times. Those with a time zone are TIMESTAMP, those without TIMESTAMP_NTZ, of years with four digits and seconds of at most six behind the
point; others are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from math import isinf, isnan
from typing import Final

from imp_driver.sparql.functions.values import number
from imp_driver.sparql.terms import RDF, XSD
from imp_driver.values.quoting import plain_text

EXACT: Final = "DECIMAL(37, 18)"
"""One digit less than Spark has, so that the sum of two is exact before it is brought back."""

NAN: Final = "CAST('NaN' AS DOUBLE)"
_LARGEST = 10**19
INTEGERS: Final = (
    "integer",
    "int",
    "long",
    "short",
    "byte",
    "nonNegativeInteger",
    "positiveInteger",
    "nonPositiveInteger",
    "negativeInteger",
    "unsignedInt",
    "unsignedLong",
    "unsignedShort",
    "unsignedByte",
)
_MARK = f'"[^<]{{2}}<{XSD.replace(".", "[.]")}'
_WHOLE_NAME = "(?:integer|(?:non)?[NnPp](?:ega|osi)tiveInteger|(?:unsigned)?(?:[Ii]nt|[Ll]ong|[Ss]hort|[Bb]yte))"
_EXACT = f'^"(?:[+-]?[0-9]+{_MARK}{_WHOLE_NAME}|[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+){_MARK}decimal)>$'
_SHORT = f'^"([+-]?(?:[0-9]{{1,19}}(?={_MARK}{_WHOLE_NAME}>$)|(?:[0-9]+(?:[.][0-9]{{0,18}}0*)?|[.][0-9]{{1,18}}0*)(?={_MARK}decimal>$)))'
_DIGITS = "[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN"
_FLOAT, _DOUBLE, _FLOATING = (f'^"({_DIGITS}){_MARK}{name}>$' for name in ("float", "double", "(?:float|double)"))
_TRUTH = f'^"(true|false|1|0){_MARK}boolean>$'
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = "[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.][0-9]{1,6}0*)?"
_ZONE = "(?:Z|[+-][0-9]{2}:[0-9]{2})"
_ZONED = f'^"({_DAY}T{_TIME}{_ZONE}){_MARK}dateTime>$'
_LOCAL = f'^"({_DAY}T{_TIME}){_MARK}dateTime>$'
_DATE = f'^"({_DAY}){_MARK}date>$'
TIME: Final = f'^"({_DAY}(?:T{_TIME}{_ZONE}?)?){_MARK}(?:dateTime|date)>$'
"""A day or a time, whether it has a zone or not."""


def extracted(text: str, pattern: str) -> str:
    """Return the first group of a pattern, empty where it does not match; what is empty is no number and no time."""
    return f"regexp_extract({text}, {plain_text(pattern)}, 1)"


def matches(text: str, pattern: str) -> str:
    return f"regexp_extract({text}, {plain_text(pattern)}, 0) <> ''"


def is_iri(text: str) -> str:
    return f"{text} LIKE '<%'"


def is_blank(text: str) -> str:
    return f"substring({text}, 1, 1) = '_'"


def is_literal(text: str) -> str:
    return f"{text} LIKE '\"%'"


def suffix(text: str) -> str:
    """Return what follows the last quotation mark: nothing, ``@language`` or ``^^<datatype>``; of other terms their whole text."""
    return f"regexp_replace({text}, '(?s)^.*\"', '')"


def lexical(text: str) -> str:
    """Return the lexical form of a literal, meaningless for other terms."""
    return f"regexp_replace({text}, '^\"|\"[^\"]*$', '')"


def shown(text: str, *, is_resource: bool = False) -> str:
    """Return a term as people read it. An IRI holds no angle bracket but those around it, a blank node none."""
    return f"trim(BOTH '<>' FROM {text})" if is_resource else f"regexp_replace({text}, '^[\"<]|\"[^\"]*$|>$', '')"


def n_triples(text: str) -> str:
    """Return a term as N-Triples have it, with escapes (``terms.n_triples``)."""
    escaped = lexical(text)
    for code, letter in ((92, "char(92)"), (34, "char(34)"), (10, "'n'"), (13, "'r'")):
        escaped = f"replace({escaped}, char({code}), concat(char(92), {letter}))"
    return f"CASE WHEN {is_literal(text)} THEN concat('\"', {escaped}, '\"', {suffix(text)}) ELSE {text} END"


def string(text: str) -> str:
    """Return the lexical form of a text, with a language or without."""
    return f"CASE WHEN {is_text(text)} THEN {lexical(text)} END"


def is_text(text: str) -> str:
    return f"({text} LIKE '\"%\"' OR ({is_literal(text)} AND {suffix(text)} LIKE '@%'))"


def rank(text: str) -> str:
    """Return the type of a number, 0 integer, 1 decimal, 2 float, 3 double, by which the type of arithmetic is the greatest."""
    exact_rank, floating_rank = f"if({text} LIKE '%#decimal>', 1, 0)", f"if({text} LIKE '%#float>', 2, 3)"
    return f"CASE WHEN {matches(text, _EXACT)} THEN {exact_rank} WHEN {matches(text, _FLOATING)} THEN {floating_rank} END"


def exact(text: str) -> str:
    """Return the value of an integer or a decimal."""
    return f"try_cast({extracted(text, _SHORT)} AS {EXACT})"


def floating(text: str) -> str:
    """Return the value of a float or a double."""
    double, single = (f"try_cast(replace({extracted(text, pattern)}, 'INF', 'Infinity') AS" for pattern in (_DOUBLE, _FLOAT))
    return f"coalesce({double} DOUBLE), CAST({single} FLOAT) AS DOUBLE))"


def exact_constant(term: str) -> str:
    """Return the value of an integer or a decimal that is written down."""
    found = re.search(_SHORT, term)
    value = None if found is None else Decimal(found[1])
    return f"CAST({'NULL' if value is None or abs(value) >= _LARGEST else f'{value:f}'} AS {EXACT})"


def floating_constant(term: str) -> str:
    """Return the value of a float or a double that is written down."""
    value = number(term)
    if not isinstance(value, float):
        return "CAST(NULL AS DOUBLE)"
    name = "NaN" if isnan(value) else f"{'-' * (value < 0)}Infinity" if isinf(value) else repr(float(value))
    return f"CAST('{name}' AS DOUBLE)"


def number_text(text: str) -> str:
    """Return the lexical form of a number or a time, which has no quotation mark."""
    return f'regexp_extract({text}, \'^"([^"]*)"\', 1)'


def truth(text: str) -> str:
    """Return the value of an xsd:boolean."""
    return f"try_cast({extracted(text, _TRUTH)} AS BOOLEAN)"


def zoned(text: str) -> str:
    return f"try_cast({extracted(text, _ZONED)} AS TIMESTAMP)"


def local(text: str) -> str:
    return f"try_cast({extracted(text, _LOCAL)} AS TIMESTAMP_NTZ)"


def date(text: str) -> str:
    return f"try_cast({extracted(text, _DATE)} AS DATE)"


def constant(term: str, facet: Callable[[str], str]) -> str | None:
    """Return the value of a constant by one of ``truth``, ``zoned``, ``local`` and ``date`` as a literal, None where it is none."""
    pattern, name = _LITERALS[facet]
    found = re.search(pattern, term)
    if found is None:
        return None
    try:
        datetime.fromisoformat("2000-01-01" if facet is truth else found[1])
    except ValueError:
        return None
    return str(found[1] in ("true", "1")).upper() if facet is truth else f"{name} '{found[1]}'"


_LITERALS: Mapping[Callable[[str], str], tuple[str, str]] = {
    truth: (_TRUTH, ""),
    zoned: (_ZONED, "TIMESTAMP"),
    local: (_LOCAL, "TIMESTAMP_NTZ"),
    date: (_DATE, "DATE"),
}


def effective(text: str) -> str:
    """Return the effective boolean value. Source: section 17.2.2."""
    known = " OR ".join(f"{text} LIKE '%^^<{XSD}{name}>'" for name in (*INTEGERS, "decimal", "float", "double", "boolean"))
    return (
        f"CASE WHEN {is_text(text)} THEN length({lexical(text)}) > 0 "
        f"WHEN {rank(text)} IS NOT NULL THEN coalesce({exact(text)} <> 0, {floating(text)} <> 0 AND {text} NOT LIKE '\"NaN\"%') "
        f"WHEN {known} THEN coalesce({truth(text)}, FALSE) END"
    )


def language(text: str) -> str:
    found = f"CASE WHEN {suffix(text)} LIKE '@%' THEN substring({suffix(text)}, 2) ELSE '' END"
    return f"CASE WHEN {is_literal(text)} THEN {found} END"


def datatype(text: str) -> str:
    """Return the datatype of a literal as an IRI's term."""
    end = suffix(text)
    found = f"CASE WHEN {end} = '' THEN '<{XSD}string>' WHEN {end} LIKE '@%' THEN '<{RDF}langString>' ELSE substring({end}, 3) END"
    return f"CASE WHEN {is_literal(text)} THEN {found} END"


RESOURCE, NUMBER, TEXT, OF_LANGUAGE, TRUTH, ZONED, LOCAL, DATE, OTHER = range(9)
"""Families of terms: those of one are compared by value, those of two are different, and of OTHER it is unknown what they mean."""


_FAMILIES = ((_SHORT, NUMBER), (_FLOATING, NUMBER), (_TRUTH, TRUTH), (_ZONED, ZONED), (_LOCAL, LOCAL), (_DATE, DATE))


def family(text: str) -> str:
    others = " ".join(f"WHEN {matches(text, pattern)} THEN {place}" for pattern, place in _FAMILIES)
    return (
        f"CASE WHEN NOT {is_literal(text)} THEN {RESOURCE} WHEN {text} LIKE '%\"' THEN {TEXT} "
        f"WHEN {suffix(text)} LIKE '@%' THEN {OF_LANGUAGE} {others} WHEN {text} IS NOT NULL THEN {OTHER} END"
    )


def family_of(term: str) -> int:
    """Return the family of a constant."""
    if term[0] != '"':
        return RESOURCE
    if term[-1] != ">":
        return TEXT if term[-1] == '"' else OF_LANGUAGE
    return next((place for pattern, place in _FAMILIES if re.search(pattern, term)), OTHER)
