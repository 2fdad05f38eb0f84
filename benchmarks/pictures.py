"""One picture of a record: the mixes as bars, maintenance against recapture as lines. Medians, with bars from quartile to quartile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

from benchmarks.records import Case, Quantity, Record
from benchmarks.recursion import drawn
from benchmarks.summary import Summary, present, summarize

matplotlib.use("Agg")
from matplotlib import pyplot

Paint = Callable[[Any, Sequence[Case]], None]


@dataclass(frozen=True, slots=True)
class Lines:
    """Which labels are drawn: one line of maintenance and one of recapture for each value of ``series``."""

    across: str
    series: str


LINES = {
    "groups": Lines("groups", "delta"),
    "aggregates": Lines("aggregates", "delta"),
    "fragments": Lines("fragments", "delta"),
    "breakeven": Lines("delta", "query"),
    "growth": Lines("rows", "delta"),
}
MEASURED = (("IMP", Quantity.MAINTENANCE, "o-"), ("FM", Quantity.CAPTURE, "x--"))


def draw(picture: Path, record: Record) -> bool:
    """Draw the panels of a record; return False where there is nothing to draw for its workload."""
    panels = _panels(record)
    if not panels:
        return False
    columns = len(drawn.QUANTITIES) if record.workload == "recursion_figures" else 1
    rows = len(panels) // columns
    figure, axes = pyplot.subplots(rows, columns, figsize=(11 if columns == 1 else 6 * columns, 3.2 * rows), squeeze=False)
    for panel, (title, cases, paint) in zip(axes.flat, panels, strict=True):
        paint(panel, cases)
        panel.set_title(title, fontsize="medium")
        panel.legend(fontsize="small" if columns == 1 else "x-small")
    figure.suptitle(f"{record.date[:10]}, commit {record.commit[:7]}", fontsize="small")
    figure.tight_layout()
    figure.savefig(picture, dpi=110)
    pyplot.close(figure)
    return True


def _panels(record: Record) -> list[tuple[str, Sequence[Case], Paint]]:
    if record.workload == "mixes":
        numbers = dict.fromkeys(case.labels["aggregates"] for case in record.cases)
        return [
            (
                f"HAVING on {number} aggregate(s); mix and rows per update below",
                [each for each in record.cases if each.labels["aggregates"] == number],
                _bars,
            )
            for number in numbers
        ]
    if record.workload == "nested_aggregates":
        queries = dict.fromkeys(case.labels["query"] for case in record.cases)
        cases = [case for case in record.cases if case.labels["batch"] == 1]
        return [(str(query), [each for each in cases if each.labels["query"] == query], _growth) for query in queries]
    if record.workload == "recursion_figures":
        return list(drawn.panels(record.cases)) if record.cases else []
    lines = LINES.get(record.workload)
    if lines is None or not record.cases:
        return []
    return [(record.workload, record.cases, lambda panel, cases: _lines(panel, lines, cases))]


def _bars(panel: Any, cases: Sequence[Case]) -> None:
    for place, (system, colour) in enumerate((("NS", "0.6"), ("FM", "tab:orange"), ("IMP", "tab:blue"))):
        found = [(index, summary) for index, case in enumerate(cases) if (summary := _summary(case, system, Quantity.QUERY))]
        across = [index + 0.27 * (place - 1) for index, _ in found]
        panel.bar(across, [each.median for _, each in found], 0.25, label=system, color=colour)
        panel.errorbar(across, [each.median for _, each in found], yerr=_errors(found), fmt="none", ecolor="black", elinewidth=0.8)
    panel.set_xticks(range(len(cases)), [f"{case.labels['mix']}\n{case.labels['delta']}" for case in cases])
    panel.set_ylabel("ms of queries")


def _growth(panel: Any, cases: Sequence[Case]) -> None:
    """Draw what an event takes by the number of rows, one line for each system."""
    for system in dict.fromkeys(series.system for case in cases for series in case.series if series.quantity is Quantity.EVENT):
        found = [(case.labels["rows"], summary) for case in cases if (summary := _summary(case, system, Quantity.EVENT))]
        panel.errorbar([x for x, _ in found], [each.median for _, each in found], yerr=_errors(found), fmt="o-", label=system)
    panel.set(xscale="log", yscale="log", xlabel="rows", ylabel="µs an event")


def _lines(panel: Any, lines: Lines, cases: Sequence[Case]) -> None:
    for place, value in enumerate(dict.fromkeys(case.labels[lines.series] for case in cases)):
        chosen = [case for case in cases if case.labels[lines.series] == value]
        for system, quantity, style in MEASURED:
            found = [(case.labels[lines.across], summary) for case in chosen if (summary := _summary(case, system, quantity))]
            label = f"{quantity.removesuffix(' ms')}, {lines.series} {value}"
            medians = [each.median for _, each in found]
            panel.errorbar([x for x, _ in found], medians, yerr=_errors(found), fmt=style, color=f"C{place}", label=label)
    panel.set(xscale="log", yscale="log", xlabel=lines.across, ylabel="ms")


def _summary(case: Case, system: str, quantity: Quantity) -> Summary | None:
    values = present(case.values(system, quantity))
    return summarize(values) if values else None


def _errors(found: Sequence[tuple[Any, Summary]]) -> list[list[float]]:
    """Return the distances of the quartiles from the median, as matplotlib wants them."""
    return [[each.median - each.lower_quartile for _, each in found], [each.upper_quartile - each.median for _, each in found]]
