"""The rows of a recursive relation as columns, which follow its changes without being made anew."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from imp_driver.answer.recursion.convert import as_column
from imp_driver.dataflow.recursion.facts import Row

_MOST_CHUNKS = 32


class RowTable:
    """Rows in the order of their numbers, each greater than those before it."""

    def __init__(self, kinds: Sequence[pa.DataType]) -> None:
        self._schema = pa.schema([pa.field(f"c{place}", kind) for place, kind in enumerate(kinds)])
        self._serials = np.empty(0, dtype=np.int64)
        self.rows = self._schema.empty_table()

    def change(self, removed: Sequence[int], added: Collection[Row], serials: Sequence[int]) -> None:
        """Take away the rows of some numbers, and add others with theirs, which are greater than all that were."""
        if removed:
            is_left = np.ones(len(self._serials), dtype=np.bool_)
            is_left[np.searchsorted(self._serials, np.sort(np.array(removed, dtype=np.int64)))] = False
            self._serials = self._serials[is_left]
            self.rows = self.rows.filter(pa.array(is_left))
        if added:
            columns = zip(zip(*added, strict=True), self._schema.types, strict=True)
            more = pa.table([as_column(values, kind) for values, kind in columns], schema=self._schema)
            self._serials = np.concatenate([self._serials, np.array(serials, dtype=np.int64)])
            self.rows = pa.concat_tables([self.rows, more])
        if self.rows.num_columns and self.rows.column(0).num_chunks > _MOST_CHUNKS:
            self.rows = self.rows.combine_chunks()
