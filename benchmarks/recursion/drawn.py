"""Figures 7 to 14 of the recursive-view paper as panels: bytes shipped, bytes of state and time to converge, with 95 % intervals."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.records import Case, Quantity, Scalar
from benchmarks.recursion.figures import half_width
from benchmarks.summary import present

QUANTITIES = (Quantity.SHIPPED_BYTES, Quantity.SIZE, Quantity.CALL)
COLOURS = {"IMP": "C0", "DRed": "C1", "relative eager": "C2", "relative lazy": "C8", "absorption lazy": "C3", "absorption eager": "C4"}
"""One for each system in all panels."""
Panel = tuple[str, Sequence[Case], Callable[[Any, Sequence[Case]], None]]


@dataclass(frozen=True, slots=True)
class Figure:
    """One of the paper's.

    Attributes:
        number: which cases have it as their label ``figure``; ``is_change`` those that change what is there.
        across: the label that goes from left to right; ``apart`` one whose values have lines of their own.
    """

    title: str
    number: str
    is_change: bool
    across: str
    apart: str = ""


FIGURES = (
    Figure("7: links inserted", "7", False, "inserted"),
    Figure("8: ten links deleted, one by one", "7", True, "links"),
    Figure("9: regions, sensors triggered", "9", False, "inserted"),
    Figure("10: regions, sensors taken back", "9", True, "batch"),
    Figure("11: links inserted", "11", False, "links", "density"),
    Figure("12: a fifth of the links deleted", "11", True, "links", "density"),
    Figure("13: links inserted", "13", False, "machines"),
    Figure("13: ten links deleted", "13", True, "machines"),
    Figure("14: shortest paths, links inserted", "14", False, "density"),
    Figure("14: shortest paths, ten links deleted", "14", True, "density"),
)


def panels(cases: Sequence[Case]) -> Iterator[Panel]:
    """Yield the panels from left to right, a row of them for each figure."""
    for figure in FIGURES:
        chosen = [each for each in cases if each.labels["figure"] == figure.number and ("change" in each.labels) == figure.is_change]
        for quantity in QUANTITIES if any(case.values(each.system, each.quantity) for case in chosen for each in case.series) else ():
            yield f"{figure.title}: {quantity}", chosen, partial(_lines, figure, quantity)


def _lines(figure: Figure, quantity: Quantity, panel: Any, cases: Sequence[Case]) -> None:
    """Draw the means of each system, with their intervals."""
    places = {value: place for place, value in enumerate(sorted({case.labels[figure.across] for case in cases}, key=_number))}
    for apart in dict.fromkeys(case.labels.get(figure.apart) for case in cases):
        chosen = [case for case in cases if case.labels.get(figure.apart) == apart]
        own = sorted(chosen, key=lambda case: places[case.labels[figure.across]])
        for system in dict.fromkeys(series.system for case in own for series in case.series):
            found = [(places[case.labels[figure.across]], values) for case in own if (values := present(case.values(system, quantity)))]
            if any(value > 0 for _, values in found for value in values):
                panel.errorbar(
                    [place for place, _ in found],
                    [statistics.fmean(values) for _, values in found],
                    yerr=[half_width(values) if len(values) > 1 else 0.0 for _, values in found],
                    fmt="o--" if apart == "sparse" else "o-",
                    color=COLOURS.get(system),
                    markersize=3,
                    label=system if apart is None else f"{system}, {apart}",
                )
    panel.set_xticks(range(len(places)), [str(value) for value in places])
    panel.set(yscale="log", xlabel=figure.across, ylabel=quantity)


def _number(label: Scalar) -> tuple[float, str]:
    """Return what orders labels: by the number that they begin with, else by their text."""
    digits = str(label).split()[0]
    return (float(digits), "") if digits.isdecimal() else (0.0, digits)
