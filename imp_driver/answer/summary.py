"""What was done about the groups of an answered query -> one report, and the text that compares it with Spark's answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from imp_driver.answer.nested.in_buckets import InBuckets
from imp_driver.answer.nested.partial import Partials
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Upkeep
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.rewrite.splice import pin_of, pinned
from imp_driver.snapshot.reading import Reading
from imp_driver.state.maintained import Maintained
from imp_driver.values.refusal import Refused
from imp_driver.values.report import SketchReport

_DEAREST_FIRST = (Decision.CAPTURED, Decision.RECAPTURED, Decision.MAINTAINED, Decision.FRESH)


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The rows of one aggregation, at the versions of the request, and what is held of each where others are merged from them.

    Where the groups are ``in_buckets`` there are no rows.
    """

    request: Request
    relation: Maintained
    upkeep: Upkeep
    rows: pa.Table
    partials: Partials = field(default_factory=dict)
    in_buckets: InBuckets | None = None


def report_of_groups(parts: Sequence[Groups], times: Mapping[str, float]) -> SketchReport:
    """Return the report of the groups that took the most upkeep; the others are in ``also``."""
    if not parts:
        return SketchReport(Decision.FRESH, Reason.ANSWERED, "without a table", times=times)
    reports = sorted((_report(part) for part in parts), key=lambda each: _DEAREST_FIRST.index(each.decision))
    return replace(reports[0], also=tuple(reports[1:]), times=times)


def _report(part: Groups) -> SketchReport:
    upkeep, request = part.upkeep, part.request
    table = request.analysis.scans[0].table
    return SketchReport(
        decision=upkeep.decision,
        reason=Reason.ANSWERED,
        detail=", ".join(filter(None, (request.reuse, upkeep.detail))),
        template=request.template.identifier,
        sketch_id=part.relation.identifier,
        table=".".join(table),
        from_version=upkeep.from_version,
        version=request.snapshots[table].version,
        tables={".".join(name): snapshot.version for name, snapshot in request.snapshots.items()},
        delta_rows=upkeep.delta_rows,
        delta_bytes=upkeep.delta_bytes,
        delta_source=upkeep.delta_source,
        recapture_reason=upkeep.recapture_reason,
        served_by=ServedBy.STATE,
    )


def versions_of(reading: Reading, parts: Sequence[Groups]) -> dict[tuple[str, ...], int]:
    """Return the version of each table of a query, which is that of the groups where they are of it."""
    known = {snapshot.location: snapshot.version for part in parts for snapshot in part.request.tables}
    return {name: known.get(table.snapshot.location, table.snapshot.version) for name, table in reading.tables.items()}


def plain_text(reading: Reading, parts: Sequence[Groups]) -> str:
    """Return the query that reads in Spark what the answer stands for. Raises Refused where a table has no position in the text."""
    versions = versions_of(reading, parts)
    return pinned(reading.statement, [pin_of(reading.statement, scan, versions[scan.table]) for scan in reading.text.scans])


def check_one_moment(parts: Sequence[Groups]) -> None:
    """Raise Refused where another thread was faster, and one part stands for a newer version of a table than another."""
    versions: dict[str, int] = {}
    for part in parts:
        for snapshot in part.request.tables:
            if versions.setdefault(snapshot.location, snapshot.version) != snapshot.version:
                raise Refused(Reason.TABLE_CHANGED_MEANWHILE)
