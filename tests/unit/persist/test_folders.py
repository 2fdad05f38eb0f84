"""Folders of states in buckets: removed, trimmed, swept; on real Delta tables."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from imp_driver.persist import folders
from imp_driver.persist.folders import Folders, orphans, remove, trim


def a_table(target: Path, versions: int = 3) -> str:
    for number in range(versions):
        write_deltalake(str(target), pa.table({"bucket": [number]}), mode="overwrite")
    return str(target)


def files(target: str) -> int:
    return len(list(Path(target).glob("*.parquet")))


def test_trimming_leaves_the_newest_version_and_tells_it(tmp_path: Path) -> None:
    target = a_table(tmp_path / "a")
    assert files(target) == 3
    version = trim(target, 2)
    assert (version, files(target)) == (DeltaTable(target).version(), 1)
    assert DeltaTable(target, version=version).to_pyarrow_table().to_pydict() == {"bucket": [2]}


def test_a_version_that_is_not_the_newest_stays_what_it_is(tmp_path: Path) -> None:
    assert trim(a_table(tmp_path / "a"), 1) == 1


def test_what_cannot_be_trimmed_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert trim(str(tmp_path / "none"), 5) == 5
    assert "could not be removed" in caplog.text


def test_a_table_that_nothing_uses_any_more_is_removed(tmp_path: Path) -> None:
    first, second = a_table(tmp_path / "a"), a_table(tmp_path / "b")
    own = Folders(str(tmp_path))
    assert own.noted(first, 2, lambda: {first}) == 2
    assert own.noted(second, 2, lambda: {first, second}) == 2
    own.tidy({second})
    assert [each.name for each in tmp_path.iterdir()] == ["b"]


def test_former_files_go_from_time_to_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "TRIM_EVERY", 3)
    target, own = a_table(tmp_path / "a", 1), Folders(str(tmp_path))
    version, most = 0, 0
    for _ in range(8):
        write_deltalake(target, pa.table({"bucket": [7]}), mode="overwrite")
        version = own.noted(target, version + 1, lambda: {target})
        most = max(most, files(target))
    assert (version, most < 5) == (DeltaTable(target).version(), True)


def test_tables_of_killed_processes_are_swept_after_a_day(tmp_path: Path) -> None:
    old, named, young = (a_table(tmp_path / name, 1) for name in ("old", "named", "young"))
    day_ago = time.time() - folders.ORPHANED_SECONDS - 60
    for target in (old, named):
        os.utime(Path(target) / "_delta_log", (day_ago, day_ago))
    assert orphans(str(tmp_path), {named}) == [old]
    Folders(str(tmp_path)).noted(young, 0, lambda: {named, young})
    assert sorted(each.name for each in tmp_path.iterdir()) == ["named", "young"]
    assert orphans(str(tmp_path / "none"), set()) == []


def test_a_table_that_is_gone_is_removed_without_a_word(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    remove(str(tmp_path / "none"))
    assert caplog.text == ""
