"""Scalar subqueries: their value must not change, so nothing below them is cut unless it is pinned (rules 1.9)."""

from __future__ import annotations

from dataclasses import replace

from imp_driver.plan.nodes import Scalar
from imp_driver.safety.levels import Bound, Derived, Level, Refusal, fail


def derive_scalar(plan: Scalar, child: Derived, subquery: Derived) -> Derived:
    if child.level <= Level.BARRIER:
        return fail(child.refusal or Refusal.BELOW_A_BARRIER, "a subquery above a top-k")
    if subquery.level is not Level.FREE:
        return fail(Refusal.SUBQUERY_CUT, "the value of the scalar subquery would be computed from part of its rows")
    exact = all(child.bound(attribute.identifier) is Bound.EQUAL for attribute in plan.correlated)
    bounds = dict(child.bounds) if exact else {**child.bounds, plan.value.identifier: Bound.UNKNOWN}
    constant = child.constant if plan.correlated else child.constant | {plan.value.identifier}
    note = "scalar subquery" + (" for each row" if plan.correlated else "")
    return replace(child, bounds=bounds, constant=constant, needs=child.needs | subquery.needs, note=note)
