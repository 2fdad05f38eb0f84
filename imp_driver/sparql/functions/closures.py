"""What compiled expressions are put together from: functions of solutions made of functions of solutions. None is an error."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from imp_driver.sparql.functions.comparison import effective
from imp_driver.sparql.functions.logic import OfTerms, Solution, TestOfTerms, TruthOf, ValueOf
from imp_driver.sparql.functions.numerals import Number
from imp_driver.sparql.functions.strings import plain
from imp_driver.sparql.functions.values import FALSE, TRUE, term_of
from imp_driver.sparql.terms import Term, blank

NumberOf: TypeAlias = Callable[[Solution], Number | None]
T = TypeVar("T")

_TERMS: Final[Mapping[bool | None, Term | None]] = {True: TRUE, False: FALSE, None: None}


def error(solution: Solution) -> None:
    return None


def as_term(truth: TruthOf) -> ValueOf:
    return lambda solution: _TERMS[truth(solution)]


def written_number(value: NumberOf) -> ValueOf:
    def term(solution: Solution) -> Term | None:
        found = value(solution)
        return None if found is None else term_of(found)

    return term


def effective_of(value: ValueOf) -> TruthOf:
    def truth(solution: Solution) -> bool | None:
        term = value(solution)
        return None if term is None else effective(term)

    return truth


def conditional(condition: TruthOf, one: ValueOf, other: ValueOf) -> ValueOf:
    def value(solution: Solution) -> Term | None:
        found = condition(solution)
        return None if found is None else one(solution) if found else other(solution)

    return value


def first_of(values: Sequence[ValueOf]) -> ValueOf:
    return lambda solution: next((found for each in values if (found := each(solution)) is not None), None)


def labelled_blank(salt: str, label: ValueOf) -> ValueOf:
    """Return BNODE of a text: one blank node for one text in equal solutions, wherever ``salt`` is the same."""

    def value(solution: Solution) -> Term | None:
        term = label(solution)
        found = None if term is None else plain(term)
        if found is None:
            return None
        return blank(f"n{hashlib.sha256(repr((salt, found, solution)).encode()).hexdigest()[:32]}")

    return value


def blank_of(own: ValueOf, label: ValueOf) -> ValueOf:
    """Return BNODE of a text in a solution with a node of its own."""

    def value(solution: Solution) -> Term | None:
        node, term = own(solution), label(solution)
        found = None if node is None or term is None else plain(term)
        return None if found is None else blank(f"n{hashlib.sha256(repr((node, found)).encode()).hexdigest()[:32]}")

    return value


def applied(call: OfTerms, values: Sequence[ValueOf]) -> ValueOf:
    """Return a function of the values, an error where one of them is."""
    if len(values) == 1:
        inner = values[0]

        def of_one(solution: Solution) -> Term | None:
            term = inner(solution)
            return None if term is None else call(term)

        return of_one

    def of_all(solution: Solution) -> Term | None:
        terms = [each(solution) for each in values]
        return None if None in terms else call(*terms)

    return of_all


def applied_test(call: TestOfTerms, values: Sequence[ValueOf]) -> TruthOf:
    def truth(solution: Solution) -> bool | None:
        terms = [each(solution) for each in values]
        return None if None in terms else call(*terms)

    return truth


def of_one_number(call: Callable[[Number], Number], value: NumberOf) -> NumberOf:
    def of_one(solution: Solution) -> Number | None:
        found = value(solution)
        return None if found is None else call(found)

    return of_one


def of_numbers(call: Callable[[Number, Number], T | None], left: NumberOf, right: NumberOf) -> Callable[[Solution], T | None]:
    def of_two(solution: Solution) -> T | None:
        one, other = left(solution), right(solution)
        return None if one is None or other is None else call(one, other)

    return of_two
