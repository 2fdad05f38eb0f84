"""INTERSECT and EXCEPT: monotone in the left; a right side that is cut must be cut in step (rules 1.4, 1.7)."""

from __future__ import annotations

from imp_driver.plan.nodes import SetKind, SetOperation
from imp_driver.safety.levels import Derived, Level, Needs, Refusal, fail
from imp_driver.safety.rules.copartition import common_determinants, share_one_set
from imp_driver.safety.setting import Setting


def derive_set_operation(plan: SetOperation, left: Derived, right: Derived, setting: Setting) -> Derived:
    name = plan.kind.value
    if min(left.level, right.level) <= Level.BARRIER:
        failed = left if left.level <= Level.BARRIER else right
        return fail(failed.refusal or Refusal.BELOW_A_BARRIER, f"{name} above a top-k")
    if min(left.level, right.level) < Level.SUBSET:
        return fail(Refusal.BOUNDED_KEY, f"{name} compares a value computed from part of a group")
    unique = (frozenset(attribute.identifier for attribute in plan.output),) if plan.distinct else ()
    needs = left.needs | right.needs
    if left.level is Level.FREE and right.level is Level.FREE:
        return Derived(Level.FREE, unique=unique, needs=needs, note=name)
    places = _shared_places(plan, left, right, setting)
    if places:
        occurrences = frozenset(left.determined) | frozenset(right.determined)
        determined = dict.fromkeys(occurrences, places)
        needs |= Needs(common=frozenset({occurrences}))
        return Derived(Level.ALIGNED, determined=determined, unique=unique, needs=needs, note=f"{name}, both sides cut in step")
    if plan.kind is SetKind.EXCEPT and right.level is not Level.FREE:
        return fail(Refusal.RIGHT_SIDE_CUT, "EXCEPT: a row whose partner is cut away would appear")
    return Derived(Level.SUBSET, unique=unique, needs=needs, note=name)


def _shared_places(plan: SetOperation, left: Derived, right: Derived, setting: Setting) -> frozenset[str]:
    if left.level is not Level.ALIGNED or right.level is not Level.ALIGNED:
        return frozenset()
    if not share_one_set(frozenset(left.determined) | frozenset(right.determined), setting):
        return frozenset()
    lefts, rights = common_determinants(left), common_determinants(right)
    columns = zip(plan.output, plan.left.output, plan.right.output, strict=True)
    return frozenset(
        attribute.identifier
        for attribute, one, other in columns
        if one.identifier in lefts and other.identifier in rights and attribute.type_name is not None
    )
