"""Commits that only append files: the state after them is the one that is read from nothing, and all else is left to delta-rs."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from imp_driver.delta import appended as module
from imp_driver.delta import handle, store
from imp_driver.delta.appended import appended
from imp_driver.delta.handle import TableHandle
from imp_driver.delta.store import commit_path, open_store
from imp_driver.delta.tables import DeltaTables
from imp_driver.errors import OperationalError
from imp_driver.values.tables import TableSnapshot


class Refreshed(DeltaTable):
    """Counts how often delta-rs is asked for newer commits."""

    count_of_updates = 0

    def update_incremental(self) -> None:
        Refreshed.count_of_updates += 1
        super().update_incremental()


@pytest.fixture(autouse=True)
def local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "is_local_disk", lambda folder, device: True)
    monkeypatch.setattr(handle, "DeltaTable", Refreshed)
    monkeypatch.setattr(Refreshed, "count_of_updates", 0)


def append(folder: Path, *values: int) -> None:
    write_deltalake(str(folder), pa.table({"a": pa.array(values, pa.int64())}), mode="append", schema_mode="merge")


def described(snapshot: TableSnapshot) -> tuple[object, ...]:
    """Return all that a snapshot says, whatever the order of the files."""
    files = snapshot.files
    columns = [[list(map(str, each)) for each in files.bounds(column.name)] for column in snapshot.schema]
    per_file = zip(files.sizes.tolist(), files.rows.tolist(), *(zip(*each, strict=True) for each in columns), strict=True)
    return snapshot.table_id, snapshot.version, snapshot.row_count, snapshot.schema, sorted(map(repr, per_file))


def from_nothing(folder: Path, version: int | None = None) -> tuple[object, ...]:
    tables = DeltaTables()
    return described(tables.snapshot(str(folder)) if version is None else tables.snapshot_at(str(folder), version))


def test_appends_are_followed_without_delta_rs_until_files_are_asked_for(tmp_path: Path) -> None:
    append(tmp_path, 1, 2)
    table = TableHandle(str(tmp_path))
    first = table.state().snapshot
    for value in (3, 4):
        append(tmp_path, value)
        append(tmp_path, value, value)
        table.state()
    snapshot = table.state().snapshot
    assert (snapshot.version, snapshot.row_count, snapshot.table_id) == (4, 8, first.table_id)
    assert Refreshed.count_of_updates == 0
    assert described(snapshot) == from_nothing(tmp_path)
    assert described(first) == from_nothing(tmp_path, 0)
    assert Refreshed.count_of_updates == 1


def test_files_of_a_version_are_those_of_it_though_others_came(tmp_path: Path) -> None:
    append(tmp_path, 1)
    table = TableHandle(str(tmp_path))
    kept = [table.state().snapshot]
    for value in range(2, 6):
        append(tmp_path, value)
        kept.append(table.state().snapshot)
    for version in (2, 4, 3, 1, 0):
        assert described(kept[version]) == from_nothing(tmp_path, version)
    assert described(table.state().snapshot) == from_nothing(tmp_path)


def test_files_of_a_table_that_is_gone_are_an_operational_error(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    append(folder, 1)
    table = TableHandle(str(folder))
    table.state()
    append(folder, 2)
    snapshot = table.state().snapshot
    shutil.rmtree(folder)
    with pytest.raises(OperationalError):
        snapshot.files.sizes  # noqa: B018 - it is read by being asked for
    for _ in range(3):
        append(folder, 5)
    with pytest.raises(OperationalError):
        snapshot.files.sizes  # noqa: B018
    assert described(table.state().snapshot) == from_nothing(folder)


def _changes(folder: Path, chance: random.Random) -> list[Callable[[], object]]:
    values = [chance.randrange(100) for _ in range(chance.randrange(1, 4))]
    wider = pa.table({"a": pa.array(values, pa.int64()), "b": pa.array(values, pa.int32())})
    return [
        *[lambda: append(folder, *values)] * 6,
        lambda: DeltaTable(str(folder)).delete(f"a < {values[0]}"),
        lambda: DeltaTable(str(folder)).update({"a": "a + 1"}, predicate=f"a > {values[0]}"),
        lambda: DeltaTable(str(folder)).optimize.compact(),
        lambda: DeltaTable(str(folder)).create_checkpoint(),
        lambda: write_deltalake(str(folder), wider, mode="append", schema_mode="merge"),
        lambda: DeltaTable(str(folder)).restore(0),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_whatever_comes_the_state_is_the_one_that_is_read_from_nothing(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(module, "MOST_COMMITS", 3)
    monkeypatch.setattr(handle, "MOST_COMMITS", 5)
    append(tmp_path, 1, 2, 3)
    append(tmp_path, 50)
    table = TableHandle(str(tmp_path))
    for _ in range(25):
        chance.choice(_changes(tmp_path, chance))()
        if chance.random() < 0.6:
            snapshot = table.state().snapshot
            assert (snapshot.version, snapshot.row_count) == from_nothing(tmp_path)[1:3]
            if chance.random() < 0.4:
                assert described(snapshot) == from_nothing(tmp_path)
    assert described(table.state().snapshot) == from_nothing(tmp_path)


def _rewritten(folder: Path, version: int, change: Callable[[list[dict[str, dict[str, object]]]], object]) -> None:
    path = folder / commit_path(version)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(lines)
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def _add(lines: list[dict[str, dict[str, object]]]) -> dict[str, object]:
    return next(line["add"] for line in lines if "add" in line)


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: _add(lines).update(dataChange=False),
        lambda lines: _add(lines).update(deletionVector={"storageType": "u", "pathOrInlineDv": "x", "sizeInBytes": 1, "cardinality": 1}),
        lambda lines: lines.append({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}),
        lambda lines: lines.append({"something new": {}}),
        lambda lines: lines.clear(),
        lambda lines: _add(lines).pop("dataChange"),
    ],
    ids=["no data", "vector", "protocol", "unknown", "empty", "incomplete"],
)
def test_what_is_no_plain_append_is_left_to_delta_rs(
    tmp_path: Path, change: Callable[[list[dict[str, dict[str, object]]]], object]
) -> None:
    append(tmp_path, 1)
    append(tmp_path, 2)
    found = open_store(str(tmp_path))
    identity = found.commit_identity(0)
    assert identity is not None
    assert appended(found, 0, identity) is not None
    _rewritten(tmp_path, 1, change)
    assert appended(found, 0, identity) is None


def test_rows_that_a_file_does_not_tell_are_unknown(tmp_path: Path) -> None:
    append(tmp_path, 1)
    table = TableHandle(str(tmp_path))
    table.state()
    append(tmp_path, 2)
    _rewritten(tmp_path, 1, lambda lines: _add(lines).update(stats=None))
    append(tmp_path, 3)
    assert table.state().snapshot.row_count is None
    assert described(table.state().snapshot) == from_nothing(tmp_path)


def test_a_log_with_a_gap_and_one_of_another_table_are_left_to_delta_rs(tmp_path: Path) -> None:
    for value in range(4):
        append(tmp_path, value)
    found = open_store(str(tmp_path))
    identity = found.commit_identity(0)
    assert identity is not None
    assert appended(found, 0, (identity[0], identity[1] + 1, identity[2])) is None
    (tmp_path / commit_path(2)).unlink()
    assert appended(found, 0, identity) is None
