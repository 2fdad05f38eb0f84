"""ORDER BY .. LIMIT: the first rows stay the first when no row can move ahead; nothing is known of fewer of them (rules 1.6)."""

from __future__ import annotations

from dataclasses import replace

from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.nodes import OrderKey, TopK
from imp_driver.safety.levels import Bound, Derived, Level, Refusal, blocked, closure, fail
from imp_driver.safety.predicates import Row, bound_of
from imp_driver.safety.setting import Setting


def derive_topk(plan: TopK, child: Derived, setting: Setting) -> Derived:
    failed = blocked(child, note="a top-k above a top-k")
    if failed is not None:
        return failed
    if not is_total(plan, child):
        return fail(Refusal.ORDER_NOT_TOTAL, "add all group keys at the end of ORDER BY")
    if child.level is Level.FREE:
        return replace(child, note=_note(plan))
    row = Row.of(child, plan.child.output, setting)
    for key in plan.order:
        if not stays_behind(key, row):
            return fail(Refusal.ORDER_MAY_MOVE_AHEAD, f"{key.expression.sql(dialect='spark')} of part of a group could come first")
    return replace(child, level=Level.BARRIER, note=f"{_note(plan)}: its rows are covered as a whole")


def is_total(plan: TopK, child: Derived) -> bool:
    """Say whether no two rows tie, or those that do are equal in every column."""
    names = frozenset(name for key in plan.order if (name := plain_identifier(key.expression)) is not None)
    decided = closure(names, child.equal) | child.constant
    columns = frozenset(attribute.identifier for attribute in plan.output)
    return columns <= decided or any(each <= decided for each in child.unique)


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
