"""Facts about the values of columns at one version of each table, from the statistics of their files (sketch-safety rules 1.11).

They are read anew from every version that a sketch is used at, so a fact that a change has made false is not relied on again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.safety.intervals import UNKNOWN, Interval
from imp_driver.safety.setting import fact_text
from imp_driver.values.tables import TableSnapshot
from imp_driver.values.types import arrow_type


@dataclass(frozen=True, slots=True, eq=False)
class SnapshotFacts:
    """By the names that scans have."""

    snapshots: Mapping[tuple[str, ...], TableSnapshot]

    def interval(self, table: tuple[str, ...], column: str) -> Interval:
        """Return the least and the greatest value of a column of whole or decimal numbers; floats may be NaN, which no bound tells."""
        snapshot = self.snapshots.get(table)
        type_name = next((each.type_name for each in snapshot.schema if each.name == column), "") if snapshot is not None else ""
        kind = arrow_type(type_name)
        if snapshot is None or kind is None or not (pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
            return UNKNOWN
        lower, upper, nulls = snapshot.files.bounds(column)
        is_unknown = np.asarray(pc.or_(pc.is_null(lower), pc.is_null(upper)).to_numpy(zero_copy_only=False), dtype=bool)
        # A file without bounds says nothing, unless it has nothing but NULLs.
        if len(lower) == 0 or np.any(is_unknown & ((nulls != snapshot.files.rows) | (nulls < 0))) or np.all(is_unknown):
            return UNKNOWN
        low, high = Decimal(pc.min(lower).as_py()), Decimal(pc.max(upper).as_py())
        return Interval(low, high, frozenset({fact_text(table, column, low, high)}))
