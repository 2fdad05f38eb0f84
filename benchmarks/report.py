"""``python -m benchmarks.report RECORD ..``: records as tables to read; with ``--picture FILE`` the figure of one, where it has one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.records import Case, Quantity, Record, Series, Stage, read
from benchmarks.summary import percentile, present, summarize, totals

_HEAD = ("system", "when", "what", "number", "median", "quartiles", "min", "max")
_MANY = 20
"""Measurements from which on their last hundredths say something."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("record", nargs="+", type=Path, help="file in benchmarks/records")
    parser.add_argument("--picture", type=Path, help="PNG to draw the first of them to; needs matplotlib")
    parsed = parser.parse_args(arguments)
    records = [read(path) for path in parsed.record]
    for record in records:
        print(text(record))
    if parsed.picture:
        # It is not needed for anything but pictures, and takes its time to import.
        from benchmarks.pictures import draw

        if not draw(parsed.picture, records[0]):
            parser.error(f"there is no picture of {records[0].workload}")


def text(record: Record) -> str:
    """Return a record in Markdown."""
    described = {
        "commit": f"{record.commit}{', with uncommitted changes' if record.is_dirty else ''}",
        "date": record.date,
        "machine": f"{record.machine.cpu}, {record.machine.cores} cores, {record.machine.memory_gib} GiB",
        "load of 1, 5 and 15 minutes": f"{_numbers(record.load_before)} before, {_numbers(record.load_after)} after",
        "versions": ", ".join(f"{name} {version}" for name, version in record.versions.items()),
        "options": ", ".join(f"{name} {value}" for name, value in record.options.items()),
        "seconds of all queries": ", ".join(f"{stage} {_seconds(record, stage):.1f}" for stage in Stage),
        "answers": f"compared {sum(case.compared for case in record.cases)} times, {len(record.differences)} differences",
    }
    if record.failure:
        described["ended early"] = record.failure
    lines = [f"# {record.workload}", "", *(f"- {name}: {value}" for name, value in described.items()), ""]
    return "\n".join([*lines, *(line for case in record.cases for line in _case(case))])


def line(case: Case) -> str:
    """Return the medians of a case in one line."""
    medians = [
        f"{each.system} {each.quantity} {summarize(present(each.values)).median:.4g}"
        for each in case.series
        if each.stage is Stage.MEASURED and present(each.values)
    ]
    told = [*medians, f"{len(case.differences)} DIFFERENCES"] if case.differences else medians
    return f"{_labels(case)}: {'; '.join(told) or dict(case.facts)}"


def _seconds(record: Record, stage: Stage) -> float:
    series = (each for case in record.cases for each in case.series)
    return sum(sum(present(each.values)) for each in series if (each.stage, each.quantity) == (stage, Quantity.QUERY)) / 1000


def _case(case: Case) -> list[str]:
    lines = [f"## {_labels(case)}", ""]
    if case.shortened:
        lines += [f"{case.shortened}.", ""]
    if case.series:
        lines += [f"| {' | '.join(_HEAD)} |", f"|{'---|' * len(_HEAD)}", *(_series(each) for each in case.series), ""]
    for system in dict.fromkeys(each.system for each in case.series):
        total = totals([case], system)
        if total.with_captures > 0:
            lines.append(f"- all queries of {system}: {total.with_captures:.0f} ms with captures, {total.without_captures:.0f} ms without")
    lines += [_percentiles(each) for each in case.series if each.stage is Stage.MEASURED and len(present(each.values)) >= _MANY]
    lines += [f"- {name}: {value}" for name, value in case.facts.items()]
    return [*lines, *(f"- **answers differ**: {each}" for each in case.differences), ""]


def _series(series: Series) -> str:
    values = present(series.values)
    summary = summarize(values)
    quartiles = f"{summary.lower_quartile:.4g}, {summary.upper_quartile:.4g}"
    numbers = (f"{summary.median:.4g}", quartiles, f"{summary.minimum:.4g}", f"{summary.maximum:.4g}")
    return f"| {' | '.join((series.system, series.stage, series.quantity, f'{len(values)} of {len(series.values)}', *numbers))} |"


def _percentiles(series: Series) -> str:
    values = present(series.values)
    return f"- {series.quantity} of {series.system}: {', '.join(f'p{share} {percentile(values, share):.4g}' for share in (50, 95, 99))}"


def _labels(case: Case) -> str:
    return ", ".join(f"{name} {value}" for name, value in case.labels.items())


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values) or "unknown"


if __name__ == "__main__":
    main()
