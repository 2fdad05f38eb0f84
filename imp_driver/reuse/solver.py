"""Implication between conditions, asked of z3 (sketch-reuse rules 2.4): the optional, slower and stronger sibling of the cheap tests.

The negation is asserted; only "unsatisfiable" is yes. A missing library, a question of too much effort and "unknown" are no.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from sqlglot import exp

from imp_driver.plan.attributes import identifiers
from imp_driver.reuse.encoding import Encoder
from imp_driver.reuse.terms import Algebra, Term
from imp_driver.reuse.types import Family, value_type
from imp_driver.safety.levels import Bound

DEFAULT_EFFORT = 400_000
"""z3's units of work, some tenth of a second: unlike time the same on a loaded machine. Proofs that were found took 32,000 at most."""


def proves(
    new: tuple[exp.Expr, ...],
    old: tuple[exp.Expr, ...],
    types: Mapping[str, str | None],
    relation: Mapping[str, Bound] | None = None,
    *,
    effort: int = DEFAULT_EFFORT,
    checks_overflow: bool = False,
) -> bool:
    """Say whether z3 proves that ``new`` true for the new values makes ``old`` true for the old ones.

    ``relation`` says how the new value of an attribute relates to its old one; an attribute that is missing is EQUAL.
    ``checks_overflow`` is ANSI mode, in which no row survives an overflow; otherwise sums that leave their type prove nothing.
    """
    try:
        engine: Any = import_module("z3")
    except ImportError:
        return False
    # z3's common context belongs to the application, and may be used by one thread at a time only.
    algebra = Algebra(engine, engine.Context(), {}, checks_overflow)
    solver = engine.Solver(ctx=algebra.context)
    solver.set("rlimit", effort)
    try:
        solver.add(_negation(algebra, new, old, types, relation or {}))
        return bool(solver.check() == engine.unsat)
    except engine.Z3Exception:
        return False


def _negation(
    algebra: Algebra,
    new: tuple[exp.Expr, ...],
    old: tuple[exp.Expr, ...],
    types: Mapping[str, str | None],
    relation: Mapping[str, Bound],
) -> Any:
    """Return the formula of a counter-example: values and old values that are related, ``new`` true and ``old`` not true."""
    names = sorted(frozenset().union(*(identifiers(each) for each in (*new, *old))))
    now = {name: algebra.attribute(f"{name} now", value_type(types.get(name))) for name in names}
    then = dict(now)
    known = []
    for name in names:
        bound = relation.get(name, Bound.EQUAL)
        if bound is not Bound.EQUAL:
            then[name] = algebra.attribute(f"{name} then", now[name].kind)
            known += _related(algebra, bound, now[name], then[name])
        known += [formula for term in (now[name], then[name]) for formula in _range(algebra, term)]
    premise = [Encoder(algebra, now).condition(each).true for each in new]
    conclusion = [Encoder(algebra, then).condition(each).true for each in old]
    return algebra.every([*known, *premise, algebra.no(algebra.every(conclusion))])


def _related(algebra: Algebra, bound: Bound, now: Term, then: Term) -> list[Any]:
    if bound is Bound.AT_MOST:
        return [algebra.at_most(now, then)]
    return [algebra.at_least(now, then)] if bound is Bound.AT_LEAST else []


def _range(algebra: Algebra, term: Term) -> list[Any]:
    is_integer = term.kind is not None and term.kind.family is Family.INTEGER
    return [algebra.in_range(term.value, term.kind)] if is_integer and term.kind is not None else []
