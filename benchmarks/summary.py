"""Statistics of measurements, and ratios of two systems that took turns."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.records import Case, Quantity, Stage


@dataclass(frozen=True, slots=True)
class Summary:
    """Of so many measurements; in their unit."""

    number: int
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Totals:
    """Milliseconds of all queries of a system in some cases.

    ``with_captures`` has the captures of the cold start and of the warm-up too, ``without_captures`` has none at all.
    """

    with_captures: float
    without_captures: float


def summarize(values: Sequence[float]) -> Summary:
    """Return the statistics of one or more measurements; quartiles are interpolated between those next to them.

    Raises:
        ValueError: there are no measurements.
    """
    if not values:
        raise ValueError("there are no measurements to summarize")
    lower, middle, upper = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return Summary(len(values), min(values), lower, middle, upper, max(values))


def percentile(values: Sequence[float], share: int) -> float:
    """Return the value below which so many of a hundred measurements lie, interpolated between those next to it.

    Raises:
        ValueError: there are no measurements.
    """
    if not values:
        raise ValueError("there are no measurements to summarize")
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1] if len(values) > 1 else values[0]


def present(values: Iterable[float | None]) -> list[float]:
    """Return the measurements of the repetitions that had one."""
    return [value for value in values if value is not None]


def geometric_mean(values: Sequence[float | None]) -> float | None:
    """Return the geometric mean of positive numbers; None where one of them is missing."""
    known = present(values)
    return math.exp(statistics.fmean(math.log(value) for value in known)) if known and len(known) == len(values) else None


def totals(cases: Sequence[Case], system: str) -> Totals:
    """Return what the queries of a system took together in some cases, with and without captures."""
    return Totals(*(sum(each) for each in zip(*(_totals(case, system) for case in cases), strict=True)))


def _totals(case: Case, system: str) -> tuple[float, float]:
    queries = sum(present(case.values(system, Quantity.QUERY)))
    captures = {stage: sum(present(case.values(system, Quantity.CAPTURE, stage))) for stage in Stage}
    before = captures[Stage.COLD_START] + captures[Stage.WARM_UP]
    return queries + before, queries - captures[Stage.MEASURED]
