"""A run leaves one record for each workload, also when it fails, and tells of it with its exit status."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

import imp_driver
from benchmarks import manifest, records, surroundings
from benchmarks.bench import Bench
from benchmarks.journal import Journal
from benchmarks.protocol import Turn, Work, take_turns
from benchmarks.records import Quantity
from benchmarks.report import text
from benchmarks.run import main
from tests.unit.benchmarks.engines import Connection, Opened, Tables


def green(bench: Bench, journal: Journal) -> None:
    ways = {name: lambda: Turn([(1,)], {Quantity.QUERY: 500.0}) for name in ("NS", "IMP")}
    take_turns(journal.page({"groups": 50}), bench.plan, Work(ways))


def different(bench: Bench, journal: Journal) -> None:
    green(bench, journal)
    journal.page({"groups": 1_000}).compare({"NS": [(1,)], "IMP": [(2,)]})


def failing(bench: Bench, journal: Journal) -> None:
    green(bench, journal)
    raise OSError(f"no space left in {bench.warehouse}")


def interrupted(bench: Bench, journal: Journal) -> None:
    raise KeyboardInterrupt


WORKLOADS = {"green": green, "different": different, "failing": failing, "interrupted": interrupted}


def run(folder: Path, *names: str) -> int:
    return main(["--workloads", *names, "--repetitions", "4", "--rows", "7"], folder, WORKLOADS)


def test_a_run_writes_a_record_with_its_surroundings(tmp_path: Path) -> None:
    assert run(tmp_path, "green") == 0
    [record] = records.read_all(tmp_path)
    assert (record.workload, record.systems, record.failure) == ("green", ("NS", "IMP"), "")
    assert (record.commit, record.code) == (surroundings.commit()[0], surroundings.code())
    assert record.options == {"rows": 7, "scale": 1.0, "repetitions": 4, "quick": False, "growth": [1_000_000, 10_000_000, 50_000_000]}
    assert record.versions.keys() >= {"driver", "python", "spark", "delta", "java", "deltalake"}
    assert record.cases[0].values("IMP", Quantity.QUERY) == (500.0,) * 4
    assert len(record.load_before) == len(record.load_after)


def test_every_run_adds_files_and_changes_none(tmp_path: Path) -> None:
    run(tmp_path, "green")
    before = {path: path.read_bytes() for path in tmp_path.glob("*.json")}
    run(tmp_path, "green", "different")
    after = {path: path.read_bytes() for path in tmp_path.glob("*.json")}
    assert len(after) == 3
    assert before.items() <= after.items()
    assert manifest.problems(tmp_path, tmp_path) == []


def test_answers_that_differ_end_a_run_red_and_are_in_its_record(tmp_path: Path) -> None:
    assert run(tmp_path, "different", "green") == 1
    by_name = {record.workload: record for record in records.read_all(tmp_path)}
    assert by_name.keys() == {"different", "green"}
    assert by_name["different"].differences == ("IMP against NS: 1 rows against 1; first of its own [(2,)], first of the other's [(1,)]",)
    assert "**answers differ**: IMP against NS" in text(by_name["different"])


def test_a_workload_that_fails_leaves_what_it_had_but_no_names_of_folders(tmp_path: Path) -> None:
    assert run(tmp_path, "failing", "green") == 1
    by_name = {record.workload: record for record in records.read_all(tmp_path)}
    assert by_name.keys() == {"failing", "green"}
    assert (by_name["failing"].failure, len(by_name["failing"].cases)) == ("OSError", 1)
    assert not any("no space left" in path.read_text(encoding="utf-8") for path in tmp_path.glob("*.json"))


def test_a_run_that_is_interrupted_leaves_a_record_and_ends(tmp_path: Path) -> None:
    workloads = {"interrupted": interrupted, "green": green}
    assert main(["--workloads", "all"], tmp_path, workloads) == 1
    assert [record.failure for record in records.read_all(tmp_path)] == ["KeyboardInterrupt"]


def test_a_record_is_shown_with_its_statistics(tmp_path: Path) -> None:
    run(tmp_path, "green")
    shown = text(records.read_all(tmp_path)[0])
    assert "- answers: compared 7 times, 0 differences" in shown
    # Two systems, half a second each time: once, twice, and four times.
    assert "- seconds of all queries: cold start 1.0, warm-up 2.0, measured 4.0" in shown
    assert "| NS | cold start | query ms | 1 of 1 | 500 | 500, 500 | 500 | 500 |" in shown
    assert "- all queries of IMP: 2000 ms with captures, 2000 ms without" in shown


def test_fm_and_imp_share_no_state(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Opened(Tables())
    stores: list[object] = []

    def connect(**options: object) -> Connection:
        stores.append(options.get("store", "auto"))
        return opened.connect(**options)

    monkeypatch.setattr(imp_driver, "connect", connect)
    parsed = argparse.Namespace(rows=7, scale=1.0, repetitions=4, quick=False, growth=[])
    with Bench(parsed, "warehouse") as bench:
        assert bench.systems.incremental is not bench.systems.full
    _, full, incremental = stores
    assert full != incremental


def test_a_workload_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        run(tmp_path, "nope")
    assert list(tmp_path.iterdir()) == []
