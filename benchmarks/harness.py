"""What every workload uses: the three ways to answer a query, and the time until it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import imp_driver
from imp_driver.cli.synthetic import SyntheticTable
from imp_driver.values.report import SketchReport

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows, seconds and report of one query."""

    rows: Rows
    seconds: float
    report: SketchReport


@dataclass(slots=True)
class Systems:
    """NS: no sketch. FM: full maintenance, captured again whenever it is stale. IMP: incremental maintenance.

    FM has a store of its own: with that of IMP, what one of them captures or drops would be the other's state too.
    """

    table: SyntheticTable
    plain: imp_driver.Connection
    full: imp_driver.Connection
    incremental: imp_driver.Connection
    seed: int = 1_000
    next_id: int = field(default=0)

    def ask(self, system: str, text: str) -> Answer:
        return ask({"NS": self.plain, "FM": self.full, "IMP": self.incremental}[system], text)

    def drop_sketches(self) -> None:
        """Drop the sketches of all systems, so that the next queries capture."""
        for connection in (self.full, self.incremental):
            connection.execute("DROP SKETCH ALL").close()

    def forget(self, answer: Answer) -> None:
        """Drop the sketch that answered, so that the next query captures again (the FM strategy after an update)."""
        try:
            self.full.execute(f"DROP SKETCH {answer.report.sketch_id}").close()
        except imp_driver.ProgrammingError:
            # Dropped already, or evicted.
            return


def ask(connection: imp_driver.Connection, text: str) -> Answer:
    """Ask one query and read all of its rows."""
    begin = time.perf_counter()
    with connection.execute(text) as cursor:
        rows = cursor.fetchall()
        seconds = time.perf_counter() - begin
        assert cursor.sketch_report is not None
        return Answer(rows, seconds, cursor.sketch_report)


def milliseconds(run: Callable[[], object]) -> float:
    """Return the time of one call."""
    begin = time.perf_counter()
    run()
    return (time.perf_counter() - begin) * 1000


def before_execution(report: SketchReport) -> float:
    """Return milliseconds from the SELECT received to the rewritten query ready."""
    total = 0.0
    for stage, spent in report.times.items():
        if stage == "execute":
            break
        total += spent
    return total


def named_rows(connection: imp_driver.Connection, text: str) -> list[dict[str, Any]]:
    """Return the rows of a statement by the names of their columns."""
    with connection.execute(text) as cursor:
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
