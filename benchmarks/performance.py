"""``python -m benchmarks.performance``: make the table of goals in docs/performance.md from the records; a test compares them.

``--check`` changes nothing and ends with 1 where the table is not that of the records. Both say which figures are of other code than this.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import surroundings
from benchmarks.goals import Assessment, Better, Goal, Verdict, assess, read_goals
from benchmarks.records import Record, read_all

DOCUMENT = Path(__file__).parents[1] / "docs" / "performance.md"
BEGIN = "<!-- The table of goals: `python -m benchmarks.performance` makes it from benchmarks/records and benchmarks/goals.toml. -->"
END = "<!-- End of the table of goals. -->"
_HEAD = ("what", "goal", "newest record", "medians of all records of the same code", "", "from before records")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.performance", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; end with 1 where the table is another one")
    check = parser.parse_args(arguments).check
    assessments = [assess(goal, records) for records in [read_all()] for goal in read_goals()]
    before = DOCUMENT.read_text(encoding="utf-8")
    after = with_table(before, table(assessments))
    if not check:
        DOCUMENT.write_text(after, encoding="utf-8")
    for line in outdated(assessments, surroundings.code()):
        print(line)
    if check and before != after:
        print("docs/performance.md does not have the table of the records: python -m benchmarks.performance", file=sys.stderr)
        return 1
    return 0


def with_table(document: str, made: str) -> str:
    """Return a document with another table between its markers.

    Raises:
        ValueError: it does not have each marker once.
    """
    if document.count(BEGIN) != 1 or document.count(END) != 1 or document.index(BEGIN) > document.index(END):
        raise ValueError(f"the document needs one line {BEGIN} and, after it, one line {END}")
    return f"{document.partition(BEGIN)[0]}{BEGIN}\n\n{made}\n{END}{document.partition(END)[2]}"


def table(assessments: Sequence[Assessment]) -> str:
    """Return the lines of the table, those of missed goals like the others."""
    lines = [_line(_HEAD), f"|{'---|' * len(_HEAD)}"]
    return "".join(f"{line}\n" for line in [*lines, *(_line(_cells(each)) for each in assessments)])


def outdated(assessments: Sequence[Assessment], code: dict[str, str]) -> list[str]:
    """Return a line for each goal whose newest record is of other code than that of these digests."""
    lines = []
    for each in assessments:
        if each.newest is not None and each.goal.digests(each.newest.code) != each.goal.digests(code):
            lines.append(f"{each.goal.what}: the code it measures has changed since {_source(each.newest)}")
    return lines


def _cells(found: Assessment) -> tuple[str, ...]:
    goal = found.goal
    bound = "at least" if goal.better is Better.HIGHER else "at most"
    if found.newest is None:
        return goal.what, f"{bound} {_number(goal.target, goal)}", "", "", found.verdict, goal.earlier
    verdict = f"**{found.verdict}**" if found.verdict is Verdict.MET else str(found.verdict)
    counted = _counted(found.same_code, "record") + (f", of which {found.failed} failed" if found.failed else "")
    several = "" if found.medians is None else f"{_range(*found.medians, goal)} ({counted})"
    return goal.what, f"{bound} {_number(goal.target, goal)}", _newest(found, found.newest), several, verdict, goal.earlier


def _newest(found: Assessment, newest: Record) -> str:
    goal, summaries = found.goal, found.figures.summaries
    if not summaries:
        return f"nothing measured; {_source(newest)}"
    parts = [
        f"median {_range(min(each.median for each in summaries), max(each.median for each in summaries), goal)}",
        f"quartiles {_range(min(each.lower_quartile for each in summaries), max(each.upper_quartile for each in summaries), goal)}",
        f"all {_range(min(each.minimum for each in summaries), max(each.maximum for each in summaries), goal)}",
    ]
    if found.captures is not None:
        parts.append(f"totals with captures {_range(*found.captures.included, goal)}, without {_range(*found.captures.excluded, goal)}")
    if goal.is_repeated:
        parts.append(_counted(min(each.number for each in summaries), "repetition"))
    parts += [f"of these {reason}" for reason in sorted({case.shortened for case in goal.cases(newest)} - {""})[:1]]
    return "; ".join([*parts, _source(newest)])


def _source(record: Record) -> str:
    """Say when, of what code and where; the load is the mean number of processes that wanted to run in the minute before and at the end."""
    commit = f"commit {record.commit[:7]}{' with uncommitted changes' if record.is_dirty else ''}"
    loads = [f"{load[0]:.1f}" for load in (record.load_before, record.load_after) if load]
    where = f"{record.machine.cores} cores" + (f", load {' to '.join(loads)}" if loads else "")
    return f"{record.date[:10]}, {commit}, {where}"


def _range(least: float, largest: float, goal: Goal) -> str:
    one, two = _number(least, goal), _number(largest, goal)
    return one if one == two else f"{one} to {two}"


def _number(value: float, goal: Goal) -> str:
    # A goal of 1.10 must not be rounded away, and digits that differ from run to run say nothing.
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    shown = f"{value:,.{digits}f}"
    shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return f"{shown}x" if goal.unit == "x" else f"{shown} {goal.unit}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
