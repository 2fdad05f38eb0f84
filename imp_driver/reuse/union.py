"""Whether several states together serve a block of rows: each of its rows is a row of one of them (sketch-reuse rules 2.3, unions).

For blocks of rows only. A group may have some of its rows in one state and some in another, and then no state knows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from sqlglot import exp

from imp_driver.plan.attributes import conjuncts_of
from imp_driver.reuse.decide import EQUAL, Conjuncts, Implication, implications

MOST_CASES = 64
"""Cases that a condition is split into, at most: the values of its lists and the sides of its ORs, each with each."""


def covering(new: Conjuncts, olds: Sequence[Conjuncts], types: Mapping[str, str | None], *, with_solver: bool) -> tuple[int, ...] | None:
    """Return which of some states' row conditions together hold every row of ``new``, none of them superfluous; None when they do not."""
    by_atoms, by_solver = implications(types)
    kept = list(range(len(olds)))

    def covers(places: Sequence[int]) -> bool:
        chosen = [olds[place] for place in places]
        return bool(chosen) and (_case_by_case(new, chosen, by_atoms) or (with_solver and by_solver(new, (_any_of(chosen),), EQUAL)))

    if not covers(kept):
        return None
    for place in list(kept):
        rest = [each for each in kept if each != place]
        if covers(rest):
            kept = rest
    return tuple(kept)


def _case_by_case(new: Conjuncts, olds: Sequence[Conjuncts], implied: Implication) -> bool:
    cases = list(_cases(new))
    return len(cases) <= MOST_CASES and all(any(implied(case, old, EQUAL) for old in olds) for case in cases)


def _cases(conjuncts: Conjuncts) -> Iterator[Conjuncts]:
    """Yield conjunctions whose disjunction the given one implies."""
    sides = [tuple(_sides(each)) for whole in conjuncts for each in conjuncts_of(whole)]
    total = 1
    for each in sides:
        total *= len(each)
    yield from product(*sides) if total <= MOST_CASES else (conjuncts,)


def _sides(conjunct: exp.Expr) -> Iterator[exp.Expr]:
    node = conjunct.unnest()
    if isinstance(node, exp.Or):
        yield from _sides(node.left)
        yield from _sides(node.right)
    elif isinstance(node, exp.In) and {_kind(each) for each in node.expressions} in ({"text"}, {"whole number"}):
        # Only then does Spark compare with each value as it would with that value alone.
        yield from (exp.EQ(this=node.this.copy(), expression=each.copy()) for each in node.expressions)
    else:
        yield node


def _kind(value: exp.Expr) -> str:
    node = value.this if isinstance(value, exp.Neg) else value
    if not isinstance(node, exp.Literal):
        return ""
    return "text" if node.is_string else "whole number" if str(node.this).isdigit() else ""


def _any_of(olds: Sequence[Conjuncts]) -> exp.Expr:
    sides = [exp.and_(*(each.copy() for each in old), copy=False) if old else exp.true() for old in olds]
    return exp.or_(*sides, copy=False)
