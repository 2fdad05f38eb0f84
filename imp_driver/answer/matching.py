"""Which groups follow from which: a block that is asked for against one whose groups are maintained, over the same rows.

Sound since the finer groups are all groups of their rows: a condition on their keys is evaluated for each of them, whatever its form, and
every row that passes is in exactly one of those that are left. Where they have the rows of some condition alone, it is one of those that
are asked for, or these imply it (Goldstein and Larson 2001).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.conditional import conditional, of_type
from imp_driver.answer.guarded import ERRORS, guard
from imp_driver.answer.keys import Keys, KeySource, Texts, text
from imp_driver.plan.aggregate import BoundAggregate
from imp_driver.plan.bind import BoundBlock
from imp_driver.reuse.atoms import Facts, facts_of, follow
from imp_driver.values.aggregates import OF_MULTISETS, AccumulatorKind, AggregateSpecification, ValueForm
from imp_driver.values.expressions import And, Expression


@dataclass(frozen=True, slots=True)
class Held:
    """An aggregate that is added up from the ``place``-th one of finer groups, which has all that it needs.

    ``errors`` is the place of the count of rows that are left out of it (answer/guarded.py), None where there are none.
    """

    place: int
    errors: int | None = None


@dataclass(frozen=True, slots=True)
class OverKeys:
    """An aggregate of an expression over finer keys, each of which counts as often as its group has rows; None for count(*)."""

    argument: Expression | None


@dataclass(frozen=True, slots=True)
class HeldWhere:
    """An aggregate that is added up from the ``place``-th one of the finer groups that pass a condition on their keys.

    ``others_are_zero``: rows of the other groups are summed as 0. ``errors`` as for ``Held``.
    """

    place: int
    condition: Expression
    others_are_zero: bool
    errors: int | None = None


_T = TypeVar("_T")
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


def own_match(block: BoundBlock) -> Match:
    """Return how groups follow from themselves."""
    keys = tuple(range(len(block.keys)))
    return Match((), None, keys, tuple(map(Held, range(len(block.aggregates)))), True)


class Asked:
    """A block that is asked for."""

    def __init__(self, block: BoundBlock, types: Mapping[str, pa.DataType | None], names: Mapping[str, str | None]) -> None:
        """Keep what is asked of each of the finer groups.

        Args:
            types, names: types of the source's columns, as of Arrow and as Delta names them.
        """
        self._block = block
        self._types = types
        self._names = names
        self._texts = Texts()
        self._where = dict(zip(block.where_texts, block.where_nodes, strict=True))
        self._facts: Facts | None = None

    def match(self, finer: BoundBlock) -> Match | Miss:
        """Return how the groups of this block follow from finer ones over the same source, or why they do not."""
        asked = self._block
        keys_of = Keys(finer, self._types, self._texts)
        own = dict(zip(finer.where_texts, finer.where_nodes, strict=True))
        lacking = sorted(own.keys() - self._where.keys())
        if lacking and not self._implies([own[each] for each in lacking]):
            return Miss("has only the rows of", lacking)
        residual = {each: keys_of.over(node) for each, node in self._where.items() if each not in own}
        keys = {each: keys_of.source(node) for each, node in zip(asked.keys_sql, asked.key_nodes, strict=True)}
        aggregates = [_aggregate(each, finer, keys_of) for each in asked.aggregates]
        if None in residual.values():
            return Miss("its keys do not decide", [each for each, found in residual.items() if found is None])
        if None in keys.values():
            return Miss("its keys do not give", [each for each, found in keys.items() if found is None])
        if None in aggregates:
            return Miss("has not", [_named(each) for each, found in zip(asked.aggregates, aggregates, strict=True) if found is None])
        sources = tuple(keys[each] for each in asked.keys_sql)
        is_same = set(range(len(finer.keys))) <= {key for key in sources if isinstance(key, int)}
        condition = And(tuple(_found(residual.values()))) if residual else None
        return Match(tuple(sorted(keys_of.read)), condition, tuple(_found(sources)), tuple(_found(aggregates)), is_same)

    def _implies(self, conditions: Sequence[exp.Expr]) -> bool:
        if self._facts is None:
            self._facts = facts_of(self._block.where_nodes, self._names)
        return follow(self._facts, conditions, self._names)


def _named(aggregate: BoundAggregate) -> str:
    return f"{aggregate.specification.kind.value} {aggregate.argument_sql or ''}".strip()


def _aggregate(asked: BoundAggregate, finer: BoundBlock, keys: Keys) -> AggregateSource | None:
    for place, held in enumerate(finer.aggregates):
        if held.argument_sql == asked.argument_sql and _holds(held.specification, asked.specification):
            return Held(place)
    if asked.argument_node is None:
        return OverKeys(None) if asked.specification.kind is AccumulatorKind.COUNT_ROWS else None
    argument = keys.over(asked.argument_node)
    if argument is not None:
        return OverKeys(argument)
    found = _guarded(asked.argument_node, asked.specification, finer)
    return _held_where(asked, finer, keys) if found is None else Held(*found)


def _held_where(asked: BoundAggregate, finer: BoundBlock, keys: Keys) -> HeldWhere | None:
    found = conditional(asked)
    condition = None if found is None else keys.over(found.condition)
    if found is None or condition is None:
        return None
    place = _place(found.value, asked.specification, finer)
    if place is not None:
        return HeldWhere(place, condition, found.others_are_zero)
    guarded = _guarded(found.value, asked.specification, finer)
    return None if guarded is None else HeldWhere(guarded[0], condition, found.others_are_zero, guarded[1])


def _place(value: exp.Expr, asked: AggregateSpecification, finer: BoundBlock) -> int | None:
    """Return the place of the aggregate of a value, which may be of a narrower type."""
    wanted = text(value.unnest())
    for place, held in enumerate(finer.aggregates):
        is_same = held.argument_node is not None and text(held.argument_node.unnest()) == wanted
        if is_same and _holds(of_type(held.specification, asked), asked):
            return place
    return None


def _guarded(value: exp.Expr, asked: AggregateSpecification, finer: BoundBlock) -> tuple[int, int] | None:
    """Return the places of the guarded aggregate of a value, and of the count of what is left out of it."""
    found = guard(value)
    places = None if found is None else (_place(found.value, asked, finer), _place(found.errors, ERRORS, finer))
    return None if places is None or places[0] is None or places[1] is None else (places[0], places[1])


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
    if {held.kind, asked.kind} == {AccumulatorKind.SUM_WIDE_DECIMAL, AccumulatorKind.SUM_DECIMAL}:
        # An average of few digits is known of few values without their absolute ones, a sum of many digits is not.
        return asked.kind is AccumulatorKind.SUM_DECIMAL or asked.form is ValueForm.AVERAGE
    # What is known of the absolute values is needed for averages and for sums that may leave 64 bits.
    return asked.kind in _INTEGERS and held.kind in _INTEGERS and held.kind is not AccumulatorKind.SUM_INTEGER


def _found(every: Iterable[_T | None]) -> Iterator[_T]:
    return (each for each in every if each is not None)
