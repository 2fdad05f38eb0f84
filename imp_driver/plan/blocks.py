"""Plan -> its aggregation blocks: GROUP BY over tables, with what filters the groups directly above.

A block is covered as a whole by its sketch (it is pinned, sketch-safety rules 1.6), so it is the same bag with and without the range
filter and whatever stands above or beside it in the query needs no further proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from imp_driver.plan.attributes import column_named, identifiers, plain_identifier, reference, substituted
from imp_driver.plan.below import unfold
from imp_driver.plan.conjunctive import may_be_left_out
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nodes import Aggregate, Filter, Join, JoinKind, OrderKey, Plan, Project, Scalar, Scan, SemiJoin, TopK, children
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused, accepted


@dataclass(frozen=True, slots=True, eq=False)
class QueryBlock:
    """``SELECT .. FROM source WHERE where GROUP BY keys HAVING having ORDER BY order LIMIT limit OFFSET offset``.

    Over attributes of the source, or over columns of a source that is one table (``over_columns``). ``where`` and ``having`` are
    conjuncts; markers are still markers. ``limit`` is None without a top-k. ``functions`` are the aggregates that are asked for whether
    something filters the groups by them or not.
    """

    source: Plan

    keys: tuple[exp.Expr, ...]
    where: tuple[exp.Expr, ...]
    having: tuple[exp.Expr, ...]
    order: tuple[OrderKey, ...]
    limit: exp.Expr | None
    offset: exp.Expr | None
    functions: tuple[exp.Expr, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """``top`` is the block as a plan of its own; ``query`` is the same in one form.

    ``ends_in`` is the top-k of the query around that is part of the block, None when it has none. A block ``of_rows`` has one constant
    key and nothing above it: its rows, not its groups, are what is covered. ``by_subquery``: a condition compares its groups with the value
    of a subquery, and is left out.
    """

    query: QueryBlock
    top: Plan
    ends_in: TopK | None = None
    of_rows: bool = False
    by_subquery: bool = False


def over_columns(block: QueryBlock) -> QueryBlock:
    """Return a block over one table with the table's column names in place of attributes; any other block as it is."""
    if not isinstance(block.source, Scan):
        return block
    names = {attribute.identifier: column_named(attribute.name) for attribute in block.source.output}

    def named(expressions: tuple[exp.Expr, ...]) -> tuple[exp.Expr, ...]:
        return tuple(substituted(each, names) for each in expressions)

    order = tuple(OrderKey(substituted(key.expression, names), key.descending, key.nulls_first) for key in block.order)
    return replace(
        block,
        keys=named(block.keys),
        where=named(block.where),
        having=named(block.having),
        order=order,
        functions=named(block.functions),
    )


def lifted(block: QueryBlock) -> QueryBlock | None:
    """Return the block with row conditions on group keys alone made conditions on its groups; None when it has none.

    The groups that pass are the same (sketch-safety rules 2.2, G-predicates), and the state no longer depends on those constants.
    """
    moved = conditions_on_keys(block.source, block.where, block.keys)
    if not moved:
        return None
    where = tuple(conjunct for conjunct in block.where if conjunct not in moved)
    return replace(block, where=where, having=(*moved, *block.having))


def conditions_on_keys(source: Plan, where: Sequence[exp.Expr], keys: Sequence[exp.Expr]) -> tuple[exp.Expr, ...]:
    """Return the conditions on rows that decide about whole groups: they read keys that are columns, and nothing else."""
    names = {name for key in keys if (name := plain_identifier(key)) is not None}

    def is_moved(conjunct: exp.Expr) -> bool:
        read = identifiers(conjunct)
        return bool(read) and read <= names and _is_simple(conjunct) and may_be_left_out(source, where, conjunct)

    return tuple(conjunct for conjunct in where if is_moved(conjunct))


_SIMPLE = (
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Placeholder,
    exp.Boolean,
    exp.Null,
    exp.Paren,
    exp.And,
    exp.Or,
    exp.Not,
    exp.Neg,
    exp.In,
    exp.Between,
    exp.Is,
    exp.EQ,
    exp.NEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.NullSafeEQ,
)


def _is_simple(conjunct: exp.Expr) -> bool:
    """Say whether a condition has nothing that only Spark can compute: over groups it would decide nothing."""
    return all(isinstance(node, _SIMPLE) or _is_typed_literal(node) for node in conjunct.walk())


def _is_typed_literal(node: exp.Expr) -> bool:
    cast = node if isinstance(node, exp.Cast) else node.parent
    return isinstance(cast, exp.Cast) and isinstance(cast.this, exp.Literal)


