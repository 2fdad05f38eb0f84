"""Which groups follow from which: a block that is asked for against one whose groups are maintained, over the same rows.

Sound since the finer groups are all groups of their rows: a condition on their keys is evaluated for each of them, whatever its form, and
every row that passes is in exactly one of those that are left (Goldstein and Larson 2001 without the proof of containment).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.conditional import conditional, of_type
from imp_driver.parse.statement import DIALECT
from imp_driver.plan.aggregate import BoundAggregate
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.convert import convert
from imp_driver.values.aggregates import OF_MULTISETS, AccumulatorKind, AggregateSpecification
from imp_driver.values.expressions import And, Column, Expression, Opaque, parts_of


@dataclass(frozen=True, slots=True)
class Held:
    """An aggregate that is added up from the ``place``-th one of finer groups, which has all that it needs."""

    place: int


@dataclass(frozen=True, slots=True)
class OverKeys:
    """An aggregate of an expression over finer keys, each of which counts as often as its group has rows; None for count(*)."""

    argument: Expression | None


@dataclass(frozen=True, slots=True)
class HeldWhere:
    """An aggregate that is added up from the ``place``-th one of the finer groups that pass a condition on their keys.

    ``others_are_zero``: rows of the other groups are summed as 0.
    """

    place: int
    condition: Expression
    others_are_zero: bool


_T = TypeVar("_T")
KeySource: TypeAlias = int | Expression
"""Where the value of a key comes from: the place of a finer key, or an expression over finer keys."""
AggregateSource: TypeAlias = Held | HeldWhere | OverKeys


@dataclass(frozen=True, slots=True)
class Match:
    """How the groups that are asked for follow from finer ones. Expressions are over columns named by ``key_name``.

    Attributes:
        read: places of the finer keys that expressions read.
        condition: what finer groups must pass; None where all do.
        keys, aggregates: of the groups that are asked for.
        is_same: no two of the finer groups fall together.
    """

    read: tuple[int, ...]
    condition: Expression | None
    keys: tuple[KeySource, ...]
    aggregates: tuple[AggregateSource, ...]
    is_same: bool


@dataclass(frozen=True, slots=True)
class Miss:
    """Why groups do not follow from others: ``what`` of which ``parts``, as SQL."""

    what: str
    parts: Sequence[str]


def key_name(place: int) -> str:
    return f"key_{place}"


def own_match(block: BoundBlock) -> Match:
    """Return how groups follow from themselves."""
    keys = tuple(range(len(block.keys)))
    return Match((), None, keys, tuple(map(Held, range(len(block.aggregates)))), True)


def match(asked: BoundBlock, finer: BoundBlock, types: Mapping[str, pa.DataType | None]) -> Match | Miss:
    """Return how the groups of ``asked`` follow from those of ``finer``, or why they do not; both are over the same source.

    Args:
        types: of the source's columns.
    """
    keys_of = _Keys(finer, types)
    own = {text(node) for node in finer.where_nodes}
    wanted = {text(node): node for node in asked.where_nodes}
    lacking = sorted(own - wanted.keys())
    if lacking:
        return Miss("has only the rows of", lacking)
    residual = {each: keys_of.over(node) for each, node in wanted.items() if each not in own}
    keys = {text(node): keys_of.source(node) for node in asked.key_nodes}
    aggregates = [_aggregate(each, finer, keys_of) for each in asked.aggregates]
    if None in residual.values():
        return Miss("its keys do not decide", [each for each, found in residual.items() if found is None])
    if None in keys.values():
        return Miss("its keys do not give", [each for each, found in keys.items() if found is None])
    if None in aggregates:
        return Miss("has not", [_named(each) for each, found in zip(asked.aggregates, aggregates, strict=True) if found is None])
    sources = tuple(keys[text(node)] for node in asked.key_nodes)
    is_same = set(range(len(finer.keys))) <= {key for key in sources if isinstance(key, int)}
    condition = And(tuple(_found(residual.values()))) if residual else None
    return Match(tuple(sorted(keys_of.read)), condition, tuple(_found(sources)), tuple(_found(aggregates)), is_same)


def _named(aggregate: BoundAggregate) -> str:
    return f"{aggregate.specification.kind.value} {aggregate.argument_sql or ''}".strip()


class _Keys:
    """The keys of finer groups, and which of them expressions were found to read."""

    def __init__(self, finer: BoundBlock, types: Mapping[str, pa.DataType | None]) -> None:
        self._places = {each: place for place, each in reversed(list(enumerate(finer.keys_sql)))}
        self._types = types
        self.read: set[int] = set()

    def source(self, node: exp.Expr) -> KeySource | None:
        place = self._places.get(text(node))
        return self.over(node) if place is None else place

    def over(self, node: exp.Expr) -> Expression | None:
        """Return an expression over the keys, None where it reads something else or is Spark's to compute."""
        read: set[int] = set()

        def leaf(each: exp.Expr) -> Expression | None:
            place = self._places.get(text(each))
            if place is not None and not isinstance(each, exp.Literal) and self._is_known(each):
                read.add(place)
                return Column(key_name(place))
            return Opaque(each.name) if isinstance(each, exp.Column) else None

        found = convert(node, leaf)
        if is_opaque(found):
            return None
        self.read |= read
        return found

    def _is_known(self, node: exp.Expr) -> bool:
        """Say whether values are compared as the operators do: CHAR, say, is padded by Spark."""
        inner = node.unnest()
        return not isinstance(inner, exp.Column) or self._types.get(inner.name) is not None


