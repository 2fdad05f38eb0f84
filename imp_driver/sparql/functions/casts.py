"""Casts to datatypes of XML Schema (section 17.5; XPath functions 2.0, section 17.1). None is an error.

What is cast is a literal of a known datatype, or a text without a language, whose white space at both ends is dropped; an IRI becomes an
xsd:string alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from imp_driver.sparql.functions.arithmetic import truncated
from imp_driver.sparql.functions.durations import Duration
from imp_driver.sparql.functions.moments import Moment, MomentKind, converted
from imp_driver.sparql.functions.numerals import (
    RANKS,
    Number,
    as_double,
    fewest_digits,
    promoted,
    single,
    without_sign_of_zero,
    written_decimal,
    written_double,
)
from imp_driver.sparql.functions.values import LanguageText, Value, term_of, value
from imp_driver.sparql.terms import STRING, XSD, Term, iri, lexical, literal

_WHITE: Final = " \t\n\r"


def _as_boolean(found: Value) -> Value | None:
    if isinstance(found, bool):
        return found
    return found == found and found != 0 if type(found) in RANKS else None


def _number(found: Value) -> Number | None:
    if isinstance(found, bool):
        return int(found)
    return found if isinstance(found, (int, Decimal, float)) else None


def _as_double(found: Value) -> Value | None:
    number = _number(found)
    return None if number is None else as_double(number)


def _as_single(found: Value) -> Value | None:
    number = _number(found)
    return None if number is None else single(as_double(number))


def _as_decimal(found: Value) -> Value | None:
    """Return a decimal: a whole double exactly, another one by the fewest digits that tell it apart."""
    number = _number(found)
    if isinstance(number, float):
        if not math.isfinite(number):
            return None
        return Decimal(int(number)) if number.is_integer() else without_sign_of_zero(Decimal(fewest_digits(number)))
    return None if number is None else promoted(number, 1)


def _as_integer(found: Value) -> Value | None:
    number = _number(found)
    return None if number is None else truncated(number)


def _as_moment(kind: MomentKind) -> Callable[[Value], Value | None]:
    return lambda found: converted(found, kind) if isinstance(found, Moment) else None


_CASTS: Final[Mapping[str, Callable[[Value], Value | None]]] = {
    f"{XSD}boolean": _as_boolean,
    f"{XSD}double": _as_double,
    f"{XSD}float": _as_single,
    f"{XSD}decimal": _as_decimal,
    f"{XSD}integer": _as_integer,
    **{f"{XSD}{kind.value}": _as_moment(kind) for kind in MomentKind},
}


def _cast(target: str) -> Callable[[Term], Term | None]:
    convert = _CASTS[target]

    def cast(term: Term) -> Term | None:
        found = value(term)
        if isinstance(found, str):
            found = value(literal(found.strip(_WHITE), target))
        converted = None if found is None else convert(found)
        return None if converted is None else term_of(converted)

    return cast


def as_text(term: Term) -> Term | None:
    """Cast to xsd:string: an IRI as it is, a value in its form of XPath, without an exponent for middling numbers."""
    if term[0] == "<":
        return literal(lexical(term))
    found = value(term)
    match found:
        case None | LanguageText():
            return None
        case str():
            return term
        case Decimal():
            return literal(written_decimal(found).removesuffix(".0"))
        case float():
            return literal(_text_of_double(found))
        case bool() | int() | Moment() | Duration():
            return literal(lexical(term_of(found)))


def _text_of_double(found: float) -> str:
    if found == 0:
        return "-0" if math.copysign(1, found) < 0 else "0"
    if 1e-6 <= abs(found) < 1e6:
        return written_decimal(Decimal(fewest_digits(found))).removesuffix(".0")
    return written_double(found)


CASTS: Final[Mapping[str, Callable[[Term], Term | None]]] = {**{iri(name): _cast(name) for name in _CASTS}, iri(STRING): as_text}
"""Casts by the IRIs of their datatypes, as terms."""
