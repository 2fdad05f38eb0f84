"""``imp demo``: a dashboard beside a writer; each query through the driver and by plain Spark, at the same version."""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

import imp_driver
from imp_driver.cli.answers import same
from imp_driver.cli.plot import draw
from imp_driver.cli.synthetic import SyntheticTable, create
from imp_driver.cli.workload import Query, queries, updates
from imp_driver.cli.writer import Writer
from imp_driver.dbapi.connection import Connection
from imp_driver.reasons import ServedBy
from imp_driver.values.report import SketchReport

_SHOWN = 24
"""Lines of the live table; older ones scroll away."""
_EACH = 1.0
"""Seconds between two commits."""


@dataclass(frozen=True, slots=True)
class Step:
    """One query of the run. Times are seconds; ``commits`` counts those since the query before.

    ``is_equal`` is None where Spark itself has answered the driver too, at whatever version.
    """

    label: str
    plain: float
    driver: float
    report: SketchReport
    is_equal: bool | None
    commits: int

    @property
    def captured(self) -> bool:
        return self.report.decision.name in ("CAPTURED", "RECAPTURED")


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Run the demo; return 0 when every answer was equal."""
    table = SyntheticTable("r500", arguments.rows)
    warehouse, result = Path(arguments.warehouse), Path(arguments.result)
    result.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    with console.status("Starting Spark ..."):
        driver = imp_driver.connect(warehouse=str(warehouse), sketch="lazy")
        plain, other = (imp_driver.connect(warehouse=str(warehouse), sketch="off") for _ in range(2))
    with driver, plain, other:
        console.print(f"Spark is up after {time.perf_counter() - begin:.1f} s.")
        _load(driver, table, console)
        _warm_up(plain, table)
        with Writer(other, updates(table, arguments.seed), _EACH) as writer:
            steps = _ask(driver, plain, table, arguments, console, writer)
    picture = result / "demo.png"
    draw(steps, picture)
    return _summary(steps, picture, console, time.perf_counter() - begin)


def _load(connection: Connection, table: SyntheticTable, console: Console) -> None:
    begin = time.perf_counter()
    with console.status(f"Loading {table.rows:,} rows into Delta, clustered by a ..."):
        create(connection, table)
    console.print(f"Loaded {table.rows:,} rows of 11 columns in {time.perf_counter() - begin:.1f} s.")


def _warm_up(plain: Connection, table: SyntheticTable) -> None:
    """Let the JVM compile before anything is timed; both sides profit the same."""
    for _ in range(3):
        plain.execute(f"SELECT a, avg(b), avg(c) FROM {table.name} GROUP BY a HAVING avg(c) < 0").fetchall()


def _ask(
    driver: Connection, plain: Connection, table: SyntheticTable, arguments: argparse.Namespace, console: Console, writer: Writer
) -> list[Step]:
    steps: list[Step] = []
    seen = 0
    with Live(_table(steps), console=console, refresh_per_second=4, transient=not console.is_terminal) as live:
        for query in queries(table, arguments.queries, arguments.seed):
            commits = writer.commits
            steps.append(_step(driver, plain, query, commits - seen))
            seen = commits
            live.update(_table(steps))
            if not console.is_terminal:
                _print_step(steps[-1], len(steps), console)
    return steps


def _step(driver: Connection, plain: Connection, query: Query, commits: int) -> Step:
    rows, driver_time, report = _timed(driver, query.text)
    assert report is not None
    # The table goes on changing: Spark reads the version that the driver has answered at.
    plain_rows, plain_time, _ = _timed(plain, query.text if report.version is None else query.at(report.version))
    is_equal = None if report.version is None else same(rows, plain_rows)
    return Step(query.label, plain_time, driver_time, report, is_equal, commits)


def _timed(connection: Connection, text: str) -> tuple[list[tuple[object, ...]], float, SketchReport | None]:
    begin = time.perf_counter()
    with connection.execute(text) as cursor:
        rows = cursor.fetchall()
        return rows, time.perf_counter() - begin, cursor.sketch_report


def _cells(step: Step) -> tuple[str, ...]:
    report = step.report
    files = "-" if report.files_total is None else f"{report.files_kept}/{report.files_total}"
    return (
        step.label,
        str(step.commits),
        report.served_by.name,
        report.decision.name,
        str(report.delta_rows),
        files,
        f"{step.plain * 1000:,.0f}",
        f"{step.driver * 1000:,.{1 if step.driver < 0.01 else 0}f}",
        f"{step.plain / step.driver:.1f}x",
        "-" if step.is_equal is None else "yes" if step.is_equal else "NO",
    )


def _table(steps: list[Step]) -> Table:
    table = Table(title="Each query plain and through the driver")
    for name in ("query", "commits", "served by", "decision", "delta rows", "files read", "plain ms", "driver ms", "speed-up", "equal"):
        table.add_column(name, justify="left" if name in ("query", "served by", "decision") else "right")
    for step in steps[-_SHOWN:]:
        table.add_row(*_cells(step), style="bold red" if step.is_equal is False else None)
    return table


def _print_step(step: Step, number: int, console: Console) -> None:
    names = ("", "commits", "", "", "delta rows", "files", "plain ms", "driver ms", "", "equal")
    console.print(f"{number:3} " + "  ".join(f"{name} {cell}".strip() for name, cell in zip(names, _cells(step), strict=True)))


def _summary(steps: list[Step], picture: Path, console: Console, spent: float) -> int:
    plain, driver = sum(step.plain for step in steps), sum(step.driver for step in steps)
    used = [step for step in steps if not step.captured]
    different = [step for step in steps if step.is_equal is False]
    commits = sum(step.commits for step in steps)
    console.print(f"{len(steps)} queries, beside which {commits} commits were made.")
    console.print(f"Plain {plain:.1f} s, driver {driver:.1f} s with all captures: {plain / driver:.1f}x faster.")
    if used:
        ratio = statistics.median(step.plain / step.driver for step in used)
        console.print(f"Without the {len(steps) - len(used)} captures the median query is {ratio:.1f}x faster.")
    answered = [step.driver for step in used if step.report.served_by is ServedBy.STATE]
    if answered:
        median = statistics.median(answered) * 1000
        console.print(f"{len(answered)} queries were answered from groups in memory, without Spark: median {median:.1f} ms.")
    console.print(f"Picture: {picture}. Whole run: {spent:.0f} s.")
    if different:
        console.print(f"[bold red]{len(different)} answers differ.[/bold red]")
        return 1
    compared = sum(step.is_equal is not None for step in steps)
    console.print(f"All answers are equal ({compared} compared with Spark's at the same version of the table).")
    return 0
