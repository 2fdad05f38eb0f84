"""A sketch: the fragments that hold all rows which one query's block needs, at one version of each of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from imp_driver.values.fragments import FragmentSet
from imp_driver.values.ranges import RangePartition


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """Immutable. ``versions``, by location, are the table versions it stands for; a query that uses it must read all of these."""

    versions: Mapping[str, int]
    attribute: str
    partition: RangePartition
    fragments: FragmentSet
