"""Ranges of a column that is no group key are as many as those of one, through the whole path without a JVM, in shadow mode."""

from __future__ import annotations

import pytest

from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.reasons import Decision, Reason
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from tests.soundness.engine import DuckSession, Row, Warehouse, drained

FILES = 600
"""Of two rows each, both with the file's number as ``g``; the rows of group 1 lie in every fiftieth."""
TEXT = "SELECT x, sum(a) AS f FROM r WHERE {} GROUP BY x HAVING sum(a) > 100"
IN_PROCESS, BY_ENGINE = "a >= 0", "sqrt(a) >= 0"


def row(g: int | None) -> Row:
    return (0, g, int(g is not None and g % 50 == 0), 9 if g is None or g % 50 == 0 else 0)


def a_warehouse() -> Warehouse:
    warehouse = Warehouse()
    warehouse.commit("r", [row(number // 2) for number in range(2 * FILES)])
    return warehouse


class Process:
    """A process with so many bytes of memory for states."""

    def __init__(self, warehouse: Warehouse, memory: int = 1 << 30, fragments: int = 10_000) -> None:
        self.session = DuckSession(warehouse)
        self.path = Middleware(
            self.session,
            warehouse,
            Sketches(Relations(warehouse, memory)),
            Options(answers=False, sketch=SketchMode.SHADOW, fragments=fragments),
        )

    def ask(self, text: str) -> SketchReport:
        outcome = self.path.run(Execution(text))
        drained(outcome.stream)
        return outcome.report

    def captured(self, text: str) -> SketchReport:
        """The first time such a capture is put off."""
        assert self.ask(text).reason is Reason.CAPTURE_DEFERRED
        report = self.ask(text)
        assert (report.decision, report.attribute) == (Decision.CAPTURED, "g")
        return report


@pytest.mark.parametrize("condition", [IN_PROCESS, BY_ENGINE])
def test_each_file_has_a_range_and_changes_find_theirs(condition: str) -> None:
    warehouse = a_warehouse()
    process = Process(warehouse)
    report = process.captured(TEXT.format(condition))
    assert (report.reason, report.fragments_total, report.fragments_kept) == (Reason.FILTERED, FILES + 1, FILES // 50)
    assert (report.files_total, report.files_kept) == (FILES, FILES // 50)
    kept = FILES // 50
    for g, x in ((333, 1), (None, 1), (-7, 1), (5 * FILES, 1), (333, 0)):
        warehouse.commit("r", [*warehouse.rows("r"), (0, g, x, 1)])
        # The values before the first file's and after the last one's lie in open ranges, of which that of file 0 is kept already.
        kept += x == 1 and g != -7
        report = process.ask(TEXT.format(condition))
        assert (report.decision, report.fragments_kept) == (Decision.MAINTAINED, kept)
    assert bool(process.session.joined) == (condition == BY_ENGINE)


def test_as_many_ranges_as_the_connection_allows() -> None:
    report = Process(a_warehouse(), fragments=300).captured(TEXT.format(IN_PROCESS))
    assert report.fragments_total == 300 + 1


@pytest.mark.parametrize("text", [TEXT.format(IN_PROCESS), "SELECT x FROM r GROUP BY x HAVING count(*) > 20"])
def test_too_many_cells_are_captured_over_fewer_ranges(text: str) -> None:
    """A cell weighs some 220 bytes at most: 600 of them, and a few more, are too many for this budget, 200 are not."""
    report = Process(a_warehouse(), memory=32_000).captured(text)
    assert report.fragments_total == 200 + 1
