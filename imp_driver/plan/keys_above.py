"""Conditions on the keys of groups alone, from below the groups to above them: the groups that pass are the same (rules 2.2, G-predicates).

What is below then has no constants but those of other columns, so that groups which are held serve every constant as they are.
"""

from __future__ import annotations

from dataclasses import replace

from imp_driver.plan.attributes import plain_identifier, reference, substituted
from imp_driver.plan.below import unfold
from imp_driver.plan.blocks import conditions_on_keys
from imp_driver.plan.groupings import lowest
from imp_driver.plan.nodes import Aggregate, Filter, Plan, children
from imp_driver.plan.rebuild import with_inputs


def with_keys_above(plan: Plan) -> Plan:
    """Return a plan of the same rows; the plan itself where no condition is on keys alone."""
    moved = {aggregate: found for aggregate in lowest(plan) if (found := _moved(aggregate)) is not None}

    def change(node: Plan) -> Plan:
        if isinstance(node, Aggregate) and node in moved:
            return moved[node]
        return with_inputs(node, tuple(map(change, children(node))))

    return change(plan) if moved else plan


def _moved(aggregate: Aggregate) -> Plan | None:
    below = unfold(aggregate.child)
    keys = below.over_source(aggregate.keys)
    moved = conditions_on_keys(below.source, below.where, keys)
    if not moved:
        return None
    rest = tuple(conjunct for conjunct in below.where if conjunct not in moved)
    groups = replace(
        aggregate,
        child=Filter(below.source, rest) if rest else below.source,
        keys=keys,
        functions=below.over_source(aggregate.functions),
    )
    above = {
        name: reference(attribute)
        for key, attribute in zip(keys, aggregate.key_attributes, strict=True)
        if (name := plain_identifier(key)) is not None
    }
    return Filter(groups, tuple(substituted(each, above) for each in moved))
