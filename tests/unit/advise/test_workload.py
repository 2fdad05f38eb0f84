"""The record of what was asked: sums, bounds, the file and what is left out of it."""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path

import pytest

from imp_driver.maintain.workload import Record, Workload
from imp_driver.parse.statement import parse
from imp_driver.parse.template import text_without_constants


def _run(template: str, bytes_read: int = 10, **values: object) -> Record:
    return Record(template, f"text of {template}", "t", "id", ("g",), 1, 2.0, bytes_read, "FILTERED", bytes_read, **values)  # type: ignore[arg-type]


def test_runs_add_up_and_the_last_one_gives_the_reason() -> None:
    workload: Workload[str] = Workload()
    workload.add(_run("a", 100), "first")
    total = workload.add(Record("a", "", "t", "id", ("g",), 1, 3.0, 7, "NOT_CLUSTERED", 7), "second")
    assert (total.runs, total.milliseconds, total.bytes, total.last_bytes, total.reason) == (2, 5.0, 107, 7, "NOT_CLUSTERED")
    assert total.text == "text of a"
    assert workload.records() == (total,)
    assert workload.questions() == {"a": "second"}


def test_the_least_recently_asked_is_forgotten() -> None:
    workload: Workload[str] = Workload(largest=2)
    for template in ("a", "b", "a", "c"):
        workload.add(_run(template), template)
    assert [record.template for record in workload.records()] == ["a", "c"]
    assert set(workload.questions()) == {"a", "c"}


def test_the_file_adds_up_over_processes(tmp_path: Path) -> None:
    file = tmp_path / "workload.jsonl"
    first: Workload[str] = Workload(file)
    first.add(_run("a"), "a secret value")
    first.add(Record("a", shares={"g": (1.0, 0.123456)}, reason="FILTERED"))
    first.add(_run("b"))
    assert not file.exists()
    first.write()
    first.add(_run("a", 5))
    assert {record.template: record.runs for record in first.records()} == {"a": 2, "b": 1}
    first.write()
    first.write()
    assert len(file.read_text().splitlines()) == 3
    second: Workload[str] = Workload(file)
    second.add(_run("b"))
    found = {record.template: record for record in second.records()}
    assert {name: (record.runs, record.bytes) for name, record in found.items()} == {"a": (2, 15), "b": (2, 20)}
    assert found["a"].shares == {"g": (1.0, 0.12346)}
    assert "secret" not in file.read_text()


def test_malformed_lines_are_left_out_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "workload.jsonl"
    workload: Workload[str] = Workload(file)
    workload.add(_run("a"))
    workload.write()
    good = file.read_text()
    whole = json.loads(good)
    broken = [good[:20], "[]", "null", "7", json.dumps({**whole, "runs": "x"}), json.dumps({**whole, "shares": []}), "\udcff"]
    file.write_text("\n".join([*broken, good]), encoding="utf-8", errors="surrogateescape")
    with caplog.at_level(logging.WARNING, "imp_driver"):
        assert [record.template for record in Workload[str](file).records()] == ["a"]
    assert f"{len(broken)} lines" in caplog.text


def test_a_long_file_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imp_driver.maintain.workload._LARGEST_FILE", 500)
    file = tmp_path / "workload.jsonl"
    workload: Workload[str] = Workload(file)
    for _ in range(20):
        workload.add(_run("a"))
        workload.write()
    assert file.stat().st_size < 1000
    assert [(record.template, record.runs) for record in Workload[str](file).records()] == [("a", 20)]
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_cannot_be_written_costs_only_the_record(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    workload: Workload[str] = Workload(tmp_path / "missing" / "workload.jsonl")
    workload.add(_run("a"))
    with caplog.at_level(logging.WARNING, "imp_driver"):
        workload.write()
    assert "cannot be written" in caplog.text
    assert [record.runs for record in workload.records()] == [1]


def test_writes_wait_for_their_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "workload.jsonl"
    monkeypatch.setattr("imp_driver.maintain.workload._SECONDS_BETWEEN_WRITES", 0.0)
    workload: Workload[str] = Workload(file)
    monkeypatch.setattr("imp_driver.maintain.workload._SECONDS_BETWEEN_WRITES", 1e9)
    workload.add(_run("a"))
    workload.add(_run("a"))
    assert len(file.read_text().splitlines()) == 1
    workload.write()
    assert len(file.read_text().splitlines()) == 2


def test_threads_lose_no_run(tmp_path: Path) -> None:
    workload: Workload[str] = Workload(tmp_path / "workload.jsonl")

    def ask() -> None:
        for number in range(200):
            workload.add(_run(f"t{number % 3}"))
            workload.write()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(record.runs for record in Workload[str](tmp_path / "workload.jsonl").records()) == 800


@pytest.mark.parametrize(
    ("text", "recorded"),
    [
        ("SELECT a, 'Alice' FROM t WHERE b = 'Bob' LIMIT 7", "SELECT a, ? FROM t WHERE b = ? LIMIT ?"),
        ("SELECT IF(a = -3.5, X'1F', DATE '2020-01-02') FROM t", "SELECT IF(a = -?, ?, CAST(? AS DATE)) FROM t"),
        ("SELECT a /* of Bob */ FROM t WHERE b IN (1, :name, TRUE)", "SELECT a FROM t WHERE b IN (?, ?, ?)"),
    ],
)
def test_no_constant_is_recorded(text: str, recorded: str) -> None:
    tree = parse(text).tree
    assert tree is not None
    assert text_without_constants(tree) == recorded
