"""Counters on disk: nothing is lost or counted twice, whatever order processes come, go and are killed in."""

from __future__ import annotations

import json
import logging
import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imp_driver.observe import metric_files
from imp_driver.observe.metric_files import MetricFile, folder_in, read_counters
from imp_driver.observe.metrics import Metrics
from imp_driver.observe.registry import Observer

STATEMENTS = ("imp_statements_total", ("query",))


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    (tmp_path / "_imp").mkdir()
    return tmp_path


def _gauges() -> dict[str, float]:
    return {"imp_sketches": 2}


def _opened(warehouse: Path) -> Observer:
    """Return what another process would have: its own counters, and the warehouse open."""
    observer = Observer(warehouse)
    observer.connect("store", _gauges)
    return observer


def _count(observer: Observer, times: int = 1) -> None:
    for _ in range(times):
        observer.metrics.count("imp_statements_total", "query")
        observer.metrics.observe("imp_background_step_seconds", 0.5)


def _write(observer: Observer) -> None:
    assert observer._file is not None
    observer._file.write()


def _read(warehouse: Path) -> tuple[float, int]:
    """Return the statements and the observations."""
    found = read_counters(folder_in(warehouse))
    distribution = found.distributions.get(("imp_background_step_seconds", ()))
    return found.counters.get(STATEMENTS, 0), 0 if distribution is None else sum(distribution.counts)


def _files(warehouse: Path) -> list[str]:
    return sorted(path.name for path in folder_in(warehouse).iterdir())


def test_one_process_after_the_other_adds_up_in_one_file(warehouse: Path) -> None:
    for number in range(1, 4):
        observer = _opened(warehouse)
        _count(observer, number)
        observer.disconnect()
    assert _read(warehouse) == (6, 6)
    _opened(warehouse).disconnect()
    assert _read(warehouse) == (6, 6)
    assert len(_files(warehouse)) == 2


def test_a_process_that_opens_and_closes_several_times_counts_once(warehouse: Path) -> None:
    observer = _opened(warehouse)
    _count(observer, 2)
    observer.disconnect()
    other = _opened(warehouse)
    _count(other, 10)
    other.disconnect()
    observer.connect("store", _gauges)
    _count(observer)
    _write(observer)
    assert _read(warehouse) == (13, 13)
    observer.disconnect()
    assert _read(warehouse) == (13, 13)


def test_a_killed_process_loses_only_what_it_did_not_write(warehouse: Path) -> None:
    killed = _opened(warehouse)
    _count(killed, 3)
    _write(killed)
    _count(killed, 100)
    later = _opened(warehouse)
    _count(later)
    later.disconnect()
    assert _read(warehouse) == (4, 4)


def test_one_that_was_thought_dead_goes_on_without_counting_twice(warehouse: Path) -> None:
    first = _opened(warehouse)
    _count(first, 3)
    _write(first)
    _opened(warehouse).disconnect()
    _count(first, 2)
    _write(first)
    first.disconnect()
    assert _read(warehouse) == (5, 5)


def test_deleting_the_files_forgets(warehouse: Path) -> None:
    observer = _opened(warehouse)
    _count(observer, 3)
    _write(observer)
    for path in folder_in(warehouse).iterdir():
        path.unlink()
    _count(observer)
    observer.disconnect()
    assert _read(warehouse) == (1, 1)


