"""DISTINCT: one surviving copy is enough, so only kept determining columns keep rows aligned (rules 1.4)."""

from __future__ import annotations

from dataclasses import replace

from imp_driver.plan.nodes import Distinct
from imp_driver.safety.levels import Derived, Level, Refusal, fail


def derive_distinct(plan: Distinct, child: Derived) -> Derived:
    unique = (frozenset(attribute.identifier for attribute in plan.output),)
    if child.level is Level.FAIL:
        return fail(child.refusal or Refusal.BELOW_A_BARRIER, "distinct")
    if child.level is Level.BOUNDED:
        return fail(Refusal.BOUNDED_KEY, "distinct over a value computed from part of a group")
    level, determined = child.level, child.determined
    if level is Level.ALIGNED and not all(child.determined.values()):
        level, determined = Level.SUBSET, {}
    return replace(child, level=level, determined=determined, unique=unique, note="distinct")
