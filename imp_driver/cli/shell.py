"""``imp sql URL``: statements in, rows and the sketch report out. Without a terminal it runs standard input as a script."""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.table import Table

import imp_driver
from imp_driver.cli.plain import plain
from imp_driver.cli.statements import split
from imp_driver.cli.terminal import cell
from imp_driver.dbapi.connection import Connection
from imp_driver.dbapi.cursor import Cursor
from imp_driver.reasons import Reason
from imp_driver.values.report import SketchReport

_SHOWN_ROWS = 50
_LEAST_WIDTH = 8
"""Of a column, in characters, with its border."""
_HELP = "End a statement with ; - it may span lines. \\q leaves, \\h shows this, Ctrl-C cancels a running query."


def run(url: str, console: Console) -> int:
    """Serve one connection until the input ends; without a terminal, return 1 at the first error."""
    interactive = sys.stdin.isatty()
    with imp_driver.connect(url) as connection:
        if interactive:
            _keep_history()
            console.print(_HELP)
        for statement in _statements(sys.stdin, interactive):
            if statement == "\\q":
                break
            if statement == "\\h":
                console.print(_HELP)
            elif not _run_one(connection, statement, console) and not interactive:
                return 1
    return 0


def _keep_history() -> None:
    import readline

    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "imp_driver"
    state.mkdir(parents=True, exist_ok=True)
    history = state / "history"
    if history.exists():
        readline.read_history_file(history)
    readline.set_history_length(2_000)
    atexit.register(readline.write_history_file, history)


def _statements(source: IO[str], interactive: bool) -> Iterator[str]:
    """Yield statements without their semicolons, and backslash commands; the rest at the end of a script is a statement too."""
    pending: list[str] = []
    while True:
        try:
            line = input("imp> " if not pending else "...> ") if interactive else next(source).rstrip("\n")
        except KeyboardInterrupt:
            print()
            pending = []
            continue
        except (EOFError, StopIteration):
            break
        if not pending and line.strip().startswith("\\"):
            yield line.strip()
            continue
        found, rest = split("\n".join([*pending, line]))
        yield from found
        pending = [rest] if rest else []
    if "".join(pending).strip():
        yield "\n".join(pending).strip()


def _run_one(connection: Connection, statement: str, console: Console) -> bool:
    if not statement.strip():
        return True
    begin = time.perf_counter()
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            _print_rows(cursor, console)
            spent = time.perf_counter() - begin
            if cursor.sketch_report is not None:
                console.print(*map(plain, report_lines(cursor.sketch_report, spent)), sep="\n", style="dim", highlight=False, markup=False)
        return True
    except imp_driver.Error as error:
        console.print(plain(f"{type(error).__name__}: {error}"), style="red", highlight=False, markup=False)
    except KeyboardInterrupt:
        console.print("Cancelled.", style="red")
    return False


def _print_rows(cursor: Cursor, console: Console) -> None:
    if cursor.description is None:
        console.print(f"{cursor.rowcount} rows affected." if cursor.rowcount >= 0 else "Done.")
        return
    names = [name for name, *_ in cursor.description]
    shown = cursor.fetchmany(_SHOWN_ROWS)
    if len(names) * _LEAST_WIDTH > console.width:
        for number, row in enumerate(shown, 1):
            console.print(_one_below_the_other(number, names, row))
    else:
        table = Table()
        for name in names:
            table.add_column(cell(name))
        for row in shown:
            table.add_row(*map(cell, row))
        console.print(table)
    rest = sum(batch.num_rows for batch in cursor.fetch_record_batches())
    count = len(shown) + rest
    console.print(f"{count} {'row' if count == 1 else 'rows'}" + (f", the first {len(shown)} shown." if rest else "."))


def _one_below_the_other(number: int, names: Sequence[str], row: Sequence[object]) -> Table:
    """Return a row as a table of its own, since a line has no room for all of its values."""
    table = Table(title=f"row {number}", title_justify="left", show_header=False)
    for name, value in zip(names, row, strict=True):
        table.add_row(cell(name), cell(value))
    return table


def report_lines(report: SketchReport, seconds: float) -> list[str]:
    """Return the report as two lines for people."""
    if report.reason is Reason.NOT_A_QUERY:
        return [f"{seconds * 1000:,.0f} ms"]
    first = f"{seconds * 1000:,.0f} ms  {report.decision.name}: {report.reason.name}"
    if report.detail:
        first += f" ({report.detail})"
    if report.sketch_id is None:
        return [first]
    source = f", {report.delta_rows} changed rows from {report.delta_source.value}" if report.delta_source else ""
    if report.fragments_total is None:
        return [first, f"from state {report.sketch_id} of {report.table} at version {report.version}{source}; {report.served_by.value}"]
    second = (
        f"sketch {report.sketch_id} on {report.table}.{report.attribute} at version {report.version}{source}: "
        f"{report.fragments_kept}/{report.fragments_total} fragments in {report.runs_used} ranges, "
        f"{report.files_kept}/{report.files_total} files, estimated gain {report.gain or 0.0:.0%}"
    )
    return [first, second]
