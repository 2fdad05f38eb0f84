"""Rows without groups -> groups of equal rows: what only filters and joins tables is kept as its different rows, each with its copies.

Such a part of a query is a Z-set of positive weights, and the groups by all columns that are read of it are that Z-set: all that groups
have (upkeep, constants that change, other templates) holds for rows as well. What stands above reads each as often as it occurs.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pyarrow as pa
from sqlglot import exp

from imp_driver.plan.attributes import identifiers, reference
from imp_driver.plan.expressions import expressions_of, free_identifiers
from imp_driver.plan.minus_zero import minus_zeros
from imp_driver.plan.nodes import (
    Aggregate,
    Attribute,
    Distinct,
    Filter,
    Fixpoint,
    Join,
    Plan,
    Project,
    Scalar,
    Scan,
    SemiJoin,
    SetOperation,
    UnionAll,
    children,
    every,
)
from imp_driver.plan.rebuild import with_inputs
from imp_driver.plan.recursion import is_of_recursion
from imp_driver.values.codes import is_orderable
from imp_driver.values.types import arrow_type


def with_bags(plan: Plan, *, beside_groups: bool = False) -> tuple[Plan, tuple[Aggregate, ...]]:
    """Return a plan in which rows of tables come from groups of equal rows, and these groups.

    After their keys they have how often each row occurs, then how often with -0.0, for each key of doubles.

    Args:
        beside_groups: also of rows that meet groups below other groups, which are then evaluated from both.
    """
    made: list[Aggregate] = []
    recursions = [each for each in every(plan) if isinstance(each, Fixpoint)]
    is_traced = any(each.is_traced for each in recursions)

    def change(node: Plan, wanted: frozenset[str]) -> Plan:
        if is_bag(node) and not (recursions and _has_markers(node)) and not (is_traced and not isinstance(node, Scan)):
            # Where it is to be known why a row of a recursion is there, that is by whole rows of tables.
            read = tuple(each for each in node.output if each.identifier in wanted or (is_traced and _is_told_apart(each)))
            if recursions and not read:
                # How many rows there are is read.
                read = tuple(islice(filter(_is_told_apart, node.output), 1))
            bag = _bag(node, read)
            if bag is None:
                return node
            made.append(bag)
            return Project(bag, read, tuple(map(reference, bag.key_attributes)))
        if isinstance(node, Aggregate) and not is_of_recursion(node) and not (beside_groups and _has_groups_below(node)):
            # It is grouped as a whole, with what stands below.
            return node
        if isinstance(node, Project):
            node = _pruned(node, wanted)
        inputs = zip(children(node), _wanted(node, wanted), strict=True)
        return with_inputs(node, tuple(change(child, read) for child, read in inputs))

    return change(plan, _outputs(plan)), tuple(made)


def _has_markers(plan: Plan) -> bool:
    """Say whether a value of this reading decides which rows these are: those of a recursion are kept for all values."""
    return any(each.find(exp.Placeholder) for node in every(plan) for each in expressions_of(node))


def _has_groups_below(plan: Aggregate) -> bool:
    return any(isinstance(each, Aggregate) for each in every(plan.child))


def _pruned(plan: Project, wanted: frozenset[str]) -> Project:
    """Return a projection without what nothing reads: one that passes all columns on would have whole rows told apart."""
    kept = [(attribute, node) for attribute, node in zip(plan.output, plan.expressions, strict=True) if attribute.identifier in wanted]
    if not kept:
        return plan
    return replace(plan, output=tuple(attribute for attribute, _ in kept), expressions=tuple(node for _, node in kept))


def is_bag(plan: Plan) -> bool:
    """Say whether a part of a plan filters and joins tables; what is computed from its rows stands above."""
    return not isinstance(plan, Project) and all(map(_is_followed, every(plan)))


def _is_followed(plan: Plan) -> bool:
    """Say whether changes of all tables below are followed through an operator: one NULL among its values turns all that NOT IN says."""
    return isinstance(plan, (Scan, Filter, Join, Project)) or (isinstance(plan, SemiJoin) and not plan.null_aware)


def _bag(plan: Plan, read: tuple[Attribute, ...]) -> Aggregate | None:
    """Return the groups of equal rows; None where nothing is read of them, or rows that are equal to groups are not the same."""
    if not read or not all(map(_is_told_apart, read)) or free_identifiers(plan):
        return None
    keys = tuple(replace(attribute, identifier=f"row_{attribute.identifier}") for attribute in read)
    doubles = [attribute for attribute in read if pa.types.is_floating(arrow_type(attribute.type_name or ""))]
    counts = (_count("copies", read[0]), *(_count("minus", attribute) for attribute in doubles))
    functions = (exp.Count(this=exp.Star()), *(minus_zeros(reference(attribute)) for attribute in doubles))
    return Aggregate(plan, keys, tuple(map(reference, read)), counts, functions)


def _count(what: str, attribute: Attribute) -> Attribute:
    return Attribute(f"{what}_{attribute.identifier}", what, "bigint", nullable=False)


def _is_told_apart(attribute: Attribute) -> bool:
    kind = arrow_type(attribute.type_name or "")
    return kind is not None and is_orderable(kind)


def _wanted(plan: Plan, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
    """Return what is read of each input of an operator of which something is read."""
    own = frozenset(name for each in expressions_of(plan) for name in identifiers(each))
    match plan:
        case Project():
            return (own,)
        case UnionAll() | SetOperation() | Distinct() | Fixpoint():
            return tuple(map(_outputs, children(plan)))
        case Scalar():
            return (wanted | {attribute.identifier for attribute in plan.correlated}, _outputs(plan.subquery))
        case _:
            return tuple(wanted | own for _ in children(plan))


def _outputs(plan: Plan) -> frozenset[str]:
    return frozenset(attribute.identifier for attribute in plan.output)
