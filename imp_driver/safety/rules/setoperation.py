"""INTERSECT and EXCEPT: monotone in the left; a right side that is cut must be cut in step (rules 1.4, 1.7)."""

from __future__ import annotations

from imp_driver.plan.nodes import SetKind, SetOperation
from imp_driver.safety.levels import Derived, Level, Refusal, blocked, fail
from imp_driver.safety.rules.copartition import cut_in_step, shared_places
from imp_driver.safety.setting import Setting


def derive_set_operation(plan: SetOperation, left: Derived, right: Derived, setting: Setting) -> Derived:
    name = plan.kind.value
    failed = blocked(left, right, note=f"{name} above a top-k")
    if failed is not None:
        return failed
    if min(left.level, right.level) < Level.SUBSET:
        return fail(Refusal.BOUNDED_KEY, f"{name} compares a value computed from part of a group")
    unique = (frozenset(attribute.identifier for attribute in plan.output),) if plan.distinct else ()
    needs = left.needs | right.needs
    if left.level is Level.FREE and right.level is Level.FREE:
        return Derived(Level.FREE, unique=unique, needs=needs, note=name)
    places = shared_places(plan, (left, right), setting) if left.level is right.level is Level.ALIGNED else frozenset()
    if places:
        together = Derived(Level.ALIGNED, unique=unique, needs=needs, note=f"{name}, both sides cut in step")
        return cut_in_step(together, (left, right), places)
    if plan.kind is SetKind.EXCEPT and right.level is not Level.FREE:
        return fail(Refusal.RIGHT_SIDE_CUT, "EXCEPT: a row whose partner is cut away would appear")
    return Derived(Level.SUBSET, unique=unique, needs=needs, note=name)
