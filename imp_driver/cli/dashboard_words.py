"""What is said of a run of the dashboard: a line for each query, and the summary in plain words."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from imp_driver.cli.records import counted, in_time, record
from imp_driver.reasons import Decision, ServedBy
from imp_driver.values.report import SketchReport

_SHOWN = 24
"""Lines of the live table; older ones scroll away."""
_COLUMNS = ("query", "changes before", "rows come from", "files read", "Spark", "driver", "faster", "same rows")


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
        """Whether groups were captured with it, which costs once what later queries save."""
        return any(each.decision in (Decision.CAPTURED, Decision.RECAPTURED) for each in (self.report, *self.report.also))

    @property
    def from_memory(self) -> bool:
        return not self.captured and self.report.served_by is ServedBy.STATE

    @property
    def files_read(self) -> int | None:
        """Files of the table that the query's rows were read from; None where the driver does not know."""
        if self.from_memory:
            return 0
        return None if self.captured else self.report.files_kept


@dataclass(frozen=True, slots=True)
class Run:
    """All queries, over a table of ``rows`` rows; ``seconds`` are those of the whole run, with Spark's start and the table."""

    steps: tuple[Step, ...]
    rows: int
    seconds: float

    @property
    def captures(self) -> list[Step]:
        return [step for step in self.steps if step.captured]

    @property
    def later(self) -> list[Step]:
        """The queries that have captured nothing."""
        return [step for step in self.steps if not step.captured]

    @property
    def from_memory(self) -> list[Step]:
        return [step for step in self.steps if step.from_memory]

    @property
    def commits(self) -> int:
        return sum(step.commits for step in self.steps)

    @property
    def different(self) -> int:
        return sum(step.is_equal is False for step in self.steps)

    @property
    def compared(self) -> int:
        return sum(step.is_equal is not None for step in self.steps)


def fields_of(step: Step) -> dict[str, object]:
    """Return a query's fields of its record."""
    return {
        "query": step.label,
        "changes_before": step.commits,
        "served_by": step.report.served_by.name,
        "decision": step.report.decision.name,
        "captured": step.captured,
        "changed_rows": step.report.delta_rows,
        "files_read": step.files_read,
        "files": step.report.files_total,
        "plain_seconds": round(step.plain, 6),
        "driver_seconds": round(step.driver, 6),
        "is_equal": step.is_equal,
    }


def live_table(steps: Sequence[Step], count: int) -> Table:
    """Return the last queries of ``count`` as a table."""
    changes = sum(step.commits for step in steps)
    table = Table(title=f"Query {len(steps)} of {count}, {changes} changes to the table so far")
    for place, name in enumerate(_COLUMNS):
        table.add_column(name, justify="left" if place in (0, 2) else "right")
    for step in steps[-_SHOWN:]:
        table.add_row(*_cells(step), style="bold red" if step.is_equal is False else "yellow" if step.captured else None)
    return table


def _cells(step: Step) -> tuple[str, ...]:
    return (
        step.label,
        str(step.commits),
        _origin(step),
        _files(step),
        in_time(step.plain),
        in_time(step.driver),
        f"{step.plain / step.driver:,.1f}x",
        "-" if step.is_equal is None else "yes" if step.is_equal else "NO",
    )


def _files(step: Step) -> str:
    if step.from_memory:
        return "none"
    return "-" if step.files_read is None else f"{step.files_read} of {step.report.files_total}"


def _origin(step: Step) -> str:
    if step.captured:
        return "Spark, captured"
    match step.report.served_by:
        case ServedBy.STATE:
            return "memory"
        case ServedBy.STATE_AND_SPARK:
            return "memory and Spark"
        case ServedBy.SKETCH:
            return "Spark, some files"
        case _:
            return "Spark"


def headline(run: Run) -> str:
    """Return the numbers of the run in one sentence."""
    if not run.later:
        return f"Every query captured groups ({len(run.steps)}): ask more of them to see them answered from memory"
    driver, plain = (statistics.median(times) for times in ([s.driver for s in run.later], [s.plain for s in run.later]))
    ratio = f"{plain / driver:,.{0 if plain > 10 * driver else 1}f} times faster" if plain > driver else "not faster in this run"
    rows = f"but {counted(run.different, 'answer differs', 'answers differ')}" if run.different else "with the same rows"
    return f"A click takes {in_time(driver)} instead of {in_time(plain)}: {ratio}, {rows}"


def summary(run: Run, picture: Path, console: Console) -> int:
    """Say what came out; return 1 where an answer differs."""
    if console.is_terminal:
        console.print(*_sentences(run, picture), sep="\n", highlight=False, markup=False, soft_wrap=True)
    else:
        record(console, "summary", **_totals(run), picture=str(picture))
    return 1 if run.different else 0


def _totals(run: Run) -> dict[str, object]:
    plain, driver = _seconds(run.steps)
    captures_plain, captures_driver = _seconds(run.captures)
    later = run.later
    return {
        "queries": len(run.steps),
        "rows": run.rows,
        "changes": run.commits,
        "from_memory": len(run.from_memory),
        "captures": len(run.captures),
        "captures_plain_seconds": round(captures_plain, 3),
        "captures_driver_seconds": round(captures_driver, 3),
        "plain_seconds": round(plain, 3),
        "driver_seconds": round(driver, 3),
        "median_plain_seconds": round(statistics.median(step.plain for step in later), 6) if later else None,
        "median_driver_seconds": round(statistics.median(step.driver for step in later), 6) if later else None,
        "compared": run.compared,
        "different": run.different,
        "seconds": round(run.seconds, 1),
    }


def _sentences(run: Run, picture: Path) -> list[str]:
    plain, driver = _seconds(run.steps)
    lines = ["", headline(run) + " (medians, without the captures).", *_reasons(run)]
    lines.append(
        f"All {len(run.steps)} queries together: {in_time(plain)} by Spark, {in_time(driver)} through the driver with its captures, "
        f"while {run.commits} changes were made to the table."
    )
    if run.different:
        lines.append(f"{counted(run.different, 'answer DIFFERS', 'answers DIFFER')} from Spark's: please report this.")
    else:
        lines.append(f"All answers are equal ({run.compared} of {len(run.steps)} compared with Spark's at the same version of the table).")
    return [*lines, f"The picture: {picture}. The whole run took {in_time(run.seconds)}."]


def _reasons(run: Run) -> list[str]:
    """Say where the rows came from, which is why it is fast."""
    count, lines = len(run.steps), []
    if run.from_memory:
        lines.append(
            f"Why: {len(run.from_memory)} of {count} queries were answered from memory, at the newest change, without reading a file."
        )
    files = [(step.files_read, step.report.files_total or 0) for step in run.later if step.files_read]
    if files:
        queries = counted(len(files), "query", "queries")
        lines.append(f"{queries} read {sum(read for read, _ in files):,} of {sum(total for _, total in files):,} files.")
    others = len(run.later) - len(run.from_memory) - len(files)
    if others:
        lines.append(f"{counted(others, 'query', 'queries')} ran on Spark alone.")
    if run.captures:
        plain, driver = _seconds(run.captures)
        captures = counted(len(run.captures), "query", "queries")
        lines.append(
            f"{captures} captured groups on the way, which later ones are answered from: {in_time(driver)} together, "
            f"where Spark alone took {in_time(plain)}."
        )
    return lines


def _seconds(steps: Sequence[Step]) -> tuple[float, float]:
    return sum(step.plain for step in steps), sum(step.driver for step in steps)
