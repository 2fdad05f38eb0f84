"""Block with markers + bound values + column types -> what the operators and the capture query work with."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from imp_driver.errors import NotSupportedError
from imp_driver.operators.contract import AccumulatorKind, AggregateSpecification, OrderKey, ValueForm
from imp_driver.parse.literals import literal_node
from imp_driver.parse.nodes import (
    AggregateReference,
    And,
    Arithmetic,
    Column,
    Comparison,
    Constant,
    Expression,
    IsNull,
    KeyReference,
    Not,
    Opaque,
    Or,
    Value,
)
from imp_driver.parse.statement import DIALECT, marker_number
from imp_driver.parse.supported import Refused, check_text
from imp_driver.parse.types import infer
from imp_driver.plan.blocks import QueryBlock
from imp_driver.plan.nodes import Plan, children
from imp_driver.plan.rebuild import with_expressions, with_inputs
from imp_driver.plan.render import condition_sql
from imp_driver.ports import Parameters
from imp_driver.reasons import Reason


@dataclass(frozen=True, slots=True)
class BoundAggregate:
    """One maintained aggregate; ``argument_sql`` is over the source, None for count(*)."""

    specification: AggregateSpecification
    argument_sql: str | None
    argument: Expression | None


@dataclass(frozen=True, slots=True)
class BoundBlock:
    """One block with all constants known.

    Attributes:
        source: what the block reads, with values.
        keys_sql, keys: group keys as SQL over the source and as expressions (Opaque when only Spark can compute them).
        where_nodes, where_sql, where: condition on rows as conjuncts, as SQL and as an expression; empty or None without one.
        having_nodes, having: conjuncts on groups, over the source's columns and over keys and aggregates.
        limit: rows of the top-k with its offset, None without one.
        columns: columns of the source that keys, row condition and arguments read.
        offset: rows that the top-k skips.
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

    @property
    def condition(self) -> Expression | None:
        """Condition on groups, None without one."""
        return _all(self.having)


def bind(block: QueryBlock, parameters: Parameters, columns: Mapping[str, pa.DataType | None]) -> BoundBlock:
    """Put the values of markers and the types of columns into a block.

    Raises:
        Refused: a value has no exact literal, or LIMIT is not a whole number.
    """
    binder = _Binder(block, parameters, columns)
    where = tuple(binder.with_values(conjunct) for conjunct in block.where)
    keys = [binder.with_values(key) for key in block.keys]
    having_nodes = tuple(binder.with_values(conjunct) for conjunct in block.having)
    having = tuple(binder.group(conjunct) for conjunct in having_nodes)
    order = tuple(OrderKey(binder.group(binder.with_values(item.expression)), item.descending, item.nulls_first) for item in block.order)
    return BoundBlock(
        source=binder.source(block.source),
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
    )


def _columns(nodes: list[exp.Expr]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column.name for node in nodes for column in node.find_all(exp.Column)))


def _all(conjuncts: tuple[Expression, ...]) -> Expression | None:
    return None if not conjuncts else conjuncts[0] if len(conjuncts) == 1 else And(conjuncts)


