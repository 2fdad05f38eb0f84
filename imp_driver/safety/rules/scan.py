"""A table: cutting it to S is exactly ALIGNED."""

from __future__ import annotations

from imp_driver.plan.nodes import Scan
from imp_driver.safety.intervals import Interval
from imp_driver.safety.levels import Derived, Level
from imp_driver.safety.setting import Setting


def derive_scan(plan: Scan, setting: Setting) -> Derived:
    found = {attribute.identifier: setting.facts.interval(plan.table, attribute.name) for attribute in plan.output}
    intervals = {identifier: interval for identifier, interval in found.items() if interval != Interval()}
    attribute = setting.attribute(plan)
    name = f"{'.'.join(plan.table)} (occurrence {plan.occurrence})"
    if attribute is None:
        return Derived(Level.FREE, intervals=intervals, note=f"{name} is read whole")
    column = next(each.name for each in plan.output if each.identifier == attribute)
    return Derived(
        Level.ALIGNED, determined={plan.occurrence: frozenset({attribute})}, intervals=intervals, note=f"{name} is cut on {column}"
    )
