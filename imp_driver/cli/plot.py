"""The demo's picture: time of each query on both sides, and the running totals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Protocol


class Timed(Protocol):
    """Seconds of one query."""

    @property
    def plain(self) -> float: ...

    @property
    def driver(self) -> float: ...

    @property
    def captured(self) -> bool: ...


def draw(steps: Sequence[Timed], picture: Path) -> None:
    """Write a PNG with two panels."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    numbers = list(range(1, len(steps) + 1))
    figure, (single, total) = pyplot.subplots(1, 2, figsize=(11, 4.2))
    single.plot(numbers, [step.plain for step in steps], color="0.55", marker="o", markersize=3, linewidth=1, label="plain Spark")
    single.plot(numbers, [step.driver for step in steps], color="tab:blue", marker="o", markersize=3, linewidth=1, label="imp_driver")
    captures = [(number, step.driver) for number, step in zip(numbers, steps, strict=True) if step.captured]
    if captures:
        single.scatter(*zip(*captures, strict=True), color="tab:orange", zorder=3, label="with a capture")
    single.set(xlabel="query", ylabel="seconds", title="Time of each query", yscale="log")
    single.legend()
    total.plot(numbers, list(accumulate(step.plain for step in steps)), color="0.55", label="plain Spark")
    total.plot(numbers, list(accumulate(step.driver for step in steps)), color="tab:blue", label="imp_driver, captures included")
    total.set(xlabel="query", ylabel="seconds, running total", title="Total", ylim=(0, None))
    total.legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=120)
    pyplot.close(figure)
