"""Operators of a resolved plan. Every attribute has an identifier of its own, every scan its occurrence number.

Expressions are parse trees in which each column is an ``Attribute`` by its identifier (``attributes.py``); names, aliases, ordinals,
stars, CTEs, views and sub-selects are gone. Markers stay markers until a plan is bound to values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from sqlglot import exp

from imp_driver.plan.best_rows import Best
from imp_driver.plan.view_reference import ViewReference

Parsed: TypeAlias = exp.Expr
"""An expression over attributes, as the parser gives it."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of an operator's output.

    Attributes:
        identifier: unique in the plan.
        name: what the query calls it.
        type_name: Delta's name of the type; None when it is not known with certainty.
        nullable: False only when the table enforces NOT NULL.
        kind: coarse class of the type within which Spark compares without converting, see ``kinds.py``; None when not known.
    """

    identifier: str
    name: str
    type_name: str | None = None
    nullable: bool = True
    kind: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """One occurrence of a base table. ``output`` has its columns in order.

    ``place`` is the reference in the query's tree, or in that of the last of ``views``, which are around it, the outermost first.
    """

    occurrence: int
    table: tuple[str, ...]
    output: tuple[Attribute, ...]
    place: exp.Table
    views: tuple[ViewReference, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """Rows for which every conjunct is true."""

    child: Plan
    conjuncts: tuple[exp.Expr, ...]

    @property
    def output(self) -> tuple[Attribute, ...]:
        return self.child.output


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """One expression per output column; duplicates are kept."""

    child: Plan
    output: tuple[Attribute, ...]
    expressions: tuple[exp.Expr, ...]


class JoinKind(Enum):
    """``LEFT`` keeps every left row; a RIGHT JOIN is a LEFT one with its sides exchanged."""

    INNER = "inner join"
    LEFT = "left join"
    FULL = "full join"


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    kind: JoinKind
    left: Plan
    right: Plan
    conjuncts: tuple[exp.Expr, ...]

    @property
    def output(self) -> tuple[Attribute, ...]:
        return self.left.output + self.right.output


@dataclass(frozen=True, slots=True, eq=False)
class SemiJoin:
    """Left rows with a partner (EXISTS, IN), or without one (``anti``: NOT EXISTS, NOT IN).

    ``null_aware`` is NOT IN: one NULL on either side of a comparison keeps the row out.
    """

    left: Plan
    right: Plan
    conjuncts: tuple[exp.Expr, ...]
    anti: bool = False
    null_aware: bool = False

    @property
    def output(self) -> tuple[Attribute, ...]:
        return self.left.output


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """Adds the value of a scalar subquery to every row. ``correlated`` are the row's attributes that the subquery reads."""

    child: Plan
    subquery: Plan
    value: Attribute
    correlated: tuple[Attribute, ...]

    @property
    def output(self) -> tuple[Attribute, ...]:
        return (*self.child.output, self.value)


@dataclass(frozen=True, slots=True, eq=False)
class UnionAll:
    """Rows of all branches; column i of the output is column i of each branch."""

    branches: tuple[Plan, ...]
    output: tuple[Attribute, ...]


class SetKind(Enum):
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


@dataclass(frozen=True, slots=True, eq=False)
class SetOperation:
    """INTERSECT or EXCEPT, by position; ``distinct`` is False for ALL."""

    kind: SetKind
    left: Plan
    right: Plan
    output: tuple[Attribute, ...]
    distinct: bool


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    child: Plan

    @property
    def output(self) -> tuple[Attribute, ...]:
        return self.child.output


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate:
    """GROUP BY ``keys`` with ``functions``; the output is the keys, then the functions. No key: always one row.

    ``is_finer``: what is held of each function is to be known, since others are merged from these groups.
    """

    child: Plan
    key_attributes: tuple[Attribute, ...]
    keys: tuple[exp.Expr, ...]
    function_attributes: tuple[Attribute, ...]
    functions: tuple[exp.Expr, ...]
    is_finer: bool = False

    @property
    def output(self) -> tuple[Attribute, ...]:
        return self.key_attributes + self.function_attributes

    @property
    def name(self) -> str:
        """The identifier of an attribute that no other operator has: keys of finer groups are called as the columns that they are."""
        return (self.output[-1] if self.is_finer else self.output[0]).identifier


