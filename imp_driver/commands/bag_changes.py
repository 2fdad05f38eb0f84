"""Old rows and new rows -> which to delete, to change and to insert, as one statement does it for a table of equal columns.

A row that is there several times is deleted with all its copies, and as many as are to stay are inserted again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True)
class BagChanges:
    """What is done to a table.

    Attributes:
        deleted: different rows, each with all its copies.
        inserted: a row for each that is inserted.
        before, after: rows that are there once, and what each becomes.
    """

    deleted: pa.Table
    inserted: pa.Table
    before: pa.Table
    after: pa.Table

    @property
    def count(self) -> int:
        return int(self.deleted.num_rows + self.inserted.num_rows + self.before.num_rows)


def bag_changes(old: pa.Table, new: pa.Table, keys: Sequence[int] = ()) -> BagChanges | None:
    """Return what makes old rows the new ones; None where equal rows cannot be told by Spark's equality as they are here.

    Args:
        old, new: of one schema.
        keys: places of columns; a row that goes and one that comes with the same values of them, which no other has, are one that changes.
    """
    if any(pa.types.is_nested(kind) for kind in old.schema.types):
        return None
    names = [f"c{place}" for place in range(old.num_columns)]
    both = pa.concat_tables([_counted(old, names, -1, 0), _counted(new, names, 1, 1)])
    groups = both.group_by(names, use_threads=False).aggregate([("change", "sum"), ("there", "sum")])
    change = groups.column("change_sum").to_numpy()
    rows = groups.select(names).rename_columns(old.column_names).cast(old.schema)
    changed = np.flatnonzero(change)
    if any(_is_told_otherwise(column) for column in rows.take(pa.array(changed)).columns):
        return None
    copies = np.where(change > 0, change, groups.column("there_sum").to_numpy())[changed]
    lost = np.flatnonzero(change < 0)
    deleted, inserted = rows.take(pa.array(lost)), rows.take(pa.array(np.repeat(changed, copies)))
    if not keys:
        return BagChanges(deleted, inserted, deleted.slice(0, 0), inserted.slice(0, 0))
    # One with copies that go stays with the others.
    is_alone = groups.column("there_sum").to_numpy()[lost] - change[lost] == 1
    left, right = _only(deleted, keys), _only(inserted, keys)
    both = [key for key, place in left.items() if is_alone[place] and key in right]
    before, after = (pa.array([side[key] for key in both], pa.int64()) for side in (left, right))
    return BagChanges(_without(deleted, before), _without(inserted, after), deleted.take(before), inserted.take(after))


def _only(rows: pa.Table, keys: Sequence[int]) -> dict[tuple[object, ...], int]:
    """Return the place of each row that has some values of the keys alone."""
    values = list(zip(*(rows.column(key).to_pylist() for key in keys), strict=True))
    counts = Counter(values)
    return {value: place for place, value in enumerate(values) if counts[value] == 1}


def _without(rows: pa.Table, places: pa.Array) -> pa.Table:
    kept = np.ones(rows.num_rows, dtype=np.bool_)
    kept[places.to_numpy()] = False
    return rows.filter(pa.array(kept))


def _counted(rows: pa.Table, names: list[str], change: int, there: int) -> pa.Table:
    counts = [pa.array(np.full(rows.num_rows, each, np.int64)) for each in (change, there)]
    return pa.table([*rows.columns, *counts], names=[*names, "change", "there"])


def _is_told_otherwise(column: pa.ChunkedArray) -> bool:
    """Say whether Spark takes values for equal that differ here: zeros of both signs, and NaN of any bits."""
    if not pa.types.is_floating(column.type):
        return False
    return bool(pc.any(pc.or_(pc.equal(column, 0.0), pc.is_nan(column))).as_py())
