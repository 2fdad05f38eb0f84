"""``WITH RECURSIVE r AS (base UNION step ..)`` -> the least set that has the rows of its bases and, over itself, those of its steps.

A row that is derived twice is there once, so that a cycle of the data ends (Liu, Taylor, Zhou, Ives, Loo: Recursive Computation of Regions
and Connectivity in Networks, section 2). UNION ALL is Spark's own, with its limits. Tables that read each other are one recursion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from imp_driver.plan.context import CommonTable, Context, ResolveQuery, Visible
from imp_driver.plan.nodes import (
    Attribute,
    Distinct,
    Filter,
    Fixpoint,
    Join,
    JoinKind,
    OneRow,
    Plan,
    Project,
    Recurrence,
    Recursive,
    Scalar,
    SemiJoin,
    UnionAll,
    children,
    every,
)
from imp_driver.plan.recursive_form import beginnings, branches, columns_of, components, name_of, reads
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


def with_common_tables(clause: exp.With, visible: Visible) -> Visible:
    """Return what a query sees below a WITH: tables that read each other see each other, any other one those before it."""
    found = dict(visible)
    recursive = {name_of(common): component for component in components(clause) for common in component}
    seen: dict[str, Visible] = {}
    for common in clause.expressions:
        name = name_of(common)
        component = recursive.get(name, ())
        # Those of a recursion see what stands before the first of them.
        before = seen.setdefault(name_of(component[0]), dict(found)) if component else dict(found)
        own_first = tuple(sorted(component, key=lambda each: each is not common))
        found[name] = CommonTable(common.this, columns_of(common), before, own_first)
    return found


def fixpoint(common: CommonTable, context: Context, query: ResolveQuery) -> Fixpoint:
    """Resolve a recursive common table.

    Raises:
        Refused: no row begins it, or it reads itself where more of its rows could mean fewer.
    """
    context.recursions += 1
    try:
        return _fixpoint(common, context, query)
    finally:
        context.recursions -= 1


def _fixpoint(common: CommonTable, context: Context, query: ResolveQuery) -> Fixpoint:
    names = {name_of(each) for each in common.component}
    inside: dict[str, CommonTable] = dict(common.visible)
    bases = dict[str, tuple[Plan, ...]]()
    for ready, begun in beginnings(common.component):
        name = name_of(ready)
        bases[name] = tuple(query(each, common.visible, None) for each in branches(ready.this) if not reads(each, names))
        first = bases[name][0] if bases[name] else query(begun, inside, None)
        # ``as_begun`` has them in this order.
        number = next(context.numbers)
        columns = _columns(columns_of(ready), first.output, context)
        inside[name] = CommonTable(ready.this, (), common.visible, common.component, (number, columns))
    relations = tuple(_recursive(each, names, inside, bases[name_of(each)], query) for each in common.component)
    return Fixpoint(relations, is_traced=any(each.view.has_provenance for each in context.views))


def _columns(names: tuple[str, ...], first: Sequence[Attribute], context: Context) -> tuple[Attribute, ...]:
    names = names or tuple(attribute.name for attribute in first)
    if len(names) != len(first):
        raise Refused(Reason.AMBIGUOUS_NAME, "column aliases do not match the columns")
    return tuple(context.attribute(name, own.type_name, kind=own.kind) for name, own in zip(names, first, strict=True))


def _recursive(
    common: exp.CTE, names: set[str], inside: Mapping[str, CommonTable], bases: tuple[Plan, ...], query: ResolveQuery
) -> Recursive:
    recurrence = inside[name_of(common)].recurrence
    assert recurrence is not None
    number, columns = recurrence
    steps = tuple(query(each, inside, None) for each in branches(common.this) if reads(each, names))
    if any(len(each.output) != len(columns) for each in (*bases, *steps)):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "branches of different width")
    for plan in steps:
        _check_monotone(plan)
    return Recursive(number, columns, bases, steps)


def recurrence(common: CommonTable, context: Context) -> Recurrence:
    """Return the rows of a recursive common table inside of it, under attributes of their own."""
    assert common.recurrence is not None
    number, columns = common.recurrence
    # A step may make NULL of a column that no base has any of.
    own = tuple(replace(context.attribute(each.name, each.type_name), kind=each.kind) for each in columns)
    return Recurrence(number, own)


def has_recursion(plan: Plan) -> bool:
    return any(isinstance(each, Fixpoint) for each in every(plan))


def is_of_recursion(plan: Plan) -> bool:
    """Say whether rows of a part of a plan come from a recursion, its own or that it is a part of, or from no table beside one."""
    return any(isinstance(each, (Fixpoint, Recurrence, OneRow)) for each in every(plan))


def reads_recursion(plan: Plan) -> bool:
    """Say whether a part of a step reads rows of the recursion that it is a part of, and not only of one that is a part of it."""
    return bool(open_recurrences(plan))


def open_recurrences(plan: Plan) -> tuple[Recurrence, ...]:
    """Return where recursive relations are read outside of their recursion."""
    if isinstance(plan, Recurrence):
        return (plan,)
    found = tuple(each for child in children(plan) for each in open_recurrences(child))
    own = {each.number for each in plan.relations} if isinstance(plan, Fixpoint) else set()
    return tuple(each for each in found if each.number not in own)


def as_begun(plan: Fixpoint) -> list[tuple[Recursive, Plan]]:
    """Return the relations of a recursion in the order in which they begin, each with the branch that its first rows are of.

    That is a base, or a step that reads relations before it alone.
    """
    ordered = sorted(plan.relations, key=lambda each: each.number)
    return [(each, each.bases[0] if each.bases else next(filter(partial(_follows, each), each.steps))) for each in ordered]


def _follows(relation: Recursive, step: Plan) -> bool:
    return all(each.number < relation.number for each in open_recurrences(step))


def _check_monotone(plan: Plan) -> None:
    """Raise Refused where rows of the recursion stand below an operator of which more rows could mean fewer (stratification)."""
    for inner in _below(plan):
        if reads_recursion(inner):
            raise Refused(Reason.RECURSION, "inside an aggregate, a window, a LIMIT, NOT or the inner side of an outer join")


def _below(plan: Plan) -> Iterator[Plan]:
    """Yield the parts of a step whose rows it does not only keep, drop, change or join one by one."""
    if not reads_recursion(plan):
        return
    match plan:
        case Recurrence():
            return
        case Filter() | Project() | Distinct():
            yield from _below(plan.child)
        case Scalar():
            yield from _below(plan.child)
            yield plan.subquery
        case Join() if plan.kind is JoinKind.INNER:
            yield from _below(plan.left)
            yield from _below(plan.right)
        case Join() if plan.kind is JoinKind.LEFT:
            yield from _below(plan.left)
            yield plan.right
        case SemiJoin():
            yield from _below(plan.left)
            if plan.anti:
                yield plan.right
            else:
                yield from _below(plan.right)
        case UnionAll():
            for branch in plan.branches:
                yield from _below(branch)
        case _:
            yield from children(plan)
