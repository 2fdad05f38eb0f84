"""What a term's text says, as SQL over the text: kind, lexical form, number, time. NULL where it does not say so, or not exactly.

Texts of numbers, truth values and times hold no quotation mark, so one regular expression tells datatype and validity at once. The
expressions have no backslash: two characters that are no ``<`` stand for ``^^``.

Numbers. Integers and decimals are DECIMAL(37, 18), doubles DOUBLE, floats the DOUBLE of a FLOAT. An integer of more than 19 digits, and a
decimal of more than 18 behind the point, has no such value: what is computed of it is unknown (NULL), never rounded.
Times. Those with a time zone are TIMESTAMP, those without TIMESTAMP_NTZ, of years with four digits and seconds of at most six behind the
point; others are unknown.
"""

from __future__ import annotations

from typing import Final

from imp_driver.sparql.terms import RDF, XSD
from imp_driver.values.quoting import plain_text

EXACT: Final = "DECIMAL(37, 18)"
"""One digit less than Spark has, so that the sum of two is exact before it is brought back."""

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
_MARK = f'"[^<]{{2}}<{XSD}'
_WHOLE_NAME = "(integer|(non)?[NnPp](ega|osi)tiveInteger|(unsigned)?([Ii]nt|[Ll]ong|[Ss]hort|[Bb]yte))"
_EXACT = f'^"[+-]?([0-9]+{_MARK}{_WHOLE_NAME}|([0-9]+([.][0-9]*)?|[.][0-9]+){_MARK}decimal)>$'
_SHORT = f'^"[+-]?([0-9]{{1,19}}{_MARK}{_WHOLE_NAME}|([0-9]+([.][0-9]{{0,18}}0*)?|[.][0-9]{{1,18}}0*){_MARK}decimal)>$'
_FLOATING = f'^"([+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN){_MARK}(float|double)>$'
_TRUTH = f'^"(true|false|1|0){_MARK}boolean>$'
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = "[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6}0*)?"
_ZONE = "(Z|[+-][0-9]{2}:[0-9]{2})"
_ZONED = f'^"{_DAY}T{_TIME}{_ZONE}{_MARK}dateTime>$'
_LOCAL = f'^"{_DAY}T{_TIME}{_MARK}dateTime>$'
_DATE = f'^"{_DAY}{_MARK}date>$'
TIME: Final = f'^"{_DAY}(T{_TIME}{_ZONE}?)?{_MARK}(dateTime|date)>$'
"""A day or a time, whether it has a zone or not."""


def matches(text: str, pattern: str) -> str:
    return f"{text} RLIKE {plain_text(pattern)}"


def is_iri(text: str) -> str:
    return f"{text} LIKE '<%'"


def is_blank(text: str) -> str:
    return f"substring({text}, 1, 1) = '_'"


def is_literal(text: str) -> str:
    return f"{text} LIKE '\"%'"


def suffix(text: str) -> str:
    """Return what follows the last quotation mark: nothing, ``@language`` or ``^^<datatype>``; of other terms their whole text."""
    return f"substring_index({text}, '\"', -1)"


def lexical(text: str) -> str:
    """Return the lexical form of a literal, meaningless for other terms."""
    return f"substring({text}, 2, length({text}) - length({suffix(text)}) - 2)"


def shown(text: str, *, is_resource: bool = False) -> str:
    """Return a term as people read it. An IRI holds no angle bracket but those around it, a blank node none."""
    resource = f"trim(BOTH '<>' FROM {text})"
    return resource if is_resource else f"CASE WHEN {is_literal(text)} THEN {lexical(text)} ELSE {resource} END"


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
    return f"CASE WHEN {matches(text, _SHORT)} THEN try_cast({number_text(text)} AS {EXACT}) END"


def floating(text: str) -> str:
    """Return the value of a float or a double."""
    digits = f"replace({number_text(text)}, 'INF', 'Infinity')"
    both = f"if({text} LIKE '%#float>', CAST(try_cast({digits} AS FLOAT) AS DOUBLE), try_cast({digits} AS DOUBLE))"
    return f"CASE WHEN {matches(text, _FLOATING)} THEN {both} END"


def number_text(text: str) -> str:
    return f"split_part({text}, '\"', 2)"


def truth(text: str) -> str:
    """Return the value of an xsd:boolean."""
    return f"CASE WHEN {matches(text, _TRUTH)} THEN {number_text(text)} IN ('true', '1') END"


def zoned(text: str) -> str:
    return f"CASE WHEN {matches(text, _ZONED)} THEN try_cast({number_text(text)} AS TIMESTAMP) END"


def local(text: str) -> str:
    return f"CASE WHEN {matches(text, _LOCAL)} THEN try_cast({number_text(text)} AS TIMESTAMP_NTZ) END"


def date(text: str) -> str:
    return f"CASE WHEN {matches(text, _DATE)} THEN try_cast({number_text(text)} AS DATE) END"


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


def family(text: str) -> str:
    patterns = ((_SHORT, NUMBER), (_FLOATING, NUMBER), (_TRUTH, TRUTH), (_ZONED, ZONED), (_LOCAL, LOCAL), (_DATE, DATE))
    others = " ".join(f"WHEN {matches(text, pattern)} THEN {place}" for pattern, place in patterns)
    return (
        f"CASE WHEN NOT {is_literal(text)} THEN {RESOURCE} WHEN {text} LIKE '%\"' THEN {TEXT} "
        f"WHEN {suffix(text)} LIKE '@%' THEN {OF_LANGUAGE} {others} WHEN {text} IS NOT NULL THEN {OTHER} END"
    )
