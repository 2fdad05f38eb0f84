"""Selection: FREE, ALIGNED and SUBSET rows pass any condition; a BOUNDED row's condition must hold for its image too."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from imp_driver.plan.attributes import by_identifier
from imp_driver.plan.nodes import Filter
from imp_driver.safety.levels import Derived, Level, blocked
from imp_driver.safety.predicates import Row, is_preserved
from imp_driver.safety.rules.conditions import learned, not_preserved
from imp_driver.safety.setting import Setting


def derive_filter(plan: Filter, child: Derived, setting: Setting) -> Derived:
    failed = blocked(child, note="a filter above a top-k could let other rows move up")
    if failed is not None:
        return failed
    if child.level is Level.BOUNDED:
        refused = not_preserved(plan.conjuncts, Row.of(child, plan.child.output, setting))
        if refused is not None:
            return refused
    note = f"filter {' AND '.join(conjunct.sql(dialect='spark') for conjunct in plan.conjuncts)}"
    return replace(learned(child, plan.conjuncts, by_identifier(plan.output)), note=note)


def split(plan: Filter, child: Derived, setting: Setting) -> tuple[tuple[exp.Expr, ...], tuple[exp.Expr, ...]]:
    """Return the conjuncts that a BOUNDED input allows, and the others (relaxed capture, rules 1.5)."""
    row = Row.of(child, plan.child.output, setting)
    allowed = tuple(conjunct for conjunct in plan.conjuncts if is_preserved(conjunct, row))
    return allowed, tuple(conjunct for conjunct in plan.conjuncts if conjunct not in allowed)
