"""bool_and and bool_or: from how many arguments are TRUE, of those that are not NULL. Exact at all times."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import (
    Commit,
    GroupChange,
    Parts,
    Slots,
    StateCorrupt,
    Values,
    check_counts,
    integers,
    resized,
)
from imp_driver.dataflow.aggregate.null_counts import Missing
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import Interval, from_codes
from imp_driver.values.codes import BooleanArray, IntegerArray


class TruthCount:
    """Arguments that are TRUE, per slot; ``needs_all`` of them for bool_and, one for bool_or. NULL where all arguments are."""

    def __init__(self, missing: Missing, true: IntegerArray, *, needs_all: bool) -> None:
        self._missing = missing
        self._true = true
        self._needs_all = needs_all

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray, *, needs_all: bool) -> TruthCount:
        """Raises StateCorrupt when more arguments are TRUE than there are."""
        counts, true = integers(parts["count"]), integers(parts["true"])
        if np.any((true < 0) | (true > counts)):
            raise StateCorrupt("more arguments of a group are TRUE than it has; the state must be captured again")
        return cls(Missing(counts, rows), true, needs_all=needs_all)

    def grow(self, capacity: int) -> None:
        self._missing.grow(capacity)
        if capacity > len(self._true):
            self._true = resized(self._true, capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        assert argument is not None
        counts, commit_missing = self._missing.prepare(change, argument, "conditions")
        is_true = argument.fill_null(False).to_numpy(zero_copy_only=False)
        true = self._true[change.slots] + change.total(np.where(is_true, change.weights, 0))
        check_counts(true, counts, "conditions that hold")

        def commit() -> None:
            commit_missing()
            self._true[change.slots] = true

        return commit

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        counts, true = self._missing.counts_at(slots, rows), self._true[slots]
        return from_codes(pa.bool_(), self._holds(counts, true).astype(np.int64), counts == 0)

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        return self._values(self._missing.counts_at(slots, rows), self._true[slots])

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        counts = groups.total(self._missing.counts_at(slots, rows))
        return self._values(counts, groups.total(self._true[slots]))

    def _values(self, counts: IntegerArray, true: IntegerArray) -> Values:
        return Values(pa.array(self._holds(counts, true), mask=counts == 0), np.ones(len(counts), dtype=bool))

    def _holds(self, counts: IntegerArray, true: IntegerArray) -> BooleanArray:
        holds: BooleanArray = (true == counts) if self._needs_all else (true > 0)
        return holds

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        return {"count": pa.array(self._missing.counts_at(slots, rows)), "true": pa.array(self._true[slots])}

    @property
    def memory(self) -> int:
        return self._missing.memory + int(self._true.nbytes)

    def inexact(self, rows: IntegerArray) -> int:
        return 0
