"""What the calculus is asked about: which occurrences are cut on which attribute, and what is known beside the query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from imp_driver.plan.nodes import Scan
from imp_driver.safety.intervals import Interval


@dataclass(frozen=True, slots=True)
class Assignment:
    """``columns`` names the sketched attribute of each cut occurrence by its identifier in the plan.

    Occurrences with the same entry in ``common`` are cut by one set of fragments over one list of ranges; one without an entry has
    its own.
    """

    columns: Mapping[int, str]
    common: Mapping[int, int] = field(default_factory=dict)

    def set_of(self, occurrence: int) -> int:
        return self.common.get(occurrence, -1 - occurrence)


class Facts(Protocol):
    """Facts about the data now."""

    def interval(self, table: tuple[str, ...], column: str) -> Interval:
        """Return what is known of a column's values, each bound with the fact that it rests on."""


@dataclass(frozen=True, slots=True)
class NoFacts:
    """Nothing is known of the data."""

    def interval(self, table: tuple[str, ...], column: str) -> Interval:
        return Interval()


@dataclass(frozen=True, slots=True)
class Setting:
    """``checks_overflow`` is ANSI mode: without it sums of integers wrap around and are not monotone.

    ``may_pin`` allows proofs that cover the whole output of a subquery; they are safe, and of use only where that is small.
    """

    assignment: Assignment
    facts: Facts = field(default_factory=NoFacts)
    checks_overflow: bool = True
    may_pin: bool = True

    def attribute(self, scan: Scan) -> str | None:
        return self.assignment.columns.get(scan.occurrence)


def fact_text(table: tuple[str, ...], column: str, low: Decimal | None, high: Decimal | None) -> str:
    """Render a fact about a column."""
    parts = [] if low is None else [f"{column} >= {low}"]
    parts += [] if high is None else [f"{column} <= {high}"]
    return f"{' AND '.join(parts)} in {'.'.join(table)}"