@dataclass(frozen=True, slots=True, eq=False)
class Merge:
    """GROUP BY ``keys`` over finer groups, each of as many rows as ``copies`` says.

    A function is that of all rows of the groups that fall together, named by the finer groups' column with FILTER or not; or an aggregate
    of their keys.
    """

    child: Plan
    key_attributes: tuple[Attribute, ...]
    keys: tuple[exp.Expr, ...]
    function_attributes: tuple[Attribute, ...]
    functions: tuple[exp.Expr, ...]
    copies: Attribute

    @property
    def output(self) -> tuple[Attribute, ...]:
        return self.key_attributes + self.function_attributes


@dataclass(frozen=True, slots=True, eq=False)
class OrderKey:
    expression: exp.Expr
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, eq=False)
class TopK:
    """The first ``limit`` rows after ``offset`` in an order; any rows where there is none, which only the last rows of a query may be."""

    child: Plan
    order: tuple[OrderKey, ...]
    limit: exp.Expr
    offset: exp.Expr | None

    @property
    def output(self) -> tuple[Attribute, ...]:
        return self.child.output


@dataclass(frozen=True, slots=True, eq=False)
class Sort:
    """The rows of a whole query in its order; without LIMIT it means nothing elsewhere, and is left out."""

    child: Plan
    order: tuple[OrderKey, ...]

    @property
    def output(self) -> tuple[Attribute, ...]:
        return self.child.output


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Adds one column per window function; ``functions`` are whole ``exp.Window`` nodes."""

    child: Plan
    added: tuple[Attribute, ...]
    functions: tuple[exp.Window, ...]

    @property
    def output(self) -> tuple[Attribute, ...]:
        return self.child.output + self.added


@dataclass(frozen=True, slots=True, eq=False)
class Recurrence:
    """The rows of a recursive relation where it is read inside its recursion; ``number`` is that of the relation."""

    number: int
    output: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True, eq=False)
class OneRow:
    """One row without columns: what a SELECT without FROM reads."""

    output: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Recursive:
    """A recursive relation: a set that has, by position, the rows of ``bases`` and those of ``steps``, which read it or others with it."""

    number: int
    output: tuple[Attribute, ...]
    bases: tuple[Plan, ...]
    steps: tuple[Plan, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Fixpoint:
    """The rows of the first of some recursive relations, the least ones for which all of these are what they are to be.

    With ``best`` it may lack those that are not best. ``is_traced`` says that it is to be known why each row is there.
    """

    relations: tuple[Recursive, ...]
    best: Best | None = None
    is_traced: bool = False

    @property
    def output(self) -> tuple[Attribute, ...]:
        return self.relations[0].output


Plan: TypeAlias = (
    Scan
    | Filter
    | Project
    | Join
    | SemiJoin
    | Scalar
    | UnionAll
    | SetOperation
    | Distinct
    | Aggregate
    | Merge
    | TopK
    | Sort
    | Window
    | OneRow
    | Recurrence
    | Fixpoint
)


def children(plan: Plan) -> tuple[Plan, ...]:
    """Return the inputs of an operator, subqueries included."""
    match plan:
        case Scan() | Recurrence() | OneRow():
            return ()
        case Fixpoint():
            return tuple(branch for each in plan.relations for branch in (*each.bases, *each.steps))
        case Join() | SemiJoin() | SetOperation():
            return (plan.left, plan.right)
        case Scalar():
            return (plan.child, plan.subquery)
        case UnionAll():
            return plan.branches
        case _:
            return (plan.child,)


def every(plan: Plan) -> Iterator[Plan]:
    """Yield an operator and all below it, subqueries included."""
    yield plan
    for child in children(plan):
        yield from every(child)


def scans(plan: Plan) -> tuple[Scan, ...]:
    """Return every occurrence below an operator, in the order of their numbers."""
    if isinstance(plan, Scan):
        return (plan,)
    found = [scan for child in children(plan) for scan in scans(child)]
    return tuple(sorted(found, key=lambda scan: scan.occurrence))
