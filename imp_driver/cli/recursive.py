"""``imp demo --recursive``: a network that loses links and gets them back; who cannot reach whom, read after each commit.

Some readings are computed anew beside: Spark reads the links of that version, and a plain fixpoint finds the pairs. (A recursion of Spark's
own is another query: its UNION ALL counts ways, which are endlessly many in a network with cycles.)
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

import imp_driver
from imp_driver.cli.fixpoint import unreachable
from imp_driver.cli.network import LINKS, NODES, REACH, RECURSION, UNREACHABLE, Change, Network, changes, network
from imp_driver.cli.network_map import network_map
from imp_driver.dbapi.connection import Connection
from imp_driver.values.report import SketchReport

_SHOWN = 12
"""Lines of the live table; older ones scroll away."""
_COMPARED_EACH = 4
"""Readings of which one is computed anew."""
_PAUSE = 0.3
"""Seconds between a reading and the next commit, in a terminal, where somebody looks at the map."""


@dataclass(frozen=True, slots=True)
class Anew:
    """What computing a reading anew took in seconds, and whether it has the same counts."""

    reading: float
    fixpoint: float
    is_equal: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One commit and the reading after it. ``pairs`` are unreachable ones by domain, ``seconds`` those of the driver."""

    label: str
    pairs: dict[int, int]
    seconds: float
    report: SketchReport
    anew: Anew | None

    @property
    def count(self) -> int:
        return sum(self.pairs.values())

    @property
    def version(self) -> int:
        """Of the links that were read."""
        return next(version for name, version in self.report.versions.items() if name.rpartition(".")[2] == LINKS)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Run the demo; return 0 when every count that was computed anew was equal."""
    whole, begin = network(arguments.seed), time.perf_counter()
    with console.status("Starting Spark ..."):
        warehouse = str(Path(arguments.warehouse))
        driver, writer = (imp_driver.connect(warehouse=warehouse, sketch=sketch) for sketch in ("lazy", "off"))
    with driver, writer:
        console.print(f"Spark is up after {time.perf_counter() - begin:.1f} s.")
        with console.status("Writing the network ..."):
            _create(driver, writer, whole)
        console.print(f"{LINKS} has {len(whole.links)} links of {len(whole.nodes)} nodes in {len(whole.domains)} domains.", highlight=False)
        console.print(f"CREATE INCREMENTAL VIEW {REACH} POLICY STRICT AS {RECURSION}", highlight=False, markup=False, soft_wrap=True)
        steps = _shown(driver, writer, whole, arguments, console)
    return _summary(steps, console, time.perf_counter() - begin)


def _create(driver: Connection, writer: Connection, whole: Network) -> None:
    """Make tables and view, in the place of those of an earlier run."""
    nodes = ", ".join(f"({node}, {number})" for number, domain in enumerate(whole.domains) for node in domain)
    links = ", ".join(map(str, whole.links))
    for table, columns, rows in ((NODES, "id, domain", nodes), (LINKS, "src, dst", links)):
        writer.execute(f"CREATE OR REPLACE TABLE {table} USING DELTA AS SELECT * FROM VALUES {rows} AS ({columns})").close()
    driver.execute(f"CREATE OR REPLACE INCREMENTAL VIEW {REACH} POLICY STRICT AS {RECURSION}").close()


def _shown(driver: Connection, writer: Connection, whole: Network, arguments: argparse.Namespace, console: Console) -> list[Step]:
    steps: list[Step] = []
    with Live(_drawn(whole, steps), console=console, refresh_per_second=8, transient=not console.is_terminal) as live:
        for step in _steps(driver, writer, whole, arguments):
            steps.append(step)
            live.update(_drawn(whole, steps), refresh=True)
            if console.is_terminal:
                time.sleep(_PAUSE)
            else:
                console.print(f"{len(steps):3} {_line(step)}", highlight=False, markup=False, soft_wrap=True)
    return steps


def _steps(driver: Connection, writer: Connection, whole: Network, arguments: argparse.Namespace) -> Iterator[Step]:
    yield _step("all links are up", driver, writer, whole, is_compared=True)
    happening: Iterator[Change] = islice(changes(whole, arguments.seed), arguments.queries - 1)
    for number, change in enumerate(happening, 1):
        writer.execute(change.text).close()
        yield _step(change.label, driver, writer, whole, is_compared=number % _COMPARED_EACH == 0)


def _step(label: str, driver: Connection, writer: Connection, whole: Network, *, is_compared: bool) -> Step:
    begin = time.perf_counter()
    with driver.execute(UNREACHABLE) as cursor:
        pairs: dict[int, int] = dict(cursor.fetchall())
        seconds, report = time.perf_counter() - begin, cursor.sketch_report
    assert report is not None
    step = Step(label, pairs, seconds, report, None)
    return replace(step, anew=_anew(step, writer, whole)) if is_compared else step


def _anew(step: Step, writer: Connection, whole: Network) -> Anew:
    begin = time.perf_counter()
    with writer.execute(f"SELECT src, dst FROM {LINKS} VERSION AS OF {step.version}") as cursor:
        links = cursor.fetchall()
    read = time.perf_counter()
    found = unreachable(whole.domains, links)
    return Anew(read - begin, time.perf_counter() - read, found == step.pairs)


def _cells(step: Step) -> tuple[str, ...]:
    anew = step.anew
    return (
        step.label,
        f"{step.count:,}",
        f"{step.seconds * 1000:,.{1 if step.seconds < 0.01 else 0}f}",
        step.report.decision.name,
        str(step.report.delta_rows),
        "" if anew is None else f"{anew.reading * 1000:,.0f} + {anew.fixpoint * 1000:,.1f}",
        "" if anew is None else "yes" if anew.is_equal else "NO",
    )


_COLUMNS = ("commit", "unreachable pairs", "driver ms", "decision", "changed rows", "anew ms: Spark + fixpoint", "equal")


def _drawn(whole: Network, steps: list[Step]) -> Group:
    table = Table()
    for place, name in enumerate(_COLUMNS):
        table.add_column(name, justify="left" if place in (0, 3) else "right")
    for step in steps[-_SHOWN:]:
        table.add_row(*_cells(step), style="bold red" if step.anew is not None and not step.anew.is_equal else None)
    return Group(network_map(whole, steps[-1].pairs if steps else {}), table)


def _line(step: Step) -> str:
    label, count, milliseconds, decision, rows, anew, equal = _cells(step)
    beside = f"; anew (Spark + fixpoint) {anew} ms, equal {equal}" if anew else ""
    return f"{label}: {count} unreachable pairs, driver {milliseconds} ms ({decision}, {rows} changed rows){beside}"


def _summary(steps: list[Step], console: Console, spent: float) -> int:
    first, *later = steps
    compared = [step.anew for step in steps if step.anew is not None]
    lines = [f"{len(later)} commits. The first reading, which captures, took {first.seconds:.1f} s."]
    if later:
        lines.append(f"Through the driver a reading after a commit took {_median([step.seconds for step in later])} (median).")
    reading, fixpoint = _median([each.reading for each in compared]), _median([each.fixpoint for each in compared])
    lines.append(f"To compute it anew Spark read the links in {reading}, and a plain fixpoint over them took {fixpoint} (medians).")
    console.print(*lines, f"Whole run: {spent:.0f} s.", sep="\n", highlight=False, soft_wrap=True)
    different = sum(not each.is_equal for each in compared)
    if different:
        console.print(f"[bold red]{different} counts differ.[/bold red]")
        return 1
    console.print(
        f"All counts are equal ({len(compared)} computed anew at the same version of the table).", highlight=False, soft_wrap=True
    )
    return 0


def _median(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:,.1f} ms"
