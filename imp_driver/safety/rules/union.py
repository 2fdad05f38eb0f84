"""UNION ALL: each branch keeps what it has; no column determines a sketched attribute unless all branches are cut in step (rules 1.4)."""

from __future__ import annotations

from functools import reduce

from imp_driver.plan.nodes import UnionAll
from imp_driver.safety.intervals import UNKNOWN, Interval
from imp_driver.safety.levels import Bound, Derived, Level, Needs, Refusal, fail
from imp_driver.safety.rules.copartition import common_determinants, share_one_set
from imp_driver.safety.setting import Setting


def derive_union(plan: UnionAll, branches: tuple[Derived, ...], setting: Setting) -> Derived:
    failed = next((branch for branch in branches if branch.level <= Level.BARRIER), None)
    if failed is not None:
        return fail(failed.refusal or Refusal.BELOW_A_BARRIER, "a union above a top-k")
    level = min(branch.level for branch in branches)
    bounds: dict[str, Bound] = {}
    intervals: dict[str, Interval] = {}
    for place, attribute in enumerate(plan.output):
        names = [branch.output[place].identifier for branch in plan.branches]
        bound = reduce(_common, (each.bound(name) for each, name in zip(branches, names, strict=True)))
        if bound is not Bound.EQUAL:
            bounds[attribute.identifier] = bound
        intervals[attribute.identifier] = reduce(_either, (e.intervals.get(n, UNKNOWN) for e, n in zip(branches, names, strict=True)))
    needs = reduce(Needs.__or__, (branch.needs for branch in branches))
    determined: dict[int, frozenset[str]] = {}
    note = "union all"
    if level is Level.ALIGNED:
        occurrences = frozenset(occurrence for branch in branches for occurrence in branch.determined)
        places = _common_places(plan, branches, occurrences, setting)
        determined = dict.fromkeys(occurrences, places)
        if places and len(occurrences) > 1:
            needs |= Needs(common=frozenset({occurrences}))
            note = "union all, all branches cut in step"
    return Derived(level, bounds=bounds, determined=determined, intervals=intervals, needs=needs, note=note)


def _common(one: Bound, other: Bound) -> Bound:
    if one is other or other is Bound.EQUAL:
        return one
    return other if one is Bound.EQUAL else Bound.UNKNOWN


def _either(one: Interval, other: Interval) -> Interval:
    low = None if one.low is None or other.low is None else min(one.low, other.low)
    high = None if one.high is None or other.high is None else max(one.high, other.high)
    return Interval(low, high, one.facts | other.facts)


def _common_places(plan: UnionAll, branches: tuple[Derived, ...], occurrences: frozenset[int], setting: Setting) -> frozenset[str]:
    """Return the output columns at which every branch carries its sketched attributes; a branch that is not cut carries none."""
    if not share_one_set(occurrences, setting):
        return frozenset()
    places = []
    for place, attribute in enumerate(plan.output):
        carried = all(
            branch.output[place].identifier in common_determinants(derived) for branch, derived in zip(plan.branches, branches, strict=True)
        )
        if carried and attribute.type_name is not None:
            places.append(attribute.identifier)
    return frozenset(places)
