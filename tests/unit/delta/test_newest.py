"""The look for newer commits: when a log is listed, and that nothing is overlooked when it is not."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from imp_driver.delta import handle, store
from imp_driver.delta.handle import TableHandle
from imp_driver.delta.store import commit_path
from imp_driver.errors import OperationalError


class Listed(DeltaTable):
    """Counts how often logs are listed; ``meanwhile`` is called first."""

    lists = 0
    meanwhile: Callable[[], None] = staticmethod(lambda: None)

    def update_incremental(self) -> None:
        Listed.lists += 1
        Listed.meanwhile()
        super().update_incremental()


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handle, "DeltaTable", Listed)
    monkeypatch.setattr(store, "is_local_disk", lambda folder, device: True)
    monkeypatch.setattr(Listed, "lists", 0)


def append(folder: Path, value: int = 1) -> None:
    write_deltalake(str(folder), pa.table({"a": [value]}), mode="append")


def overwrite(folder: Path) -> None:
    """Commit something else than an append, for which a log is listed."""
    write_deltalake(str(folder), pa.table({"a": [7, 8]}), mode="overwrite")


def seen(table: TableHandle) -> tuple[int, int | None]:
    snapshot = table.state().snapshot
    return snapshot.version, snapshot.row_count


def test_a_log_on_a_local_disk_is_listed_when_it_has_changed(tmp_path: Path) -> None:
    append(tmp_path)
    table = TableHandle(str(tmp_path))
    assert [seen(table) for _ in range(3)] == [(0, 1)] * 3
    assert Listed.lists == 0
    append(tmp_path)
    overwrite(tmp_path)
    assert [seen(table) for _ in range(3)] == [(2, 2)] * 3
    assert Listed.lists == 1


def test_a_log_elsewhere_is_listed_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "is_local_disk", lambda folder, device: False)
    append(tmp_path)
    table = TableHandle(str(tmp_path))
    assert [seen(table) for _ in range(3)] == [(0, 1)] * 3
    assert Listed.lists == 2


def test_any_other_file_of_the_log_has_it_listed_once_more(tmp_path: Path) -> None:
    append(tmp_path)
    table = TableHandle(str(tmp_path))
    seen(table)
    DeltaTable(str(tmp_path)).create_checkpoint()
    # A file that comes within the tick of the clock in which the log was listed does not change it; another version does not come so.
    os.utime(tmp_path / "_delta_log", ns=(0, 0))
    assert [seen(table) for _ in range(3)] == [(0, 1)] * 3
    assert Listed.lists == 1


def test_the_next_commit_is_found_though_the_clock_stands_still(tmp_path: Path) -> None:
    append(tmp_path)
    log = tmp_path / "_delta_log"
    os.utime(log, ns=(1, 1))
    table = TableHandle(str(tmp_path))
    assert seen(table) == (0, 1)
    append(tmp_path)
    os.utime(log, ns=(1, 1))
    assert seen(table) == (1, 2)


def test_a_last_commit_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    folder, other = tmp_path / "t", tmp_path / "other"
    for value in range(2):
        append(folder, value)
    write_deltalake(str(other), pa.table({"b": [1, 2, 3]}))
    table = TableHandle(str(folder))
    assert seen(table) == (1, 2)
    before = os.stat(folder / "_delta_log")
    shutil.copy(other / commit_path(0), folder / commit_path(0))
    (folder / commit_path(1)).write_text("", encoding="utf-8")
    os.utime(folder / "_delta_log", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert seen(table)[1] == 3


def test_a_table_that_is_recreated_while_its_log_is_listed_is_not_taken_for_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "t"
    append(folder)
    table = TableHandle(str(folder))
    first = table.state().snapshot
    overwrite(folder)

    def recreated() -> None:
        shutil.rmtree(folder)
        write_deltalake(str(folder), pa.table({"b": [1, 2, 3]}))

    monkeypatch.setattr(Listed, "meanwhile", staticmethod(recreated))
    assert seen(table) == (0, 3)
    assert table.state().snapshot.table_id != first.table_id


def test_a_commit_that_is_missing_in_the_log_is_no_end_of_it(tmp_path: Path) -> None:
    append(tmp_path)
    table = TableHandle(str(tmp_path))
    seen(table)
    append(tmp_path)
    append(tmp_path)
    (tmp_path / commit_path(1)).unlink()
    os.utime(tmp_path / "_delta_log", ns=(0, 0))
    with pytest.raises(OperationalError):
        TableHandle(str(tmp_path)).state()
    with pytest.raises(OperationalError):
        table.state()


def test_a_log_without_its_last_commit_is_opened_anew_each_time(tmp_path: Path) -> None:
    for value in range(3):
        append(tmp_path, value)
    table = TableHandle(str(tmp_path))
    seen(table)
    DeltaTable(str(tmp_path)).create_checkpoint()
    for version in range(3):
        (tmp_path / commit_path(version)).unlink()
    assert [seen(table) for _ in range(2)] == [(2, 3)] * 2
    shutil.rmtree(tmp_path / "_delta_log")
    with pytest.raises(OperationalError):
        table.state()


def test_one_refresh_serves_all_who_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(tmp_path)
    table = TableHandle(str(tmp_path))
    seen(table)
    overwrite(tmp_path)
    is_listing, may_go_on = threading.Event(), threading.Event()

    def meanwhile() -> None:
        is_listing.set()
        assert may_go_on.wait(60)

    monkeypatch.setattr(Listed, "meanwhile", staticmethod(meanwhile))
    found: list[tuple[int, int | None]] = []
    threads = [threading.Thread(target=lambda: found.append(seen(table))) for _ in range(4)]
    threads[0].start()
    assert is_listing.wait(60)
    for thread in threads[1:]:
        thread.start()
    may_go_on.set()
    for thread in threads:
        thread.join()
    assert found == [(1, 2)] * 4
    assert Listed.lists == 1
