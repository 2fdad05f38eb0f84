"""Scalar subqueries: their value must not change, so nothing below them is cut, unless in step with the row around (rules 1.7, 1.9)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from imp_driver.plan.attributes import by_identifier
from imp_driver.plan.nodes import Filter, Scalar
from imp_driver.safety.levels import Bound, Derived, Level, Refusal, blocked, fail
from imp_driver.safety.rules.copartition import cut_in_step, in_step
from imp_driver.safety.setting import Setting


@dataclass(frozen=True, slots=True)
class CorrelatedRows:
    """The rows that one aggregate of a subquery reads: those of ``below`` that pass ``filter``, which compares with the row around."""

    filter: Filter
    below: Derived


def derive_scalar(plan: Scalar, child: Derived, subquery: Derived, rows: CorrelatedRows | None, setting: Setting) -> Derived:
    """Derive the row around with the value. ``rows`` is None unless the subquery is one aggregate over a correlated filter."""
    failed = blocked(child, note="a subquery above a top-k")
    if failed is not None:
        return failed
    note = "scalar subquery" + (" for each row" if plan.correlated else "")
    if subquery.level is not Level.FREE:
        return _in_step(plan, child, subquery, rows, setting, note)
    exact = child.is_exact(attribute.identifier for attribute in plan.correlated)
    bounds = dict(child.bounds) if exact else {**child.bounds, plan.value.identifier: Bound.UNKNOWN}
    constant = child.constant if plan.correlated else child.constant | {plan.value.identifier}
    return replace(child, bounds=bounds, constant=constant, needs=child.needs | subquery.needs, note=note)


def _in_step(plan: Scalar, child: Derived, subquery: Derived, rows: CorrelatedRows | None, setting: Setting, note: str) -> Derived:
    """A subquery that reads the rows of the row's own fragment only has its value wherever the row is."""
    types = by_identifier(plan.child.output)
    shared = None
    if rows is not None:
        shared = in_step(child, rows.below, rows.filter.conjuncts, {**types, **by_identifier(rows.filter.output)}, setting)
    if rows is None or shared is None:
        return fail(Refusal.SUBQUERY_CUT, "the value of the scalar subquery would be computed from part of its rows")
    kept = replace(child, needs=child.needs | subquery.needs, note=f"{note}, cut in step with the row")
    return cut_in_step(kept, (child, rows.below), shared)
