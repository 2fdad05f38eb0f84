"""The goals of ``goals.toml``, and what the records say about each."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from benchmarks.records import Case, Option, Quantity, Record, Scalar, Stage
from benchmarks.summary import Summary, geometric_mean, percentile, present, summarize, totals

FILE = Path(__file__).with_suffix(".toml")
REPETITIONS = 10
FULL_SIZE: Mapping[str, Option] = {"rows": 10_000_000}


class Better(StrEnum):
    HIGHER = "higher"
    LOWER = "lower"


class Over(StrEnum):
    """How the cases of a goal are taken together."""

    EACH = "each"
    GEOMETRIC_MEAN = "geometric mean"
    TOTAL = "total"
    P50 = "p50"
    P95 = "p95"
    P99 = "p99"
    WALL = "wall"
    """The first REPETITIONS rounds from the cold start on, with all captures, together."""


PERCENTILES = {Over.P50: 50, Over.P95: 95, Over.P99: 99}
"""Of all measurements of all cases."""


class Verdict(StrEnum):
    """What the newest record says; only MET is good."""

    MET = "met"
    MISSED = "missed"
    NO_RECORD = "no record yet"
    FAILED = "the run failed"
    DIFFERENT = "answers differ"
    INCOMPLETE = "not all measured"
    UNCOMMITTED = "uncommitted code"


@dataclass(frozen=True, slots=True)
class Measure:
    system: str
    quantity: Quantity

    def of(self, case: Case) -> tuple[float | None, ...]:
        return case.values(self.system, self.quantity)


@dataclass(frozen=True, slots=True)
class Code:
    """Paths in a record's digests: those at or below ``of`` and ``also``, without those at or below ``without``."""

    of: tuple[str, ...]
    without: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    def digests(self, code: Mapping[str, str], workload: str) -> dict[str, str]:
        """Return the digests of what is measured and of the workload that measures it."""
        wanted = (*self.of, *self.also, f"benchmarks/workloads/{workload}.py")
        return {path: each for path, each in code.items() if _is_below(path, wanted) and not _is_below(path, self.without)}


@dataclass(frozen=True, slots=True)
class Goal:
    """See goals.toml. ``per`` and ``less`` are None where ``of`` stands for itself; one of them is always None.

    ``answered_by`` names a system: only cases count in which all of its rows came from states.
    """

    what: str
    target: float
    workload: str
    code: Code
    of: Measure
    per: Measure | None = None
    less: Measure | None = None
    unit: str = "x"
    better: Better = Better.HIGHER
    over: Over = Over.EACH
    is_repeated: bool = True
    options: Mapping[str, Option] = field(default_factory=lambda: FULL_SIZE)
    where: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    earlier: str = ""
    answered_by: str = ""

    def is_measured_by(self, record: Record) -> bool:
        """Say whether a record is one of this goal: its workload, full size and enough repetitions asked for."""
        if record.workload != self.workload or any(record.options.get(name) != value for name, value in self.options.items()):
            return False
        asked = record.options.get("repetitions")
        return not self.is_repeated or (isinstance(asked, int) and asked >= REPETITIONS)

    def digests(self, code: Mapping[str, str]) -> dict[str, str]:
        """Return the digests of what is measured and of the workload that measures it."""
        return self.code.digests(code, self.workload)

    def cases(self, record: Record) -> list[Case]:
        cases = [case for case in record.cases if all(case.labels.get(name) in values for name, values in self.where.items())]
        return [case for case in cases if self._is_answered(case)] if self.answered_by else cases

    def _is_answered(self, case: Case) -> bool:
        values = case.values(self.answered_by, Quantity.ANSWERED)
        return bool(values) and set(values) == {1.0}

    def meets(self, value: float) -> bool:
        return value >= self.target if self.better is Better.HIGHER else value <= self.target

    def worse_quartile(self, summary: Summary) -> float:
        """Return the quartile on the side that is bad: the lower one where higher is better, the upper one where lower is."""
        return summary.lower_quartile if self.better is Better.HIGHER else summary.upper_quartile


