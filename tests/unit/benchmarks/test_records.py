"""Records hold every measurement, say nothing of persons and places, and are never written over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import records, surroundings
from benchmarks.records import Machine, Quantity, Stage
from tests.unit.benchmarks.making import case, record, series


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = record(
        case(
            series("IMP", Quantity.MAINTENANCE, 3.25, None, 1e-9),
            series("IMP", Quantity.QUERY, 1200.5, stage=Stage.COLD_START),
            differences=("IMP against NS: 1 rows against 2",),
            shortened="3 repetitions instead of 10: one round took 75 s",
            join="1 %",
        ),
        failure="OperationalError",
        is_dirty=True,
    )
    path = records.write(made, tmp_path)
    assert path.name == "2026-11-23T165730-joins-c0ffee0.json"
    assert records.read(path) == made
    assert records.read_all(tmp_path) == [made]


def test_names_in_records_that_are_written_stay() -> None:
    assert {"cold start", "warm-up", "measured"} <= set(Stage)
    names = {"query ms", "capture ms", "maintenance ms", "own stages ms", "update ms", "per second", "bytes"}
    assert names | {"call ms", "background ms", "resident bytes"} <= set(Quantity)


def test_two_runs_of_one_second_leave_two_files(tmp_path: Path) -> None:
    one, two = record(case(join="1")), record(case(join="2"))
    paths = [records.write(each, tmp_path) for each in (one, two)]
    assert [records.read(path) for path in paths] == [one, two]


def test_records_come_in_the_order_of_their_dates(tmp_path: Path) -> None:
    dates = ["2027-01-02T00:00:00Z", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"]
    for date in dates:
        records.write(record(date=date), tmp_path)
    assert [each.date for each in records.read_all(tmp_path)] == sorted(dates)


@pytest.mark.parametrize("text", ["{}", "[]", '{"format": 2}', "no JSON"])
def test_what_is_no_record_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"other\.json is no record of format 1"):
        records.read(path)


def test_the_machine_has_no_name() -> None:
    assert Machine.__slots__ == ("cpu", "cores", "memory_gib")
    assert surroundings.machine().cores >= 1


def test_the_digest_of_code_is_that_of_its_content(tmp_path: Path) -> None:
    folder = tmp_path / "imp_driver" / "maintain"
    folder.mkdir(parents=True)
    (folder / "lazy.py").write_text("one", encoding="utf-8")
    (tmp_path / "imp_driver" / "errors.py").write_text("errors", encoding="utf-8")
    before = surroundings.code(tmp_path)
    (folder / "__pycache__").mkdir()
    (folder / "notes.txt").write_text("no code", encoding="utf-8")
    assert surroundings.code(tmp_path) == before
    (folder / "lazy.py").write_text("two", encoding="utf-8")
    after = surroundings.code(tmp_path)
    assert before.keys() == after.keys() == {"imp_driver/errors.py", "imp_driver/maintain"}
    assert {path for path in before if before[path] != after[path]} == {"imp_driver/maintain"}
    (folder / "lazy.py").rename(folder / "eager.py")
    assert surroundings.code(tmp_path) != after


def test_the_parts_of_the_benchmarks_and_of_peers_are_code(tmp_path: Path) -> None:
    known = {"benchmarks/run.py", "benchmarks/workloads/joins.py", "benchmarks/recursion/dred.py", "benchmarks/nested/streams.py"}
    known |= {"benchmarks/peers/Cargo.toml", "benchmarks/peers/Cargo.lock", "benchmarks/peers/src/main.rs"}
    (tmp_path / "imp_driver").mkdir()
    for name in (*known, "benchmarks/goals.toml", "benchmarks/peers/.gitignore"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text", encoding="utf-8")
    assert surroundings.code(tmp_path).keys() == known


def test_a_folder_without_a_history_has_no_commit(tmp_path: Path) -> None:
    assert surroundings.commit(tmp_path) == (records.UNKNOWN, True)


def test_measurements_that_are_no_numbers_cannot_be_written(tmp_path: Path) -> None:
    broken = replace(record(), cases=(case(series("IMP", Quantity.QUERY, float("nan"))),))
    with pytest.raises(ValueError, match="Out of range"):
        records.write(broken, tmp_path)
