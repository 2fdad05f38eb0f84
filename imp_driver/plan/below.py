"""What stands below groups, in one form: a source without filters and projections on top, conditions, and what attributes stand for.

The conditions of a join tree then stand in one place, where those on group keys and those with other constants can be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from imp_driver.plan.attributes import substituted
from imp_driver.plan.nodes import Filter, Join, JoinKind, Plan, Project, SemiJoin


@dataclass(frozen=True, slots=True, eq=False)
class Below:
    """The same rows as ``source`` filtered by ``where``; ``values`` gives attributes of projections over attributes of the source."""

    source: Plan
    where: tuple[exp.Expr, ...] = ()
    values: Mapping[str, exp.Expr] = field(default_factory=dict)

    def over_source(self, expressions: tuple[exp.Expr, ...]) -> tuple[exp.Expr, ...]:
        return tuple(substituted(each, self.values) for each in expressions)


def unfold(plan: Plan) -> Below:
    """Pull filters up and projections out, through inner joins and through the side of other joins that keeps its rows."""
    match plan:
        case Filter():
            below = unfold(plan.child)
            return replace(below, where=(*below.where, *below.over_source(plan.conjuncts)))
        case Project():
            below = unfold(plan.child)
            named = zip(plan.output, below.over_source(plan.expressions), strict=True)
            return replace(below, values={attribute.identifier: expression for attribute, expression in named})
        case Join() if plan.kind is JoinKind.INNER:
            return _inner(plan)
        case Join() if plan.kind is JoinKind.LEFT:
            left = unfold(plan.left)
            return replace(left, source=Join(plan.kind, left.source, plan.right, left.over_source(plan.conjuncts)))
        case SemiJoin():
            left = unfold(plan.left)
            return replace(left, source=replace(plan, left=left.source, conjuncts=left.over_source(plan.conjuncts)))
        case _:
            return Below(plan)


def _inner(plan: Join) -> Below:
    left, right = unfold(plan.left), unfold(plan.right)
    both = Below(Join(plan.kind, left.source, right.source, ()), left.where + right.where, {**left.values, **right.values})
    return replace(both, where=(*both.where, *both.over_source(plan.conjuncts)))
