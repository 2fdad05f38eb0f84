"""Comparisons that most filters are made of, as closures without a detour: of a variable with a constant, and with several of them (IN).

What an element of a solution says is the same whenever it comes again, so the few last answers of IN are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from imp_driver.sparql.functions.comparison import COMPARISONS, compared, equal, numbers_compared
from imp_driver.sparql.functions.logic import Solution, TruthOf, any_of
from imp_driver.sparql.functions.numerals import Number
from imp_driver.sparql.functions.values import number
from imp_driver.sparql.terms import Term

_KEPT: Final = 1 << 12


def with_number(symbol: str, place: int, constant: Number) -> TruthOf:
    """Return ``?variable < constant``, or another comparison of order; what is no number is an error."""
    comparison: Callable[[Any, Any], bool] = COMPARISONS[symbol]
    kind = type(constant)

    def truth(solution: Solution) -> bool | None:
        term = solution[place]
        if term is None:
            return None
        found = number(term)
        if type(found) is kind:
            return comparison(found, constant)
        return None if found is None else numbers_compared(comparison, found, constant)

    return truth


def with_term(place: int, constant: Term) -> TruthOf:
    """Return ``?variable = constant`` for any term."""
    if constant[0] != '"':
        return _with_reference(place, constant)
    sought = number(constant)
    if sought is not None:
        return _equal_to_number(place, constant, sought)

    def truth(solution: Solution) -> bool | None:
        term = solution[place]
        return None if term is None else equal(term, constant)

    return truth


def _equal_to_number(place: int, constant: Term, sought: Number) -> TruthOf:
    kind = type(sought)

    def truth(solution: Solution) -> bool | None:
        term = solution[place]
        if term is None:
            return None
        found = number(term)
        if type(found) is kind:
            return found == sought
        return equal(term, constant)

    return truth


def _with_reference(place: int, constant: Term) -> TruthOf:
    """Return equality with an IRI, or a blank node: that of terms."""

    def truth(solution: Solution) -> bool | None:
        term = solution[place]
        return None if term is None else term == constant

    return truth


def of_two(place: int, other_place: int) -> TruthOf:
    """Return ``?variable = ?other``."""

    def truth(solution: Solution) -> bool | None:
        one, other = solution[place], solution[other_place]
        return None if one is None or other is None else equal(one, other)

    return truth


def order_of_two(symbol: str, place: int, other_place: int) -> TruthOf:
    """Return ``?variable < ?other``, or another comparison of order."""
    comparison = COMPARISONS[symbol]

    def truth(solution: Solution) -> bool | None:
        one, other = solution[place], solution[other_place]
        return None if one is None or other is None else compared(comparison, one, other)

    return truth


def among(place: int, constants: Sequence[Term]) -> TruthOf:
    """Return ``?variable IN (constant, ..)``."""
    references = frozenset(each for each in constants if each[0] != '"')
    literals = tuple(each for each in constants if each[0] == '"')
    texts = frozenset(literals)
    have_texts_only = all(each[-1] == '"' for each in literals)
    numbers = frozenset(found for each in literals if isinstance(found := number(each), (int, Decimal)))
    have_exact_numbers_only = all(isinstance(number(each), (int, Decimal)) for each in literals)

    @lru_cache(maxsize=_KEPT)
    def is_among(term: Term) -> bool | None:
        return any_of([equal(term, each) for each in literals])

    def truth(solution: Solution) -> bool | None:
        term = solution[place]
        if term is None:
            return None
        if term[0] != '"':
            return term in references
        if have_texts_only and term[-1] == '"':
            return term in texts
        if have_exact_numbers_only and isinstance(found := number(term), (int, Decimal)):
            return found in numbers
        return is_among(term)

    return truth
