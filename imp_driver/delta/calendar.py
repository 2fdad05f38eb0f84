"""Files whose early days and moments are counted otherwise: by the calendar before the Gregorian one, and by the local times of its day.

Spark before 3.0 wrote such files (times as INT96 before 3.1), and any later one does on request; their footer tells. What they mean
depends on tables of time zones that only Spark has.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_WRITER = b"org.apache.spark.version"
_OTHERWISE = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_SINCE = b"3.1.0"
"""From this version on a file without those marks counts as everyone does. Spark too compares the texts of versions."""
_FIRST_DAY = -141_427
"""1582-10-15, in days since 1970: from then on all count alike."""
_FIRST_MOMENT = -2_208_988_800_000_000
"""1900-01-01 UTC, in microseconds since 1970: the last zone had left its local mean time, as Spark's tables have it."""


def check_calendar(file: pq.ParquetFile, rows: pa.Table) -> None:
    """Check that the dates and times read from a file mean what they say. Raises ValueError."""
    if _is_certain(file.metadata.metadata or {}):
        return
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if _may_be_other(column):
            raise ValueError(f"Column {name!r} has early dates or times, and its file does not say by which calendar.")


def _is_certain(footer: Mapping[bytes, bytes]) -> bool:
    writer = footer.get(_WRITER)
    return writer is not None and writer >= _SINCE and not any(mark in footer for mark in _OTHERWISE)


def _may_be_other(column: pa.ChunkedArray) -> bool:
    if pa.types.is_date32(column.type):
        earliest, first = pc.min(column.cast(pa.int32())).as_py(), _FIRST_DAY
    elif pa.types.is_timestamp(column.type):
        earliest, first = pc.min(column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())).as_py(), _FIRST_MOMENT
    else:
        return False
    return earliest is not None and earliest < first
