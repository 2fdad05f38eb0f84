"""A sketch: the fragments of one table version that hold all rows which one query's block needs."""

from __future__ import annotations

from dataclasses import dataclass

from imp_driver.sketch.fragments import FragmentSet
from imp_driver.sketch.ranges import RangePartition


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """Immutable. ``version`` is the table version it stands for; a query that uses it must read that version."""

    table_id: str
    version: int
    attribute: str
    partition: RangePartition
    fragments: FragmentSet
