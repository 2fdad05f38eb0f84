"""Records and states for the tests of the store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from imp_driver.persist.record import Record, StoredCut, StoredSketch, StoredTable
from imp_driver.values.cuts import AttachedCut, CutName
from imp_driver.values.fragments import FragmentSet
from imp_driver.values.ranges import RangePartition

OTHER = AttachedCut(CutName(100, None, 1, "c"), RangePartition(pa.string(), ("é", "ü")), "c")
"""A cut on a column that is no key, without a sketch."""


def record(key: str = "ab12", state: str = "s1", version: int = 3) -> Record:
    """Return a record over six ranges."""
    partition = RangePartition(pa.int32(), (10, 20, 30, 40, 50))
    sketch = StoredSketch("constants", FragmentSet.of([0, 3, 6], 7), np.arange(7, dtype=np.int64))
    table = StoredTable("/t", "table id", version, None, "digest")
    cut = AttachedCut(CutName(6, 0), partition, "g")
    text = "SELECT 'é' FROM t"
    return Record(
        key,
        "family",
        "prefix",
        "template",
        text,
        ("template", "other"),
        "t",
        "/t",
        (table,),
        (StoredCut(cut, sketch), StoredCut(OTHER, None)),
        state,
        ("`x` > 3",),
        3,
        100,
        {"a": 1},
    )


def without_sketch(key: str) -> Record:
    return with_cut(record(key), sketch=None)


def with_cut(record: Record, **changes: Any) -> Record:
    """Return a record whose first cut is another one."""
    first, *others = record.cuts
    return replace(record, cuts=(replace(first, **changes), *others))


def columns(seed: int = 0, rows: int = 3) -> dict[str, pa.Array]:
    """Return the columns of a state, over groups and over cells."""
    values = np.random.default_rng(seed).integers(0, 100, rows)
    return {
        "key_0": pa.array(np.arange(rows), pa.int32()),
        "rows": pa.array(values),
        "aggregate_0_values": pa.array([[None, 2], [], None][:rows] + [[1]] * (rows - 3), pa.list_(pa.int32())),
        "cell_1_group": pa.array([0]),
    }


def same(left: Record, right: Record) -> bool:
    """Say whether two records are equal in all that they hold."""
    plain = [replace(each, cuts=()) for each in (left, right)]
    is_same = all(getattr(plain[0], name) == getattr(plain[1], name) for name in Record.__slots__)
    return is_same and len(left.cuts) == len(right.cuts) and all(map(_same_cut, left.cuts, right.cuts))


def _same_cut(left: StoredCut, right: StoredCut) -> bool:
    cuts = [(each.cut.name, each.cut.partition, each.cut.attribute) for each in (left, right)]
    if left.sketch is None or right.sketch is None:
        return cuts[0] == cuts[1] and left.sketch is right.sketch
    sketches = (left.sketch, right.sketch)
    return (
        cuts[0] == cuts[1]
        and len({(each.constants, each.rows.tobytes()) for each in sketches}) == 1
        and sketches[0].fragments == sketches[1].fragments
    )
