"""Block with markers + bound values + column types -> what the operators and the capture query work with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import pyarrow as pa
from sqlglot import exp

from imp_driver.errors import NotSupportedError
from imp_driver.parse.functions import check_text
from imp_driver.parse.literals import literal_node
from imp_driver.parse.statement import DIALECT, marker_number
from imp_driver.plan.aggregate import BoundAggregate, bound_aggregate
from imp_driver.plan.blocks import QueryBlock
from imp_driver.plan.convert import convert, row_expression, whole_number
from imp_driver.plan.expressions import expressions_of
from imp_driver.plan.nodes import Plan, children
from imp_driver.plan.rebuild import Change, with_expressions, with_inputs
from imp_driver.plan.render import condition_sql
from imp_driver.reasons import Reason
from imp_driver.values.aggregates import OrderKey
from imp_driver.values.execution import Parameters
from imp_driver.values.expressions import AggregateReference, And, Expression, KeyReference, Opaque
from imp_driver.values.refusal import Refused

KeyT = TypeVar("KeyT")
MadeT = TypeVar("MadeT")


def _unchanged(node: exp.Expr) -> exp.Expr:
    return node


@dataclass(frozen=True, slots=True)
class BoundBlock:
    """One block with all constants known.

    Attributes:
        source: what the block reads, with values.
        keys_sql, keys: group keys as SQL over the source and as expressions (Opaque when only Spark can compute them).
        where_nodes, where_texts: condition on rows as conjuncts, and each of these as SQL; empty without one.
        where_sql, where: the same as SQL and as an expression; None without one.
        having_nodes, having: conjuncts on groups, over the source's columns and over keys and aggregates.
        limit: rows of the top-k with its offset, None without one.
        columns: columns of the source that keys, row condition and arguments read.
        offset: rows that the top-k skips.
        outputs: the aggregates that are asked for.
        key_nodes: the keys as the parser reads them.
    """

    source: Plan
    keys_sql: tuple[str, ...]
    keys: tuple[Expression, ...]
    where_nodes: tuple[exp.Expr, ...]
    where_sql: str | None
    where: Expression | None
    aggregates: tuple[BoundAggregate, ...]
    having_nodes: tuple[exp.Expr, ...]
    having: tuple[Expression, ...]
    order: tuple[OrderKey, ...]
    limit: int | None
    columns: tuple[str, ...]
    offset: int = 0
    outputs: tuple[Expression, ...] = ()
    key_nodes: tuple[exp.Expr, ...] = ()
    where_texts: tuple[str, ...] = ()

    @property
    def condition(self) -> Expression | None:
        """Condition on groups, None without one."""
        return _all(self.having)


class Once:
    """What was made of expressions and plans of one text that have no markers: it is the same for all values.

    Mutable; threads that make the same at once only do so in vain.
    """

    def __init__(self) -> None:
        # What is kept here keeps its identity for itself.
        self._made: dict[tuple[str, int], tuple[object, object]] = {}

    def get(self, what: str, of: KeyT, make: Callable[[KeyT], MadeT]) -> MadeT:
        """Return what ``make`` makes of something, always by the same function."""
        found = self._made.get((what, id(of)))
        if found is None:
            found = self._made[what, id(of)] = (of, make(of))
        return cast(MadeT, found[1])

    def has_markers(self, node: exp.Expr) -> bool:
        return self.get("marked", node, _has_markers)


def _has_markers(node: exp.Expr) -> bool:
    return node.find(exp.Placeholder, exp.Lower) is not None


def with_values(plan: Plan, parameters: Parameters, read: Change = _unchanged, once: Once | None = None) -> Plan:
    """Put the values of markers into a plan. Raises Refused: a value has no exact literal.

    Args:
        read: is asked what each expression with its values is read as.
        once: of the same plan, read in the same way.
    """
    once = Once() if once is None else once
    values = _Values(parameters, read, once)

    def has_markers(each: Plan) -> bool:
        return any(map(once.has_markers, expressions_of(each))) or any(
            once.get("marked plan", child, has_markers) for child in children(each)
        )

    def changed(each: Plan) -> Plan:
        return with_expressions(with_inputs(each, tuple(map(change, children(each)))), values.put)

    def change(each: Plan) -> Plan:
        return changed(each) if once.get("marked plan", each, has_markers) else once.get("plan", each, changed)

    return change(plan)


def bind(
    block: QueryBlock,
    parameters: Parameters,
    columns: Mapping[str, pa.DataType | None],
    read: Change = _unchanged,
    once: Once | None = None,
) -> BoundBlock:
    """Put the values of markers and the types of columns into a block.

    Args:
        read, once: as for ``with_values``; of the same columns too.

    Raises:
        Refused: a value has no exact literal, or LIMIT is not a whole number.
    """
    once = Once() if once is None else once
    binder = _Binder(block, _Values(parameters, read, once), columns, once)
    where = tuple(binder.with_values(conjunct) for conjunct in block.where)
    keys = [binder.with_values(key) for key in block.keys]
    outputs = tuple(binder.group(binder.with_values(function)) for function in block.functions)
    having_nodes = tuple(binder.with_values(conjunct) for conjunct in block.having)
    having = tuple(binder.group(conjunct) for conjunct in having_nodes)
    order = tuple(OrderKey(binder.group(binder.with_values(item.expression)), item.descending, item.nulls_first) for item in block.order)
    return BoundBlock(
        source=with_values(block.source, parameters, read, once),
        keys_sql=tuple(key.sql(dialect=DIALECT) for key in keys),
        keys=tuple(binder.row(key) for key in keys),
        where_nodes=where,
        where_sql=condition_sql(where) or None,
        where=_all(tuple(binder.row(conjunct) for conjunct in where)),
        aggregates=tuple(binder.aggregates),
        having_nodes=having_nodes,
        having=having,
        order=order,
        limit=binder.limit(),
        columns=_columns([*keys, *where, *binder.arguments]),
        offset=binder.number(block.offset),
        outputs=outputs,
        key_nodes=tuple(keys),
        where_texts=_texts(where),
    )


def all_groups(block: BoundBlock) -> BoundBlock:
    """Return a block all groups of which are asked for."""
    return replace(block, having_nodes=(), having=(), order=(), limit=None, offset=0)


def with_rows(block: BoundBlock, where: tuple[exp.Expr, ...], columns: Mapping[str, pa.DataType | None]) -> BoundBlock:
    """Return a block with other conditions on its rows."""
    return replace(
        block,
        where_nodes=where,
        where_texts=_texts(where),
        where_sql=condition_sql(where) or None,
        where=_all(tuple(row_expression(node, columns) for node in where)),
        columns=tuple(dict.fromkeys((*block.columns, *_columns(list(where))))),
    )


def with_groups_of(
    block: BoundBlock,
    keys: Sequence[exp.Expr],
    where: Sequence[exp.Expr],
    aggregates: tuple[BoundAggregate, ...],
    columns: Mapping[str, pa.DataType | None],
) -> BoundBlock:
    """Return a block of other groups over the same source, all of them."""
    arguments = [each.argument_node for each in aggregates if each.argument_node is not None]
    other = replace(
        all_groups(block),
        keys_sql=tuple(key.sql(dialect=DIALECT) for key in keys),
        keys=tuple(row_expression(key, columns) for key in keys),
        key_nodes=tuple(keys),
        aggregates=aggregates,
        outputs=(),
        columns=_columns([*keys, *arguments]),
    )
    return with_rows(other, tuple(where), columns)


def _texts(nodes: tuple[exp.Expr, ...]) -> tuple[str, ...]:
    return tuple(node.sql(dialect=DIALECT) for node in nodes)


def _columns(nodes: list[exp.Expr]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column.name for node in nodes for column in node.find_all(exp.Column)))


def _all(conjuncts: tuple[Expression, ...]) -> Expression | None:
    return None if not conjuncts else conjuncts[0] if len(conjuncts) == 1 else And(conjuncts)


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of markers, and how what has them is read."""

    parameters: Parameters
    read: Change
    once: Once

    def put(self, node: exp.Expr) -> exp.Expr:
        """Return an expression with literals in place of its markers. Raises Refused: a value has no exact one."""
        return self.read(node.transform(self._known)) if self.once.has_markers(node) else self.once.get("read", node, self.read)

    def _known(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Placeholder):
            return self._literal(node)
        if isinstance(node, exp.Lower) and isinstance(node.this, exp.Placeholder):
            return _lowered(exp.Lower(this=self._literal(node.this)))
        return _lowered(node)

    def _literal(self, node: exp.Placeholder) -> exp.Expr:
        value = self._value(str(node.this))
        if isinstance(value, exp.Literal):
            # A constant of the text (parse/patterns.py).
            if value.is_string:
                check_text(str(value.this))
            return value.copy()
        if isinstance(value, exp.Expr):
            # That of a subquery (plan/scalars.py).
            return exp.Paren(this=value.copy())
        if isinstance(value, str):
            check_text(value)
        try:
            literal = literal_node(value)
        except NotSupportedError as error:
            raise Refused(Reason.UNSUPPORTED_PARAMETER, str(error)) from error
        return literal if isinstance(literal, exp.Literal) else exp.Paren(this=literal)

    def _value(self, name: str) -> object:
        number = marker_number(name)
        try:
            if isinstance(self.parameters, Mapping):
                return self.parameters[name]
            if number is None or self.parameters is None:
                raise KeyError(name)
            return self.parameters[number]
        except (KeyError, IndexError):
            raise Refused(Reason.UNSUPPORTED_PARAMETER, f"no value for marker {name}") from None


