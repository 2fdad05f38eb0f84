"""Calls on terms that tests write briefly: ``"1"^^integer`` for a literal of XML Schema."""

from __future__ import annotations

import re

from imp_driver.sparql.algebra import Call, Constant, Expression
from imp_driver.sparql.functions.compiled import Solution, value_of
from imp_driver.sparql.terms import XSD, Term


def full(term: str) -> Term:
    return re.sub(r'"\^\^([a-zA-Z]+)$', rf'"^^<{XSD}\1>', term)


def named(name: str) -> str:
    """Return the name of a function; ``xsd:integer`` is a cast."""
    return f"<{XSD}{name[4:]}>" if name.startswith("xsd:") else name


def no_exists(pattern: object) -> object:
    raise AssertionError("no pattern is asked for")


def evaluated(expression: Expression, solution: Solution = ()) -> Term | None:
    return value_of(expression, {}, no_exists)(solution)  # type: ignore[arg-type]  # never called


def of_terms(name: str, *terms: str) -> Term | None:
    """Return what a function has of terms."""
    return evaluated(Call(named(name), tuple(Constant(full(each)) for each in terms)))


def outcome(term: str | None) -> Term | None:
    """Return what is expected: true and false stand for themselves."""
    if term in ("true", "false"):
        return full(f'"{term}"^^boolean')
    return None if term is None else full(term)
