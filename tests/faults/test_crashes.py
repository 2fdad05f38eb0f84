"""kill -9 at every step of capture, maintain, persist and write; the next process has every committed row and only right answers."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from imp_driver.capture import capture
from imp_driver.persist import folders
from imp_driver.reasons import Decision
from tests.faults.lake import GROUPS, Lake, Process
from tests.faults.scenario import BUCKET_POINTS, POINTS, QUERIES, let_nothing_fit, make_tables
from tests.forks import PATIENT

ALL = (*POINTS, *BUCKET_POINTS)
ROOT = Path(__file__).parents[2]
MARKS = {
    "insert": "SELECT count(*) AS n FROM r WHERE id IN (90000, 90001)",
    "delete": "SELECT 1 - count(*) AS n FROM r WHERE id = 3005",
    "update": "SELECT count(*) AS n FROM r WHERE id = 90001 AND a = 101",
    "other table": "SELECT count(*) AS n FROM s WHERE id = 91000",
    "last": "SELECT count(*) AS n FROM r WHERE id = 92000",
}
"""Queries whose number is not 0 once a change is there."""


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, int]]:
    """Kill one process at each point; return each one's folder and exit code."""
    tables = tmp_path_factory.mktemp("tables")
    make_tables(tables)
    places = [tmp_path_factory.mktemp("lake") for _ in ALL]
    command = [sys.executable, "-m", "tests.faults.scenario", *map(str, (tables, *places))]
    ran = subprocess.run(command, cwd=ROOT, timeout=PATIENT * len(ALL), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return list(zip(places, json.loads(ran.stdout), strict=True))


def _check_rows(lake: Lake, acknowledged: list[str]) -> None:
    """Every acknowledged change is there, whole; one that was under way is there wholly or not at all."""
    for name, text in MARKS.items():
        count = lake.query(text).column("n")[0].as_py()
        if name in acknowledged:
            assert count > 0, f"{name} is lost"
        if name == "insert":
            assert count in (0, 2)
    assert lake.query("SELECT count(*) AS n FROM r WHERE id < 90000").column("n")[0].as_py() in (GROUPS * 20, GROUPS * 20 - 1)


def test_there_are_enough_points_and_each_is_another() -> None:
    assert len(set(map(str, POINTS))) == len(POINTS) >= 40
    assert len(set(map(str, BUCKET_POINTS))) == len(BUCKET_POINTS) >= 20
    assert {point.step for point in POINTS} >= {"capture", "maintain", "persist", "restore", "write"}


@pytest.mark.parametrize("number", range(len(ALL)), ids=[str(point).replace(" ", "-") for point in ALL])
def test_after_a_kill(lakes: list[tuple[Path, int]], number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if ALL[number] in BUCKET_POINTS:
        monkeypatch.setattr(capture, "ROW_OVERHEAD", capture.ROW_OVERHEAD)
        monkeypatch.setattr(folders, "TRIM_EVERY", folders.TRIM_EVERY)
        let_nothing_fit()
    folder, code = lakes[number]
    assert code == -signal.SIGKILL, "the point was not reached, or the scenario failed before it"
    acknowledged = (folder / "acknowledged").read_text().split("\n")
    process = Process(folder)
    _check_rows(process.lake, acknowledged)
    for query in QUERIES:
        process.ask(query)
    process.lake.insert("r", [(93_000, 7, 900)])
    process.lake.delete("r", "id = 2002")
    decisions = [process.ask(query).decision for query in QUERIES]
    assert set(decisions) <= {Decision.MAINTAINED, Decision.RECAPTURED, Decision.CAPTURED, Decision.NOT_USED}
    process.close()
    last = Process(folder)
    assert [last.ask(query).decision for query in QUERIES[:1]] == [Decision.FRESH]
    last.close()
