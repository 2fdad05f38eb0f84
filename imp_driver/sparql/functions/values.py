"""What literals stand for: from terms to Python's values and back.

A literal whose datatype is not known here, or whose lexical form is none of its datatype, has no value; nor has an IRI or a blank node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import lru_cache, partial
from typing import Final, TypeAlias

from imp_driver.sparql.functions.durations import Duration, DurationKind, read_duration, written_duration
from imp_driver.sparql.functions.moments import Moment, MomentKind, read_moment, written_moment
from imp_driver.sparql.functions.numerals import (
    INTEGERS,
    MOST_DIGITS,
    Number,
    Single,
    read_decimal,
    read_double,
    read_integer,
    read_single,
    written_decimal,
    written_double,
)
from imp_driver.sparql.terms import STRING, XSD, Term, literal, shown


@dataclass(frozen=True, slots=True)
class LanguageText:
    text: str
    language: str


Value: TypeAlias = Number | str | LanguageText | Moment | Duration
"""A bool is one too, of xsd:boolean: types are told apart as they are, not by isinstance."""

_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}
_KEPT: Final = 1 << 16
_INTEGER_END: Final = f'"^^<{XSD}integer>'

_READERS: Final[Mapping[str, Callable[[str], Value | None]]] = {
    **{f"{XSD}{name}": reader for name, reader in INTEGERS.items()},
    f"{XSD}decimal": read_decimal,
    f"{XSD}double": read_double,
    f"{XSD}float": read_single,
    f"{XSD}boolean": _BOOLEANS.get,
    STRING: str,
    **{f"{XSD}{kind.value}": partial(read_moment, kind) for kind in MomentKind},
    **{f"{XSD}{kind.value}": partial(read_duration, kind) for kind in DurationKind},
}

NUMERIC: Final = frozenset({*(f"{XSD}{name}" for name in INTEGERS), f"{XSD}decimal", f"{XSD}double", f"{XSD}float"})
"""Datatypes of numbers (section 17.1)."""

TRUE: Final = literal("true", f"{XSD}boolean")
FALSE: Final = literal("false", f"{XSD}boolean")


@lru_cache(maxsize=_KEPT)
def value(term: Term) -> Value | None:
    """Return what a literal stands for; None of a term without a value."""
    if term[0] != '"':
        return None
    if term[-1] == '"':
        return term[1:-1]
    end = term.rindex('"')
    if term[-1] != ">":
        return LanguageText(term[1:end], term[end + 2 :])
    reader = _READERS.get(term[end + 4 : -1])
    return None if reader is None else reader(term[1:end])


@lru_cache(maxsize=_KEPT)
def number(term: Term) -> Number | None:
    """Return the number that a literal stands for; None of all other terms."""
    if term.endswith(_INTEGER_END):
        # The most frequent form, without a regular expression.
        digits = term[1 : -len(_INTEGER_END)]
        return int(digits) if digits.isdigit() and digits.isascii() and len(digits) <= MOST_DIGITS else read_integer(digits)
    found = value.__wrapped__(term)
    return found if isinstance(found, (int, float, Decimal)) and not isinstance(found, bool) else None


def term_of(found: Value) -> Term:
    """Return the literal of a value, in its canonical form."""
    match found:
        case bool():
            return TRUE if found else FALSE
        case str():
            return f'"{found}"'
        case int():
            return f'"{found}"^^<{XSD}integer>'
        case Decimal():
            return f'"{written_decimal(found)}"^^<{XSD}decimal>'
        case Single():
            return f'"{written_double(found)}"^^<{XSD}float>'
        case float():
            return f'"{written_double(found)}"^^<{XSD}double>'
        case LanguageText(text, language):
            return f'"{text}"@{language}'
        case Moment(kind):
            return f'"{written_moment(found)}"^^<{XSD}{kind.value}>'
        case Duration(kind):
            return f'"{written_duration(found)}"^^<{XSD}{kind.value}>'


def typed(term: Term) -> object:
    """Return a term as Python has it: int, Decimal, float, bool, datetime, date; str of all that is none of these.

    A datetime has microseconds and years 1 to 9999; what it cannot hold stays text. A date has no time zone.
    """
    if term[0] != '"' or term[-1] == '"':
        return shown(term)
    match value(term):
        case bool() | int() | Decimal() as found:
            return found
        case float() as found:
            return float(found)
        case Moment() as found if found.kind is not MomentKind.TIME and 1 <= found.year <= 9999:
            return _datetime(found, shown(term)) if found.kind is MomentKind.DATE_TIME else date(found.year, found.month, found.day)
        case _:
            return shown(term)


def _datetime(found: Moment, text: str) -> datetime | str:
    micros = found.second * 1_000_000
    if micros != int(micros):
        return text
    second, micro = divmod(int(micros), 1_000_000)
    zone = None if found.zone is None else timezone(timedelta(minutes=found.zone))
    return datetime(found.year, found.month, found.day, found.hour, found.minute, second, micro, zone)
