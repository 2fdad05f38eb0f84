"""EXISTS, IN and their negations: witnesses are provenance; a right side that is cut must not turn "none" into "one" or back."""

from __future__ import annotations

from dataclasses import replace

from imp_driver.plan.attributes import by_identifier
from imp_driver.plan.nodes import SemiJoin
from imp_driver.safety.levels import Derived, Level, Refusal, blocked, fail
from imp_driver.safety.predicates import Row, is_preserved
from imp_driver.safety.rules.copartition import cut_in_step, in_step
from imp_driver.safety.setting import Setting


def derive_semijoin(plan: SemiJoin, left: Derived, right: Derived, setting: Setting) -> Derived:
    name = ("NOT IN" if plan.null_aware else "NOT EXISTS") if plan.anti else "EXISTS or IN"
    failed = blocked(left, right, note=f"{name} above a top-k could drop rows of it")
    if failed is not None:
        return failed
    kept = replace(left, needs=left.needs | right.needs, note=name)
    if right.level is Level.FREE:
        return kept if left.level is not Level.BOUNDED else _bounded(plan, kept, name, setting)
    shared = (
        None if plan.null_aware else in_step(left, right, plan.conjuncts, by_identifier((*plan.left.output, *plan.right.output)), setting)
    )
    if shared is not None:
        return replace(cut_in_step(kept, (left, right), shared), note=f"{name}, both sides cut in step")
    if plan.anti:
        return fail(Refusal.RIGHT_SIDE_CUT, f"{name}: a row whose partner is cut away would appear")
    if min(left.level, right.level) < Level.SUBSET:
        return fail(Refusal.BOUNDED_KEY, f"{name} over values computed from part of a group")
    return replace(kept, level=Level.SUBSET, determined={})


def _bounded(plan: SemiJoin, left: Derived, name: str, setting: Setting) -> Derived:
    """A BOUNDED left row finds the same partners as its image only by exact columns, or by conditions that grow with it."""
    row = Row.of(left, (*plan.left.output, *plan.right.output), setting)
    for conjunct in plan.conjuncts:
        holds = row.is_exact(conjunct) if plan.anti else is_preserved(conjunct, row)
        if not holds:
            return fail(Refusal.NOT_UPWARD_CLOSED, f"{name}: {conjunct.sql(dialect='spark')} reads a value computed from part of a group")
    return left