class _Binder:
    """Collects the aggregates of one block while its expressions are converted."""

    def __init__(self, block: QueryBlock, parameters: Parameters, columns: Mapping[str, pa.DataType | None]) -> None:
        self._block = block
        self._parameters = parameters
        self._columns = dict(columns)
        self._places: dict[str, int] = {}
        self.aggregates: list[BoundAggregate] = []
        self.arguments: list[exp.Expr] = []

    def with_values(self, node: exp.Expr) -> exp.Expr:
        def replace(each: exp.Expr) -> exp.Expr:
            return self._literal(each) if isinstance(each, exp.Placeholder) else each

        return node.transform(replace)

    def source(self, plan: Plan) -> Plan:
        return with_expressions(with_inputs(plan, tuple(map(self.source, children(plan)))), self.with_values)

    def _literal(self, node: exp.Placeholder) -> exp.Expr:
        value = self._value(str(node.this))
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
            if isinstance(self._parameters, Mapping):
                return self._parameters[name]
            if number is None or self._parameters is None:
                raise KeyError(name)
            return self._parameters[number]
        except (KeyError, IndexError):
            raise Refused(Reason.UNSUPPORTED_PARAMETER, f"no value for marker {name}") from None

    def limit(self) -> int | None:
        return None if self._block.limit is None else self.number(self._block.limit) + self.number(self._block.offset)

    def number(self, part: exp.Expr | None) -> int:
        """Return the value of LIMIT or OFFSET, 0 without one."""
        if part is None:
            return 0
        value = _constant(self.with_values(part))
        if value is None or not isinstance(value.value, int) or isinstance(value.value, bool) or value.value < 0:
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, "LIMIT is not a whole number")
        return value.value

    def row(self, node: exp.Expr) -> Expression:
        """Convert an expression over base columns."""

        def leaf(each: exp.Expr) -> Expression | None:
            if not isinstance(each, exp.Column):
                return None
            return Column(each.name) if self._is_plain(each) else Opaque(each.name)

        return _convert(node, leaf)

    def _is_plain(self, node: exp.Expr) -> bool:
        """A column of another type than the operators know (CHAR, which Spark pads in comparisons, say) is left to Spark."""
        return not isinstance(node, exp.Column) or self._columns.get(node.name) is not None

    def group(self, node: exp.Expr) -> Expression:
        """Convert an expression over group keys and aggregates."""

        def leaf(each: exp.Expr) -> Expression | None:
            for index, key in enumerate(self._block.keys):
                if each == key or each == key.unnest():
                    return KeyReference(index) if self._is_plain(key.unnest()) else Opaque(key.sql(dialect=DIALECT))
            if isinstance(each, exp.AggFunc):
                return self._aggregate(each)
            return Opaque(each.sql(dialect=DIALECT)) if isinstance(each, exp.Column) else None

        return _convert(node, leaf)

    def _aggregate(self, node: exp.AggFunc) -> Expression:
        text = node.sql(dialect=DIALECT)
        if text in self._places:
            return AggregateReference(self._places[text])
        bound = self._bound_aggregate(node)
        if bound is None:
            return Opaque(text)
        self._places[text] = len(self.aggregates)
        self.aggregates.append(bound)
        return AggregateReference(self._places[text])

    def _bound_aggregate(self, node: exp.AggFunc) -> BoundAggregate | None:
        argument = node.this
        is_distinct = isinstance(node, exp.Count) and isinstance(argument, exp.Distinct) and len(argument.expressions) == 1
        if is_distinct:
            argument = argument.expressions[0]
        if not isinstance(argument, exp.Expr) or isinstance(argument, exp.Distinct) or node.args.get("expressions"):
            return None
        if isinstance(node.parent, (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
            return None
        if isinstance(node, exp.Count) and not is_distinct and isinstance(argument, (exp.Star, exp.Literal)):
            return BoundAggregate(AggregateSpecification(AccumulatorKind.COUNT_ROWS, ValueForm.TOTAL, None), None, None)
        kind = infer(argument, self._columns)
        chosen = None if kind is None else AccumulatorKind.COUNT_DISTINCT if is_distinct else _kind(node, kind)
        if kind is None or chosen is None:
            return None
        self.arguments.append(argument)
        form = ValueForm.AVERAGE if isinstance(node, exp.Avg) else ValueForm.TOTAL
        return BoundAggregate(AggregateSpecification(chosen, form, kind), argument.sql(dialect=DIALECT), self.row(argument))


def _kind(node: exp.AggFunc, kind: pa.DataType) -> AccumulatorKind | None:
    if isinstance(node, exp.Count):
        return AccumulatorKind.COUNT
    if isinstance(node, exp.Min):
        return AccumulatorKind.MINIMUM
    if isinstance(node, exp.Max):
        return AccumulatorKind.MAXIMUM
    if not isinstance(node, (exp.Sum, exp.Avg)):
        return None
    if pa.types.is_integer(kind):
        return AccumulatorKind.SUM_INTEGER if isinstance(node, exp.Sum) else AccumulatorKind.AVERAGE_INTEGER
    if pa.types.is_decimal(kind):
        return AccumulatorKind.SUM_DECIMAL
    return AccumulatorKind.SUM_FLOAT if pa.types.is_floating(kind) else None


_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
}
_ARITHMETIC: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}


