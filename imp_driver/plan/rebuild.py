"""A plan with its expressions changed; operators, occurrences and attributes stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

from sqlglot import exp

from imp_driver.plan.nodes import (
    Aggregate,
    Filter,
    Fixpoint,
    Join,
    Merge,
    OneRow,
    OrderKey,
    Plan,
    Project,
    Recurrence,
    Recursive,
    Scalar,
    Scan,
    SemiJoin,
    SetOperation,
    Sort,
    TopK,
    UnionAll,
    Window,
)

Change = Callable[[exp.Expr], exp.Expr]


def with_inputs(plan: Plan, inputs: tuple[Plan, ...]) -> Plan:
    """Return an operator over other inputs, in the order of ``children``."""
    match plan:
        case Scan() | Recurrence() | OneRow():
            return plan
        case Fixpoint():
            return _with_branches(plan, iter(inputs))
        case Join() | SemiJoin() | SetOperation():
            return replace(plan, left=inputs[0], right=inputs[1])
        case Scalar():
            return replace(plan, child=inputs[0], subquery=inputs[1])
        case UnionAll():
            return replace(plan, branches=inputs)
        case _:
            return replace(plan, child=inputs[0])


def _with_branches(plan: Fixpoint, branches: Iterator[Plan]) -> Fixpoint:
    def changed(relation: Recursive) -> Recursive:
        bases = tuple(islice(branches, len(relation.bases)))
        return replace(relation, bases=bases, steps=tuple(islice(branches, len(relation.steps))))

    return replace(plan, relations=tuple(map(changed, plan.relations)))


def with_expressions(plan: Plan, change: Change) -> Plan:
    """Return one operator with its own expressions changed."""
    match plan:
        case Filter() | Join() | SemiJoin():
            return replace(plan, conjuncts=tuple(map(change, plan.conjuncts)))
        case Project():
            return replace(plan, expressions=tuple(map(change, plan.expressions)))
        case Aggregate() | Merge():
            return replace(plan, keys=tuple(map(change, plan.keys)), functions=tuple(map(change, plan.functions)))
        case TopK():
            return replace(
                plan,
                order=_order(plan.order, change),
                limit=change(plan.limit),
                offset=None if plan.offset is None else change(plan.offset),
            )
        case Sort():
            return replace(plan, order=_order(plan.order, change))
        case Window():
            return replace(plan, functions=tuple(_window(change(function)) for function in plan.functions))
        case _:
            return plan


def _order(order: tuple[OrderKey, ...], change: Change) -> tuple[OrderKey, ...]:
    return tuple(OrderKey(change(key.expression), key.descending, key.nulls_first) for key in order)


def _window(function: exp.Expr) -> exp.Window:
    assert isinstance(function, exp.Window)
    return function
