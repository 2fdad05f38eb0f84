"""The expressions an operator holds and the attributes it makes."""

from __future__ import annotations

from sqlglot import exp

from imp_driver.plan.attributes import identifiers
from imp_driver.plan.nodes import (
    Aggregate,
    Filter,
    Join,
    Plan,
    Project,
    Scalar,
    Scan,
    SemiJoin,
    SetOperation,
    TopK,
    UnionAll,
    Window,
    children,
)


def expressions_of(plan: Plan) -> tuple[exp.Expr, ...]:
    """Return every expression of one operator, without those of its inputs."""
    match plan:
        case Filter() | Join() | SemiJoin():
            return plan.conjuncts
        case Project():
            return plan.expressions
        case Aggregate():
            return plan.keys + plan.functions
        case TopK():
            bounds = (plan.limit,) if plan.offset is None else (plan.limit, plan.offset)
            return (*(key.expression for key in plan.order), *bounds)
        case Window():
            return plan.functions
        case _:
            return ()


def made_by(plan: Plan) -> tuple[frozenset[str], tuple[Plan, ...]]:
    """Return the identifiers that an operator makes anew, and its inputs."""
    match plan:
        case Scan() | Project() | UnionAll() | SetOperation() | Aggregate():
            made = plan.output
        case Scalar():
            made = (plan.value,)
        case Window():
            made = plan.added
        case _:
            made = ()
    return frozenset(attribute.identifier for attribute in made), children(plan)


def free_identifiers(plan: Plan) -> frozenset[str]:
    """Return the attributes that a plan reads and does not have itself: those of the query around it."""
    read: set[str] = set()
    made: set[str] = set()
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        own, inputs = made_by(node)
        made |= own
        waiting += inputs
        for expression in expressions_of(node):
            read |= identifiers(expression)
    return frozenset(read - made)
