"""Old rows and new rows -> which to delete and which to insert, as one statement does it for a table of equal columns.

A row that is there several times is deleted with all its copies, and as many as are to stay are inserted again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True)
class BagChanges:
    """``deleted`` has different rows, each with all its copies; ``inserted`` has a row for each that is inserted."""

    deleted: pa.Table
    inserted: pa.Table

    @property
    def is_empty(self) -> bool:
        return not self.deleted.num_rows and not self.inserted.num_rows


def bag_changes(old: pa.Table, new: pa.Table) -> BagChanges | None:
    """Return what makes old rows the new ones; None where equal rows cannot be told by Spark's equality as they are here.

    Args:
        old, new: of one schema.
    """
    if any(pa.types.is_nested(kind) for kind in old.schema.types):
        return None
    keys = [f"c{place}" for place in range(old.num_columns)]
    both = pa.concat_tables([_counted(old, keys, -1, 0), _counted(new, keys, 1, 1)])
    groups = both.group_by(keys, use_threads=False).aggregate([("change", "sum"), ("there", "sum")])
    change = groups.column("change_sum").to_numpy()
    rows = groups.select(keys).rename_columns(old.column_names).cast(old.schema)
    changed = np.flatnonzero(change)
    if any(_is_told_otherwise(column) for column in rows.take(pa.array(changed)).columns):
        return None
    copies = np.where(change > 0, change, groups.column("there_sum").to_numpy())[changed]
    lost = pa.array(np.flatnonzero(change < 0))
    return BagChanges(rows.take(lost), rows.take(pa.array(np.repeat(changed, copies))))


def _counted(rows: pa.Table, keys: list[str], change: int, there: int) -> pa.Table:
    counts = [pa.array(np.full(rows.num_rows, each, np.int64)) for each in (change, there)]
    return pa.table([*rows.columns, *counts], names=[*keys, "change", "there"])


def _is_told_otherwise(column: pa.ChunkedArray) -> bool:
    """Say whether Spark takes values for equal that differ here: zeros of both signs, and NaN of any bits."""
    if not pa.types.is_floating(column.type):
        return False
    return bool(pc.any(pc.or_(pc.equal(column, 0.0), pc.is_nan(column))).as_py())
