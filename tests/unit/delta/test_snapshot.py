"""Newest versions and file statistics of tables that delta-rs wrote; no JVM."""

from __future__ import annotations

import datetime as dt
import shutil
import threading
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from imp_driver.delta.tables import DeltaTables
from imp_driver.errors import OperationalError
from imp_driver.values.tables import SchemaColumn


def numbers(*values: int | None) -> pa.Table:
    return pa.table({"a": pa.array(values, pa.int64())})


def append(folder: Path, *values: int | None) -> None:
    write_deltalake(str(folder), numbers(*values), mode="append")


def test_sees_commits_of_other_writers(tmp_path: Path) -> None:
    append(tmp_path, 1, 2)
    tables = DeltaTables()
    first = tables.snapshot(str(tmp_path))
    assert (first.version, first.row_count) == (0, 2)
    append(tmp_path, 3)
    second = tables.snapshot(str(tmp_path))
    assert (second.version, second.row_count, second.table_id) == (1, 3, first.table_id)
    assert (first.version, first.row_count, len(first.files.sizes)) == (0, 2, 1)


def test_unchanged_table_gives_the_same_snapshot(tmp_path: Path) -> None:
    append(tmp_path, 1)
    tables = DeltaTables()
    assert tables.snapshot(str(tmp_path)) is tables.snapshot(str(tmp_path))


@pytest.mark.parametrize("commits", [1, 3, 5])
def test_recreated_table_is_opened_anew(tmp_path: Path, commits: int) -> None:
    """Fewer, as many and more commits than the dropped table had."""
    folder = tmp_path / "t"
    for value in range(3):
        append(folder, value)
    tables = DeltaTables()
    before = tables.snapshot(str(folder))
    shutil.rmtree(folder)
    for value in range(commits):
        write_deltalake(str(folder), pa.table({"b": [value, value]}), mode="append")
    after = tables.snapshot(str(folder))
    assert (after.version, after.row_count) == (commits - 1, 2 * commits)
    assert after.table_id != before.table_id
    assert after.schema == (SchemaColumn("b", "long", True),)


