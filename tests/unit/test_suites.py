"""The suites of a run: every test belongs to one, the budgets fit the goal, and a red suite is told of."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests import run
from tests.run import LANES, Lanes, Result, Suite, read_suites

ROOT = Path(__file__).parents[2]
_ON_REQUEST = {"superset"}
_FOR_INSTALLS = 120
"""Seconds in which both lanes wait for the environment."""


def test_the_budgets_add_up_to_the_goal() -> None:
    suites, goals = read_suites()
    assert sum(suite.budget for suite in suites) <= LANES * (goals["all"] - _FOR_INSTALLS)
    assert max(suite.budget for suite in suites) <= goals["all"] - _FOR_INSTALLS
    assert sum(suite.budget for suite in suites if suite.is_quick) <= LANES * goals["quick"]
    assert goals == {"all": 25 * 60, "quick": 4 * 60}


def test_every_folder_of_tests_is_in_one_suite() -> None:
    suites, _ = read_suites()
    asked = sorted(argument for suite in suites for command in suite.commands for argument in command if argument.startswith("tests/"))
    there = sorted({f"tests/{path.relative_to(ROOT / 'tests').parts[0]}" for path in (ROOT / "tests").rglob("test_*.py")})
    assert asked == [folder for folder in there if folder.removeprefix("tests/") not in _ON_REQUEST]
    assert len({suite.name for suite in suites}) == len(suites)


def test_lanes_run_each_suite_once_and_a_red_command_makes_it_red() -> None:
    green = [Suite(f"green {number}", 1, (("platform", "--terse"),), False) for number in range(3)]
    red = Suite("red", 1, (("json.tool", "there/is/no/such/file"), ("platform", "--terse")), False)
    told: list[Result] = []
    results = Lanes([*green, red], (), told.append).run()
    assert results == told
    assert {result.suite.name: result.is_green for result in results} == {"green 0": True, "green 1": True, "green 2": True, "red": False}
    assert "no such file" in next(result.log for result in results if not result.is_green).lower()


def test_a_suite_that_hangs_is_ended_and_red() -> None:
    hangs = Suite("hangs", 1, (("http.server", "--bind", "127.0.0.1", "0"),), False)
    [result] = Lanes([hangs], (), lambda _: None, factor=1).run()
    assert not result.is_green
    assert "Ended after 1 s" in result.log


_HANGING = """
import os, threading, time
from tests import run

lanes = run.Lanes([run.Suite("hangs", 60, (("http.server", "--bind", "127.0.0.1", "0"),), False)], (), print)

def tell():
    while not lanes._running:
        time.sleep(0.01)
    # Not print: a thread that holds the buffer of the output while Python ends is a fatal error.
    os.write(1, f"{next(iter(lanes._running)).pid}\\n".encode())

threading.Thread(target=tell, daemon=True).start()
run.end_when_told()
lanes.run()
"""


def test_a_run_that_is_ended_ends_its_suites() -> None:
    with subprocess.Popen([sys.executable, "-c", _HANGING], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.terminate()
        assert process.wait(60) == 128 + signal.SIGTERM
    # A process that has ended may wait for a moment to be noticed.
    while Path(f"/proc/{child}/stat").exists() and Path(f"/proc/{child}/stat").read_text().split()[2] != "Z":
        time.sleep(0.01)


def test_a_suite_without_its_report_is_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_arguments", lambda command, report, extra: [sys.executable, "-c", "pass"])
    silent = Suite("silent", 1, (("pytest", "nowhere"),), False)
    [result] = Lanes([silent], (), lambda _: None).run()
    assert not result.is_green
    assert "FileNotFoundError" in result.log


def test_a_run_without_the_result_of_a_suite_is_red(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lanes, "run", lambda lanes: [])
    assert run.main(["quick"]) == 1


def test_a_wide_run_of_a_suite_is_kept_beside_those_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "wide.json"
    monkeypatch.setattr(run, "WIDE_RECORD", record)
    suite = Suite("lint", 1, (), True)
    run._tell_and_record("c0ffee", Result(suite, 12.4, True, "", passed=3))
    run._tell_and_record("c0ffee", Result(replace(suite, name="faults"), 7.6, True, "", passed=1, cases=40))
    run._tell_and_record("decade", Result(suite, 2, False, "", passed=1, failed=2))
    kept = {
        name: [each[key] for key in ("commit", "seconds", "passed", "failed", "cases")]
        for name, each in json.loads(record.read_text()).items()
    }
    assert kept == {"faults": ["c0ffee", 8, 1, 0, 40], "lint": ["decade", 2, 1, 2, 0]}


def test_counts_are_those_of_pytest(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    cases = '<testcase><properties><property name="cases" value="70"/></properties></testcase>'
    report.write_text(f'<testsuites><testsuite tests="9" failures="1" errors="2" skipped="3">{cases}{cases}</testsuite></testsuites>')
    assert run._counts(report) == (3, 3, 3, 140)


def test_a_suite_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(SystemExit, match=r"No such suite: nope\. There are: spark, "):
        run.main(["all", "nope"])
