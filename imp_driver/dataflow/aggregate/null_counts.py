"""Counts of non-NULL arguments, kept as the rows that they fall short of: most arguments are never NULL, and then nothing is kept."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, GroupChange, Slots, check_counts, nothing, resized
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.values.codes import IntegerArray


class Missing:
    """Rows per slot whose argument is NULL. Invariant: a slot without a group has none."""

    def __init__(self, counts: IntegerArray, rows: IntegerArray) -> None:
        self._values: IntegerArray | None = rows - counts if np.any(rows != counts) else None
        self._capacity = len(rows)

    def grow(self, capacity: int) -> None:
        self._capacity = max(self._capacity, capacity)
        if self._values is not None and capacity > len(self._values):
            self._values = resized(self._values, capacity)

    def counts_at(self, slots: Slots, rows: IntegerArray) -> IntegerArray:
        """Return the non-NULL arguments of some slots, given their rows."""
        return rows if self._values is None else rows - self._values[slots]

    def before(self, change: GroupChange) -> IntegerArray:
        """Return the non-NULL arguments of the touched groups before a delta."""
        return self.counts_at(change.slots, change.remaining - change.rows)

    def prepare(self, change: GroupChange, argument: pa.Array, what: str) -> tuple[IntegerArray, Commit]:
        """Return the non-NULL arguments of the touched groups after a delta. Raises StateCorrupt where they cannot be."""
        if self._values is None and not argument.null_count:
            return change.remaining, nothing
        counts = self.before(change) + change.counted(argument)
        check_counts(counts, change.remaining, what)

        def commit() -> None:
            if self._values is None:
                self._values = np.zeros(self._capacity, dtype=np.int64)
            self._values[change.slots] = change.remaining - counts

        return counts, commit

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> tuple[Missing, IntegerArray]:
        """Return the same of coarser groups, and the rows of these."""
        together = groups.total(rows)
        counts = together if self._values is None else groups.total(self.counts_at(slots, rows))
        return Missing(counts, together), together

    @property
    def memory(self) -> int:
        return 0 if self._values is None else int(self._values.nbytes)
