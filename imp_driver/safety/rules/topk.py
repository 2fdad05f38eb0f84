"""ORDER BY .. LIMIT: the first rows stay the first when no row can move ahead; nothing is known of fewer of them (rules 1.6).

Where the order may tie, the same holds of a table on which it does not: if each of the first rows sorts strictly before all others, and no
row of q(S) before its image, then the first rows of q(S) are the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nodes import OrderKey, TopK
from imp_driver.safety.levels import Bound, Derived, Level, Needs, Refusal, blocked, closure, fail
from imp_driver.safety.predicates import Row, bound_of
from imp_driver.safety.setting import Setting


def derive_topk(plan: TopK, child: Derived, setting: Setting) -> Derived:
    failed = blocked(child, note="a top-k above a top-k")
    if failed is not None:
        return failed
    note = _note(plan)
    if not is_total(plan, child):
        if free_identifiers(plan):
            return fail(Refusal.ORDER_NOT_TOTAL, "LIMIT for each row: add all group keys at the end of ORDER BY")
        child = replace(child, needs=child.needs | Needs(undecided=(plan,)))
        note += ", if no row ties with the next where it ends"
    if child.level is Level.FREE:
        return replace(child, note=note)
    row = Row.of(child, plan.child.output, setting)
    for key in plan.order:
        if not stays_behind(key, row):
            return fail(Refusal.ORDER_MAY_MOVE_AHEAD, f"{key.expression.sql(dialect='spark')} of part of a group could come first")
    return replace(child, level=Level.BARRIER, note=f"{note}: its rows are covered as a whole")


def is_total(plan: TopK, child: Derived) -> bool:
    """Say whether no two rows tie, or those that do are equal in every column."""
    decided = decided_by((key.expression for key in plan.order), child)
    return frozenset(attribute.identifier for attribute in plan.output) <= decided or has_unique(decided, child)


def decided_by(expressions: Iterable[exp.Expr], derived: Derived) -> frozenset[str]:
    """Return the attributes in which rows that agree in some expressions are equal."""
    names = frozenset(name for each in expressions if (name := plain_identifier(each)) is not None)
    return closure(names, derived.equal) | derived.constant


def has_unique(attributes: frozenset[str], derived: Derived) -> bool:
    """Say whether no two rows agree in all of some attributes."""
    return any(each <= attributes for each in derived.unique)


def stays_behind(key: OrderKey, row: Row) -> bool:
    """Say whether a partial row sorts no earlier than its full image by one key."""
    bound = bound_of(key.expression, row)
    if bound is Bound.EQUAL:
        return True
    # A partial group's value may be NULL where the full one is not, so NULL must come last.
    if key.nulls_first:
        return False
    return bound is (Bound.AT_MOST if key.descending else Bound.AT_LEAST)


def _note(plan: TopK) -> str:
    keys = ", ".join(f"{key.expression.sql(dialect='spark')}{' DESC' if key.descending else ''}" for key in plan.order)
    return f"top {plan.limit.sql(dialect='spark')} by {keys}"
