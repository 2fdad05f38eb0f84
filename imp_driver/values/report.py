"""The report of one statement: what the driver did about a sketch, why, and what it saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason, ServedBy
from imp_driver.values.redaction import redacted
from imp_driver.values.refusal import Grounds


@dataclass(frozen=True, slots=True)
class SketchReport:
    """What happened to one statement.

    Attributes:
        template: identifier of the query template; None when the statement has none.
        decision: what was done about the sketch.
        reason: stable code why; ``detail`` adds names and numbers for people.
        sketch_id: identifier for ``DROP SKETCH``; None without a sketch.
        table, attribute: what the sketch is on.
        from_version: table version of the sketch before this statement; None when there was none.
        version: table version that the query was answered at; None when Spark chose it.
        tables: versions of all tables that the sketch stands on.
        delta_rows: signed rows that maintenance read; delta_source says where from.
        delta_bytes: of the data files that these rows lie in, of which it read some columns, and some rows where there are vectors.
        fragments_kept, fragments_total: size of the sketch, with the NULL fragment.
        runs_used: ranges conjoined to the query (0 when the filter was dropped).
        files_kept, files_total, bytes_kept, bytes_total: what the table's file statistics say Spark must read.
        gain: estimated share of the query's work that the filter saves, negative where it would cost more; None without a sketch.
        times: milliseconds of each stage, by name, in order.
        executed_sql: text that Spark ran.
        also: reports of the query's other blocks that have a sketch.
        served_by: where the rows came from; ``not_answered`` says why not from maintained groups, where these were asked.
    """

    decision: Decision
    reason: Reason
    detail: str = ""
    template: str | None = None
    sketch_id: str | None = None
    table: str | None = None
    attribute: str | None = None
    from_version: int | None = None
    version: int | None = None
    tables: Mapping[str, int] = field(default_factory=dict)
    delta_rows: int = 0
    delta_bytes: int = 0
    delta_source: DeltaSource | None = None
    recapture_reason: RecaptureReason | None = None
    fragments_kept: int | None = None
    fragments_total: int | None = None
    runs_used: int = 0
    files_kept: int | None = None
    files_total: int | None = None
    bytes_kept: int | None = None
    bytes_total: int | None = None
    gain: float | None = None
    times: Mapping[str, float] = field(default_factory=dict)
    executed_sql: str = ""
    also: tuple[SketchReport, ...] = ()
    served_by: ServedBy = ServedBy.SPARK
    not_answered: Grounds | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "detail", redacted(self.detail))

    @property
    def versions(self) -> dict[str, int]:
        """Version vector that the statement was answered at, by table; empty when Spark chose it."""
        every = (self, *self.also)
        return {table: version for report in every for table, version in report.tables.items()}