def test_dropped_table_is_an_operational_error(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    append(folder, 1)
    tables = DeltaTables()
    tables.snapshot(str(folder))
    shutil.rmtree(folder)
    with pytest.raises(OperationalError, match="not a Delta table"):
        tables.snapshot(str(folder))


def test_folder_without_log_is_an_operational_error(tmp_path: Path) -> None:
    with pytest.raises(OperationalError, match="not a Delta table"):
        DeltaTables().snapshot(str(tmp_path))


def test_unknown_reader_feature_is_named(tmp_path: Path) -> None:
    append(tmp_path, 1)
    log = tmp_path / "_delta_log" / f"{0:020d}.json"
    old = '"protocol":{"minReaderVersion":1,"minWriterVersion":2}'
    new = (
        '"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["variantType"],'
        '"writerFeatures":["variantType","appendOnly","invariants"]}'
    )
    assert old in log.read_text()
    log.write_text(log.read_text().replace(old, new))
    with pytest.raises(OperationalError, match="variantType"):
        DeltaTables().snapshot(str(tmp_path))


@pytest.mark.parametrize("name", ["with space", "ünï", "quote'`"])
def test_location_as_path_and_as_uri(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    append(folder, 1)
    tables = DeltaTables()
    assert tables.snapshot(folder.as_uri()).row_count == 1
    assert tables.snapshot(str(folder)).row_count == 1


def test_schema_names_are_deltas(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            ("s", pa.string()),
            ("d", pa.decimal128(10, 2)),
            ("t", pa.timestamp("us", "UTC")),
            ("n", pa.timestamp("us")),
            ("l", pa.list_(pa.int32())),
            ("i", pa.int32()),
        ]
    )
    write_deltalake(str(tmp_path), schema.empty_table())
    snapshot = DeltaTables().snapshot(str(tmp_path))
    names = [column.type_name for column in snapshot.schema]
    assert names == ["string", "decimal(10,2)", "timestamp", "timestamp_ntz", "array", "integer"]
    assert snapshot.row_count == 0
    assert len(snapshot.files.sizes) == 0
    minimum, maximum, nulls = snapshot.files.bounds("s")
    assert len(minimum) == len(maximum) == len(nulls) == 0


def test_bounds_of_every_primitive_type(tmp_path: Path) -> None:
    zone = dt.UTC
    columns = {
        "a.b": pa.array([3, 1, None], pa.int64()),
        "C d`": pa.array(["x", "b", None]),
        "m": pa.array([Decimal("1.10"), Decimal("-2.20"), None], pa.decimal128(10, 2)),
        "t": pa.array(
            [dt.datetime(2024, 1, 1, tzinfo=zone), dt.datetime(2025, 1, 1, 0, 0, 0, 123456, tzinfo=zone), None], pa.timestamp("us", "UTC")
        ),
        "y": pa.array([dt.date(2024, 1, 1), dt.date(1, 1, 1), None]),
        "f": pa.array([1.5, -0.5, None], pa.float32()),
    }
    write_deltalake(str(tmp_path), pa.table(columns))
    files = DeltaTables().snapshot(str(tmp_path)).files
    for name, values in columns.items():
        minimum, maximum, nulls = files.bounds(name)
        present = [value for value in values.to_pylist() if value is not None]
        assert minimum.type == maximum.type == values.type
        assert minimum[0].as_py() <= min(present)
        assert maximum[0].as_py() >= max(present)
        assert nulls.tolist() == [1]
    assert files.bounds("a.b")[1].to_pylist() == [3]
    assert files.bounds("m")[0].to_pylist() == [Decimal("-2.20")]


@pytest.mark.parametrize("text", ["z" * 200, "é" * 200, "\U0010ffff" * 100, "a" * 31 + "\U0001f600" * 40])
def test_long_strings_stay_within_bounds(tmp_path: Path, text: str) -> None:
    write_deltalake(str(tmp_path), pa.table({"s": [text]}))
    minimum, maximum, _ = DeltaTables().snapshot(str(tmp_path)).files.bounds("s")
    low, high = minimum[0].as_py(), maximum[0].as_py()
    assert low is None or low.encode() <= text.encode()
    assert high is None or high.encode() >= text.encode()


def test_partition_column_bounds_are_its_value(tmp_path: Path) -> None:
    rows = pa.table({"p q": pa.array(["x/ y", None, None]), "d": [dt.date(2024, 1, 1)] * 3, "v": [1, 2, 3]})
    write_deltalake(str(tmp_path), rows, partition_by=["p q", "d"])
    files = DeltaTables().snapshot(str(tmp_path)).files
    minimum, maximum, nulls = files.bounds("p q")
    found = sorted(zip(minimum.to_pylist(), maximum.to_pylist(), nulls.tolist(), files.rows.tolist(), strict=True), key=str)
    assert found == [("x/ y", "x/ y", 0, 1), (None, None, 2, 2)]
    assert files.bounds("d")[0].type == pa.date32()
    assert files.bounds("d")[0].to_pylist() == [dt.date(2024, 1, 1)] * 2


def test_missing_statistics_are_unknown(tmp_path: Path) -> None:
    write_deltalake(str(tmp_path), pa.table({"a": [1], "b": [1]}), configuration={"delta.dataSkippingNumIndexedCols": "1"})
    files = DeltaTables().snapshot(str(tmp_path)).files
    assert files.bounds("a")[1].to_pylist() == [1]
    minimum, maximum, nulls = files.bounds("b")
    assert (minimum.to_pylist(), maximum.to_pylist(), nulls.tolist()) == ([None], [None], [-1])
    minimum, maximum, nulls = files.bounds("no such column")
    assert (minimum.to_pylist(), maximum.to_pylist(), nulls.tolist()) == ([None], [None], [-1])


def test_file_without_a_row_count_leaves_the_table_without_one(tmp_path: Path) -> None:
    append(tmp_path, 1)
    log = tmp_path / "_delta_log" / f"{0:020d}.json"
    lines = log.read_text().splitlines()
    kept = [
        line if '"add"' not in line else line[: line.index('"stats"')] + '"stats":null' + line[line.rindex('}"') + 2 :] for line in lines
    ]
    assert kept != lines
    log.write_text("\n".join(kept))
    snapshot = DeltaTables().snapshot(str(tmp_path))
    assert snapshot.row_count is None
    assert snapshot.files.rows.tolist() == [-1]
    assert snapshot.files.sizes.dtype == np.int64


def test_checkpoint_and_cleaned_log(tmp_path: Path) -> None:
    for value in range(4):
        append(tmp_path, value)
    tables = DeltaTables()
    assert tables.snapshot(str(tmp_path)).row_count == 4
    append(tmp_path, 9)
    DeltaTable(str(tmp_path)).create_checkpoint()
    for version in range(4):
        (tmp_path / "_delta_log" / f"{version:020d}.json").unlink()
    snapshot = tables.snapshot(str(tmp_path))
    assert (snapshot.version, snapshot.row_count) == (4, 5)


def test_many_threads_see_one_table(tmp_path: Path) -> None:
    append(tmp_path, 1)
    tables = DeltaTables()
    failures: list[BaseException] = []
    seen: list[tuple[int, int | None]] = []

    def look() -> None:
        try:
            for _ in range(30):
                snapshot = tables.snapshot(str(tmp_path))
                seen.append((snapshot.version, snapshot.row_count))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for value in range(5):
        append(tmp_path, value)
    for thread in threads:
        thread.join()
    assert not failures
    assert all(count == version + 1 for version, count in seen)
    assert tables.snapshot(str(tmp_path)).version == 5