def find_blocks(plan: Plan) -> tuple[Block, ...]:
    """Return every block of a plan.

    Raises:
        Refused: there is none; the reason is that of the first GROUP BY.
    """
    found = accepted(lambda each: _block(*each), _aggregates(plan, ()))
    if not found:
        raise Refused(Reason.NO_AGGREGATION)
    return tuple(found)


def _aggregates(plan: Plan, above: tuple[Plan, ...]) -> Iterator[tuple[Aggregate, tuple[Plan, ...]]]:
    """Yield each Aggregate with the operators above it, the nearest first."""
    for child in children(plan):
        yield from _aggregates(child, (plan, *above))
    if isinstance(plan, Aggregate):
        yield plan, above


def _block(aggregate: Aggregate, above: tuple[Plan, ...]) -> Block:
    if not aggregate.keys:
        raise Refused(Reason.SCALAR_AGGREGATE)
    if free_identifiers(aggregate):
        raise Refused(Reason.CORRELATED_SUBQUERY, "groups that read the row around them")
    below = unfold(aggregate.child)
    computed = below.over_source((*aggregate.keys, *aggregate.functions))
    columns = {attribute.identifier: expression for attribute, expression in zip(aggregate.output, computed, strict=True)}
    upper = _Upper({attribute.identifier: reference(attribute) for attribute in aggregate.output})
    upper.climb(aggregate, above)
    query = QueryBlock(
        source=below.source,
        keys=tuple(columns[attribute.identifier] for attribute in aggregate.key_attributes),
        where=below.where,
        having=tuple(substituted(conjunct, columns) for conjunct in upper.having),
        order=tuple(OrderKey(substituted(key.expression, columns), key.descending, key.nulls_first) for key in upper.order),
        limit=upper.limit,
        offset=upper.offset,
    )
    top: Plan = Filter(aggregate, tuple(upper.having)) if upper.having else aggregate
    if upper.limit is not None:
        top = TopK(top, tuple(upper.order), upper.limit, upper.offset)
    return Block(query, top, upper.ends_in, by_subquery=upper.by_subquery)


@dataclass(slots=True)
class _Upper:
    """Collects what filters the groups. ``values`` says what attributes stand for over the groups; what it lacks is not known there.

    ``subqueries`` are the attributes of scalar subqueries, ``by_subquery`` whether a condition reads one.
    """

    values: dict[str, exp.Expr]
    having: list[exp.Expr] = field(default_factory=list)
    order: list[OrderKey] = field(default_factory=list)
    limit: exp.Expr | None = None
    offset: exp.Expr | None = None
    ends_in: TopK | None = None
    by_subquery: bool = False
    subqueries: set[str] = field(default_factory=set)

    def climb(self, plan: Plan, above: tuple[Plan, ...]) -> None:
        """Go up as long as an operator only drops, repeats or renames groups.

        A condition on anything but the groups is left out: the block then covers more groups than needed. A top-k above such a
        condition is left out too, since other groups could move up.
        """
        is_exact = True
        for parent in above:
            match parent:
                case Filter():
                    known = [conjunct for conjunct in parent.conjuncts if identifiers(conjunct) <= self.values.keys()]
                    self.having += [substituted(conjunct, self.values) for conjunct in known]
                    is_exact = is_exact and len(known) == len(parent.conjuncts)
                    self.by_subquery |= any(identifiers(conjunct) & self.subqueries for conjunct in parent.conjuncts)
                case Project():
                    self.values = {
                        attribute.identifier: substituted(expression, self.values)
                        for attribute, expression in zip(parent.output, parent.expressions, strict=True)
                        if identifiers(expression) <= self.values.keys()
                    }
                case Scalar() if parent.child is plan:
                    self.subqueries.add(parent.value.identifier)
                case SemiJoin() if parent.left is plan:
                    is_exact = False
                case Join() if parent.kind is JoinKind.INNER or (parent.kind is JoinKind.LEFT and parent.left is plan):
                    # A condition above on the groups alone may as well stand below the join.
                    is_exact = False
                case TopK() if is_exact and all(identifiers(key.expression) <= self.values.keys() for key in parent.order):
                    keys = parent.order
                    self.order = [OrderKey(substituted(key.expression, self.values), key.descending, key.nulls_first) for key in keys]
                    self.limit, self.offset, self.ends_in = parent.limit, parent.offset, parent
                    return
                case _:
                    return
            plan = parent
