"""One picture per result file: the mixes as bars, maintenance against recapture as lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

Records = Sequence[Mapping[str, Any]]
Panel = tuple[str, Records, Callable[[Any, str, Records], None]]


@dataclass(frozen=True, slots=True)
class Lines:
    """Which columns are drawn: one line of maintenance and one of recapture for each value of ``series``."""

    across: str
    series: str


LINES = {
    "groups": Lines("groups", "delta"),
    "aggregates": Lines("aggregates", "delta"),
    "fragments": Lines("fragments", "delta"),
    "breakeven": Lines("delta", "query"),
    "growth": Lines("rows", "delta"),
}


def draw(picture: Path, results: Mapping[str, Records]) -> None:
    """Draw a panel for each workload that has one, none where there is nothing to draw."""
    panels: list[Panel] = []
    for workload, records in results.items():
        if workload == "mixes":
            for number in dict.fromkeys(record["aggregates"] for record in records):
                panels.append((f"{number}", [each for each in records if each["aggregates"] == number], _bars))
        elif workload in LINES and records:
            panels.append((workload, records, _lines))
    if not panels:
        return
    figure, axes = pyplot.subplots(len(panels), 1, figsize=(11, 3.2 * len(panels)), squeeze=False)
    for panel, (name, records, paint) in zip(axes[:, 0], panels, strict=True):
        paint(panel, name, records)
        panel.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(picture, dpi=110)
    pyplot.close(figure)


def _bars(panel: Any, aggregates: str, records: Records) -> None:
    for place, (system, colour) in enumerate((("NS", "0.6"), ("FM", "tab:orange"), ("IMP", "tab:blue"))):
        heights = [record[system] for record in records]
        panel.bar([index + 0.27 * (place - 1) for index in range(len(records))], heights, 0.25, label=system, color=colour)
    panel.set_xticks(range(len(records)), [f"{record['mix']}\n{record['delta']}" for record in records])
    panel.set(ylabel="seconds of queries", title=f"HAVING on {aggregates} aggregate(s); mix and rows per update below")


def _lines(panel: Any, workload: str, records: Records) -> None:
    lines = LINES[workload]
    for place, value in enumerate(dict.fromkeys(record[lines.series] for record in records)):
        chosen = [record for record in records if record[lines.series] == value]
        for column, style in (("maintain ms", "o-"), ("recapture ms", "x--")):
            points = [(record[lines.across], record[column]) for record in chosen if isinstance(record[column], int | float)]
            label = f"{column.removesuffix(' ms')}, {lines.series} {value}"
            panel.plot([x for x, _ in points], [y for _, y in points], style, color=f"C{place}", label=label)
    panel.set(xscale="log", yscale="log", xlabel=lines.across, ylabel="ms", title=workload)
