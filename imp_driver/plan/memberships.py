"""``x IN (SELECT k FROM t GROUP BY k HAVING c)`` as a join with the groups, and ``c`` as a condition above it like any other.

A row finds one group or none, so that the join neither multiplies rows nor keeps others than IN does (Galindo-Legaria and Joshi 2001). With
other constants in ``c`` the aggregates become keys of what is maintained (answer/lifting.py), as TPC-H's query 18 needs.
"""

from __future__ import annotations

from dataclasses import replace

from imp_driver.plan.attributes import by_identifier, reference
from imp_driver.plan.below import unfold
from imp_driver.plan.conjunctive import equality
from imp_driver.plan.nested import spine, with_counts
from imp_driver.plan.nodes import Aggregate, Filter, Join, JoinKind, Plan, Project, Scalar, SemiJoin, children
from imp_driver.plan.rebuild import with_inputs
from imp_driver.plan.scalars import are_alike, is_there, joined


def with_joins(plan: Plan, *, is_nested: bool = False) -> Plan:
    """Return a plan in which IN over groups, and correlated scalar subqueries, are joins with groups where they can be.

    Args:
        is_nested: what stands below one aggregate with others that cannot be joins is left as it is, for plan/nested.py.
    """
    return _with_joins(plan, frozenset() if is_nested else None)


def _with_joins(plan: Plan, kept: frozenset[str] | None) -> Plan:
    """Leave the subqueries alone whose values are ``kept`` as such; None where all are to be joins."""
    if kept is not None and isinstance(plan, Aggregate):
        plan = replace(plan, child=with_counts(plan.child))
        kept |= _values_of_nested(plan)
    plan = with_inputs(plan, tuple(_with_joins(child, kept) for child in children(plan)))
    if isinstance(plan, Scalar) and plan.correlated and plan.value.identifier not in (kept or ()):
        return joined(plan) or plan
    return (_joined(plan) or plan) if isinstance(plan, SemiJoin) and not plan.anti else plan


def _values_of_nested(plan: Aggregate) -> frozenset[str]:
    """Return the values of subqueries below an aggregate that is merged from finer groups (plan/nested.py).

    So it is where one of them cannot be a join, or is the same for all rows: what it is compared with then changes with each commit.
    """
    scalars = [each for each in spine(plan.child) if isinstance(each, Scalar)]
    is_nested = any(joined(each) is None if each.correlated else True for each in scalars)
    return frozenset(each.value.identifier for each in scalars) if is_nested else frozenset()


def _joined(plan: SemiJoin) -> Plan | None:
    """Return the rows with a group; None where a row may have several, or they come from no groups."""
    below = unfold(plan.right)
    groups = below.source
    if not isinstance(groups, Aggregate) or not groups.keys or not below.where:
        return None
    conjuncts = below.over_source(plan.conjuncts)
    outer, keys = by_identifier(plan.left.output), by_identifier(groups.output[: len(groups.keys)])
    found = set()
    for both in map(equality, conjuncts):
        inner, other = (None, None) if both is None else both if both[1] in outer else both[::-1]
        if inner not in keys or other not in outer or not are_alike(keys[inner], outer[other]):
            return None
        found.add(inner)
    if found != keys.keys():
        return None
    # NULL equals nothing, and its group could not be looked up.
    groups = replace(groups, child=Filter(groups.child, tuple(is_there(each.copy()) for each in groups.keys)))
    rows = Filter(Join(JoinKind.INNER, plan.left, groups, ()), (*conjuncts, *below.where))
    return Project(rows, plan.output, tuple(map(reference, plan.output)))
