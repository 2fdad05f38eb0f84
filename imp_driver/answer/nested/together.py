"""What a merge has of each range of a key -> its groups of all ranges: what is held of those rows that pass is added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.columns import value_of
from imp_driver.answer.groups import extremum
from imp_driver.answer.nested.merged import argument_of, merged_value, passing_places, places_of, with_exact
from imp_driver.answer.nested.partial import Partial, Partials
from imp_driver.answer.rounding import check_unread
from imp_driver.buckets.sums import ADDITIVE, EXTREMES, Columns, rolled_up, together
from imp_driver.dataflow.aggregate.accumulator import Values
from imp_driver.dataflow.aggregate.load import loaded
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.ranks import first_of_each, numbered
from imp_driver.plan.nodes import Merge
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification
from imp_driver.values.codes import IntegerArray, as_grouped, is_orderable, one_array

_ROWS = "rows"


@dataclass(frozen=True, slots=True, eq=False)
class RangeResult:
    """The groups of one range.

    Attributes:
        keys: by the identifiers of the merge's attributes.
        count: how many groups there are.
        held: of each function, what is held of it, or its ``value`` where it is an extreme, beside the ``rows`` that it is of.
    """

    keys: pa.Table
    count: int
    held: tuple[Columns, ...]
    specifications: tuple[AggregateSpecification, ...]

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(self.keys.nbytes) + sum(int(column.nbytes) for each in self.held for column in each.values())


def range_result(merge: Merge, rows: pa.Table, partials: Partials) -> RangeResult:
    """Return the groups that rows of one range fall into. Raises NotEvaluable, NotAdditive where those of all do not follow from them."""
    check_unread(rows, merge.keys, "groups by")
    keys = [as_grouped(value_of(rows, key)) for key in merge.keys]
    if not all(is_orderable(key.type) for key in keys):
        raise NotEvaluable("keys that are not grouped in process")
    groups = _grouped(keys, rows.num_rows)
    first = pa.array(first_of_each(groups.numbers))
    named = {attribute.identifier: key.take(first) for attribute, key in zip(merge.key_attributes, keys, strict=True)}
    found = [_held(merge, function, rows, partials, groups) for function in merge.functions]
    return RangeResult(pa.table(named), groups.count, tuple(held for _, held in found), tuple(specification for specification, _ in found))


def put_together(merge: Merge, ranges: Sequence[RangeResult]) -> pa.Table:
    """Return the groups of all ranges, whose columns are named by the merge's attributes. Raises NotEvaluable, NotAdditive."""
    count = sum(each.count for each in ranges)
    table = pa.concat_tables([each.keys for each in ranges]) if merge.key_attributes else pa.table({})
    keys = [one_array(column) for column in table.columns]
    groups = _grouped(keys, count)
    first = pa.array(first_of_each(groups.numbers))
    columns = {attribute.identifier: key.take(first) for attribute, key in zip(merge.key_attributes, keys, strict=True)}
    values = [
        _of_all([each.held[place] for each in ranges], ranges[0].specifications[place], groups) for place in range(len(merge.functions))
    ]
    return with_exact(pa.table(columns), list(zip(merge.function_attributes, values, strict=True)))


def _grouped(keys: Sequence[pa.Array], count: int) -> RollUp:
    numbers: IntegerArray = numbered(keys, count)
    # Without GROUP BY no rows are a group as well.
    return RollUp(numbers, int(numbers.max(initial=-1)) + 1 if keys else 1)


def _held(merge: Merge, function: exp.Expr, rows: pa.Table, partials: Partials, groups: RollUp) -> tuple[AggregateSpecification, Columns]:
    """Return what is held of one aggregate of the groups that rows fall into."""
    partial: Partial | None = partials.get(argument_of(function))
    if partial is None:
        raise NotEvaluable(f"{function.key} of all ranges does not follow from those of each")
    specification = partial.specification
    if specification.kind in EXTREMES:
        values = merged_value(merge, function, rows, partials, groups)
        if not values.exact.all():
            raise NotEvaluable("an extreme of finer groups is known between bounds only")
        return specification, {"value": values.array}
    if specification.kind not in ADDITIVE:
        raise NotEvaluable(f"{specification.kind.value} of all ranges does not follow from those of each")
    passed = passing_places(rows, function)
    own = RollUp(groups.numbers[passed], groups.count)
    counted = pa.array(own.total(rows.column(merge.copies.identifier).to_numpy()[passed]))
    return specification, {_ROWS: counted, **rolled_up(*partial.parts(places_of(merge, rows)[passed], own))}


def _of_all(every: Sequence[Columns], specification: AggregateSpecification, groups: RollUp) -> Values:
    held = together(every)
    if specification.kind in EXTREMES:
        return extremum(held["value"], groups, maximum=specification.kind is AccumulatorKind.MAXIMUM)
    sums = rolled_up(held, groups)
    rows = sums[_ROWS].to_numpy()
    return loaded(specification, {name: part for name, part in sums.items() if name != _ROWS}, rows).values(rows, np.arange(groups.count))
