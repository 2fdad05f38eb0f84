"""The report of a statement as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from imp_driver.reasons import Reason
from imp_driver.values.report import SketchReport


class ReportForm(Enum):
    """How much of a report is shown."""

    OFF = "off"
    SHORT = "short"
    FULL = "full"


def report_lines(report: SketchReport, form: ReportForm) -> list[str]:
    """Return no lines for what is no query: nothing is decided about it."""
    if form is ReportForm.OFF or report.reason is Reason.NOT_A_QUERY:
        return []
    return _short(report) if form is ReportForm.SHORT else [*_short(report), *_full(report)]


def _short(report: SketchReport) -> list[str]:
    first = f"{report.decision.name}: {report.reason.name}"
    if report.detail:
        first += f" ({report.detail})"
    if report.sketch_id is None:
        return [first]
    source = f", {report.delta_rows} changed rows from {report.delta_source.value}" if report.delta_source else ""
    if report.fragments_total is None:
        return [first, f"from state {report.sketch_id} of {report.table} at version {report.version}{source}; {report.served_by.value}"]
    second = (
        f"sketch {report.sketch_id} on {report.table}.{report.attribute} at version {report.version}{source}: "
        f"{report.fragments_kept}/{report.fragments_total} fragments in {report.runs_used} ranges, "
        f"{report.files_kept}/{report.files_total} files, estimated gain {report.gain or 0.0:.0%}"
    )
    return [first, second]


def _full(report: SketchReport) -> Iterator[str]:
    yield f"  what it means: {report.decision.value}; {report.reason.value}"
    yield f"  rows from: {report.served_by.value}"
    if report.not_answered is not None:
        yield f"  not from groups: {report.not_answered.told}"
    if report.versions:
        yield "  at versions: " + ", ".join(f"{table} {version}" for table, version in report.versions.items())
    if report.recapture_reason is not None:
        yield f"  captured again: {report.recapture_reason.value}"
    if report.bytes_total is not None:
        yield f"  bytes to read: {report.bytes_kept or 0:,} of {report.bytes_total:,}"
    if report.times:
        yield "  times: " + ", ".join(f"{stage} {milliseconds:,.1f} ms" for stage, milliseconds in report.times.items())
    for other in report.also:
        yield f"  also {_short(other)[-1]}"
    if report.executed_sql:
        yield f"  Spark ran: {' '.join(report.executed_sql.split())}"
