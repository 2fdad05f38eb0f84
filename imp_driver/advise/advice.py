"""Records and the table's layout -> which clustering saves what, best first.

Bytes are those of all recorded executions together: what the table's file statistics say must be read. A clustering helps some templates
and takes what they have from others; both are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imp_driver.advise.estimate import share_at
from imp_driver.capture.clustering import FEW_FILES, LARGEST_OVERLAP, overlap
from imp_driver.maintain.upkeep_times import UpkeepTime
from imp_driver.maintain.workload import Record
from imp_driver.reasons import Reason
from imp_driver.values.quoting import qualified, quoted_name
from imp_driver.values.tables import FileStatistics

LEAST_SAVING = 0.1
"""Of the table per execution; estimates are not better than that."""
MOST_READ = 0.75
"""Of a table; a query that reads more has no use of its clustering."""
CLUSTERED_FILES = 3
"""Where an average value is in so few files, the table is clustered by the column already."""
_DEFAULT_FILE = 1 << 30
"""Bytes of a file that OPTIMIZE makes unless it is told otherwise: smaller tables become one file, in which nothing can be skipped."""
_NO_ESTIMATE = "; what that would save is estimated by ADVISE SKETCHES in the process that runs the queries, or at their tenth run"
DEAR_STEP = 0.1
"""Seconds of a step that reads more rows than have changed, from which on a property of the table is advised."""
CHEAP_STEP = 0.05
"""Seconds of one that reads changed rows alone (benchmarks, workload ``feedless``)."""
LEAST_SECONDS = 1.0
"""That a property must have saved so far."""
_VECTORS, _FEED = "delta.enableDeletionVectors", "delta.enableChangeDataFeed"
_SMALL_FILE, _LARGE_FILE, _FEWEST_FILES = 16 << 20, 64 << 20, 64


@dataclass(frozen=True, slots=True)
class Layout:
    """A table as it lies there now.

    Attributes:
        table: name parts.
        overlaps: per candidate column, the share of files that hold an average value (capture/clustering.py); columns without file
            statistics, which Delta cannot cluster by, are left out.
        partitions: columns the table is partitioned by.
    """

    table: tuple[str, ...]
    table_id: str
    files: int
    bytes: int
    overlaps: dict[str, float]
    partitions: tuple[str, ...]

    @classmethod
    def of(
        cls, table: tuple[str, ...], table_id: str, files: FileStatistics, columns: Sequence[str], partitions: Sequence[str] = ()
    ) -> Layout:
        overlaps = {name: overlap(files, name) for name in columns if _has_statistics(files, name)}
        return cls(table, table_id, len(files.sizes), int(files.sizes.sum()), overlaps, tuple(partitions))

    @property
    def future_files(self) -> int:
        """Files to cut the table into: as many as it has, but neither many tiny ones nor a few huge ones."""
        enough = max(_FEWEST_FILES, self.bytes // _SMALL_FILE)
        return max(1, min(self.files, enough), self.bytes // _LARGE_FILE)

    def is_clustered_by(self, attribute: str) -> bool:
        return attribute in self.partitions or self.overlaps.get(attribute, 1.0) * self.files <= CLUSTERED_FILES

    def chosen(self, attributes: Sequence[str]) -> str | None:
        """Return the attribute that a sketch would be on now; None where the driver would refuse the template as NOT_CLUSTERED."""
        if self.files < FEW_FILES:
            return attributes[0]
        best = min(attributes, key=lambda name: round(self.overlaps.get(name, 1.0), 3))
        return best if self.overlaps.get(best, 1.0) <= LARGEST_OVERLAP else None


@dataclass(frozen=True, slots=True)
class Demand:
    """One template with what one execution reads now, in bytes; None where that is to be estimated from its record."""

    record: Record
    bytes_now: int | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """One clustering; or (``clustering`` None) a property of a table that makes its upkeep cheaper, with the reason; or (``statement`` None
    too) templates that no clustering would help, with the reason.

    ``statement`` holds several statements, each ended by a semicolon.
    """

    table: str | None
    clustering: str | None
    templates: int
    executions: int
    bytes_now: int | None
    bytes_then: int | None
    statement: str | None
    reason: str | None

    @property
    def saved(self) -> int | None:
        return None if self.bytes_now is None or self.bytes_then is None else self.bytes_now - self.bytes_then


def bytes_read_now(layout: Layout, demand: Demand) -> int:
    """Return what one execution of a template reads from the table as it lies there now."""
    if demand.bytes_now is not None:
        return demand.bytes_now
    record = demand.record
    attribute = layout.chosen(record.attributes)
    if attribute is None:
        return layout.bytes
    if record.reason == Reason.FILTERED.name:
        return min(record.last_bytes, layout.bytes)
    # A template that was last seen before the table was clustered would be sketched now.
    known = record.shares.get(attribute) if layout.is_clustered_by(attribute) else None
    return layout.bytes if known is None else _usable(int(share_at(known, layout.files) * layout.bytes), layout)


def advice_for(layout: Layout, demands: Sequence[Demand], beside: int = 0) -> Advice | None:
    """Return the clustering of one table that saves most over all of its queries together; None where none is known to pay.

    Args:
        beside: bytes that all executions skip by columns which are no candidates; the order of rows that they rest on would be lost.
    """
    candidates = dict.fromkeys(name for demand in demands for name in demand.record.attributes if name in layout.overlaps)
    found = [_advice(layout, demands, name, beside) for name in candidates if not layout.is_clustered_by(name)]
    return max(filter(None, found), key=lambda each: each.saved or 0, default=None)


def _advice(layout: Layout, demands: Sequence[Demand], attribute: str, beside: int) -> Advice | None:
    served = [demand for demand in demands if attribute in demand.record.attributes]
    if not any(attribute in demand.record.shares for demand in served):
        return None
    executions = sum(demand.record.runs for demand in served)
    now = sum(bytes_read_now(layout, demand) * demand.record.runs for demand in demands)
    then = beside + sum(_bytes_then(layout, demand, attribute) * demand.record.runs for demand in demands)
    if now - then < LEAST_SAVING * layout.bytes * executions:
        return None
    return Advice(".".join(layout.table), attribute, len(served), executions, now, then, _statement(layout, attribute), None)


def _bytes_then(layout: Layout, demand: Demand, attribute: str) -> int:
    """Without an estimate nothing is saved: sorting the table by one column also takes away the order that others profit from."""
    known = demand.record.shares.get(attribute)
    return layout.bytes if known is None else _usable(int(share_at(known, layout.future_files) * layout.bytes), layout)


def _usable(kept: int, layout: Layout) -> int:
    return kept if kept <= MOST_READ * layout.bytes else layout.bytes


def _statement(layout: Layout, attribute: str) -> str:
    table, column = qualified(layout.table), quoted_name(attribute)
    size = -(-layout.bytes // layout.future_files)
    lines = [f"SET spark.databricks.delta.optimize.maxFileSize = {size}"] if size < _DEFAULT_FILE else []
    if layout.partitions:
        lines.append(f"OPTIMIZE {table} ZORDER BY ({column})")
    else:
        lines += [f"ALTER TABLE {table} CLUSTER BY ({column})", f"OPTIMIZE {table} FULL"]
    lines += ["RESET spark.databricks.delta.optimize.maxFileSize"] if size < _DEFAULT_FILE else []
    return ";\n".join(lines) + ";"


def property_for(time: UpkeepTime, properties: Mapping[str, str]) -> Advice | None:
    """Return the property that would make following a table's changes cheaper; None where it has it, or would not save much.

    Args:
        properties: those that the table has.
    """
    saved = time.seconds - CHEAP_STEP * time.steps
    if time.seconds < DEAR_STEP * time.steps or saved < LEAST_SECONDS or properties.get(_FEED) == "true":
        return None
    # With vectors a writer leaves the files as they are, so that only the rows between two vectors are read.
    name, what = (_FEED, "a change data feed") if properties.get(_VECTORS) == "true" else (_VECTORS, "deletion vectors")
    reason = f"{time.steps} steps of upkeep took {time.seconds:.1f} s: {time.source.value}; with {what} about {saved:.1f} s less"
    statement = f"ALTER TABLE {qualified(time.table)} SET TBLPROPERTIES ('{name}' = 'true');"
    return Advice(".".join(time.table), None, 0, 0, None, None, statement, reason)


def unserved(records: Sequence[Record]) -> list[Advice]:
    """Return one line per reason for the templates that no clustering would help, most often asked first."""
    by_reason: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        is_unknown = record.reason == Reason.NOT_CLUSTERED.name and not record.shares
        by_reason.setdefault((record.table, _sentence(record.reason) + _NO_ESTIMATE * is_unknown), []).append(record)
    lines = [
        Advice(table or None, None, len(each), sum(record.runs for record in each), None, None, None, reason)
        for (table, reason), each in by_reason.items()
    ]
    return sorted(lines, key=lambda each: each.executions, reverse=True)


def _sentence(reason: str) -> str:
    return f"{reason}: {Reason[reason].value}" if reason in Reason.__members__ else reason


def _has_statistics(files: FileStatistics, column: str) -> bool:
    lower, _, _ = files.bounds(column)
    return bool(len(lower) > lower.null_count)
