"""One line per statement, at debug level, to the logger ``imp_driver.observe``: what was decided and why, versions, times.

No text of a statement, no constant and no value of a row is in it. Details of a report may quote these; only those are
logged that have names, counts and times alone.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator

from imp_driver.observe.outcome import Finished
from imp_driver.parse.statement import Statement, per_statement
from imp_driver.parse.template import text_without_constants
from imp_driver.reasons import Reason, RecaptureReason
from imp_driver.values.failures import described
from imp_driver.values.report import SketchReport

LOG = logging.getLogger("imp_driver.observe")
_PLAIN_DETAILS = frozenset(
    {
        Reason.FILTERED,
        Reason.COVERS_ALMOST_ALL,
        Reason.NOT_CLUSTERED,
        Reason.LIFT_NEEDED,
        Reason.OFF_GRANULE,
        Reason.CAPTURE_DEFERRED,
        Reason.MAINTENANCE_DEFERRED,
        Reason.GIVEN_UP,
        Reason.RECAPTURE_DEFERRED,
        Reason.STATE_TOO_LARGE,
        Reason.RECURSION_BY_SPARK,
        Reason.TIE_AT_LIMIT,
        Reason.NOT_A_DELTA_TABLE,
        Reason.TEMPORARY_VIEW,
        Reason.UNKNOWN_FUNCTION,
        Reason.TIME_TRAVEL,
        Reason.WINDOW_FUNCTION,
    }
)
"""Reasons whose details come from the driver's own words, names and numbers about tables."""


def log_decision(finished: Finished) -> None:
    """Write the line, if anyone listens."""
    if LOG.isEnabledFor(logging.DEBUG):
        LOG.debug("statement %s", " ".join(f"{name}={value}" for name, value in _fields(finished)))


def _fields(finished: Finished) -> Iterator[tuple[str, str]]:
    yield "tag", finished.tag
    yield "kind", finished.statement.kind.value.replace(" ", "_")
    if finished.operation:
        yield "operation", finished.operation
    shape = _shape(finished.statement.alike)
    if shape:
        yield "shape", shape
    if finished.error is not None:
        yield "error", json.dumps(described(finished.error))
    if finished.report is not None:
        yield from _reported(finished.report)
    if finished.rowcount >= 0:
        yield "rowcount", str(finished.rowcount)
    for stage, milliseconds in finished.times.items():
        yield f"{stage}_ms", f"{milliseconds:.2f}"
    yield "total_ms", f"{finished.seconds * 1000:.2f}"


@per_statement
def _shape(statement: Statement) -> str:
    """Return a hash of the statement without its constants; empty where it was not parsed."""
    return "" if statement.tree is None else hashlib.blake2s(text_without_constants(statement.tree).encode(), digest_size=6).hexdigest()


def _reported(report: SketchReport) -> Iterator[tuple[str, str]]:
    yield from _block(report, "")
    for place, other in enumerate(report.also, start=2):
        yield from _block(other, f"{place}.")


def _block(report: SketchReport, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield what is known of one block of a query; ``prefix`` tells the second and later ones apart."""
    known = {
        "template": report.template,
        "sketch": report.sketch_id,
        "decision": report.decision.name,
        "reason": report.reason.name,
        "recapture_reason": None if report.recapture_reason is None else report.recapture_reason.name,
        "detail": json.dumps(report.detail) if report.detail and has_plain_detail(report) else None,
        "attribute": None if report.attribute is None else json.dumps(f"{report.table}.{report.attribute}"),
        "versions": json.dumps(dict(report.tables), separators=(",", ":")) if report.tables else None,
        "table": json.dumps(report.table) if report.table and report.attribute is None else None,
        "from_version": report.from_version,
        "version": report.version,
        "delta_rows": report.delta_rows or None,
        "delta_bytes": report.delta_bytes or None,
        "delta_source": None if report.delta_source is None else report.delta_source.name,
        "fragments": _share(report.fragments_kept, report.fragments_total),
        "files": _share(report.files_kept, report.files_total),
        "bytes": _share(report.bytes_kept, report.bytes_total),
        "gain": report.gain,
    }
    for name, value in known.items():
        if value is not None:
            yield prefix + name, str(value)


def has_plain_detail(report: SketchReport) -> bool:
    """Say whether the detail of a report is free of values of queries and rows."""
    return report.reason in _PLAIN_DETAILS and report.recapture_reason is not RecaptureReason.CHANGES_UNREADABLE


def _share(kept: int | None, total: int | None) -> str | None:
    return None if total is None else f"{kept}/{total}"
