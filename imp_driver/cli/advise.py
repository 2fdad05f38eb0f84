"""``imp advise URL``: which clustering would save what, from the record of the queries of earlier processes."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

import imp_driver
from imp_driver.cli.terminal import cell
from imp_driver.cli.warehouse import folder_of
from imp_driver.values.plain import plain

_NOTHING_RECORDED = (
    "No query is recorded in this warehouse yet. Queries that run through the driver with sketch=lazy are recorded when their connection "
    "is closed; run the application, then this command again."
)
_NO_RECORD = (
    "Over Spark Connect the record of the queries lives as long as the process that runs them: ask it there, with the statement "
    "ADVISE SKETCHES."
)
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def run(url: str, console: Console) -> int:
    """Print the advice of one warehouse; return 0. Raises OperationalError where there is none."""
    if folder_of(url) is None:
        console.print(_NO_RECORD)
        return 0
    with imp_driver.connect(url, sketch="off") as connection, connection.execute("ADVISE SKETCHES") as cursor:
        names = [name for name, *_ in cursor.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    print_advice(rows, console)
    return 0


def print_advice(rows: list[dict[str, Any]], console: Console) -> None:
    """Print the rows of ADVISE SKETCHES for people."""
    advised = [row for row in rows if row["clustering"] is not None]
    cheaper = [row for row in rows if row["clustering"] is None and row["statement"] is not None]
    others = [row for row in rows if row["statement"] is None]
    if not rows:
        console.print(_NOTHING_RECORDED)
        return
    if advised:
        console.print(_clusterings(advised))
        for row in advised:
            console.print(plain(f"\nCluster {row['table_name']} by {row['clustering']}:"), highlight=False, markup=False)
            console.print(plain(row["statement"]), highlight=False, markup=False, soft_wrap=True)
    else:
        console.print("No clustering would save a tenth of what the recorded queries read.")
    for row in cheaper:
        console.print(plain(f"\n{row['table_name']}: {row['reason']}:"), highlight=False, markup=False, soft_wrap=True)
        console.print(plain(row["statement"]), highlight=False, markup=False, soft_wrap=True)
    if others:
        console.print(_reasons(others))


def _clusterings(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Clusterings that pay (bytes of all recorded executions; one per table)")
    for name in ("table", "cluster by", "templates", "executions", "bytes now", "bytes then", "saved"):
        table.add_column(name, justify="left" if name in ("table", "cluster by") else "right")
    for row in rows:
        counts = (str(row["templates"]), str(row["executions"]))
        table.add_row(
            cell(row["table_name"]), cell(row["clustering"]), *counts, *(_size(row[n]) for n in ("bytes_now", "bytes_then", "saved_bytes"))
        )
    return table


def _reasons(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Templates without advice")
    for name in ("table", "templates", "executions", "last run"):
        table.add_column(name, justify="right" if name in ("templates", "executions") else "left")
    for row in rows:
        table.add_row(cell(row["table_name"] or ""), str(row["templates"]), str(row["executions"]), row["reason"])
    return table


def _size(count: int | None) -> str:
    if count is None:
        return "?"
    value = float(count)
    for unit in _UNITS:
        if abs(value) < 1024 or unit == _UNITS[-1]:
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
