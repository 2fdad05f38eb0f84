"""Signed rows as bags: what linear operators do to them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from imp_driver.delta.contract import SignedRows
from imp_driver.operators.aggregate.keys import grouped
from imp_driver.sketch.codes import BooleanArray, Codec, one_array


def empty(schema: pa.Schema) -> SignedRows:
    return SignedRows(schema.empty_table(), np.zeros(0, dtype=np.int64))


def summed(parts: Sequence[SignedRows], schema: pa.Schema) -> SignedRows:
    """Return the rows of all parts; each has the columns of the schema, in any order."""
    filled = [part for part in parts if len(part.weights)]
    if not filled:
        return empty(schema)
    return SignedRows(
        pa.concat_tables([part.rows.select(schema.names).cast(schema) for part in filled]),
        np.concatenate([part.weights for part in filled]),
    )


def negated(bag: SignedRows) -> SignedRows:
    return SignedRows(bag.rows, -bag.weights)


def filtered(bag: SignedRows, mask: BooleanArray) -> SignedRows:
    return bag if mask.all() else SignedRows(bag.rows.filter(pa.array(mask)), bag.weights[mask])


def consolidated(bag: SignedRows) -> SignedRows:
    """Return each row once with its whole weight, without those whose weight is 0; rows are equal as Spark groups them."""
    if not len(bag.weights) or not bag.rows.num_columns:
        return bag
    columns = [one_array(column) for column in bag.rows.columns]
    place, groups = grouped([Codec(column.type) for column in columns], columns)
    count = len(groups[0].codes)
    weights, sample = np.zeros(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    np.add.at(weights, place, bag.weights)
    sample[place] = np.arange(len(place))
    left = np.flatnonzero(weights)
    return SignedRows(bag.rows.take(pa.array(sample[left])), weights[left])
