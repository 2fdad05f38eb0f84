"""GROUP BY below other operators (IMP paper section 5.2.5): the groups that changed are evaluated anew, before and after.

Only aggregates that are exact whatever the order of the rows: counts, sums of integers and decimals that fit their types, extrema, bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dataflow import reduce
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.dataflow.operator import Inputs, NotFound, Operator
from imp_driver.dataflow.zset import consolidated
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ProjectedRows, ValueForm
from imp_driver.values.codes import one_array
from imp_driver.values.decimal_types import averaged_type, summed_type
from imp_driver.values.tables import ZSet

_COUNTS = (AccumulatorKind.COUNT_ROWS, AccumulatorKind.COUNT, AccumulatorKind.COUNT_DISTINCT)
_SUMS = (AccumulatorKind.SUM_INTEGER, AccumulatorKind.SUM_LONG)
_DECIMALS = (AccumulatorKind.SUM_DECIMAL, AccumulatorKind.SUM_WIDE_DECIMAL)
_EXTREMA = (AccumulatorKind.MINIMUM, AccumulatorKind.MAXIMUM)
_BITS = (AccumulatorKind.BIT_AND, AccumulatorKind.BIT_OR, AccumulatorKind.BIT_XOR)
_BOOLEANS = (AccumulatorKind.BOOLEAN_AND, AccumulatorKind.BOOLEAN_OR)


def result_type(specification: AggregateSpecification) -> pa.DataType:
    """Return Spark's type of an aggregate. Raises NotEvaluable for one that is not evaluated here."""
    kind, argument = specification.kind, specification.argument_type
    if specification.form is ValueForm.AVERAGE:
        return _average_type(kind, argument)
    if specification.form is not ValueForm.TOTAL:
        raise NotEvaluable(f"{specification.form.value} below other operators")
    if kind in _COUNTS:
        return pa.int64()
    if argument is not None and kind in _SUMS:
        return pa.int64()
    if argument is not None and kind in _DECIMALS:
        return summed_type(argument)
    if argument is not None and kind in (*_EXTREMA, *_BITS, *_BOOLEANS):
        return argument
    if kind is AccumulatorKind.SUM_DISTINCT and argument is not None and pa.types.is_integer(argument):
        return pa.int64()
    raise NotEvaluable(f"{kind.value} below other operators")


def _average_type(kind: AccumulatorKind, argument: pa.DataType | None) -> pa.DataType:
    if kind is AccumulatorKind.AVERAGE_INTEGER:
        return pa.float64()
    found = averaged_type(argument) if argument is not None and kind in _DECIMALS else None
    if found is None:
        raise NotEvaluable(f"an average by {kind.value} below other operators")
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """``keys`` and the arguments of ``aggregates``, None for count(*), are columns of the child; the schema has both, in this order."""

    child: Operator
    keys: tuple[str, ...]
    aggregates: tuple[tuple[AggregateSpecification, str | None], ...]
    schema: pa.Schema

    @property
    def name(self) -> str:
        return "groups"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.child,)

    def step(self, inputs: Inputs) -> ZSet:
        return reduce.step(inputs, self.child, self.keys, self._of, self.schema)

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        place = self.schema.get_field_index(key)
        if place >= len(self.keys):
            raise NotFound
        return self._of(consolidated(self.child.rows(inputs, self.keys[place], values, is_new=is_new)))

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        return self._of(consolidated(self.child.every(inputs, is_new=is_new)))

    def _of(self, zset: ZSet) -> ZSet:
        """Return one row per group of rows with positive weights."""
        columns = {name: one_array(zset.rows.column(name)) for name in zset.rows.column_names}
        arguments = tuple(None if argument is None else columns[argument] for _, argument in self.aggregates)
        keys = tuple(columns[key] for key in self.keys)
        state = GroupState.empty(tuple(each for each, _ in self.aggregates), [key.type for key in keys])
        try:
            groups = state.apply(ProjectedRows(keys, arguments, zset.weights))
        except StateCorrupt as error:
            # Spark raises, or wraps, by a setting.
            raise NotEvaluable("a sum below other operators overflows") from error
        if groups is None:
            raise NotEvaluable("a value of a group is known between bounds only")
        return ZSet(groups.rows.rename_columns(self.schema.names).cast(self.schema), groups.weights)
