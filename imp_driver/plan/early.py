"""Semi-joins below the outer joins that they stand above: such a join drops no row, so fewer rows look for partners in it."""

from __future__ import annotations

from dataclasses import replace

from imp_driver.plan.attributes import identifiers, plain_identifier, substituted
from imp_driver.plan.nodes import Filter, Join, JoinKind, Plan, Project, Scalar, SemiJoin


def early(plan: SemiJoin) -> Plan:
    """Return a plan of the same rows; the plan itself where there is no outer join that its condition reads the left side of alone."""
    return _below(plan.left, plan) or plan


def _below(source: Plan, semi: SemiJoin) -> Plan | None:
    match source:
        case Join(kind=JoinKind.LEFT) if _reads_only(semi, source.left):
            return replace(source, left=_below(source.left, semi) or replace(semi, left=source.left))
        case Scalar() if _reads_only(semi, source.child):
            found = _below(source.child, semi)
            return None if found is None else replace(source, child=found)
        case Filter():
            found = _below(source.child, semi)
            return None if found is None else replace(source, child=found)
        case Project():
            inner = _over_inputs(semi, source)
            found = None if inner is None else _below(source.child, inner)
            return None if found is None else replace(source, child=found)
        case _:
            return None


def _reads_only(semi: SemiJoin, source: Plan) -> bool:
    known = {attribute.identifier for attribute in (*source.output, *semi.right.output)}
    return all(identifiers(each) <= known for each in semi.conjuncts)


def _over_inputs(semi: SemiJoin, source: Project) -> SemiJoin | None:
    """Return a semi-join by what columns are passed on from; None where it reads one that is computed."""
    passed = {
        attribute.identifier: expression
        for attribute, expression in zip(source.output, source.expressions, strict=True)
        if plain_identifier(expression) is not None
    }
    known = passed.keys() | {attribute.identifier for attribute in semi.right.output}
    if not all(identifiers(each) <= known for each in semi.conjuncts):
        return None
    return replace(semi, conjuncts=tuple(substituted(each, passed) for each in semi.conjuncts))
