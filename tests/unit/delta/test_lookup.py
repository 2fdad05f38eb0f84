"""Rows found by their key in the files that may hold it, against a filter over the whole table; no JVM."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imp_driver.delta import lookup
from imp_driver.delta.tables import DeltaTables

DAY = dt.date(2020, 1, 1)
FILES: tuple[list[int | None], ...] = ([1, 2, 2, None], [3, 4, 9], [-5, 0, 2], [None, None], [7, 7])


def table_of(keys: list[int | None]) -> pa.Table:
    days = [None if key is None else DAY + dt.timedelta(key) for key in keys]
    return pa.table({"k": pa.array(keys, pa.int32()), "d": pa.array(days, pa.date32()), "x": pa.array(range(len(keys)), pa.int64())})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("lookup"))
    for keys in FILES:
        write_deltalake(folder, table_of(keys), mode="append")
    return folder


def found(folder: str, key: str, values: list[Any], kind: pa.DataType) -> list[dict[str, Any]] | None:
    tables = DeltaTables()
    rows = tables.rows_with(tables.snapshot(folder), ("x", key), key, pa.array(values, kind))
    return None if rows is None else sorted(rows.to_pylist(), key=str)


@pytest.mark.parametrize(("key", "kind"), [("k", pa.int32()), ("k", pa.int64()), ("d", pa.date32())])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.none() | st.integers(-7, 11), max_size=6))
def test_rows_are_those_of_a_filter(folder: str, key: str, kind: pa.DataType, values: list[int | None]) -> None:
    wanted = [None if value is None else DAY + dt.timedelta(value) for value in values] if key == "d" else values
    every = DeltaTable(folder).to_pyarrow_table()
    kept = every.filter(
        pc.is_in(every.column(key), value_set=pa.array([each for each in wanted if each is not None], every.column(key).type))
    )
    assert found(folder, key, wanted, kind) == sorted(kept.select(["x", key]).to_pylist(), key=str)


def test_only_files_that_may_hold_a_value_are_read(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "MOST_ROWS", 4)
    assert found(folder, "k", [9], pa.int32()) == [{"x": 2, "k": 9}]
    assert found(folder, "k", [2], pa.int32()) is None


def test_what_cannot_be_looked_up_is_left_to_the_engine(folder: str, tmp_path: Path) -> None:
    assert found(folder, "k", [2**40], pa.int64()) is None
    partitioned = str(tmp_path / "p")
    write_deltalake(partitioned, table_of([1, 2]), partition_by=["k"])
    assert found(partitioned, "d", [DAY], pa.date32()) is None
    texts = str(tmp_path / "t")
    write_deltalake(texts, pa.table({"x": ["a"]}))
    assert found(texts, "x", ["a"], pa.string()) is None


def test_an_older_version_is_not_looked_up(tmp_path: Path) -> None:
    folder = str(tmp_path)
    write_deltalake(folder, table_of([1]))
    tables = DeltaTables()
    older = tables.snapshot(folder)
    write_deltalake(folder, table_of([1]), mode="append")
    newer = tables.snapshot(folder)
    assert tables.rows_with(older, ("x",), "k", pa.array([1], pa.int32())) is None
    rows = tables.rows_with(newer, ("x",), "k", pa.array([1], pa.int32()))
    assert rows is not None
    assert rows.to_pylist() == [{"x": 0}, {"x": 0}]