def _aggregate(asked: BoundAggregate, finer: BoundBlock, keys: _Keys) -> AggregateSource | None:
    for place, held in enumerate(finer.aggregates):
        if held.argument_sql == asked.argument_sql and _holds(held.specification, asked.specification):
            return Held(place)
    if asked.argument_node is None:
        return OverKeys(None) if asked.specification.kind is AccumulatorKind.COUNT_ROWS else None
    argument = keys.over(asked.argument_node)
    return _held_where(asked, finer, keys) if argument is None else OverKeys(argument)


def _held_where(asked: BoundAggregate, finer: BoundBlock, keys: _Keys) -> HeldWhere | None:
    found = conditional(asked)
    condition = None if found is None else keys.over(found.condition)
    if found is None or condition is None:
        return None
    value = text(found.value.unnest())
    for place, held in enumerate(finer.aggregates):
        is_same = held.argument_node is not None and text(held.argument_node.unnest()) == value
        if is_same and _holds(of_type(held.specification, asked.specification), asked.specification):
            return HeldWhere(place, condition, found.others_are_zero)
    return None


_ALIKE = (OF_MULTISETS, frozenset({AccumulatorKind.BOOLEAN_AND, AccumulatorKind.BOOLEAN_OR}))
"""Kinds that hold the same."""
_INTEGERS = (AccumulatorKind.SUM_INTEGER, AccumulatorKind.SUM_LONG, AccumulatorKind.AVERAGE_INTEGER)


def _holds(held: AggregateSpecification, asked: AggregateSpecification) -> bool:
    """Say whether an accumulator has all that another one of the same argument needs (rule table 2.3: avg from sum and count ..)."""
    if held.argument_type != asked.argument_type:
        return False
    if held.kind is asked.kind or asked.kind is AccumulatorKind.COUNT:
        return held.kind is not AccumulatorKind.COUNT_ROWS or asked.kind is AccumulatorKind.COUNT_ROWS
    if any({held.kind, asked.kind} <= kinds for kinds in _ALIKE):
        return True
    if held.kind is AccumulatorKind.SUM_WIDE_DECIMAL and asked.kind is AccumulatorKind.SUM_DECIMAL:
        return True
    # What is known of the absolute values is needed for averages and for sums that may leave 64 bits.
    return asked.kind in _INTEGERS and held.kind in _INTEGERS and held.kind is not AccumulatorKind.SUM_INTEGER


def text(node: exp.Expr) -> str:
    """Return by what two expressions are told apart."""
    return node.sql(dialect=DIALECT)


def is_opaque(expression: Expression) -> bool:
    """Say whether some part of an expression is Spark's to compute."""
    return isinstance(expression, Opaque) or any(map(is_opaque, parts_of(expression)))


def _found(every: Iterable[_T | None]) -> Iterator[_T]:
    return (each for each in every if each is not None)
