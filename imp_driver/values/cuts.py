"""Which attribute is cut into ranges, and into how many."""

from __future__ import annotations

from dataclasses import dataclass

from imp_driver.values.ranges import RangePartition


@dataclass(frozen=True, slots=True)
class CutName:
    """The same in every process and in another reading of the same text, whose occurrences have other numbers in the same order.

    Attributes:
        fragments: the most ranges.
        key: index of a group key; None for ``column`` of the table that the block reads at ``place`` among its occurrences.
    """

    fragments: int
    key: int | None
    place: int = -1
    column: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class AttachedCut:
    """A cut of some groups with its ranges; ``attribute`` is what people call the column."""

    name: CutName
    partition: RangePartition
    attribute: str
