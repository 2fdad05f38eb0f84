"""What was done about the blocks of one query -> one report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from imp_driver.reasons import Reason, ServedBy
from imp_driver.rewrite.use import Part
from imp_driver.values.report import SketchReport


def report_of(parts: Sequence[Part]) -> SketchReport:
    """Return the report of the block that is cut and skips the most bytes; the others are in ``also``."""
    reports = sorted((_report(part) for part in parts), key=_gain, reverse=True)
    return replace(reports[0], also=tuple(reports[1:]))


def _gain(report: SketchReport) -> tuple[bool, int]:
    return report.reason is Reason.FILTERED, (report.bytes_total or 0) - (report.bytes_kept or 0)


def _report(part: Part) -> SketchReport:
    upkeep, sketch, coverage = part.prepared.upkeep, part.cut.sketch, part.use.coverage
    table = part.cut.cuts[0].scan.table
    return SketchReport(
        decision=upkeep.decision,
        reason=Reason.FILTERED if part.use.is_filter else Reason.COVERS_ALMOST_ALL,
        detail="; ".join(filter(None, (upkeep.detail, part.prepared.reuse))),
        template=part.request.template.identifier,
        sketch_id=part.prepared.relation.identifier,
        table=".".join(table),
        attribute=sketch.attribute,
        from_version=upkeep.from_version,
        version=sketch.versions[part.request.snapshots[table].location],
        tables={".".join(name): sketch.versions[each.location] for name, each in part.request.snapshots.items()},
        delta_rows=upkeep.delta_rows,
        delta_bytes=upkeep.delta_bytes,
        delta_source=upkeep.delta_source,
        recapture_reason=upkeep.recapture_reason,
        fragments_kept=sketch.fragments.count,
        fragments_total=sketch.fragments.total,
        runs_used=part.use.runs,
        files_kept=coverage.files_kept,
        files_total=coverage.files_total,
        bytes_kept=coverage.bytes_kept,
        bytes_total=coverage.bytes_total,
        gain=round(part.use.gain, 3),
        served_by=ServedBy.SKETCH if part.use.is_filter else ServedBy.SPARK,
    )
