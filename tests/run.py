"""Run the suites of ``suites.toml`` in two lanes and print what each took.

``python -m tests.run all|quick|wide [SUITE ..] [-- ARGUMENT ..]``: ``wide`` is ``all`` with the full numbers of cases (IMP_WIDE=1), whose
results are kept in wide.json; what stands after ``--`` goes to each command of pytest.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table

from tests.seeds import SEED

ROOT = Path(__file__).parents[1]
LANES = 2
WIDE_RECORD = Path(__file__).with_name("wide.json")
_TOO_LONG = 1.5
"""A suite that takes so many times its budget is marked; machines are noisy, so that this is no failure."""
_WIDE_FACTOR = 100
"""Budgets are those of a usual run; a wide one takes many times as long."""
_SHOWN_OF_PASSED = 2_500
"""Characters of the output of a suite that passed; of one that failed everything is shown."""


@dataclass(frozen=True, slots=True)
class Suite:
    """``budget`` is in seconds; ``is_quick`` says whether the suite is part of a quick run."""

    name: str
    budget: int
    commands: tuple[tuple[str, ...], ...]
    is_quick: bool


@dataclass(frozen=True, slots=True)
class Result:
    """``log`` holds all that the commands printed; commands that count no tests leave the counts at 0.

    ``cases`` are those of random attacks.
    """

    suite: Suite
    seconds: float
    is_green: bool
    log: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    cases: int = 0


def read_suites() -> tuple[tuple[Suite, ...], dict[str, int]]:
    """Return the suites in their order, and the seconds that a whole run of each kind may take."""
    read = tomllib.loads(Path(__file__).with_name("suites.toml").read_text(encoding="utf-8"))
    suites = tuple(
        Suite(each["name"], each["budget"], tuple(map(tuple, each["commands"])), each.get("quick", False)) for each in read["suite"]
    )
    return suites, read["goals"]


class Lanes:
    """Runs suites side by side, each lane taking the next one that waits; ``extra`` goes to each pytest, ``told`` hears of every end.

    A command that takes more than ``factor`` times the budget of its suite is ended.
    """

    def __init__(self, suites: Sequence[Suite], extra: Sequence[str], told: Callable[[Result], None], factor: float = 10) -> None:
        self._factor = factor
        self._waiting = deque(suites)
        self._extra = extra
        self._told = told
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_stopped = False
        self.results: list[Result] = []

    def run(self) -> list[Result]:
        """Run all; return the results in the order in which the suites ended."""
        lanes = [threading.Thread(target=self._lane) for _ in range(LANES)]
        # Starting too: a request to end that comes in between must find what has started.
        try:
            for lane in lanes:
                lane.start()
            for lane in lanes:
                lane.join()
        except BaseException:
            self.stop()
            raise
        return self.results

    def stop(self) -> None:
        """End what runs, with the processes that it has started, and start no more."""
        with self._lock:
            self._is_stopped = True
            for process in self._running:
                os.killpg(process.pid, signal.SIGKILL)

    def _lane(self) -> None:
        while True:
            with self._lock:
                if self._is_stopped or not self._waiting:
                    return
                suite = self._waiting.popleft()
            began = time.monotonic()
            try:
                result = self._run(suite)
            except Exception:
                result = Result(suite, time.monotonic() - began, False, traceback.format_exc())
            with self._lock:
                self.results.append(result)
                self._told(result)

    def _run(self, suite: Suite) -> Result:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="imp_suite_") as name:
            folder = Path(name)
            codes = [
                self._call(_arguments(command, folder / f"{place}.xml", self._extra), folder / "log", self._factor * suite.budget)
                for place, command in enumerate(suite.commands)
            ]
            log = (folder / "log").read_text(encoding="utf-8", errors="replace")
            # A pytest that ends without its report, whatever its code, has not tested.
            reports = [folder / f"{place}.xml" for place, command in enumerate(suite.commands) if command[0] == "pytest"]
            counts = [sum(column) for column in zip((0, 0, 0, 0), *map(_counts, reports), strict=True)]
        return Result(suite, time.monotonic() - began, not any(codes), log, *counts)

    def _call(self, command: Sequence[str], log: Path, most_seconds: float) -> int:
        with log.open("ab") as output, self._lock:
            if self._is_stopped:
                return 1
            process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
            self._running.add(process)
        try:
            code = process.wait(most_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
            with log.open("a", encoding="utf-8") as output:
                output.write(f"\nEnded after {most_seconds:.0f} s: {' '.join(command)}\n")
        with self._lock:
            self._running.discard(process)
        return code


def _arguments(command: Sequence[str], report: Path, extra: Sequence[str]) -> list[str]:
    """Return a command of this environment; those of pytest write their counts to ``report``."""
    module, *arguments = command
    if module == "pytest":
        arguments = ["-q", "--durations=15", "--junitxml", str(report), *arguments, *extra]
    return [sys.executable, "-m", module, *arguments]


def _counts(report: Path) -> tuple[int, int, int, int]:
    """Return how many tests passed, failed and were skipped, and how many random cases they tried."""
    root = ElementTree.parse(report).getroot()
    suites = list(root.iter("testsuite"))
    tests, failed, skipped = (
        sum(int(suite.get(name, 0)) for suite in suites for name in names) for names in (("tests",), ("failures", "errors"), ("skipped",))
    )
    cases = sum(int(each.get("value", 0)) for each in root.iter("property") if each.get("name") == "cases")
    return tests - failed - skipped, failed, skipped, cases


def _table(results: Sequence[Result], seconds: float, goal: int, *, is_wide: bool) -> Table:
    table = Table(title="Suites")
    for heading in ("suite", "tests", "seconds", "budget", ""):
        table.add_column(heading, justify="left" if heading in ("suite", "") else "right")
    for result in results:
        slow = not is_wide and result.seconds > _TOO_LONG * result.suite.budget
        notes = ["FAILED"] * (not result.is_green) + [f"WARNING: more than {_TOO_LONG} times its budget"] * slow
        tests = str(result.passed + result.failed) if result.passed + result.failed else "-"
        table.add_row(result.suite.name, tests, f"{result.seconds:.0f}", str(result.suite.budget), ", ".join(notes))
    table.add_section()
    table.add_row("all, side by side", str(sum(each.passed + each.failed for each in results)), f"{seconds:.0f}", str(goal), "")
    return table


def _chosen(suites: Sequence[Suite], kind: str, names: Sequence[str]) -> Iterator[Suite]:
    unknown = set(names) - {suite.name for suite in suites}
    if unknown:
        raise SystemExit(f"No such suite: {', '.join(sorted(unknown))}. There are: {', '.join(suite.name for suite in suites)}.")
    for suite in suites:
        if suite.name in names if names else kind != "quick" or suite.is_quick:
            yield suite


def main(arguments: list[str]) -> int:
    """Return 0 when every suite passed."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(
        prog="tests.run",
        description="Run the suites in two lanes.",
        epilog="After -- : what goes to each command of pytest, as in -- -k restore.",
    )
    parser.add_argument(
        "kind", choices=["all", "quick", "wide"], help="quick: suites without a JVM; wide: all with the full numbers of random cases"
    )
    parser.add_argument("suite", nargs="*", help="names of suites in suites.toml (default: all of the kind)")
    asked, extra = parser.parse_args(arguments[:end]), arguments[end + 1 :]
    suites, goals = read_suites()
    end_when_told()
    # The suites of one run try the cases of one day, also past midnight.
    os.environ["IMP_SEED"] = str(SEED)
    factor, told = 10, _tell
    if asked.kind == "wide":
        os.environ["IMP_WIDE"] = "1"
        factor = _WIDE_FACTOR
        # With further arguments a suite may run in part.
        told = _tell if extra else partial(_tell_and_record, _commit())

    began = time.monotonic()
    chosen = list(_chosen(suites, asked.kind, asked.suite))
    results = Lanes(chosen, extra, told, factor).run()
    Console(width=110).print(
        _table(results, time.monotonic() - began, goals["quick" if asked.kind == "quick" else "all"], is_wide=asked.kind == "wide")
    )
    passed, failed, skipped = (sum(getattr(each, name) for each in results) for name in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 0 if {each.suite.name for each in results if each.is_green} == {suite.name for suite in chosen} else 1


def end_when_told() -> None:
    """Let a request to end be an exception, as Ctrl-C is one, so that what runs is ended too."""

    def end(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)


def _commit() -> str:
    return subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def _tell_and_record(commit: str, result: Result) -> None:
    """Keep what the last wide run of each suite did, at once: a run takes hours. A difference in a random case fails its test."""
    _tell(result)
    kept = json.loads(WIDE_RECORD.read_text(encoding="utf-8")) if WIDE_RECORD.exists() else {}
    kept[result.suite.name] = {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit,
        "seed": SEED,
        "seconds": round(result.seconds),
        "passed": result.passed,
        "failed": result.failed,
        "cases": result.cases,
    }
    WIDE_RECORD.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")


def _tell(result: Result) -> None:
    shown, state = (result.log[-_SHOWN_OF_PASSED:], "passed") if result.is_green else (result.log, "FAILED")
    print(f"== {result.suite.name}: {state} in {result.seconds:.0f} s\n{shown.strip()}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
