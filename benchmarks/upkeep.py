"""Maintenance against capturing again, as most workloads of IMP report section 8 measure it.

Both are times from the SELECT received to the rewritten query ready.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import Answer, Systems, before_execution, checked
from imp_driver.observe.report import SketchReport
from imp_driver.reasons import Decision

WARM_UP = 2
"""Changes that are not counted: with the second one the tables of a join are read into memory."""
CAPTURES = (Decision.CAPTURED, Decision.RECAPTURED)


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Milliseconds of each change that was maintained, out of ``asked`` ones, and the report of the last."""

    spent: list[float]
    asked: int
    last: SketchReport

    def columns(self, capture: float | None) -> dict[str, Any]:
        """Return the columns of a record; a dash where there was nothing to measure."""
        maintained = statistics.median(self.spent) if self.spent else None
        return {
            "maintained": f"{len(self.spent)} of {self.asked}",
            "maintain ms": rounded(maintained),
            "slowest ms": rounded(max(self.spent, default=None)),
            "recapture ms": rounded(capture),
            "recapture/maintain": rounded(None if capture is None or not maintained else capture / maintained),
            "changes from": "-" if self.last.delta_source is None else self.last.delta_source.name,
        }


def rounded(value: float | None, digits: int = 1) -> float | str:
    return "-" if value is None else round(value, digits)


def recapture(systems: Systems, text: str, repetitions: int = 3) -> float | None:
    """Return the median milliseconds of a capture, None where the driver does not capture. IMP captures too; answers are compared."""
    for _ in range(3):
        # A second key may turn out better at the first capture, and some captures are put off until they are asked for again.
        systems.ask("IMP", text)
        answer = systems.ask("FM", text)
    spent = []
    for _ in range(repetitions):
        forget_all(systems, answer)
        answer = systems.ask("FM", text)
        if answer.report.decision in CAPTURES:
            spent.append(before_execution(answer.report))
    checked([systems.ask("NS", text), systems.ask("IMP", text), answer])
    return statistics.median(spent) if spent else None


def forget_all(systems: Systems, answer: Answer) -> None:
    """Drop every sketch of a query, so that the next one captures all of them again."""
    for report in (answer.report, *answer.report.also):
        if report.sketch_id is not None:
            systems.forget(Answer([], 0.0, report))


def maintain(systems: Systems, text: str, change: Callable[[], None], repetitions: int, warm_up: int = WARM_UP) -> Upkeep:
    """Change and ask in turn; the last answer is compared with plain Spark's."""
    spent: list[float] = []
    for repetition in range(repetitions + warm_up):
        change()
        answer = systems.ask("IMP", text)
        if repetition >= warm_up and answer.report.decision is Decision.MAINTAINED:
            spent.append(before_execution(answer.report))
    checked([systems.ask("NS", text), answer])
    return Upkeep(spent, repetitions, answer.report)


def end_to_end(systems: Systems, text: str, repetitions: int) -> dict[str, Any]:
    """Return the median milliseconds of the whole query, plain and through the driver, which take turns on unchanged tables."""
    spent: dict[str, list[float]] = {"NS": [], "IMP": []}
    for repetition in range(repetitions + 1):
        answers = {system: systems.ask(system, text) for system in spent}
        checked(list(answers.values()))
        if repetition:
            for system, answer in answers.items():
                spent[system].append(answer.seconds * 1000)
    plain, cut = statistics.median(spent["NS"]), statistics.median(spent["IMP"])
    return {"NS ms": round(plain, 1), "IMP ms": round(cut, 1), "NS/IMP": round(plain / cut, 2)}


def state_bytes(systems: Systems, report: SketchReport) -> int:
    """Return the bytes of a state as SHOW SKETCHES says, 0 without one."""
    with systems.incremental.execute("SHOW SKETCHES") as cursor:
        names = [column[0] for column in cursor.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return sum(int(row["bytes"]) for row in rows if row["sketch_id"] == report.sketch_id)


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
    systems.incremental.execute("DROP SKETCH ALL").close()
