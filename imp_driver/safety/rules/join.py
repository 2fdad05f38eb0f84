"""Joins: pairs survive exactly when both parts do; null-supplying sides must be whole or cut in step (rules 1.4, 1.7)."""

from __future__ import annotations

from dataclasses import replace

from imp_driver.plan.attributes import by_identifier, identifiers
from imp_driver.plan.nodes import Join, JoinKind
from imp_driver.safety.levels import Derived, Level, Refusal, blocked, fail
from imp_driver.safety.predicates import Row
from imp_driver.safety.rules.conditions import learned, not_preserved
from imp_driver.safety.rules.copartition import cut_in_step, in_step
from imp_driver.safety.setting import Setting


def derive_join(plan: Join, left: Derived, right: Derived, setting: Setting) -> Derived:
    failed = blocked(left, right, note="a join above a top-k could drop rows of it")
    if failed is not None:
        return failed
    if plan.kind is JoinKind.INNER:
        return _inner(plan, left, right, setting)
    return _outer(plan, left, right, setting)


def combined(left: Derived, right: Derived, level: Level, note: str) -> Derived:
    """Put two inputs side by side."""
    return Derived(
        level,
        bounds={**left.bounds, **right.bounds},
        determined={**left.determined, **right.determined} if level is Level.ALIGNED else {},
        equal=left.equal + right.equal,
        constant=left.constant | right.constant,
        intervals={**left.intervals, **right.intervals},
        unique=tuple(one | other for one in left.unique for other in right.unique),
        needs=left.needs | right.needs,
        note=note,
    )


def _inner(plan: Join, left: Derived, right: Derived, setting: Setting) -> Derived:
    lowest = min(left.level, right.level)
    joined = combined(left, right, lowest, f"inner join on {_text(plan) or 'nothing'}")
    if lowest is Level.BOUNDED:
        refused = not_preserved(plan.conjuncts, Row.of(joined, plan.output, setting))
        if refused is not None:
            return refused
    return learned(joined, plan.conjuncts, by_identifier(plan.output))


def _outer(plan: Join, left: Derived, right: Derived, setting: Setting) -> Derived:
    note = f"{plan.kind.value} on {_text(plan)}"
    if left.level is Level.FREE and right.level is Level.FREE:
        return _without_right(combined(left, right, Level.FREE, note), plan)
    if plan.kind is JoinKind.LEFT and right.level is Level.FREE:
        if left.level is Level.BOUNDED and not all(left.is_exact(identifiers(conjunct)) for conjunct in plan.conjuncts):
            return fail(Refusal.NOT_UPWARD_CLOSED, "the join condition reads a value computed from part of a group")
        return _without_right(combined(left, right, left.level, note), plan)
    shared = in_step(left, right, plan.conjuncts, by_identifier(plan.output), setting)
    if shared is None:
        return fail(Refusal.OUTER_SIDE_CUT, f"{note}: the side that may be missing is cut on its own")
    joined = _without_right(combined(left, right, Level.ALIGNED, note + ", both sides cut in step"), plan)
    determined = shared if plan.kind is JoinKind.LEFT else frozenset()
    return cut_in_step(joined, (left, right), determined)


def _without_right(joined: Derived, plan: Join) -> Derived:
    """Rows without a partner have NULL on the other side: what was known of that side alone no longer holds for all rows."""
    lost = {attribute.identifier for attribute in plan.right.output}
    if plan.kind is JoinKind.FULL:
        lost |= {attribute.identifier for attribute in plan.left.output}
    return replace(
        joined,
        equal=tuple(each for each in (names - lost for names in joined.equal) if len(each) > 1),
        constant=joined.constant - lost,
        unique=(),
        determined={occurrence: names - lost for occurrence, names in joined.determined.items()},
    )


def _text(plan: Join) -> str:
    return " AND ".join(conjunct.sql(dialect="spark") for conjunct in plan.conjuncts)
