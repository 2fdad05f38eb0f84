"""The demo's picture: what each click took, by plain Spark and through the driver."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Protocol

from imp_driver.cli.dashboard_words import Run, headline
from imp_driver.cli.records import counted, in_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GREY, _BLUE, _ORANGE = "#8a8a8a", "#1f6fb4", "#e07b00"
_TICKS = (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
_WORDS = ("1/10 ms", "1/1,000 second (1 ms)", "1/100 second", "1/10 second", "1 second", "10 seconds", "100 seconds", "1,000 seconds")


class Timed(Protocol):
    """Seconds of one query."""

    @property
    def plain(self) -> float: ...

    @property
    def driver(self) -> float: ...

    @property
    def captured(self) -> bool: ...


def draw(run: Run, picture: Path) -> None:
    """Write a PNG: one point a click and side, on a logarithmic scale."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(11, 5.6))
    draw_clicks(axes, run.steps)
    figure.text(0.02, 0.95, headline(run), fontsize=15, fontweight="bold", va="center")
    figure.text(0.02, 0.895, _beside(run), fontsize=10.5, color="0.35", va="center")
    figure.subplots_adjust(left=0.17, right=0.84, top=0.85, bottom=0.11)
    figure.savefig(picture, dpi=120)
    pyplot.close(figure)


def draw_clicks(axes: Axes, steps: Sequence[Timed]) -> None:
    """Draw the clicks, with the name of each side beside its median."""
    numbers = range(1, len(steps) + 1)
    later = [(number, step.driver) for number, step in zip(numbers, steps, strict=True) if not step.captured]
    first = [(number, step.driver) for number, step in zip(numbers, steps, strict=True) if step.captured]
    axes.plot(numbers, [step.plain for step in steps], color=_GREY, marker="o", markersize=5, linewidth=1, alpha=0.9)
    for points, colour, marker, size in ((later, _BLUE, "o", 34), (first, _ORANGE, "D", 46)):
        if points:
            axes.scatter([x for x, _ in points], [y for _, y in points], color=colour, marker=marker, s=size, zorder=3)
    every = [time for step in steps for time in (step.plain, step.driver)]
    low, high = min(every) / 2, max(every) * 5
    axes.set(yscale="log", xlim=(0.3, len(steps) + 0.7), ylim=(low, high), xlabel="clicks on the dashboard, in their order")
    shown = [(tick, word) for tick, word in zip(_TICKS, _WORDS, strict=True) if low <= tick <= high]
    axes.set_yticks([tick for tick, _ in shown], [word for _, word in shown])
    axes.minorticks_off()
    axes.locator_params(axis="x", integer=True)
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    _name_kinds(axes, steps, later)
    if first:
        highest = max(first, key=lambda point: point[1])
        words = "these clicks also learn\nwhat later ones need"
        axes.annotate(words, highest, xytext=(0, 12), textcoords="offset points", color=_ORANGE, fontsize=10)


def _name_kinds(axes: Axes, steps: Sequence[Timed], later: Sequence[tuple[int, float]]) -> None:
    plain = median(step.plain for step in steps)
    names = [("plain Spark", plain, _GREY)]
    if later:
        driver = median(time for _, time in later)
        # Names of times that are nearly the same must not lie on each other.
        names.append(("with imp_driver", driver if not plain / 1.5 < driver < plain * 1.5 else plain / 1.5, _BLUE))
    for name, height, colour in names:
        place, kinds = (1.01, height), ("axes fraction", "data")
        axes.annotate(name, place, xycoords=kinds, color=colour, fontsize=12, fontweight="bold", va="center", annotation_clip=False)


def _beside(run: Run) -> str:
    told = f"{len(run.steps)} clicks on a dashboard over {run.rows:,} rows, while {run.commits} changes were written to the table."
    captures = run.captures
    if not captures:
        return told
    extra = sum(step.driver for step in captures) - sum(step.plain for step in captures)
    cost = f"{in_time(extra)} more than Spark" if extra > 0 else "no more than Spark"
    return f"{told} {counted(len(captures), 'learning click', 'learning clicks')} took {cost}."