def _lowered(node: exp.Expr) -> exp.Expr:
    """Return the text that ``lower`` makes of a constant, as tools write patterns; beyond ASCII that is Java's to know."""
    if isinstance(node, exp.Lower) and isinstance(node.this, exp.Literal) and node.this.is_string and node.this.this.isascii():
        return exp.Literal.string(node.this.this.lower())
    return node


class _Binder:
    """Collects the aggregates of one block while its expressions are converted."""

    def __init__(self, block: QueryBlock, values: _Values, columns: Mapping[str, pa.DataType | None], once: Once) -> None:
        self._block = block
        self._once = once
        self._values = values
        self._columns = dict(columns)
        self._places: dict[exp.Expr, int] = {}
        self.aggregates: list[BoundAggregate] = []
        self.arguments: list[exp.Expr] = []
        self._kept: set[int] = set()

    def with_values(self, node: exp.Expr) -> exp.Expr:
        found = self._values.put(node)
        if not self._once.has_markers(node):
            self._kept.add(id(found))
        return found

    def _made(self, what: str, node: exp.Expr, make: Callable[[exp.Expr], MadeT]) -> MadeT:
        """Return what is made of an expression, once where it has no marker."""
        return self._once.get(what, node, make) if id(node) in self._kept else make(node)

    def limit(self) -> int | None:
        return None if self._block.limit is None else self.number(self._block.limit) + self.number(self._block.offset)

    def number(self, part: exp.Expr | None) -> int:
        """Return the value of LIMIT or OFFSET, 0 without one."""
        if part is None:
            return 0
        value = whole_number(self.with_values(part))
        if value is None or value < 0:
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, "LIMIT is not a whole number")
        return value

    def row(self, node: exp.Expr) -> Expression:
        """Convert an expression over base columns."""
        return self._made("row", node, lambda each: row_expression(each, self._columns))

    def _is_plain(self, node: exp.Expr) -> bool:
        return not isinstance(node, exp.Column) or self._columns.get(node.name) is not None

    def group(self, node: exp.Expr) -> Expression:
        """Convert an expression over group keys and aggregates."""

        def leaf(each: exp.Expr) -> Expression | None:
            for index, key in enumerate(self._block.keys):
                if each == key or each == key.unnest():
                    return KeyReference(index) if self._is_plain(key.unnest()) else Opaque(key.sql(dialect=DIALECT))
            if isinstance(each, exp.AggFunc) or (isinstance(each, exp.Filter) and isinstance(each.this, exp.AggFunc)):
                return self._aggregate(each)
            return Opaque(each.sql(dialect=DIALECT)) if isinstance(each, exp.Column) else None

        return convert(node, leaf)

    def _aggregate(self, node: exp.Expr) -> Expression:
        if node in self._places:
            return AggregateReference(self._places[node])
        rounds_once = bool(self._block.functions)
        found = self._made("aggregate", node, lambda each: bound_aggregate(each, self._columns, rounds_once=rounds_once))
        if found is None:
            return Opaque(node.sql(dialect=DIALECT))
        bound, argument = found
        self._places[node] = len(self.aggregates)
        self.aggregates.append(bound)
        if argument is not None:
            self.arguments.append(argument)
        return AggregateReference(self._places[node])
