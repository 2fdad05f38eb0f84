"""The report of one statement: what the driver did about a sketch, why, and what it saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum

from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason, ServedBy
from imp_driver.values.redaction import redacted
from imp_driver.values.refusal import Grounds
from imp_driver.values.shown import html_table, text_table


@dataclass(frozen=True, slots=True)
class SketchReport:
    """What happened to one statement. Printed it is a short table of what matters, in a notebook too; ``to_dict()`` has all of it.

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

    def to_dict(self) -> dict[str, object]:
        """Return all fields and ``versions`` as values of JSON: codes by their names, None where there is nothing."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)} | {"versions": self.versions}

    def __str__(self) -> str:
        return text_table(self._rows())

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        return html_table(self._rows())

    def _rows(self) -> dict[str, str]:
        """Return what matters to people, by its name; what there is nothing of is left out."""
        rows = {
            "served by": f"{self.served_by.name}: {self.served_by.value}",
            "decision": self.decision.name,
            "why": self._why(),
            "not from groups": "" if self.not_answered is None else self.not_answered.told,
            "versions": ", ".join(f"{table} {version}" for table, version in self.versions.items()),
            "rows changed": "" if self.delta_source is None else f"{self.delta_rows:,} ({self.delta_source.value})",
            "captured again": "" if self.recapture_reason is None else f"{self.recapture_reason.name}: {self.recapture_reason.value}",
            "sketch": "" if self.fragments_total is None else self._sketch(),
            "time": f"{sum(self.times.values()):,.1f} ms ({', '.join(f'{name} {spent:,.1f}' for name, spent in self.times.items())})",
        }
        if self.reason is Reason.NOT_A_QUERY:
            rows = {name: rows[name] for name in ("why", "versions", "time")}
        if not self.times:
            del rows["time"]
        return {name: text for name, text in rows.items() if text}

    def _why(self) -> str:
        if self.reason is Reason.ANSWERED and self.served_by is ServedBy.STATE_AND_SPARK:
            # What the code means says that Spark had no part in it.
            return Grounds(self.reason, self.detail or "the rows come from what the driver maintains, by way of Spark").told
        return Grounds(self.reason, self.detail).told

    def _sketch(self) -> str:
        read = [f"{self.fragments_kept} of {self.fragments_total} fragments of {self.table}.{self.attribute}"]
        if self.files_total is not None:
            read.append(f"{self.files_kept} of {self.files_total} files")
        if self.bytes_total is not None and self.bytes_kept is not None:
            read.append(f"{self.bytes_kept / 1e6:,.1f} of {self.bytes_total / 1e6:,.1f} MB")
        return ", ".join(read)


def _plain(value: object) -> object:
    match value:
        case Enum():
            return value.name
        case Mapping():
            return {str(name): _plain(each) for name, each in value.items()}
        case tuple():
            return [_plain(each) for each in value]
        case SketchReport():
            return value.to_dict()
        case Grounds():
            return {"reason": value.reason.name, "detail": value.detail}
        case _:
            return value
