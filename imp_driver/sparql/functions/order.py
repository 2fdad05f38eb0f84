"""The order of terms that ORDER BY has, and MIN and MAX with it (section 15.1): a key that sorts them.

Unbound is first, then blank nodes, IRIs and literals. Where the operator ``<`` says that one literal is less, it is first; what ``<`` does
not compare stands by kinds, and within a kind by text, so that an order is total and always the same. Values that are equal tie, however
they are written. NaN is before all numbers.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache
from typing import Final, TypeAlias

from imp_driver.sparql.functions.durations import Duration
from imp_driver.sparql.functions.moments import Moment
from imp_driver.sparql.functions.numerals import Number
from imp_driver.sparql.functions.values import LanguageText, value
from imp_driver.sparql.terms import Term

OrderKey: TypeAlias = tuple[int, object, object]

UNBOUND: Final[OrderKey] = (0, "", "")
_BLANK, _IRI, _NUMBER, _TEXT, _LANGUAGE, _BOOLEAN, _MOMENT, _DURATION, _OTHER = range(1, 10)
_KEPT: Final = 1 << 16


def order_key(term: Term | None) -> OrderKey:
    """Return what sorts terms by Python's ``<``; keys that are equal tie."""
    return UNBOUND if term is None else _key(term)


@lru_cache(maxsize=_KEPT)
def _key(term: Term) -> OrderKey:
    if term[0] != '"':
        return (_BLANK if term[0] == "_" else _IRI), term, ""
    match value(term):
        case None:
            return _OTHER, term, ""
        case bool() as found:
            return _BOOLEAN, found, ""
        case str() as found:
            return _TEXT, found, ""
        case int() | Decimal() | float() as found:
            return _number_key(found)
        case LanguageText(text, language):
            return _LANGUAGE, text, language
        case Moment() as found:
            return _MOMENT, found.kind.value, (found.instant, found.zone is not None)
        case Duration() as found:
            return _DURATION, found.months, found.seconds


def _number_key(found: Number) -> OrderKey:
    """Return the place of a number: a double by the fewest digits that tell it apart, so that 0.1 as a decimal and as a double tie.

    This is monotone as promotion is: where a decimal, made a double, is less than a double, it is less than its digits.
    """
    if not isinstance(found, float):
        return _NUMBER, 1, found
    if math.isnan(found):
        return _NUMBER, 0, 0
    return _NUMBER, 1, found if math.isinf(found) else Decimal(repr(float(found)))
