"""Rows found by their key in the files that may hold it, against a filter over the whole table; no JVM."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imp_driver.delta import lookup
from imp_driver.delta.tables import DeltaTables
from imp_driver.values.tables import ZSet
from tests.unit.delta.deleting import delete_rows
from tests.unit.delta.reads import counted_reads
from tests.unit.delta.signed import as_multiset

DAY = dt.date(2020, 1, 1)
FILES: tuple[list[int | None], ...] = ([1, 2, 2, None], [3, 4, 9], [-5, 0, 2], [None, None], [7, 7], [9, 3, 7, 3])
LONG = "a text longer than what the log keeps of a bound: "
COLUMNS = ("x", "k", "d", "s")


def shown(key: str, value: int | None) -> Any:
    """Return what stands for a number in a key column."""
    if value is None:
        return None
    return {"k": value, "d": DAY + dt.timedelta(value), "s": LONG + chr(0x1F600 + value)}[key]


def table_of(keys: list[int | None]) -> pa.Table:
    """Return rows with numbers ``x`` that no other table of FILES has."""
    kinds = {"k": pa.int32(), "d": pa.date32(), "s": pa.string()}
    arrays = [pa.array([shown(name, key) for key in keys], kind) for name, kind in kinds.items()]
    start = 100 * FILES.index(keys) if keys in FILES else 0
    return pa.table([pa.array(range(start, start + len(keys)), pa.int64()), *arrays], names=list(COLUMNS))


@pytest.fixture(scope="module", params=[[], ["d"], ["s", "k"]], ids=["whole", "by d", "by s and k"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("lookup"))
    for keys in FILES:
        write_deltalake(folder, table_of(keys), mode="append", partition_by=request.param)
    return folder


def found(folder: str, key: str, values: list[Any], kind: pa.DataType) -> list[dict[str, Any]] | None:
    tables = DeltaTables()
    return shown_rows(tables.rows_with(tables.snapshot(folder), COLUMNS, key, pa.array(values, kind)))


def shown_rows(signed: ZSet | None) -> list[dict[str, Any]] | None:
    """Return the rows that signed rows add up to."""
    if signed is None:
        return None
    total = as_multiset(signed.rows, signed.weights)
    assert min(total.values(), default=0) >= 0
    return sorted((dict(zip(signed.rows.column_names, row, strict=True)) for row in total.elements()), key=str)


def filtered(rows: pa.Table, key: str, wanted: list[Any]) -> list[dict[str, Any]]:
    values = pa.array([each for each in wanted if each is not None], rows.column(key).type)
    return sorted(rows.filter(pc.is_in(rows.column(key), value_set=values)).select(COLUMNS).to_pylist(), key=str)


@pytest.mark.parametrize(("key", "kind"), [("k", pa.int32()), ("k", pa.int64()), ("d", pa.date32()), ("s", pa.string())])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.none() | st.integers(-7, 11), max_size=6), most=st.sampled_from([4, 8, 1_000_000]))
def test_rows_are_those_of_a_filter(
    folder: str, key: str, kind: pa.DataType, values: list[int | None], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "MOST_ROWS", most)
    wanted = [shown(key, value) for value in values]
    rows = found(folder, key, wanted, kind)
    assert rows == filtered(DeltaTable(folder).to_pyarrow_table(), key, wanted) or (rows is None and most < 1_000_000)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_deleted_rows_are_left_out(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        partitions = data.draw(st.sampled_from([[], ["d"]]))
        for keys in FILES:
            write_deltalake(folder, table_of(keys), mode="append", partition_by=partitions)
        every = DeltaTable(folder).to_pyarrow_table()
        tables = DeltaTables()
        if data.draw(st.booleans(), "the vectors come with a later commit"):
            tables.snapshot(folder)
        deleted = data.draw(st.sets(st.sampled_from(every.column("x").to_pylist())))
        delete_rows(folder, "x", deleted)
        key = data.draw(st.sampled_from(["k", "d", "s"]))
        wanted = [shown(key, value) for value in data.draw(st.lists(st.integers(-7, 11), max_size=6))]
        rows = tables.rows_with(tables.snapshot(folder), COLUMNS, key, pa.array(wanted, every.column(key).type))
    live = every.filter(pc.invert(pc.is_in(every.column("x"), value_set=pa.array(deleted, pa.int64()))))
    assert shown_rows(rows) == filtered(live, key, wanted)


def test_a_file_of_which_only_null_was_deleted_is_read(tmp_path: Path) -> None:
    folder = str(tmp_path)
    write_deltalake(folder, table_of([None, None, 5, 5]))
    delete_rows(folder, "x", {0, 1})
    assert [row["x"] for row in found(folder, "k", [5], pa.int32()) or []] == [2, 3]


def test_what_was_read_is_kept(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = DeltaTables()
    pieces = counted_reads(monkeypatch)

    snapshot = tables.snapshot(folder)
    first = shown_rows(tables.rows_with(snapshot, COLUMNS, "k", pa.array([2, 9], pa.int32())))
    count = len(pieces)
    assert count > 0
    assert first == shown_rows(tables.rows_with(snapshot, COLUMNS, "k", pa.array([2, 9], pa.int32())))
    assert len(pieces) == count


def test_only_files_that_may_hold_a_value_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tmp_path)
    for keys in FILES:
        write_deltalake(folder, table_of(keys), mode="append")
    monkeypatch.setattr(lookup, "MOST_FILTERED_ROWS", 0)
    monkeypatch.setattr(lookup, "MOST_ROWS", 8)
    assert [row["x"] for row in found(folder, "s", [shown("s", 4)], pa.string()) or []] == [101]
    assert found(folder, "k", [2, 4], pa.int32()) is None


@pytest.mark.parametrize(("key", "kind"), [("k", pa.int32()), ("d", pa.date32()), ("s", pa.string())])
def test_filters_leave_out_files_whose_bounds_do_not(tmp_path: Path, key: str, kind: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "MOST_ROWS", 3)
    folder = str(tmp_path)
    for keys in FILES:
        write_deltalake(folder, table_of(keys), mode="append")
    assert found(folder, key, [shown(key, 6)], kind) == []
    assert [row["x"] for row in found(folder, key, [shown(key, 4), None, shown(key, 8)], kind) or []] == [101]
    assert found(folder, key, [shown(key, 3), shown(key, 4)], kind) is None


def test_what_cannot_be_looked_up_is_left_to_the_engine(folder: str, tmp_path: Path) -> None:
    assert found(folder, "k", [2**40], pa.int64()) is None
    numbers = str(tmp_path)
    write_deltalake(numbers, pa.table({"x": [1.5], "t": [dt.datetime(2020, 1, 1)]}), partition_by=["t"])
    tables = DeltaTables()
    assert tables.rows_with(tables.snapshot(numbers), ("x",), "x", pa.array([1.5])) is None
    assert tables.rows_with(tables.snapshot(numbers), ("t",), "t", pa.array([dt.datetime(2020, 1, 1)])) is None


def test_an_older_version_is_not_looked_up(tmp_path: Path) -> None:
    folder = str(tmp_path)
    write_deltalake(folder, table_of([1]))
    tables = DeltaTables()
    older = tables.snapshot(folder)
    write_deltalake(folder, table_of([1]), mode="append")
    newer = tables.snapshot(folder)
    assert tables.rows_with(older, ("x",), "k", pa.array([1], pa.int32())) is None
    assert shown_rows(tables.rows_with(newer, ("x",), "k", pa.array([1], pa.int32()))) == [{"x": 0}, {"x": 0}]
    assert tables.rows_with(older, ("x",), "k", pa.array([1], pa.int32())) is None