def test_a_fold_that_was_killed_before_it_removed_files_is_finished_by_the_next(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    observer = _opened(warehouse)
    _count(observer, 3)
    observer.disconnect()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", _fail)
        _opened(warehouse).disconnect()
    assert len([name for name in _files(warehouse) if name != "total.json"]) == 2
    assert _read(warehouse) == (3, 3)
    _opened(warehouse).disconnect()
    assert _read(warehouse) == (3, 3)
    assert len(_files(warehouse)) == 2
    _opened(warehouse).disconnect()
    assert _read(warehouse) == (3, 3)


def _fail(*_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_reader_sees_a_file_in_the_total_or_beside_it(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process folds while files are listed."""
    observer = _opened(warehouse)
    _count(observer, 3)
    observer.disconnect()
    listed = metric_files._paths
    folds = iter([True])

    def fold_meanwhile(folder: Path) -> list[Path]:
        if next(folds, False):
            metric_files._fold(folder)
        return listed(folder)

    monkeypatch.setattr(metric_files, "_paths", fold_meanwhile)
    assert _read(warehouse) == (3, 3)
    assert next(folds, "folded") == "folded"


def test_gauges_are_those_of_processes_that_have_the_warehouse_open(warehouse: Path) -> None:
    observer = _opened(warehouse)
    _write(observer)
    assert read_counters(folder_in(warehouse)).gauges == {("imp_sketches", ()): 2, ("imp_connections", ()): 1}
    observer.disconnect()
    assert read_counters(folder_in(warehouse)).gauges == {}


@pytest.mark.parametrize("is_here", [True, False])
def test_gauges_of_a_killed_process_go_with_it_as_far_as_can_be_told(warehouse: Path, is_here: bool) -> None:
    child = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True)
    observer = _opened(warehouse)
    _write(observer)
    (path,) = folder_in(warehouse).glob("*.json")
    values = json.loads(path.read_text())
    assert values["process"] == [socket.gethostname(), os.getpid()]
    values["process"] = [socket.gethostname() if is_here else "elsewhere", int(child.stdout)]
    path.write_text(json.dumps(values))
    gauges = read_counters(folder_in(warehouse)).gauges
    assert gauges == ({} if is_here else {("imp_sketches", ()): 2, ("imp_connections", ()): 1})
    observer.disconnect()


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"format": 2}',
        '{"format":1,"process":null,"folded":[],"counters":[["unknown",[],1]],"histograms":[],"gauges":[]}',
        '{"format":1,"process":null,"folded":[],"counters":[["imp_statements_total",[],1]],"histograms":[],"gauges":[]}',
        '{"format":1,"process":null,"folded":[],"counters":[["imp_statements_total",["query"],-1]],"histograms":[],"gauges":[]}',
        '{"format":1,"process":null,"folded":[],"counters":[["imp_statements_total",["query"],NaN]],"histograms":[],"gauges":[]}',
        '{"format":1,"process":null,"folded":[],"counters":[["imp_statements_total",["query"],"1"]],"histograms":[],"gauges":[]}',
        '{"format":1,"process":null,"folded":[],"counters":[["imp_sketches",[],1]],"histograms":[],"gauges":[]}',
        '{"format":1,"process":null,"folded":[],"counters":[],"histograms":[["imp_background_step_seconds",[],[1,2],3]],"gauges":[]}',
        "[" * 100_000,
    ],
)
@pytest.mark.parametrize("name", ["1-a.json", "total.json"])
def test_a_file_that_is_not_ours_is_left_out_and_left_alone(
    warehouse: Path, broken: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    observer = _opened(warehouse)
    _count(observer, 2)
    observer.disconnect()
    path = folder_in(warehouse) / name
    path.write_text(broken)
    with caplog.at_level(logging.WARNING, "imp_driver"):
        _opened(warehouse).disconnect()
        assert _read(warehouse) == (2, 2)
    assert f"{path} are malformed" in caplog.text
    assert path.read_text() == broken


def test_writes_are_some_seconds_apart(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    observer = _opened(warehouse)
    seen = []
    for now in (100.0, 101.0, 104.9, 105.0, 106.0):  # noqa: B007 - read by the clock
        _count(observer)
        observer.write_now_and_then()
        seen.append(_read(warehouse)[0])
    assert seen == [1, 1, 1, 4, 4]
    observer.disconnect()
    assert _read(warehouse) == (5, 5)


def test_a_folder_that_cannot_be_written_costs_only_the_counters(warehouse: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder_in(warehouse).write_text("a file in the way")
    with caplog.at_level(logging.WARNING, "imp_driver"):
        observer = _opened(warehouse)
        for _ in range(3):
            _count(observer)
            _write(observer)
        observer.disconnect()
    assert observer.metrics.snapshot().counters[STATEMENTS] == 3
    assert caplog.text.count("cannot be written") == 1


def test_a_last_write_that_fails_is_made_up_for_by_the_next_file(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    observer = _opened(warehouse)
    _count(observer, 3)
    _write(observer)
    _count(observer, 2)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", _fail)
        observer.disconnect()
    assert _read(warehouse) == (3, 3)
    observer.connect("store", _gauges)
    observer.disconnect()
    assert _read(warehouse) == (5, 5)


def test_files_are_as_private_as_the_umask_says(warehouse: Path) -> None:
    before = os.umask(0o027)
    try:
        observer = _opened(warehouse)
        _count(observer)
        observer.disconnect()
    finally:
        os.umask(before)
    (path,) = folder_in(warehouse).glob("*.json")
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o640, 0o750)


def test_a_process_that_ends_without_closing_has_written(warehouse: Path) -> None:
    program = (
        "import sys, pathlib\n"
        "from imp_driver.observe.registry import Observer\n"
        "observer = Observer(pathlib.Path(sys.argv[1]))\n"
        "observer.connect('store', dict)\n"
        "observer.metrics.count('imp_statements_total', 'query')\n"
    )
    subprocess.run([sys.executable, "-c", program, str(warehouse)], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert _read(warehouse)[0] == 1


def test_without_a_folder_there_is_nothing_to_read(warehouse: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_counters(folder_in(warehouse))


def test_a_file_that_is_not_open_is_not_written(warehouse: Path) -> None:
    MetricFile(folder_in(warehouse), Metrics()).write()
    assert not folder_in(warehouse).exists()
