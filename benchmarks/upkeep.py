"""Maintenance against capturing again and against plain Spark, as most workloads of IMP report section 8 measure it.

Maintenance and capture are times from the SELECT received to the rewritten query ready.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.harness import Answer, Systems, named_rows
from benchmarks.journal import Page
from benchmarks.protocol import Plan, Turn, Work, take_turns, turn_of
from benchmarks.records import Quantity
from imp_driver.values.report import SketchReport

WARM_UP = 2
"""Changes that are not counted: with the second one the tables of a join are read into memory."""


@dataclass(slots=True)
class Asked:
    """One system and one query; FM forgets its sketches before, so that it captures again each time."""

    systems: Systems
    system: str
    text: str
    last: Answer | None = None

    def __call__(self) -> Turn:
        if self.system == "FM" and self.last is not None:
            forget_all(self.systems, self.last)
        self.last = self.systems.ask(self.system, self.text)
        return turn_of(self.last)


@dataclass(frozen=True, slots=True)
class Weighed:
    """Asks, and then weighs the state and this process, which is no part of the time."""

    asked: Asked

    def __call__(self) -> Turn:
        turn = self.asked()
        assert self.asked.last is not None
        sizes: dict[Quantity, float] = {Quantity.SIZE: state_bytes(self.asked.systems, self.asked.last.report)}
        resident = resident_bytes()
        if resident is not None:
            sizes[Quantity.RESIDENT] = resident
        return replace(turn, spent={**turn.spent, **sizes})


def upkeep(
    page: Page, plan: Plan, systems: Systems, text: str, change: Callable[[], object], before: Callable[[], object] | None = None
) -> SketchReport:
    """Measure a query with changes: plain, captured again, maintained. Return the last report of IMP.

    All sketches are dropped first, so that the cold start is one in each case.
    """
    systems.drop_sketches()
    ways = {system: Asked(systems, system, text) for system in ("NS", "FM", "IMP")}
    take_turns(page, plan, Work(ways, change, before))
    last = ways["IMP"].last
    assert last is not None
    page.facts |= {
        "state bytes": state_bytes(systems, last.report),
        "changes from": None if last.report.delta_source is None else last.report.delta_source.name,
        "fragments kept": last.report.fragments_kept,
        "fragments": last.report.fragments_total,
        "files kept": last.report.files_kept,
        "files": last.report.files_total,
        "detail": last.report.detail,
    }
    return last.report


def forget_all(systems: Systems, answer: Answer) -> None:
    """Drop every sketch of a query, so that the next one captures all of them again."""
    for report in (answer.report, *answer.report.also):
        if report.sketch_id is not None:
            systems.forget(Answer([], 0.0, report))


def state_bytes(systems: Systems, report: SketchReport) -> int:
    """Return the bytes of a state as SHOW SKETCHES says, 0 without one."""
    rows = named_rows(systems.incremental, "SHOW SKETCHES")
    return sum(int(row["bytes"]) for row in rows if row["sketch_id"] == report.sketch_id)


def resident_bytes() -> int | None:
    """Return the resident memory of this process, None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def version_of(systems: Systems, table: str) -> int:
    """Return the newest version of a table."""
    with systems.incremental.execute(f"DESCRIBE HISTORY {table} LIMIT 1") as cursor:
        return int(cursor.fetchall()[0][0])


def restore(systems: Systems, table: str, version: int) -> None:
    """Bring a table back, so that large changes do not pile up; states are captured again after it."""
    systems.incremental.execute(f"RESTORE TABLE {table} TO VERSION AS OF {version}").close()


def drop(systems: Systems, *tables: str) -> None:
    """Drop tables with their files, and the sketches on them."""
    for table in tables:
        systems.incremental.execute(f"DROP TABLE IF EXISTS {table}").close()
    systems.drop_sketches()
