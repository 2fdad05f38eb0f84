"""The functions of SPARQL 1.1 by name, but for those that see more than the values of their arguments (``compiled.py`` has these)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from imp_driver.sparql.functions import arithmetic, dates, regular_expressions, strings, terms_made
from imp_driver.sparql.functions.casts import CASTS
from imp_driver.sparql.functions.logic import OfTerms, TestOfTerms
from imp_driver.sparql.functions.numerals import Number
from imp_driver.sparql.functions.values import number, term_of
from imp_driver.sparql.terms import Term


@dataclass(frozen=True, slots=True)
class Function:
    """What gives a term of terms, and how many it takes; None without end."""

    call: OfTerms
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Predicate:
    """What is true or false of terms, and how many it takes."""

    call: TestOfTerms
    least: int
    most: int


def _numeric(computed: Callable[[Number], Number]) -> OfTerms:
    def call(term: Term) -> Term | None:
        found = number(term)
        return None if found is None else term_of(computed(found))

    return call


PREDICATES: Final[Mapping[str, Predicate]] = {
    "ISIRI": Predicate(terms_made.is_iri, 1, 1),
    "ISURI": Predicate(terms_made.is_iri, 1, 1),
    "ISBLANK": Predicate(terms_made.is_blank, 1, 1),
    "ISLITERAL": Predicate(terms_made.is_literal, 1, 1),
    "ISNUMERIC": Predicate(terms_made.is_numeric, 1, 1),
    "SAMETERM": Predicate(terms_made.is_same, 2, 2),
    "STRSTARTS": Predicate(strings.starts, 2, 2),
    "STRENDS": Predicate(strings.ends, 2, 2),
    "CONTAINS": Predicate(strings.contains, 2, 2),
    "LANGMATCHES": Predicate(strings.language_matches, 2, 2),
    "REGEX": Predicate(regular_expressions.matches, 2, 3),
}

FUNCTIONS: Final[Mapping[str, Function]] = {
    "STR": Function(terms_made.text, 1, 1),
    "LANG": Function(terms_made.language_of, 1, 1),
    "DATATYPE": Function(terms_made.datatype_of, 1, 1),
    "IRI": Function(terms_made.as_iri, 1, 2),
    "URI": Function(terms_made.as_iri, 1, 2),
    "STRDT": Function(terms_made.with_datatype, 2, 2),
    "STRLANG": Function(terms_made.with_language, 2, 2),
    "UUID": Function(terms_made.new_uuid, 0, 0),
    "STRUUID": Function(terms_made.new_uuid_text, 0, 0),
    "RAND": Function(lambda: term_of(random.random()), 0, 0),
    "STRLEN": Function(strings.string_length, 1, 1),
    "SUBSTR": Function(strings.substring, 2, 3),
    "UCASE": Function(strings.upper, 1, 1),
    "LCASE": Function(strings.lower, 1, 1),
    "STRBEFORE": Function(strings.before, 2, 2),
    "STRAFTER": Function(strings.after, 2, 2),
    "ENCODE_FOR_URI": Function(strings.encoded_for_uri, 1, 1),
    "CONCAT": Function(strings.concatenated, 0, None),
    "REPLACE": Function(regular_expressions.replaced, 3, 4),
    "ABS": Function(_numeric(arithmetic.absolute), 1, 1),
    "ROUND": Function(_numeric(arithmetic.nearest), 1, 1),
    "CEIL": Function(_numeric(arithmetic.ceiling), 1, 1),
    "FLOOR": Function(_numeric(arithmetic.floor), 1, 1),
    "YEAR": Function(dates.year, 1, 1),
    "MONTH": Function(dates.month, 1, 1),
    "DAY": Function(dates.day, 1, 1),
    "HOURS": Function(dates.hours, 1, 1),
    "MINUTES": Function(dates.minutes, 1, 1),
    "SECONDS": Function(dates.seconds, 1, 1),
    "TIMEZONE": Function(dates.time_zone, 1, 1),
    "TZ": Function(dates.zone_text, 1, 1),
    **{name: Function(terms_made.hashed(name), 1, 1) for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")},
    **{name: Function(cast, 1, 1) for name, cast in CASTS.items()},
}
