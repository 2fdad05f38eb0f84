"""GROUP BY below other operators (IMP paper section 5.2.5): the groups that changed are evaluated anew, before and after.

Only aggregates that are exact whatever the order of the rows: counts, sums of integers and narrow decimals, minima and maxima.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.dataflow import reduce
from imp_driver.dataflow.aggregate.keys import grouped
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.dataflow.operator import NotFound, Operator, Tables
from imp_driver.dataflow.zset import consolidated
from imp_driver.values.aggregates import AccumulatorKind
from imp_driver.values.codes import CodeArray, Codec, IntegerArray, one_array
from imp_driver.values.tables import ZSet

_COUNTS = (AccumulatorKind.COUNT_ROWS, AccumulatorKind.COUNT)
_SUMS = (AccumulatorKind.SUM_INTEGER, AccumulatorKind.SUM_DECIMAL)
_EXTREMA = (AccumulatorKind.MINIMUM, AccumulatorKind.MAXIMUM)


def result_type(kind: AccumulatorKind, argument: pa.DataType | None) -> pa.DataType:
    """Return Spark's type of an aggregate. Raises NotEvaluable for one that is not evaluated here."""
    if kind in _COUNTS:
        return pa.int64()
    if argument is not None and kind is AccumulatorKind.SUM_INTEGER:
        return pa.int64()
    if argument is not None and kind is AccumulatorKind.SUM_DECIMAL and not Codec(argument).is_object:
        return pa.decimal128(argument.precision + 10, argument.scale)
    if argument is not None and kind in _EXTREMA:
        return argument
    raise NotEvaluable(f"{kind.value} below other operators")


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """``keys`` and ``aggregates`` (kind, argument; None for count(*)) are columns of the child; the schema has both, in this order."""

    child: Operator
    keys: tuple[str, ...]
    aggregates: tuple[tuple[AccumulatorKind, str | None], ...]
    schema: pa.Schema

    def changed(self, tables: Tables) -> ZSet:
        return reduce.changed(tables, self.child, self.keys, self._of, self.schema)

    def matching(self, tables: Tables, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        place = self.schema.get_field_index(key)
        if place >= len(self.keys):
            raise NotFound
        return self._of(consolidated(self.child.matching(tables, self.keys[place], values, is_new=is_new)))

    def _of(self, zset: ZSet) -> ZSet:
        """Return one row per group of rows with positive weights."""
        columns = [one_array(zset.rows.column(key)) for key in self.keys]
        codecs = [Codec(column.type) for column in columns]
        place, values = grouped(codecs, columns)
        count = len(values[0].codes)
        arrays = [codec.decode(value.codes, value.nulls) for codec, value in zip(codecs, values, strict=True)]
        for (kind, argument), data_type in zip(self.aggregates, self.schema.types[len(self.keys) :], strict=True):
            rows = None if argument is None else one_array(zset.rows.column(argument))
            arrays.append(_aggregated(kind, rows, data_type, _Rows(place, zset.weights, count)))
        return ZSet(pa.table(arrays, schema=self.schema), np.ones(count, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class _Rows:
    """The group and the copies of each row, and the number of groups."""

    group: IntegerArray
    copies: IntegerArray
    groups: int

    def added(self, values: IntegerArray) -> IntegerArray:
        totals = np.zeros(self.groups, dtype=np.int64)
        np.add.at(totals, self.group, values)
        return totals


def _aggregated(kind: AccumulatorKind, argument: pa.Array | None, data_type: pa.DataType, rows: _Rows) -> pa.Array:
    if argument is None:
        return pa.array(rows.added(rows.copies))
    codes, nulls = Codec(argument.type).encode(argument)
    counts = rows.added(np.where(nulls, 0, rows.copies))
    if kind in _COUNTS:
        return pa.array(counts)
    if kind in _SUMS:
        totals = _sums(np.where(nulls, 0, codes), rows)
        codec = Codec(data_type)
        return codec.decode(totals.astype(codec.dtype), counts == 0)
    return Codec(data_type).decode(_extrema(codes, nulls, rows, kind is AccumulatorKind.MAXIMUM, Codec(data_type).zero), counts == 0)


def _sums(codes: IntegerArray, rows: _Rows) -> IntegerArray:
    largest = float(np.abs(codes.astype(np.float64)).max(initial=0.0)) * float(rows.copies.sum())
    if largest >= 2.0**62:
        raise NotEvaluable("a sum below other operators may overflow")
    return rows.added(codes * rows.copies)


def _extrema(codes: CodeArray, nulls: np.ndarray[tuple[int], np.dtype[np.bool_]], rows: _Rows, is_maximum: bool, zero: object) -> CodeArray:
    found = np.full(rows.groups, zero, dtype=codes.dtype)
    valued = np.flatnonzero(~nulls)
    ascending = valued[np.argsort(codes[valued], kind="stable")]
    # Of the values that are put in one place the last one stays.
    order = ascending if is_maximum else ascending[::-1]
    found[rows.group[order]] = codes[order]
    return found