def _convert(node: exp.Expr, leaf: Callable[[exp.Expr], Expression | None]) -> Expression:
    """Convert what the operators evaluate; anything else becomes Opaque."""
    found = leaf(node) or _constant(node)
    if found is not None:
        return found
    if isinstance(node, exp.Paren):
        return _convert(node.this, leaf)
    if isinstance(node, exp.Not):
        return Not(_convert(node.this, leaf))
    if isinstance(node, exp.And):
        return And((_convert(node.left, leaf), _convert(node.right, leaf)))
    if isinstance(node, exp.Or):
        return Or((_convert(node.left, leaf), _convert(node.right, leaf)))
    if type(node) in _COMPARISONS and isinstance(node, exp.Binary):
        return Comparison(_COMPARISONS[type(node)], _convert(node.left, leaf), _convert(node.right, leaf))
    if type(node) in _ARITHMETIC and isinstance(node, exp.Binary):
        return Arithmetic(_ARITHMETIC[type(node)], _convert(node.left, leaf), _convert(node.right, leaf))
    return _convert_compound(node, leaf)


def _convert_compound(node: exp.Expr, leaf: Callable[[exp.Expr], Expression | None]) -> Expression:
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        value = _convert(node.this, leaf)
        return And((Comparison(">=", value, _convert(node.args["low"], leaf)), Comparison("<=", value, _convert(node.args["high"], leaf))))
    if isinstance(node, exp.In) and node.expressions and not any(node.args.get(name) for name in ("query", "unnest", "field")):
        value = _convert(node.this, leaf)
        return Or(tuple(Comparison("=", value, _convert(each, leaf)) for each in node.expressions))
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return IsNull(_convert(node.this, leaf))
    return Opaque(node.sql(dialect=DIALECT))


def _constant(node: exp.Expr) -> Constant | None:
    """Read a literal of an exact type; text that Spark would interpret by session settings is left to Spark."""
    if isinstance(node, exp.Paren):
        return _constant(node.this)
    if isinstance(node, exp.Null):
        return Constant(None)
    if isinstance(node, exp.Boolean):
        return Constant(bool(node.this))
    if isinstance(node, exp.Neg):
        inner = _constant(node.this)
        negative = inner is not None and isinstance(inner.value, (int, float, Decimal)) and not isinstance(inner.value, bool)
        return Constant(-inner.value) if negative else None  # type: ignore[union-attr,operator]
    if isinstance(node, exp.Literal):
        return Constant(str(node.this)) if node.is_string else _number(str(node.this))
    return _cast_constant(node) if isinstance(node, exp.Cast) else None


def _number(text: str) -> Constant | None:
    if text.isdigit():
        return Constant(int(text))
    try:
        return Constant(float(text)) if "e" in text.lower() else Constant(Decimal(text))
    except (ValueError, ArithmeticError):
        return None


def _cast_constant(node: exp.Cast) -> Constant | None:
    inner = _constant(node.this)
    if inner is None or inner.value is None:
        return None
    value: Value = inner.value
    try:
        match node.to.this:
            case exp.DType.DOUBLE:
                return Constant(float(value)) if isinstance(value, (int, Decimal, float, str)) else None
            case exp.DType.INT | exp.DType.BIGINT | exp.DType.SMALLINT | exp.DType.TINYINT:
                return Constant(value) if isinstance(value, int) else None
            case exp.DType.DECIMAL:
                return Constant(Decimal(value)) if isinstance(value, str) else None
            case exp.DType.DATE:
                return Constant(datetime.date.fromisoformat(value)) if isinstance(value, str) and len(value) == 10 else None
            case exp.DType.TIMESTAMP | exp.DType.TIMESTAMPTZ | exp.DType.TIMESTAMPLTZ:
                instant = datetime.datetime.fromisoformat(value) if isinstance(value, str) else None
                return Constant(instant) if instant is not None and instant.tzinfo is not None else None
            case exp.DType.TIMESTAMPNTZ:
                local = datetime.datetime.fromisoformat(value) if isinstance(value, str) else None
                return Constant(local) if local is not None and local.tzinfo is None else None
    except (ValueError, ArithmeticError):
        return None
    return None
