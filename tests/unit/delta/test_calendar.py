"""Files of writers that counted early days otherwise: Spark reads them, the driver does not."""

from __future__ import annotations

import datetime
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from imp_driver.delta.calendar import check_calendar
from imp_driver.delta.tables import DeltaTables
from imp_driver.values.tables import ChangesUnavailable

VERSION, DATES, INT96 = (f"org.apache.spark.{name}" for name in ("version", "legacyDateTime", "legacyINT96"))
EARLY = pa.table({"d": pa.array([None, datetime.date(1582, 10, 14)]), "x": [1, 2]})
LATE = pa.table({"d": pa.array([None, datetime.date(1582, 10, 15)]), "x": [1, 2]})
LAST_LOCAL = datetime.datetime(1899, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)


def _read(rows: pa.Table, footer: dict[str, str]) -> None:
    sink = BytesIO()
    pq.write_table(rows.replace_schema_metadata(footer), sink)
    with pq.ParquetFile(sink) as file:
        check_calendar(file, file.read())


@pytest.mark.parametrize(
    "footer", [{}, {VERSION: "2.4.8"}, {VERSION: "3.0.3"}, {VERSION: "4.2.0", DATES: ""}, {VERSION: "4.2.0", INT96: ""}, {DATES: ""}]
)
def test_early_days_of_such_files_are_not_read(footer: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="'d' has early dates"):
        _read(EARLY, footer)
    _read(LATE, footer)
    _read(EARLY.select(["x"]), footer)
    moments = pa.table({"d": pa.array([LAST_LOCAL], pa.timestamp("us", "UTC"))})
    with pytest.raises(ValueError, match="'d' has early dates"):
        _read(moments, footer)
    _read(pa.table({"d": pa.array([LAST_LOCAL + datetime.timedelta(seconds=1)], pa.timestamp("us", "UTC"))}), footer)


@pytest.mark.parametrize("version", ["3.1.0", "3.5.1", "4.2.0"])
def test_early_days_of_the_gregorian_calendar_are_read(version: str) -> None:
    _read(EARLY, {VERSION: version})


def test_changes_in_such_a_file_are_left_to_spark(tmp_path: Path) -> None:
    folder, tables = str(tmp_path), DeltaTables()
    write_deltalake(folder, LATE)
    before = tables.snapshot(folder)
    write_deltalake(folder, EARLY, mode="append")
    now = tables.snapshot(folder)
    plan = tables.plan(folder, now.table_id, before.version, now.version)
    assert len(tables.read(plan, ("x",)).weights) == 2
    with pytest.raises(ChangesUnavailable):
        tables.read(plan, ("d",))
