"""What is told of an answer from the solutions of a pattern."""

from __future__ import annotations

from collections.abc import MutableMapping

from imp_driver.answer.graphs.answers import TableVersions
from imp_driver.maintain.upkeep import Upkeep
from imp_driver.reasons import Reason, ServedBy
from imp_driver.values.report import SketchReport


def report_of_solutions(upkeep: Upkeep, found: TableVersions, times: MutableMapping[str, float], identifier: str | None) -> SketchReport:
    """Return the report of rows that come from solutions at some versions; ``identifier`` is that of their state, if they are kept."""
    versions = {".".join(name): version for name, version in found.items()}
    first = next(iter(versions), None)
    return SketchReport(
        upkeep.decision,
        Reason.ANSWERED,
        upkeep.detail,
        table=first,
        from_version=upkeep.from_version,
        version=None if first is None else versions[first],
        tables=versions,
        delta_rows=upkeep.delta_rows,
        delta_bytes=upkeep.delta_bytes,
        delta_source=upkeep.delta_source,
        recapture_reason=upkeep.recapture_reason,
        times=times,
        served_by=ServedBy.STATE,
        sketch_id=identifier,
    )
