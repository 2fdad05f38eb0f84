"""What every workload uses: the three ways to answer a query, timing, and the environment that a result was measured in."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import imp_driver
from imp_driver.cli.answers import same
from imp_driver.cli.synthetic import SyntheticTable
from imp_driver.observe.report import SketchReport

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows, seconds and report of one query."""

    rows: Rows
    seconds: float
    report: SketchReport


@dataclass(slots=True)
class Systems:
    """NS: no sketch. FM: full maintenance, captured again whenever it is stale. IMP: incremental maintenance.

    FM and IMP keep separate states because their numbers of fragments differ by one.
    """

    table: SyntheticTable
    plain: imp_driver.Connection
    full: imp_driver.Connection
    incremental: imp_driver.Connection
    seed: int = 1_000
    next_id: int = field(default=0)

    def ask(self, system: str, text: str) -> Answer:
        connection = {"NS": self.plain, "FM": self.full, "IMP": self.incremental}[system]
        begin = time.perf_counter()
        with connection.execute(text) as cursor:
            rows = cursor.fetchall()
            seconds = time.perf_counter() - begin
            assert cursor.sketch_report is not None
            return Answer(rows, seconds, cursor.sketch_report)

    def forget(self, answer: Answer) -> None:
        """Drop the sketch that answered, so that the next query captures again (the FM strategy after an update)."""
        try:
            self.full.execute(f"DROP SKETCH {answer.report.sketch_id}").close()
        except imp_driver.ProgrammingError:
            # Dropped already, or evicted.
            return


def checked(answers: Sequence[Answer]) -> None:
    """Raise AssertionError unless all systems gave the same rows."""
    for answer in answers[1:]:
        assert same(answers[0].rows, answer.rows), f"answers differ: {answers[0].rows[:5]} against {answer.rows[:5]}"


def median_milliseconds(run: Callable[[], object], repetitions: int) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


def interleaved(runs: dict[str, Callable[[], object]], repetitions: int, warm_up: int = 3) -> dict[str, float]:
    """Return the median milliseconds of several calls that take turns, so that drift of the machine meets all alike."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for repetition in range(repetitions + warm_up):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            if repetition >= warm_up:
                times[name].append((time.perf_counter() - begin) * 1000)
    return {name: statistics.median(values) for name, values in times.items()}


def before_execution(report: SketchReport) -> float:
    """Return milliseconds from the SELECT received to the rewritten query ready."""
    total = 0.0
    for stage, spent in report.times.items():
        if stage == "execute":
            break
        total += spent
    return total


def environment() -> dict[str, str]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in ("pyspark", "deltalake", "sqlglot", "pyarrow", "numpy"))
    return {
        "command": " ".join(["python -m benchmarks.run", *sys.argv[1:]]),
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.0f} GiB",
        "python": platform.python_version(),
        "packages": packages,
    }
