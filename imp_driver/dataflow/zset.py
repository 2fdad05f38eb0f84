"""Signed rows as bags: what linear operators do to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.keys import grouped
from imp_driver.values.codes import BooleanArray, Codec, IntegerArray, one_array
from imp_driver.values.tables import ZSet


def empty(schema: pa.Schema) -> ZSet:
    return ZSet(schema.empty_table(), np.zeros(0, dtype=np.int64))


def each_once(rows: pa.Table) -> ZSet:
    """Return rows of weight 1; the weights are one number in memory, not to be written to."""
    return ZSet(rows, np.broadcast_to(np.ones(1, dtype=np.int64), len(rows)))


def summed(parts: Sequence[ZSet], schema: pa.Schema) -> ZSet:
    """Return the rows of all parts; each has the columns of the schema, in any order."""
    filled = [part for part in parts if len(part.weights)]
    if not filled:
        return empty(schema)
    return ZSet(
        pa.concat_tables([part.rows.select(schema.names).cast(schema) for part in filled]),
        np.concatenate([part.weights for part in filled]),
    )


def negated(zset: ZSet) -> ZSet:
    return ZSet(zset.rows, -zset.weights)


def difference(new: ZSet, old: ZSet) -> ZSet:
    """Return new rows less old ones, of the same columns."""
    return consolidated(summed([new, negated(old)], new.rows.schema))


def filtered(zset: ZSet, mask: BooleanArray) -> ZSet:
    return zset if mask.all() else ZSet(zset.rows.filter(pa.array(mask)), zset.weights[mask])


def with_nulls(zset: ZSet, fields: Iterable[pa.Field]) -> ZSet:
    """Return rows with more columns, in which all of them are NULL."""
    rows = zset.rows
    for field in fields:
        rows = rows.append_column(field.name, pa.nulls(len(zset.weights), field.type))
    return ZSet(rows, zset.weights)


def row_numbers(rows: pa.Table) -> tuple[IntegerArray, int]:
    """Return a number for each row, from 0 on and the same for equal rows, and how many there are; rows are equal as Spark groups them."""
    columns = [one_array(column) for column in rows.columns]
    numbers, groups = grouped([Codec(column.type) for column in columns], columns)
    return numbers, len(groups[0].codes)


def consolidated(zset: ZSet) -> ZSet:
    """Return each row once with its whole weight, without those whose weight is 0; rows are equal as Spark groups them."""
    if not len(zset.weights) or not zset.rows.num_columns:
        return zset
    place, count = row_numbers(zset.rows)
    weights, sample = np.zeros(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    np.add.at(weights, place, zset.weights)
    sample[place] = np.arange(len(place))
    left = np.flatnonzero(weights)
    return ZSet(zset.rows.take(pa.array(sample[left])), weights[left])
