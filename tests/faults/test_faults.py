"""Faults of tables, stores and clocks between two processes: the second has right answers and says what it did."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from imp_driver.errors import OperationalError
from imp_driver.reasons import Decision, RecaptureReason
from imp_driver.state import checkpoint
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from tests.faults.lake import Lake, Process
from tests.faults.scenario import JOIN, QUERIES, SUMS, make_tables
from tests.soundness.engine import drained


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A lake whose queries another process has captured and maintained once; return its folder and a copy that no test changes."""
    folder, kept = tmp_path_factory.mktemp("lake"), tmp_path_factory.mktemp("kept")
    make_tables(folder)
    lake, first = Lake(folder), Process(folder)
    for query in QUERIES:
        first.ask(query)
    lake.insert("r", [(90_000, 3, 500)])
    for query in QUERIES:
        first.ask(query)
    first.close()
    return folder, shutil.copytree(folder, kept, dirs_exist_ok=True)


@pytest.fixture
def folder(captured: tuple[Path, Path]) -> Path:
    """That lake as it was, in the same folder, since a store knows its tables by where they are."""
    folder, kept = captured
    shutil.rmtree(folder)
    return shutil.copytree(kept, folder)


def _decisions(folder: Path, *queries: str) -> list[Decision]:
    process = Process(folder)
    found = [process.ask(query).decision for query in queries or QUERIES]
    process.close()
    return found


def test_without_a_fault_the_second_process_maintains(folder: Path) -> None:
    Lake(folder).delete("r", "id = 3005")
    assert _decisions(folder) == [Decision.MAINTAINED] * 3
    assert _decisions(folder) == [Decision.FRESH] * 3


def test_vacuum_below_the_stored_version(folder: Path) -> None:
    lake = Lake(folder)
    for number in range(3):
        lake.update("r", {"a": "a + 1"}, f"g = {number}")
    table = DeltaTable(lake.location("r"))
    table.optimize.compact()
    table.vacuum(0, dry_run=False, enforce_retention_duration=False, full=True)
    assert set(_decisions(folder)) <= {Decision.MAINTAINED, Decision.CAPTURED, Decision.RECAPTURED}
    assert _decisions(folder) == [Decision.FRESH] * 3


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_commits_that_the_log_no_longer_has(folder: Path, kept: int) -> None:
    """``kept``: how many commits after the stored version are left."""
    lake = Lake(folder)
    stored = lake.version("r")
    for number in range(4):
        lake.insert("r", [(91_000 + number, number, 300)])
    DeltaTable(lake.location("r")).create_checkpoint()
    for version in range(stored + 4 - kept):
        (folder / "r" / "_delta_log" / f"{version:020d}.json").unlink()
    assert _decisions(folder) == [Decision.CAPTURED] * 3
    assert _decisions(folder) == [Decision.FRESH] * 3


def test_a_table_that_was_restored(folder: Path) -> None:
    lake = Lake(folder)
    stored = lake.version("r")
    lake.update("r", {"a": "a + 100"}, "g = 5")
    DeltaTable(lake.location("r")).restore(stored - 1)
    assert set(_decisions(folder)) <= {Decision.MAINTAINED, Decision.RECAPTURED}
    assert _decisions(folder) == [Decision.FRESH] * 3


def test_a_table_that_was_dropped_and_made_anew(folder: Path) -> None:
    shutil.rmtree(folder / "r")
    lake = Lake(folder)
    lake.create("r", rows_per_group=21)
    lake.insert("r", [(90_000, 4, 7)])
    assert _decisions(folder) == [Decision.CAPTURED] * 3


def test_a_folder_of_another_history_with_the_same_identity(folder: Path) -> None:
    """A copy of the table that went another way from the version before: same identifier, same number, other rows."""
    lake = Lake(folder)
    stored = lake.version("r")
    (folder / "r" / "_delta_log" / f"{stored:020d}.json").unlink()
    lake.insert("r", [(90_000, 8, 900)])
    assert lake.version("r") == stored
    assert _decisions(folder) == [Decision.CAPTURED] * 3


def test_a_column_that_was_added(folder: Path) -> None:
    lake = Lake(folder)
    rows = pa.table({"id": pa.array([95_000], pa.int32()), "g": pa.array([2], pa.int32()), "a": pa.array([900], pa.int32()), "b": [1.5]})
    write_deltalake(lake.location("r"), rows, mode="append", schema_mode="merge")
    assert set(_decisions(folder)) <= {Decision.MAINTAINED, Decision.CAPTURED, Decision.RECAPTURED}
    assert _decisions(folder, SUMS) == [Decision.FRESH]


def test_an_overwrite_of_the_whole_table(folder: Path) -> None:
    lake = Lake(folder)
    rows = pa.table({name: pa.array(values, pa.int32()) for name, values in {"id": [1, 2], "g": [1, 1], "a": [40, 50]}.items()})
    write_deltalake(lake.location("r"), rows, mode="overwrite")
    _decisions(folder)
    assert Process(folder).lake.rows(SUMS) == ["{'g': 1, 'f': 90, 'low': 1, 'n': 2}"]


