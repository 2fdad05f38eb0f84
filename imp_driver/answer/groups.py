"""Groups of a relation -> rows of the aggregation that a query asks for: of these groups, or of coarser ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
from pyarrow import compute

from imp_driver.answer.by_number import by_number
from imp_driver.answer.guarded import ERRORS
from imp_driver.answer.keys import key_name
from imp_driver.answer.matching import AggregateSource, Held, HeldWhere, Match, OverKeys
from imp_driver.answer.nested.partial import Partial, Partials
from imp_driver.answer.regroup import of_no_rows
from imp_driver.answer.rounding import with_spreads
from imp_driver.dataflow.aggregate.accumulator import Accumulator, Values
from imp_driver.dataflow.aggregate.load import loaded
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.dataflow.expression.project import project
from imp_driver.dataflow.expression.select import select
from imp_driver.plan.aggregate import BoundAggregate
from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.nodes import Aggregate
from imp_driver.reasons import Reason
from imp_driver.safety.verdict import readable
from imp_driver.state.group_columns import CoarserGroups, ReadGroups
from imp_driver.state.numberings import Numbering
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification
from imp_driver.values.codes import BooleanArray, Codec, IntegerArray, as_grouped
from imp_driver.values.expressions import AggregateReference, Expression
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import with_count


def check_maintained(block: BoundBlock) -> None:
    """Raise Refused where an aggregate that is asked for is not maintained."""
    for output in block.outputs:
        if not isinstance(output, AggregateReference):
            raise Refused(Reason.UNSUPPORTED_AGGREGATE, getattr(output, "text", ""))


def check_keys(block: BoundBlock, types: Mapping[str, pa.DataType | None]) -> None:
    """Raise Refused where a key is a column that is not compared by its value: above groups too Spark pads what stands beside CHAR."""
    for node in block.key_nodes:
        name = plain_identifier(node)
        if name is not None and types.get(name) is None:
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, f"the group key {readable(f'`{name}`')}: its type is compared by Spark alone")


def rows_of(state: ReadGroups, found: Match, block: BoundBlock, aggregate: Aggregate) -> pa.Table:
    """Return the rows of an aggregation, in columns named by its attributes.

    Args:
        found: how the groups of ``block``, which is asked for, follow from those of the state.

    Raises:
        Refused: a value of a group that is asked for is known between bounds only.
        NotEvaluable: a condition on groups or a key is Spark's to compute.
        NotThere: whoever holds the relation is to make a column first.
    """
    outputs = [output.index for output in block.outputs if isinstance(output, AggregateReference)]
    asked = {place: block.aggregates[place] for place in dict.fromkeys(outputs)}
    made_keys, values = _coarser(state, found, asked) if not found.is_same else _made(state, found, asked)
    inexact = [block.aggregates[place] for place, each in values.items() if not each.exact.all()]
    if inexact:
        raise Refused(Reason.NOT_EXACT, ", ".join(f"{each.specification.kind.value} {each.argument_sql}" for each in inexact))
    named = {attribute.identifier: values[place] for attribute, place in zip(aggregate.function_attributes, outputs, strict=True)}
    # An aggregation without GROUP BY is maintained under a constant key.
    keys = {attribute.identifier: key for attribute, key in zip(aggregate.key_attributes, made_keys, strict=False)}
    rows = pa.table(keys | {name: each.array for name, each in named.items()})
    if not aggregate.keys and not (len(made_keys[0]) if made_keys else rows.num_rows):
        return of_no_rows(rows.schema, [block.aggregates[place].specification for place in outputs])
    return with_spreads(rows, {name: each.spread for name, each in named.items() if each.spread is not None})


def partials_of(state: ReadGroups, found: Match, block: BoundBlock, aggregate: Aggregate) -> Partials:
    """Return what is held of each of the rows that ``rows_of`` gives, for others to be merged from them.

    Raises as ``rows_of``; NotEvaluable too where an aggregate is not held.
    """
    asked = _Asked.of(state, found)
    outputs = [output.index for output in block.outputs if isinstance(output, AggregateReference)]
    return {
        attribute.identifier: asked.partial(found.aggregates[place], block.aggregates[place])
        for attribute, place in zip(aggregate.function_attributes, outputs, strict=True)
    }


def _made(state: ReadGroups, found: Match, aggregates: Mapping[int, BoundAggregate]) -> CoarserGroups:
    """Return the keys of the groups that are asked for, and some aggregates of theirs by place."""
    asked = _Asked.of(state, found)
    return CoarserGroups(asked.keys, {place: asked.value(found.aggregates[place], each) for place, each in aggregates.items()})


def _coarser(state: ReadGroups, found: Match, aggregates: Mapping[int, BoundAggregate]) -> CoarserGroups:
    """Return ``_made`` of coarser groups, which are kept: the next question about them has other constants above them."""
    # 1, 1.0 and True are equal, and not the same.
    name = repr((found, [(place, each.specification) for place, each in aggregates.items()]))
    return state.kept(name, lambda: _made(state, found, aggregates))


def repeated(rows: pa.Table, bag: Aggregate) -> pa.Table:
    """Return the groups of equal rows as so many rows. Raises Refused where equal rows are different ones."""
    copies, *minus = (rows.column(attribute.identifier).to_numpy() for attribute in bag.function_attributes)
    columns = {key.identifier: rows.column(key.identifier) for key in bag.key_attributes}
    doubles = [key for key in bag.key_attributes if pa.types.is_floating(columns[key.identifier].type)]
    for key, zeros in zip(doubles, minus, strict=True):
        if np.any((zeros > 0) & (zeros < copies)):
            raise Refused(Reason.NOT_EXACT, f"{key.name}: rows differ in 0.0 and -0.0 alone")
        if np.any(zeros > 0):
            found = columns[key.identifier]
            columns[key.identifier] = compute.if_else(pa.array(zeros > 0), pa.scalar(-0.0, found.type), found)
    found = pa.table(columns)
    return found if np.all(copies == 1) else found.take(pa.array(np.repeat(np.arange(len(copies)), copies)))


class _Asked:
    """The finer groups that pass, with the keys that are read of them, and the groups that they fall into, with the keys of these."""

    def __init__(self, state: ReadGroups, slots: IntegerArray, rows: pa.Table, groups: RollUp | None, keys: Sequence[pa.Array]) -> None:
        self._state = state
        self._rows = rows
        self._groups = groups
        self.slots = slots
        self.keys = keys

    @classmethod
    def of(cls, state: ReadGroups, found: Match) -> _Asked:
        slots = np.flatnonzero(state.alive)
        rows = with_count(pa.table({key_name(place): state.key_array(place, slots) for place in found.read}), len(slots))
        if found.condition is not None:
            passed = select(rows, found.condition)
            slots, rows = slots[passed], rows.filter(pa.array(passed))
        plain_keys = tuple(key for key in found.keys if isinstance(key, int))
        if plain_keys and len(plain_keys) == len(found.keys) and not found.is_same:
            return cls(state, slots, rows, *state.together(plain_keys, slots))
        keys = [state.key_values(key, slots) if isinstance(key, int) else as_grouped(computed(rows, key)) for key in found.keys]
        return cls(state, slots, rows, None, keys) if found.is_same else cls(state, slots, rows, *Numbering.of(keys, len(slots)).whole)

    def value(self, source: AggregateSource, asked: BoundAggregate) -> Values:
        if isinstance(source, Held):
            self._check(source.errors, self.slots)
            if self._groups is None:
                return self._state.value_as(asked.specification, source.place, self.slots)
            return self._state.rolled_up(asked.specification, source.place, self.slots, self._groups)
        return self._value_where(source, asked) if isinstance(source, HeldWhere) else self._value_over_keys(source, asked)

    def partial(self, source: AggregateSource, asked: BoundAggregate) -> Partial:
        """Return what is held of an aggregate. Raises NotEvaluable where it is computed of other groups' keys or of some of them."""
        if isinstance(source, HeldWhere):
            raise NotEvaluable(f"{asked.specification.kind.value} of some rows, which other groups do not hold")
        every = np.arange(self._state.groups)
        rows = self._state.rows(every)
        if isinstance(source, Held):
            self._check(source.errors, self.slots)
            held = self._state.held(asked.specification, source.place)
            return Partial.of(asked.specification, held, rows, self.slots, self._groups, self._state.names[self.slots])
        if source.argument is None:
            names = self._state.names[self.slots]
            return Partial.of(asked.specification, loaded(asked.specification, {}, rows), rows, self.slots, self._groups, names)
        held = self._held_over_keys(source.argument, asked.specification)
        return Partial.of(asked.specification, held, rows[self.slots], np.arange(len(self.slots)), self._groups)

    def _held_over_keys(self, argument: Expression, specification: AggregateSpecification) -> Accumulator:
        """Return what would be held of an expression over the keys of each finer group."""
        [values] = project(self._rows, [(argument, specification.argument_type)])
        weights = self._state.rows(self.slots)
        state, slots = by_number(specification, np.arange(len(self.slots)), values, weights)
        return state.read_as(specification, 0, slots)

    def _check(self, errors: int | None, slots: IntegerArray) -> None:
        """Raise Refused where rows of some groups are left out of an aggregate, which the query would stop at."""
        if errors is not None and compute.any(compute.greater(self._state.value_as(ERRORS, errors, slots).array, 0)).as_py():
            raise Refused(Reason.ERRORS_IN_GROUPS)

    def _value_where(self, source: HeldWhere, asked: BoundAggregate) -> Values:
        """Take the finer groups that pass alone; a group without any of them has no value, or 0."""
        passed = select(self._rows, source.condition)
        self._check(source.errors, self.slots[passed])
        groups = RollUp(np.arange(len(self.slots)), len(self.slots)) if self._groups is None else self._groups
        only = RollUp(groups.numbers[passed], groups.count)
        found = self._state.rolled_up(asked.specification, source.place, self.slots[passed], only)
        if not source.others_are_zero:
            return found
        has_others = np.zeros(groups.count, dtype=bool)
        has_others[groups.numbers[~passed]] = True
        return Values(_plus_zero(found.array, has_others), found.exact, found.spread)

    def _value_over_keys(self, source: OverKeys, asked: BoundAggregate) -> Values:
        """Take every finer group for as many rows as it has."""
        numbers = np.arange(len(self.slots)) if self._groups is None else self._groups.numbers
        specification = asked.specification
        arguments = (None,) if source.argument is None else project(self._rows, [(source.argument, specification.argument_type)])
        if specification.kind in (AccumulatorKind.MINIMUM, AccumulatorKind.MAXIMUM):
            assert arguments[0] is not None
            count = len(self.slots) if self._groups is None else self._groups.count
            return extremum(arguments[0], RollUp(numbers, count), maximum=specification.kind is AccumulatorKind.MAXIMUM)
        groups, slots = by_number(specification, numbers, arguments[0], self._state.rows(self.slots))
        return groups.value_at(0, slots)


def extremum(argument: pa.Array, groups: RollUp, *, maximum: bool) -> Values:
    """Return the least or greatest value of each group; NULL where it has none."""
    codec = Codec(argument.type)
    codes, nulls = codec.encode(argument)
    given = np.flatnonzero(~nulls)
    least = groups.least(codec.reverse(codes) if maximum else codes, np.zeros(len(codes), dtype=bool), given, codec.zero)
    array = codec.decode(codec.restore(least.codes) if maximum else least.codes, least.is_missing)
    return Values(array, np.ones(groups.count, dtype=bool))


def _plus_zero(sums: pa.Array, chosen: BooleanArray) -> pa.Array:
    """Add 0 to some sums: of no values it is one, and -0.0 is 0.0 then."""
    zero = pa.scalar(Decimal(0) if pa.types.is_decimal(sums.type) else 0, sums.type)
    added = compute.coalesce(sums, zero)
    if pa.types.is_floating(sums.type):
        added = compute.add(added, zero)
    return compute.if_else(pa.array(chosen), added, sums)
