"""Logic of three values as functions of solutions: True, False, and None for an error (section 17.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from imp_driver.sparql.terms import Term

Solution: TypeAlias = tuple[Term | None, ...]
"""One value per variable of a fixed order, None unbound."""

ValueOf: TypeAlias = Callable[[Solution], Term | None]
TruthOf: TypeAlias = Callable[[Solution], bool | None]
OfTerms: TypeAlias = Callable[..., Term | None]
"""A function of terms."""

TestOfTerms: TypeAlias = Callable[..., bool | None]
"""What is true or false of terms."""


def both(left: TruthOf, right: TruthOf) -> TruthOf:
    """``&&``: false where either is, an error where either is one otherwise."""

    def truth(solution: Solution) -> bool | None:
        first = left(solution)
        if first is False:
            return False
        second = right(solution)
        return second if first or second is False else None

    return truth


def either(left: TruthOf, right: TruthOf) -> TruthOf:
    """``||``: true where either is, an error where either is one otherwise."""

    def truth(solution: Solution) -> bool | None:
        first = left(solution)
        if first:
            return True
        second = right(solution)
        return second if first is False or second else None

    return truth


def negation(inner: TruthOf) -> TruthOf:
    def truth(solution: Solution) -> bool | None:
        found = inner(solution)
        return None if found is None else not found

    return truth


def any_of(found: Sequence[bool | None]) -> bool | None:
    """Return what a chain of ``||`` says."""
    return True if True in found else None if None in found else False


def constant(truth: bool | None) -> TruthOf:
    return lambda solution: truth
