"""What a workload writes down while it measures; it becomes the cases of a record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

from benchmarks.harness import Rows
from benchmarks.records import Case, Quantity, Scalar, Series, Stage
from imp_driver.cli.answers import same

EVERYONE = "all"
"""Stands for the systems in what is done once for all of them."""
_SHOWN = 3
Same: TypeAlias = Callable[[Rows, Rows], bool]
"""Says whether two answers are equal."""


@dataclass(slots=True)
class Page:
    """One case while it is measured."""

    labels: Mapping[str, Scalar]
    asked: int
    shortened: str = ""
    facts: dict[str, Scalar] = field(default_factory=dict)
    compared: int = 0
    differences: list[str] = field(default_factory=list)
    _spent: dict[tuple[str, Stage, Quantity], dict[int, float]] = field(default_factory=dict)
    _repetitions: Counter[Stage] = field(default_factory=Counter)
    _decisions: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, system: str, stage: Stage, repetition: int, spent: Mapping[Quantity, float]) -> None:
        """Write down measurements; what a system spends in several queries of one repetition is summed."""
        if not all(map(math.isfinite, spent.values())):
            raise ValueError(f"{system}, {stage}: {dict(spent)} is no measurement")
        self._repetitions[stage] = max(self._repetitions[stage], repetition + 1)
        for quantity, value in spent.items():
            values = self._spent.setdefault((system, stage, quantity), {})
            values[repetition] = values.get(repetition, 0.0) + value

    def decide(self, system: str, decision: str) -> None:
        """Count what a system said that it did about a sketch."""
        self._decisions.setdefault(system, Counter())[decision] += 1

    def compare(self, answers: Mapping[str, Rows], same: Same = same) -> None:
        """Compare the answers of several systems with that of the first; a difference is written down and told of at once."""
        if len(answers) < 2:
            return
        self.compared += 1
        (first, expected), *others = answers.items()
        for system, rows in others:
            if not same(expected, rows):
                self.differences.append(f"{system} against {first}: {_difference(expected, rows)}")
                print(f"ANSWERS DIFFER {dict(self.labels)}: {self.differences[-1]}", flush=True)

    @property
    def case(self) -> Case:
        """What was written down until now."""
        series = tuple(
            Series(system, stage, quantity, tuple(values.get(number) for number in range(self._repetitions[stage])))
            for (system, stage, quantity), values in self._spent.items()
        )
        decisions = {f"decisions of {system}": _counted(counter) for system, counter in self._decisions.items()}
        return Case(dict(self.labels), series, self.facts | decisions, self.asked, self.shortened, self.compared, tuple(self.differences))


@dataclass(slots=True)
class Journal:
    """The cases of one workload, in the order in which they are begun."""

    repetitions: int
    pages: list[Page] = field(default_factory=list)

    def page(self, labels: Mapping[str, Scalar]) -> Page:
        """Begin a case."""
        self.pages.append(Page(labels, self.repetitions))
        return self.pages[-1]

    @property
    def systems(self) -> tuple[str, ...]:
        """The names in all series, as they came up."""
        names = dict.fromkeys(series.system for case in self.cases for series in case.series)
        return tuple(name for name in names if name != EVERYONE)

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple(page.case for page in self.pages)


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counter.most_common())


def _difference(expected: Rows, rows: Rows) -> str:
    own, others = _first_missing(rows, expected), _first_missing(expected, rows)
    return f"{len(rows)} rows against {len(expected)}; first of its own {own!r}, first of the other's {others!r}"


def _first_missing(rows: Rows, among: Rows) -> Rows:
    # Values such as lists have no hash.
    known = set(map(repr, among))
    return list(islice((row for row in rows if repr(row) not in known), _SHOWN))
