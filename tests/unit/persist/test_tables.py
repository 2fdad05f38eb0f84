"""The store's Delta tables: saved once, read back, damaged, full, swept, and shared by several writers."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError

from imp_driver.errors import OperationalError
from imp_driver.persist import tables
from imp_driver.persist.encoding import FORMAT
from imp_driver.persist.record import Record, StoreDamaged
from imp_driver.persist.tables import DeltaRepository
from tests.unit.persist.records import columns, record, same


@pytest.fixture
def repository(tmp_path: Path) -> DeltaRepository:
    return DeltaRepository(str(tmp_path / "store"))


def _one(repository: DeltaRepository) -> Record:
    [found] = repository.records()
    return found


def test_an_empty_store_has_nothing_and_makes_nothing(repository: DeltaRepository) -> None:
    assert (repository.version(), repository.records()) == (-1, [])
    repository.remove(["ab12"])
    repository.sweep()
    assert not Path(repository.location).exists()


def test_what_is_saved_is_read_by_another(repository: DeltaRepository) -> None:
    repository.save([(record("aa", "s1"), columns(1)), (record("bb", "s2"), columns(2))])
    other = DeltaRepository(repository.location)
    found = {each.key: each for each in other.records()}
    assert same(found["aa"], record("aa", "s1"))
    assert same(found["bb"], record("bb", "s2"))
    assert other.load(found["bb"]) == columns(2)
    assert other.version() == repository.version() >= 0


def test_a_newer_record_takes_the_place_of_the_former_and_its_state_goes(repository: DeltaRepository) -> None:
    repository.save([(record("aa", "s1"), columns(1)), (record("bb", "s2"), columns(2))])
    first = next(each for each in repository.records() if each.key == "aa")
    repository.save([(record("aa", "s3", version=4), columns(3))])
    found = {each.key: each for each in repository.records()}
    assert (found["aa"].state, found["aa"].tables[0].version, found["bb"].state) == ("s3", 4, "s2")
    assert repository.load(found["aa"]) == columns(3)
    with pytest.raises(StoreDamaged, match="not in the store"):
        repository.load(first)


def test_removed_records_are_gone(repository: DeltaRepository) -> None:
    repository.save([(record("aa", "s1"), columns(1)), (record("bb", "s2"), columns(2))])
    repository.remove(["aa", "cc"])
    assert _one(repository).key == "bb"


def test_a_large_state_comes_in_parts(repository: DeltaRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "PART_BYTES", 100)
    repository.save([(record("aa", "s1"), columns(1, rows=50)), (record("bb", "s2"), columns(2))])
    assert len(DeltaTable(f"{repository.location}/states").to_pyarrow_table()) > 10
    assert {each.key: repository.load(each) for each in repository.records()} == {"aa": columns(1, rows=50), "bb": columns(2)}


def test_a_missing_part_is_noticed(repository: DeltaRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "PART_BYTES", 100)
    repository.save([(record(), columns(rows=50))])
    DeltaTable(f"{repository.location}/states").delete("part = 1")
    with pytest.raises(StoreDamaged, match="not in the store"):
        repository.load(_one(repository))


def test_a_changed_state_is_noticed(repository: DeltaRepository) -> None:
    repository.save([(record(), columns())])
    DeltaTable(f"{repository.location}/states").update({"checksum": "'0'"})
    with pytest.raises(StoreDamaged, match="checksum differs"):
        repository.load(_one(repository))


def _files(repository: DeltaRepository, name: str) -> list[Path]:
    return sorted(Path(repository.location, name).glob("*.parquet"))


@pytest.mark.parametrize("damage", ["emptied", "gone", "garbled"])
def test_a_damaged_state_file_is_noticed(repository: DeltaRepository, damage: str) -> None:
    repository.save([(record(), columns())])
    found = _one(repository)
    [file] = _files(repository, "states")
    _damage(file, damage)
    with pytest.raises(StoreDamaged, match="ab12"):
        repository.load(found)


@pytest.mark.parametrize("damage", ["emptied", "gone", "garbled"])
def test_a_damaged_file_of_records_is_an_operational_error(repository: DeltaRepository, damage: str) -> None:
    repository.save([(record(), columns())])
    [file] = _files(repository, "sketches")
    _damage(file, damage)
    with pytest.raises(OperationalError, match="cannot be read"):
        repository.records()


def _damage(file: Path, damage: str) -> None:
    if damage == "gone":
        file.unlink()
    else:
        content = file.read_bytes()
        file.write_bytes(b"" if damage == "emptied" else bytes(len(content)))


def test_a_damaged_record_leaves_the_others(repository: DeltaRepository, caplog: pytest.LogCaptureFixture) -> None:
    repository.save([(record("aa", "s1"), columns(1)), (record("bb", "s2"), columns(2))])
    DeltaTable(f"{repository.location}/sketches").update({"body": "'{}'"}, predicate="key = 'aa'")
    with caplog.at_level(logging.WARNING, "imp_driver.persist"):
        assert _one(repository).key == "bb"
    assert "record aa is damaged" in caplog.text


def test_records_of_an_earlier_version_go_with_the_next_save(repository: DeltaRepository, caplog: pytest.LogCaptureFixture) -> None:
    repository.save([(record("aa", state="s1"), columns())])
    DeltaTable(f"{repository.location}/sketches").update({"format": f"{FORMAT - 1}"})
    assert repository.records() == []
    assert f"format {FORMAT - 1}" in caplog.text
    repository.save([(record("bb", state="s2"), columns())])
    caplog.clear()
    assert [each.key for each in repository.records()] == ["bb"]
    assert caplog.text == ""


def test_records_of_another_format_are_skipped(repository: DeltaRepository, caplog: pytest.LogCaptureFixture) -> None:
    repository.save([(record(), columns())])
    DeltaTable(f"{repository.location}/sketches").update({"format": "99"})
    with caplog.at_level(logging.WARNING, "imp_driver.persist"):
        assert repository.records() == []
    assert "format 99" in caplog.text


def test_a_store_with_other_columns_is_an_operational_error(repository: DeltaRepository) -> None:
    write_deltalake(f"{repository.location}/sketches", pa.table({"x": [1]}))
    with pytest.raises(OperationalError, match="cannot be read"):
        repository.records()


def test_a_commit_whose_answer_is_lost_is_not_made_twice(repository: DeltaRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.save([(record("aa", "s1"), columns(1))])
    lost: list[int] = []

    def losing(*arguments: object, **named: object) -> None:
        write_deltalake(*arguments, **named)  # type: ignore[call-overload]
        if not lost:
            lost.append(1)
            raise DeltaError("the connection was reset")

    monkeypatch.setattr(tables, "write_deltalake", losing)
    repository.save([(record("bb", "s2"), columns(2))])
    assert lost
    assert len(DeltaTable(f"{repository.location}/states").to_pyarrow_table()) == 2
    assert sorted(each.key for each in repository.records()) == ["aa", "bb"]


def test_a_full_disk_is_an_operational_error_and_the_former_record_stays(
    repository: DeltaRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.save([(record("aa", "s1"), columns(1))])

    def full(*arguments: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(tables, "write_deltalake", full)
        with pytest.raises(OperationalError, match=r"cannot be written: .*No space left on device"):
            repository.save([(record("aa", "s2"), columns(2))])
    assert repository.load(_one(repository)) == columns(1)


def test_a_store_that_must_not_be_written_is_an_operational_error(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(OperationalError, match="cannot be written"):
        DeltaRepository(str(tmp_path / "store")).save([(record(), columns())])


def test_states_without_a_record_are_swept(repository: DeltaRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.save([(record("aa", "s1"), columns(1)), (record("bb", "s2"), columns(2))])
    repository.remove(["aa"])
    repository.sweep()
    assert len(DeltaTable(f"{repository.location}/states").to_pyarrow_table()) == 2
    monkeypatch.setattr(tables, "ORPHANED_SECONDS", 0)
    repository.sweep()
    assert DeltaTable(f"{repository.location}/states").to_pyarrow_table().column("state").to_pylist() == ["s2"]
    assert repository.load(_one(repository)) == columns(2)


def test_many_small_files_become_one_and_old_ones_go(repository: DeltaRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_FILES", 3)
    for number in range(6):
        repository.save([(record(f"k{number}", f"s{number}"), columns(number))])
    repository.sweep()
    assert len(_files(repository, "sketches")) == 1
    assert {each.key: repository.load(each) for each in repository.records()} == {f"k{number}": columns(number) for number in range(6)}


def test_sweeping_is_part_of_saving(repository: DeltaRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "SWEEP_EVERY", 4)
    for number in range(4):
        repository.save([(record("aa", f"s{number}"), columns(number))])
    assert len(_files(repository, "states")) == 1


def test_two_writers_of_one_store_do_not_undo_each_other(repository: DeltaRepository) -> None:
    other = DeltaRepository(repository.location)
    for number in range(3):
        repository.save([(record("aa", f"s{number}", number), columns(number))])
        other.save([(record("bb", f"t{number}", number), columns(number))])
    other.save([(record("aa", "u"), columns(9))])
    found = {each.key: each for each in repository.records()}
    assert {key: each.state for key, each in found.items()} == {"aa": "u", "bb": "t2"}
    assert repository.load(found["aa"]) == columns(9)


@pytest.mark.parametrize("key", ["", "a'b", "a b", "x' OR '1'='1"])
def test_only_plain_keys_reach_a_condition(repository: DeltaRepository, key: str) -> None:
    repository.save([(record("aa", "s1"), columns(1))])
    with pytest.raises(OperationalError, match="no key of the sketch store"):
        repository.remove([key])
    assert _one(repository).key == "aa"


def test_a_record_with_no_state_saved_says_so(repository: DeltaRepository) -> None:
    repository.save([(record(), columns())])
    with pytest.raises(StoreDamaged, match="not in the store"):
        repository.load(replace(record(), state="s9"))


@contextmanager
def _umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_files_are_made_with_the_umask_of_the_user(repository: DeltaRepository, mask: int) -> None:
    with _umask(mask):
        repository.save([(record(), columns())])
    files = [path for path in Path(repository.location).rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o666 & ~mask}