@dataclass(frozen=True, slots=True)
class Figures:
    """A goal's figures in one record, one summary for each case or one for all. ``is_complete`` is False where a measurement is missing."""

    summaries: tuple[Summary, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Captures:
    """Ratios of the totals of all queries with the captures in them and without, each the least and the largest of any case."""

    included: tuple[float, float]
    excluded: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the records say about a goal.

    Attributes:
        newest: the newest record of this goal; None without one.
        same_code: how many records there are of the code that the newest one measured, itself counted; ``failed`` of them failed.
        medians: the least and the largest median of any case in these; None where nothing was measured.
        captures: None for goals that are not of whole queries.
    """

    goal: Goal
    verdict: Verdict
    newest: Record | None = None
    figures: Figures = Figures((), False)
    same_code: int = 0
    failed: int = 0
    medians: tuple[float, float] | None = None
    captures: Captures | None = None


def read_goals(path: Path = FILE) -> list[Goal]:
    """Return the goals in their order.

    Raises:
        KeyError, TypeError, ValueError: the file names something that does not exist.
    """
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    codes = {name: Code(*(tuple(each.get(key, ())) for key in ("of", "except", "with"))) for name, each in content["code"].items()}
    return [_goal(each, codes) for each in content["goal"]]


def assess(goal: Goal, records: Sequence[Record]) -> Assessment:
    """Return what the records, the oldest first, say about a goal."""
    of_goal = [record for record in records if goal.is_measured_by(record)]
    if not of_goal:
        return Assessment(goal, Verdict.NO_RECORD)
    newest = of_goal[-1]
    digests = goal.digests(newest.code)
    same_code = [record for record in of_goal if goal.digests(record.code) == digests]
    medians = [summary.median for record in same_code for summary in figures(goal, record).summaries]
    found = figures(goal, newest)
    bounds = (min(medians), max(medians)) if medians else None
    failed = sum(bool(record.failure) for record in same_code)
    return Assessment(goal, _verdict(goal, newest, found), newest, found, len(same_code), failed, bounds, _captures(goal, newest))


def figures(goal: Goal, record: Record) -> Figures:
    """Return the figures of a goal in one record; repetitions in which one of two measurements is missing have none."""
    cases = goal.cases(record)
    by_case = [_values(goal, case) for case in cases]
    has_all = bool(cases) and (bool(goal.answered_by) or _has_all(goal, cases))
    if goal.over in PERCENTILES or goal.over is Over.WALL:
        is_complete = has_all and all(map(present, by_case))
        return Figures((_pooled(goal, cases, by_case),) if is_complete else (), is_complete)
    is_complete = has_all and all(values and None not in values for values in by_case)
    if goal.over is not Over.EACH:
        by_case = [_together(goal, cases, by_case)] if is_complete else []
    return Figures(tuple(summarize(present(values)) for values in by_case if present(values)), is_complete)


def _values(goal: Goal, case: Case) -> list[float | None]:
    values = goal.of.of(case)
    other = goal.per or goal.less
    if other is None:
        return list(values)
    # A series lacks where nothing of it was ever measured, and then no pair is whole.
    pairs = zip(values, other.of(case), strict=False)
    return [None if one is None or two is None else (one / two if goal.per else one - two) for one, two in pairs]


def _pooled(goal: Goal, cases: Sequence[Case], by_case: Sequence[Sequence[float | None]]) -> Summary:
    """Return the one figure that all measurements make, with their number."""
    if goal.over is Over.WALL:
        of = [value for case in cases for value in _first(goal.of, case)]
        per = [1.0] if goal.per is None else [value for case in cases for value in _first(goal.per, case)]
        return replace(summarize([sum(of) / sum(per)]), number=min(len(_first(goal.of, case)) for case in cases))
    values = [value for each in by_case for value in present(each)]
    return replace(summarize([percentile(values, PERCENTILES[goal.over])]), number=len(values))


def _first(measure: Measure, case: Case) -> list[float]:
    """Return the measurements of the first rounds, those of the cold start and of the warm-up before the repetitions."""
    every = [present(case.values(measure.system, measure.quantity, stage)) for stage in Stage]
    return [value for values in every for value in values][:REPETITIONS]


def _together(goal: Goal, cases: Sequence[Case], by_case: Sequence[Sequence[float | None]]) -> list[float | None]:
    """Return one figure a repetition over all cases; repetitions that not all cases have are left out."""
    if goal.over is Over.GEOMETRIC_MEAN:
        return [geometric_mean(values) for values in zip(*by_case, strict=False)]
    upper = [sum(present(values)) for values in zip(*(goal.of.of(case) for case in cases), strict=False)]
    if goal.per is None:
        return list(upper)
    return [
        one / sum(present(values)) for one, values in zip(upper, zip(*(goal.per.of(case) for case in cases), strict=False), strict=True)
    ]


def _has_all(goal: Goal, cases: Sequence[Case]) -> bool:
    """Say whether there is a case for each combination of the values that the goal speaks of."""
    found = {tuple(case.labels[name] for name in goal.where) for case in cases}
    return found >= set(itertools.product(*goal.where.values()))


def _verdict(goal: Goal, record: Record, found: Figures) -> Verdict:
    if record.differences:
        return Verdict.DIFFERENT
    if record.failure:
        return Verdict.FAILED
    if not found.is_complete:
        return Verdict.INCOMPLETE
    if not all(goal.meets(goal.worse_quartile(summary)) for summary in found.summaries):
        return Verdict.MISSED
    return Verdict.UNCOMMITTED if record.is_dirty else Verdict.MET


def _captures(goal: Goal, record: Record) -> Captures | None:
    if goal.per is None or (goal.of.quantity, goal.per.quantity) != (Quantity.QUERY, Quantity.QUERY):
        return None
    cases = goal.cases(record)
    parts = [cases] if goal.over is Over.TOTAL and cases else [[case] for case in cases]
    pairs = [(totals(part, goal.of.system), totals(part, goal.per.system)) for part in parts]
    pairs = [(one, two) for one, two in pairs if two.with_captures > 0 and two.without_captures > 0]
    if not pairs:
        return None
    included = [one.with_captures / two.with_captures for one, two in pairs]
    excluded = [one.without_captures / two.without_captures for one, two in pairs]
    return Captures((min(included), max(included)), (min(excluded), max(excluded)))


def _goal(content: dict[str, Any], codes: Mapping[str, Code]) -> Goal:
    measures = {key: Measure(content[key][0], Quantity(content[key][1])) for key in ("of", "per", "less") if key in content}
    given = content | measures | {"code": codes[content.get("code", "driver")]}
    given |= {"better": Better(content.get("better", "higher")), "over": Over(content.get("over", "each"))}
    return Goal(**given | {"where": {name: tuple(values) for name, values in content.get("where", {}).items()}})


def _is_below(path: str, parts: Sequence[str]) -> bool:
    return any(path == part or path.startswith(f"{part}/") for part in parts)
