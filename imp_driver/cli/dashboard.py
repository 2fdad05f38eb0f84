"""``imp demo``: a dashboard beside a writer; each query through the driver and by plain Spark, at the same version."""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.live import Live

import imp_driver
from imp_driver.cli.answers import same
from imp_driver.cli.dashboard_words import Run, Step, fields_of, live_table, summary
from imp_driver.cli.demo_folders import PICTURE, TABLE, made_rows, remember_rows
from imp_driver.cli.plot import draw
from imp_driver.cli.records import in_bytes, in_time, record, spinner, tell
from imp_driver.cli.synthetic import SyntheticTable, create
from imp_driver.cli.workload import Query, queries, updates
from imp_driver.cli.writer import Writer
from imp_driver.dbapi.connection import Connection
from imp_driver.values.report import SketchReport

_EACH = 1.0
"""Seconds between two commits."""
_ROW_BYTES = 120
"""On disk, with what the changes of a run write beside (measured: 80 for the table alone)."""


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Run the dashboard; return 0 when every answer was equal.

    Raises:
        imp_driver.Error: there is too little space on the disk, or Spark has failed.
    """
    table = SyntheticTable(TABLE, arguments.rows)
    warehouse, begin = Path(arguments.warehouse), time.perf_counter()
    _check_space(warehouse, table)
    with spinner(console, "Starting Spark ..."):
        driver = imp_driver.connect(warehouse=str(warehouse), sketch="lazy")
        plain, other = (imp_driver.connect(warehouse=str(warehouse), sketch="off") for _ in range(2))
    with driver, plain, other:
        seconds = time.perf_counter() - begin
        tell(console, f"Spark is up after {in_time(seconds)}.", "started", seconds=round(seconds, 3))
        _prepare(driver, table, warehouse, console)
        with spinner(console, "Warming up ..."):
            _warm_up(plain, table)
        with Writer(other, updates(table, arguments.seed), _EACH) as writer:
            asked = queries(table, arguments.queries, arguments.seed)
            steps = _shown(_steps(driver, plain, asked, writer), arguments.queries, console)
    done = Run(steps, table.rows, time.perf_counter() - begin)
    draw(done, Path(arguments.result) / PICTURE)
    return summary(done, Path(arguments.result) / PICTURE, console)


def _check_space(warehouse: Path, table: SyntheticTable) -> None:
    needed, free = table.rows * _ROW_BYTES, shutil.disk_usage(warehouse).free
    if made_rows(warehouse) != table.rows and free < needed:
        raise imp_driver.OperationalError(
            f"{table.rows:,} rows need about {in_bytes(needed)} in {warehouse}, and {in_bytes(free)} are free. "
            "Choose a smaller --size, or --rows."
        )


def _prepare(connection: Connection, table: SyntheticTable, warehouse: Path, console: Console) -> None:
    """Have the table as it was made first, with nothing kept of it in memory."""
    begin = time.perf_counter()
    with spinner(console, f"Making a table of {table.rows:,} rows (once; the next run uses it again) ..."):
        is_made = not _is_restored(connection, table, warehouse)
        if is_made:
            _make(connection, table, warehouse)
        connection.execute("DROP STATE ALL").close()
    seconds = time.perf_counter() - begin
    told = "Made" if is_made else "Found, and set back to its first version,"
    sentence = f"{told} a table of {table.rows:,} rows and 11 columns in {in_time(seconds)}."
    tell(console, sentence, "table", rows=table.rows, is_made=is_made, seconds=round(seconds, 3))


def _is_restored(connection: Connection, table: SyntheticTable, warehouse: Path) -> bool:
    """Set the table of an earlier run back to what it was made as; False where there is none of this size."""
    if made_rows(warehouse) != table.rows:
        return False
    try:
        connection.execute(f"RESTORE TABLE {table.name} TO VERSION AS OF 0").close()
    except imp_driver.Error:
        return False
    return True


def _make(connection: Connection, table: SyntheticTable, warehouse: Path) -> None:
    remember_rows(warehouse, None)
    connection.execute(f"DROP TABLE IF EXISTS {table.name}").close()
    # A run that was killed while it wrote has left files without a log, which a new table would stumble over.
    shutil.rmtree(warehouse / table.name, ignore_errors=True)
    create(connection, table)
    remember_rows(warehouse, table.rows)


def _warm_up(plain: Connection, table: SyntheticTable) -> None:
    """Let the JVM compile before anything is timed; both sides profit the same."""
    for _ in range(3):
        plain.execute(f"SELECT a, avg(b), avg(c) FROM {table.name} GROUP BY a HAVING avg(c) < 0").fetchall()


def _shown(steps: Iterator[Step], count: int, console: Console) -> tuple[Step, ...]:
    """Take all steps, each shown as soon as it is there."""
    done: list[Step] = []
    with Live(live_table(done, count), console=console, refresh_per_second=4) if console.is_terminal else nullcontext() as live:
        for step in steps:
            done.append(step)
            if live is None:
                record(console, "query", number=len(done), **fields_of(step))
            else:
                live.update(live_table(done, count))
    return tuple(done)


def _steps(driver: Connection, plain: Connection, asked: Iterator[Query], writer: Writer) -> Iterator[Step]:
    seen = 0
    for query in asked:
        commits = writer.commits
        yield _step(driver, plain, query, commits - seen)
        seen = commits


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
