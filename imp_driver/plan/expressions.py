"""The expressions an operator holds and the attributes it makes."""

from __future__ import annotations

from sqlglot import exp

from imp_driver.plan.attributes import identifiers
from imp_driver.plan.nodes import (
    Aggregate,
    Attribute,
    Filter,
    Fixpoint,
    Join,
    Merge,
    OneRow,
    Plan,
    Project,
    Recurrence,
    Scalar,
    Scan,
    SemiJoin,
    SetOperation,
    Sort,
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
        case Aggregate() | Merge():
            return plan.keys + plan.functions
        case TopK():
            bounds = (plan.limit,) if plan.offset is None else (plan.limit, plan.offset)
            return (*(key.expression for key in plan.order), *bounds)
        case Sort():
            return tuple(key.expression for key in plan.order)
        case Window():
            return plan.functions
        case _:
            return ()


def made_by(plan: Plan) -> tuple[Attribute, ...]:
    """Return the attributes that an operator makes anew."""
    match plan:
        case Scan() | Project() | UnionAll() | SetOperation() | Aggregate() | Merge() | Recurrence() | OneRow():
            return plan.output
        case Fixpoint():
            return tuple(attribute for each in plan.relations for attribute in each.output)
        case Scalar():
            return (plan.value,)
        case Window():
            return plan.added
        case _:
            return ()


def free_identifiers(plan: Plan) -> frozenset[str]:
    """Return the attributes that a plan reads and does not have itself: those of the query around it."""
    read: set[str] = set()
    made: set[str] = set()
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        made |= {attribute.identifier for attribute in made_by(node)}
        waiting += children(node)
        for expression in expressions_of(node):
            read |= identifiers(expression)
    return frozenset(read - made)
