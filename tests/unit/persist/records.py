"""Records and states for the tests of the store."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from imp_driver.persist.record import Record, StoredChoice, StoredSketch, StoredTable
from imp_driver.sketch.fragments import FragmentSet
from imp_driver.sketch.ranges import RangePartition


def record(key: str = "ab12", state: str = "s1", version: int = 3) -> Record:
    """Return a record over six ranges."""
    partition = RangePartition(pa.int32(), (10, 20, 30, 40, 50))
    sketch = StoredSketch("constants", FragmentSet.of([0, 3, 6], 7), np.arange(7, dtype=np.int64))
    table = StoredTable("/t", "table id", version, None, "digest")
    choice = StoredChoice(0, -1, "")
    text = "SELECT 'é' FROM t"
    return Record(
        key,
        "family",
        "",
        "template",
        text,
        ("template", "other"),
        "t",
        "/t",
        "g",
        choice,
        (table,),
        partition,
        sketch,
        state,
        ("`x` > 3",),
        3,
        100,
        {"a": 1},
    )


def without_sketch(key: str) -> Record:
    return replace(record(key), sketch=None)


def columns(seed: int = 0, rows: int = 3) -> dict[str, pa.Array]:
    """Return the columns of a state, over groups and over cells."""
    values = np.random.default_rng(seed).integers(0, 100, rows)
    return {
        "key_0": pa.array(np.arange(rows), pa.int32()),
        "rows": pa.array(values),
        "aggregate_0_values": pa.array([[None, 2], [], None][:rows] + [[1]] * (rows - 3), pa.list_(pa.int32())),
        "cell_group": pa.array([0]),
    }


def same(left: Record, right: Record) -> bool:
    """Say whether two records are equal in all that they hold."""
    plain = [replace(each, sketch=None) for each in (left, right)]
    is_same = all(getattr(plain[0], name) == getattr(plain[1], name) for name in Record.__slots__)
    if left.sketch is None or right.sketch is None:
        return is_same and left.sketch is right.sketch
    sketches = (left.sketch, right.sketch)
    return (
        is_same
        and len({(each.constants, each.rows.tobytes()) for each in sketches}) == 1
        and sketches[0].fragments == sketches[1].fragments
    )
