"""Rows found by their key while a table changes: an earlier version's files and what changed since, against a filter; no JVM."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st

from imp_driver.delta import columns, file_cache, followed
from imp_driver.delta.tables import DeltaTables
from imp_driver.values.tables import ZSet
from tests.unit.delta.deleting import delete_rows
from tests.unit.delta.reads import counted_reads
from tests.unit.delta.signed import as_multiset

Rows = Counter[tuple[Any, ...]]
FEED = {"delta.enableChangeDataFeed": "true"}
KEYS = st.integers(0, 5)


def append(folder: str, keys: list[int], start: int, *, mode: Any = "append", feed: bool = True) -> None:
    """Write rows with numbers from ``start``."""
    numbers = pa.array(range(start, start + len(keys)), pa.int64())
    texts = pa.array([f"text {key % 2}" for key in keys])
    rows = pa.table({"x": numbers, "k": pa.array(keys, pa.int64()), "s": texts})
    write_deltalake(folder, rows, mode=mode, configuration=FEED if feed else None)


def found(tables: DeltaTables, folder: str, values: list[int], columns: tuple[str, ...] = ("x", "s")) -> Rows | None:
    return total(tables.rows_with(tables.snapshot(folder), columns, "k", pa.array(values, pa.int64())))


def total(signed: ZSet | None) -> Rows | None:
    """Return how often each row is there."""
    return None if signed is None else Counter(Counter(as_multiset(signed.rows, signed.weights)).elements())


def expected(folder: str, values: list[int], columns: tuple[str, ...] = ("x", "s")) -> Rows:
    rows = DeltaTable(folder).to_pyarrow_table().to_pylist()
    return Counter(tuple(row[name] for name in columns) for row in rows if row["k"] in values)


@dataclass
class Table:
    """A table beside the rows that it should have."""

    folder: str
    feed: bool
    rows: list[tuple[int, int, str]] = field(default_factory=list)
    written: int = 0

    def append(self, keys: list[int], *, mode: Any = "append") -> None:
        append(self.folder, keys, self.written, mode=mode, feed=self.feed)
        self.rows = self.rows if mode == "append" else []
        self.rows += [(self.written + place, key, f"text {key % 2}") for place, key in enumerate(keys)]
        self.written += len(keys)

    def delete(self, key: int, *, by_vector: bool) -> None:
        self.rows = [row for row in self.rows if row[1] != key]
        if by_vector:
            delete_rows(self.folder, "x", set(range(self.written)) - {row[0] for row in self.rows})
        else:
            DeltaTable(self.folder).delete(f"k = {key}")

    def check(self, tables: DeltaTables, values: list[int], *columns: str) -> None:
        places = ["xks".index(column) for column in columns]
        wanted = Counter(tuple(row[place] for place in places) for row in self.rows if row[1] in values)
        assert found(tables, self.folder, values, columns) == wanted


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_rows_are_those_that_the_table_should_have(data: st.DataObject) -> None:
    by_vector = data.draw(st.booleans(), "vectors")
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(followed, "FEW_CHANGES", data.draw(st.sampled_from([0, 4, 10_000]), "few"))
        patch.setattr(file_cache, "MANY_ROWS", data.draw(st.sampled_from([0, 10_000]), "many"))
        patch.setattr(columns, "SEARCHES", data.draw(st.integers(0, 2), "searches"))
        table, tables = Table(folder, data.draw(st.booleans(), "feed")), DeltaTables()
        for _ in range(data.draw(st.integers(1, 3), "files")):
            table.append(data.draw(st.lists(KEYS, min_size=1, max_size=6), "rows"))
        # delta-rs does not write to a table with deletion vectors.
        steps = ["delete", "nothing"] if by_vector else ["delete", "append", "overwrite", "nothing"]
        for _ in range(data.draw(st.integers(1, 5), "rounds")):
            match data.draw(st.sampled_from(steps), "what"):
                case "append":
                    table.append(data.draw(st.lists(KEYS, min_size=1, max_size=5), "more"))
                case "delete":
                    table.delete(data.draw(KEYS, "deleted"), by_vector=by_vector)
                case "overwrite":
                    table.append(data.draw(st.lists(KEYS, min_size=1, max_size=5), "all"), mode="overwrite")
            table.check(tables, data.draw(st.lists(KEYS, max_size=3), "values"), *data.draw(st.sampled_from(["x", "xs", "sk"]), "columns"))


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A table of three files, each of which holds every key."""
    for start in (0, 10, 20):
        append(str(tmp_path), list(range(6)), start)
    return str(tmp_path)


def test_files_that_a_delete_wrote_anew_are_not_read(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = DeltaTables()
    assert found(tables, folder, [3]) == expected(folder, [3])
    DeltaTable(folder).delete("k = 5")
    append(folder, [3, 3], 30)
    pieces = counted_reads(monkeypatch)
    assert found(tables, folder, [3, 5]) == expected(folder, [3, 5])
    assert sorted("_change_data" in piece.file.path for piece in pieces) == [False, True]
    assert found(tables, folder, [4]) == expected(folder, [4])
    assert len(pieces) == 2


def test_what_changed_much_is_read_anew(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "FEW_CHANGES", 3)
    tables = DeltaTables()
    assert found(tables, folder, [3]) == expected(folder, [3])
    append(folder, [3, 4], 30)
    pieces = counted_reads(monkeypatch)
    assert found(tables, folder, [3]) == expected(folder, [3])
    append(folder, [3, 4], 40)
    assert found(tables, folder, [3]) == expected(folder, [3])
    # The first append as a change, and each append as a file, when together they were more than three rows.
    assert len(pieces) == 2
    DeltaTable(folder).delete("k = 5")
    assert found(tables, folder, [3]) == expected(folder, [3])
    # Six rows changed, so the file that the delete wrote anew is read.
    assert len(pieces) == 3


def test_the_newest_files_are_read_where_the_earlier_ones_are_gone(folder: str) -> None:
    tables = DeltaTables()
    assert found(tables, folder, [3], ("x",)) == expected(folder, [3], ("x",))
    DeltaTable(folder).delete("k = 5")
    DeltaTable(folder).vacuum(0, enforce_retention_duration=False, dry_run=False, full=True)
    assert found(tables, folder, [2, 3]) == expected(folder, [2, 3])


def test_another_table_in_the_same_folder_is_another_table(folder: str) -> None:
    tables = DeltaTables()
    assert found(tables, folder, [3]) == expected(folder, [3])
    shutil.rmtree(folder)
    for start in (50, 60, 70, 80):
        append(folder, [3, 3], start)
    assert found(tables, folder, [3]) == expected(folder, [3])


def test_a_log_whose_end_was_replaced_is_read_anew(folder: str, tmp_path: Path) -> None:
    tables, copy = DeltaTables(), str(tmp_path / "copy")
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("copy"))
    assert found(tables, folder, [3]) == expected(folder, [3])
    append(folder, [3], 30)
    assert found(tables, folder, [3]) == expected(folder, [3])
    for path in Path(folder).glob("_delta_log/*3.json"):
        path.unlink()
    append(folder, [3, 3, 3], 40)
    append(folder, [3], 50)
    assert found(tables, folder, [3]) == expected(folder, [3])
    assert sum(expected(folder, [3]).values()) == 7
