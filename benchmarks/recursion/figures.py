"""``python -m benchmarks.recursion.figures RECORD``: means with 95 % confidence intervals, as in section 7 of the recursive-view paper.

And how many times the driver's own mean that of each other system is. All is computed from a record of the workload ``recursion`` and
stored nowhere.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.records import Case, Record, Series, Stage, read
from benchmarks.summary import present

OURS = "IMP"
_HEAD = ("system", "what", "number", "mean", "95 % of the mean", f"mean against {OURS}")
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
"""The 97.5th percentiles of Student's distribution for 1, 2, .. degrees of freedom."""
NORMAL = 1.960
"""The same for many."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recursion.figures", description=__doc__)
    parser.add_argument("record", nargs="+", type=Path, help="file in benchmarks/records")
    for path in parser.parse_args(arguments).record:
        print(text(read(path)))


def half_width(values: Sequence[float]) -> float:
    """Return half of the width of the 95 % confidence interval of a mean; infinite for one value, which says nothing of others."""
    if len(values) < 2:
        return math.inf
    degrees = len(values) - 1
    factor = STUDENT[degrees - 1] if degrees <= len(STUDENT) else NORMAL
    return factor * statistics.stdev(values) / math.sqrt(len(values))


def text(record: Record) -> str:
    """Return the measured series of a record in Markdown, a table for each case."""
    return "\n".join(line for case in record.cases for line in _case(case))


def _case(case: Case) -> Iterator[str]:
    yield f"## {', '.join(f'{name} {value}' for name, value in case.labels.items())}"
    yield ""
    yield f"| {' | '.join(_HEAD)} |"
    yield f"|{'---|' * len(_HEAD)}"
    for series in case.series:
        if series.stage is Stage.MEASURED and present(series.values):
            yield f"| {' | '.join(_cells(case, series))} |"
    yield ""


def _cells(case: Case, series: Series) -> tuple[str, ...]:
    values = present(series.values)
    mean, own = statistics.fmean(values), present(case.values(OURS, series.quantity))
    width = half_width(values)
    ratio = f"{mean / statistics.fmean(own):.3g}x" if own and statistics.fmean(own) else ""
    interval = "" if math.isinf(width) else f"± {width:.3g}"
    return series.system, series.quantity, str(len(values)), f"{mean:.4g}", interval, ratio


if __name__ == "__main__":
    main()