def test_small_files_that_were_written_into_large_ones(folder: Path) -> None:
    DeltaTable(Lake(folder).location("r")).optimize.compact()
    process = Process(folder)
    report = process.ask(SUMS)
    assert (report.decision, report.delta_rows) == (Decision.MAINTAINED, 0)
    process.close()


def _garble(path: Path) -> None:
    path.write_bytes(b"\x00" * path.stat().st_size)


@pytest.mark.parametrize("damage", [_garble, Path.unlink, lambda path: path.write_bytes(b"")], ids=["garbled", "gone", "emptied"])
@pytest.mark.parametrize("part", ["states/*.parquet", "sketches/*.parquet", "states/_delta_log/*.json", "sketches/_delta_log/*.json"])
def test_a_damaged_store(folder: Path, part: str, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture) -> None:
    Lake(folder).insert("r", [(91_000, 3, 500)])
    for path in (folder / "_imp" / "store").glob(part):
        damage(path)
    process = Process(folder)
    with caplog.at_level(logging.WARNING, "imp_driver"):
        decisions = [process.ask(query).decision for query in QUERIES]
        process.sketches.relations.checkpoint.flush()
    assert set(decisions) <= {Decision.CAPTURED, Decision.MAINTAINED}
    assert caplog.text or decisions == [Decision.CAPTURED] * 3
    process.close()


def test_a_store_that_must_not_be_read_leaves_the_queries_alone(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    shutil.rmtree(folder / "_imp" / "store")
    (folder / "_imp" / "store").write_text("in the way")
    process = Process(folder)
    with caplog.at_level(logging.WARNING, "imp_driver"):
        assert [process.ask(query).decision for query in QUERIES] == [Decision.CAPTURED] * 3
        process.sketches.relations.checkpoint.flush()
    assert "cannot be written" in caplog.text
    process.close()


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0, -1e9])
def test_clocks_that_jump_between_two_processes(folder: Path, jump: float, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + jump)
    Lake(folder).insert("r", [(91_000, 3, 500)])
    process = Process(folder)
    assert [process.ask(query).decision for query in QUERIES] == [Decision.MAINTAINED] * 3
    process.close()


def test_a_pause_between_saves_that_a_clock_makes_endless_ends_with_the_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "PAUSE_SECONDS", 1e9)
    process = Process(folder)
    for number in range(3):
        process.lake.insert("r", [(91_000 + number, 3, 500)])
        process.ask(SUMS)
    process.close()
    assert _decisions(folder, SUMS) == [Decision.FRESH]


def test_a_transaction_of_a_clock_that_is_behind_says_that_there_was_nothing(folder: Path) -> None:
    process = Process(folder)
    process.path._transaction._clock = lambda: 1.0
    process.path.run(Execution("BEGIN"))
    with pytest.raises(OperationalError, match="was not there yet"):
        process.path.run(Execution(SUMS))
    process.path.run(Execution("COMMIT"))
    process.ask(SUMS)
    process.close()


def test_a_transaction_over_delta_tables_reads_one_moment(folder: Path) -> None:
    process = Process(folder)
    before = process.lake.rows(JOIN)
    process.path.run(Execution("BEGIN"))
    time.sleep(0.01)
    process.lake.insert("s", [(97_000, 3, 1)])
    process.lake.delete("r", "g = 4")
    assert sorted(map(repr, drained(process.path.run(Execution(JOIN)).stream))) == before
    assert drained(process.path.run(Execution("SELECT count(*) AS n FROM s")).stream) == [{"n": 240}]
    process.path.run(Execution("COMMIT"))
    assert process.ask(JOIN).decision is Decision.MAINTAINED
    process.close()


def test_a_foreign_writer_between_any_two_queries_is_seen(folder: Path) -> None:
    process = Process(folder)
    foreign = Lake(folder)
    decisions = []
    for number in range(6):
        if number % 3 == 2:
            foreign.delete("r", f"id = {number * 1_000 + 3}")
        else:
            foreign.insert("r", [(98_000 + number, number, 400)])
        decisions += [process.ask(query).decision for query in QUERIES]
    assert set(decisions) <= {Decision.MAINTAINED, Decision.FRESH}
    process.close()


def test_two_processes_on_one_lake_and_store(folder: Path) -> None:
    one, other = Process(folder), Process(folder)
    for number in range(4):
        (one if number % 2 else other).lake.insert("r", [(98_000 + number, number, 400)])
        for process in (one, other):
            for query in QUERIES:
                process.ask(query)
            process.sketches.relations.checkpoint.flush()
    one.close()
    other.close()
    assert _decisions(folder) == [Decision.FRESH] * 3


def test_the_reason_of_a_new_capture_is_told(folder: Path) -> None:
    process = Process(folder, SketchMode.LAZY)
    process.ask(SUMS)
    lake = Lake(folder)
    stored = lake.version("r")
    lake.insert("r", [(91_000, 3, 300)])
    DeltaTable(lake.location("r")).create_checkpoint()
    (folder / "r" / "_delta_log" / f"{stored + 1:020d}.json").unlink()
    report = process.ask(SUMS)
    assert report.recapture_reason is None or report.recapture_reason is RecaptureReason.HISTORY_GONE
    process.close()
