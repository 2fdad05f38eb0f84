"""UNION ALL: each branch keeps what it has; no column determines a sketched attribute unless all branches are cut in step (rules 1.4)."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from imp_driver.plan.nodes import UnionAll
from imp_driver.safety.intervals import UNKNOWN, Interval, any_of
from imp_driver.safety.levels import Bound, Derived, Level, Needs, blocked
from imp_driver.safety.rules.copartition import cut_in_step, occurrences_of, shared_places
from imp_driver.safety.setting import Setting


def derive_union(plan: UnionAll, branches: tuple[Derived, ...], setting: Setting) -> Derived:
    failed = blocked(*branches, note="a union above a top-k")
    if failed is not None:
        return failed
    level = min(branch.level for branch in branches)
    bounds: dict[str, Bound] = {}
    intervals: dict[str, Interval] = {}
    for place, attribute in enumerate(plan.output):
        names = [branch.output[place].identifier for branch in plan.branches]
        bound = reduce(Bound.joined, (each.bound(name) for each, name in zip(branches, names, strict=True)))
        if bound is not Bound.EQUAL:
            bounds[attribute.identifier] = bound
        intervals[attribute.identifier] = any_of([e.intervals.get(n, UNKNOWN) for e, n in zip(branches, names, strict=True)])
    needs = reduce(Needs.__or__, (branch.needs for branch in branches))
    united = Derived(level, bounds=bounds, intervals=intervals, needs=needs, note="union all")
    if level is not Level.ALIGNED:
        return united
    places = shared_places(plan, branches, setting)
    if not places or len(occurrences_of(branches)) == 1:
        return replace(united, determined=dict.fromkeys(occurrences_of(branches), places))
    return replace(cut_in_step(united, branches, places), note="union all, all branches cut in step")
