"""What is said of a run of the demo's dashboard: lines, records, the summary and the picture."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from imp_driver.cli.dashboard import _shown
from imp_driver.cli.dashboard_words import Run, Step, fields_of, headline, live_table, summary
from imp_driver.cli.plot import draw
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.report import SketchReport


def _step(served_by: ServedBy, decision: Decision, plain: float = 1.0, driver: float = 0.004, is_equal: bool | None = True) -> Step:
    files = (3, 64) if served_by is ServedBy.SKETCH else (None, None)
    report = SketchReport(decision, Reason.ANSWERED, served_by=served_by, files_kept=files[0], files_total=files[1])
    return Step("top 10", plain, driver, report, is_equal, 2)


CAPTURED = _step(ServedBy.STATE, Decision.CAPTURED, driver=3)
MEMORY = _step(ServedBy.STATE, Decision.MAINTAINED)
SKETCH = _step(ServedBy.SKETCH, Decision.FRESH, driver=0.5)
SPARK = _step(ServedBy.SPARK, Decision.NOT_USED, driver=1.0, is_equal=None)
RUN = Run((CAPTURED, MEMORY, MEMORY, SKETCH, MEMORY, SPARK), 4_000_000, 90.0)


def _console(is_terminal: bool, width: int = 300) -> Console:
    return Console(file=io.StringIO(), force_terminal=is_terminal, color_system=None, width=width)


def _written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_summary_in_words() -> None:
    console = _console(is_terminal=True)
    assert summary(RUN, Path("r/demo.png"), console) == 0
    told = _written(console)
    for words in (
        "A click takes 4.0 ms instead of 1.0 s: 250 times faster, with the same rows (medians, without the captures).",
        "3 of 6 queries were answered from memory, at the newest change, without reading a file.",
        "1 query read 3 of 64 files.",
        "1 query ran on Spark alone.",
        "1 query captured groups on the way, which later ones are answered from: 3.0 s together, where Spark alone took 1.0 s.",
        "12 changes",
        "All answers are equal (5 of 6 compared",
        "r/demo.png",
    ):
        assert words in told


def test_the_summary_as_a_record() -> None:
    console = _console(is_terminal=False)
    assert summary(RUN, Path("demo.png"), console) == 0
    found = json.loads(_written(console))
    assert (found["queries"], found["from_memory"], found["captures"], found["captures_driver_seconds"]) == (6, 3, 1, 3.0)
    assert (found["median_driver_seconds"], found["compared"], found["different"], found["changes"]) == (0.004, 5, 0, 12)


def test_an_answer_that_differs_is_nowhere_called_equal() -> None:
    wrong = Run((MEMORY, _step(ServedBy.STATE, Decision.FRESH, is_equal=False)), 10, 1.0)
    assert headline(wrong).endswith("but 1 answer differs")
    for is_terminal in (True, False):
        console = _console(is_terminal)
        assert summary(wrong, Path("demo.png"), console) == 1
        told = _written(console)
        assert ("1 answer DIFFERS from Spark's" in told) if is_terminal else (json.loads(told)["different"] == 1)
        assert "are equal" not in told


def test_captures_alone_are_no_headline() -> None:
    only = Run((CAPTURED,), 10, 1.0)
    assert headline(only) == "Every query captured groups (1): ask more of them to see them answered from memory"
    assert summary(only, Path("demo.png"), _console(is_terminal=True)) == 0
    slow = Run((_step(ServedBy.SPARK, Decision.NOT_USED, plain=1.0, driver=1.2),), 10, 1.0)
    assert "not faster in this run" in headline(slow)


@pytest.mark.parametrize(
    ("step", "origin", "files", "read"),
    [
        (CAPTURED, "Spark, captured", "-", None),
        (MEMORY, "memory", "none", 0),
        (SKETCH, "Spark, some files", "3 of 64", 3),
        (SPARK, "Spark", "-", None),
        (_step(ServedBy.STATE_AND_SPARK, Decision.FRESH), "memory and Spark", "-", None),
    ],
)
def test_where_rows_come_from(step: Step, origin: str, files: str, read: int | None) -> None:
    console = _console(is_terminal=False)
    console.print(live_table([step], 40))
    [row] = [line for line in _written(console).splitlines() if "top 10" in line]
    cells = [cell.strip() for cell in row.strip("│ ").split("│")]
    assert (cells[2], cells[3]) == (origin, files)
    fields = fields_of(step)
    assert (fields["captured"], fields["files_read"], fields["served_by"]) == (step is CAPTURED, read, step.report.served_by.name)
    assert list(fields) == list(fields_of(CAPTURED))


@pytest.mark.parametrize("is_terminal", [True, False])
def test_each_query_is_shown(is_terminal: bool) -> None:
    console = _console(is_terminal)
    assert _shown(iter(RUN.steps), 6, console) == RUN.steps
    told = _written(console)
    if is_terminal:
        assert "Query 6 of 6, 12 changes to the table so far" in told
    else:
        assert [json.loads(line)["number"] for line in told.splitlines()] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("run", [RUN, Run((CAPTURED,), 10, 1.0), Run((MEMORY,), 10, 1.0)])
def test_the_picture_is_a_png(run: Run, tmp_path: Path) -> None:
    draw(run, tmp_path / "demo.png")
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
