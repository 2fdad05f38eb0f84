"""``imp demo --recursive``: a network that loses links and gets them back; who cannot reach whom, read after each commit.

Some readings are computed anew beside: Spark reads the links of that version, and a plain fixpoint finds the pairs. (A recursion of Spark's
own is another query: its UNION ALL counts ways, which are endlessly many in a network with cycles.)
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from contextlib import nullcontext
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
from imp_driver.cli.records import in_time, record, spinner, tell
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
    with spinner(console, "Starting Spark ..."):
        warehouse = str(Path(arguments.warehouse))
        driver, writer = (imp_driver.connect(warehouse=warehouse, sketch=sketch) for sketch in ("lazy", "off"))
    with driver, writer:
        seconds = time.perf_counter() - begin
        tell(console, f"Spark is up after {in_time(seconds)}.", "started", seconds=round(seconds, 3))
        with spinner(console, "Writing the network ..."):
            _create(driver, writer, whole)
        links, nodes, domains = map(len, (whole.links, whole.nodes, whole.domains))
        sentence = f"{LINKS} has {links} links of {nodes} nodes in {domains} domains."
        tell(console, sentence, "network", links=links, nodes=nodes, domains=domains)
        tell(console, view := f"CREATE INCREMENTAL VIEW {REACH} POLICY STRICT AS {RECURSION}", "view", sql=view)
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
    with Live(_drawn(whole, steps), console=console, refresh_per_second=8) if console.is_terminal else nullcontext() as live:
        for step in _steps(driver, writer, whole, arguments):
            steps.append(step)
            if live is None:
                record(console, "reading", number=len(steps), **_fields(step))
            else:
                live.update(_drawn(whole, steps), refresh=True)
                time.sleep(_PAUSE)
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
        in_time(step.seconds),
        step.report.decision.name,
        str(step.report.delta_rows),
        "" if anew is None else f"{in_time(anew.reading)} + {in_time(anew.fixpoint)}",
        "" if anew is None else "yes" if anew.is_equal else "NO",
    )


_COLUMNS = ("commit", "unreachable pairs", "driver", "decision", "changed rows", "anew: Spark + fixpoint", "equal")


def _drawn(whole: Network, steps: list[Step]) -> Group:
    table = Table()
    for place, name in enumerate(_COLUMNS):
        table.add_column(name, justify="left" if place in (0, 3) else "right")
    for step in steps[-_SHOWN:]:
        table.add_row(*_cells(step), style="bold red" if step.anew is not None and not step.anew.is_equal else None)
    return Group(network_map(whole, steps[-1].pairs if steps else {}), table)


def _fields(step: Step) -> dict[str, object]:
    anew = step.anew
    return {
        "change": step.label,
        "unreachable_pairs": step.count,
        "decision": step.report.decision.name,
        "changed_rows": step.report.delta_rows,
        "driver_seconds": round(step.seconds, 6),
        "plain_reading_seconds": None if anew is None else round(anew.reading, 6),
        "plain_fixpoint_seconds": None if anew is None else round(anew.fixpoint, 6),
        "is_equal": None if anew is None else anew.is_equal,
    }


def _summary(steps: list[Step], console: Console, spent: float) -> int:
    first, *later = steps
    compared = [step.anew for step in steps if step.anew is not None]
    different = sum(not each.is_equal for each in compared)
    medians = {
        "median_driver_seconds": _median([step.seconds for step in later]),
        "median_plain_reading_seconds": _median([each.reading for each in compared]),
        "median_plain_fixpoint_seconds": _median([each.fixpoint for each in compared]),
    }
    if console.is_terminal:
        lines = [f"{len(later)} commits. The first reading, which captures, took {in_time(first.seconds)}."]
        driver, reading, fixpoint = (None if value is None else in_time(value) for value in medians.values())
        if driver:
            lines.append(f"Through the driver a reading after a commit took {driver} (median).")
        lines.append(f"To compute it anew Spark read the links in {reading}, and a plain fixpoint over them took {fixpoint} (medians).")
        lines.append(f"{different} counts DIFFER: please report this." if different else _all_equal(len(compared)))
        console.print(*lines, f"The whole run took {in_time(spent)}.", sep="\n", highlight=False, soft_wrap=True)
        return 1 if different else 0
    totals = {"changes": len(later), "capture_seconds": round(first.seconds, 6), **medians}
    record(console, "summary", **totals, compared=len(compared), different=different, seconds=round(spent, 1))
    return 1 if different else 0


def _all_equal(compared: int) -> str:
    return f"All counts are equal ({compared} computed anew at the same version of the table)."


def _median(seconds: list[float]) -> float | None:
    return round(statistics.median(seconds), 6) if seconds else None
