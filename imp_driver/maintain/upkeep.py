"""What bringing the state of an entry up to date took, and how it asks Spark."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from imp_driver.persist.near_buckets import NearBuckets
from imp_driver.ports import Session, SparkReader
from imp_driver.reasons import Decision, DeltaSource, RecaptureReason
from imp_driver.values.buckets import BucketEngine
from imp_driver.values.cancel import CancellationToken
from imp_driver.values.execution import Execution
from imp_driver.values.stopwatch import Stopwatch


@dataclass(frozen=True, slots=True)
class Means:
    """What one statement lends to the upkeep of its sketches; ``buckets`` is None where states live in memory only."""

    read: SparkReader
    watch: Stopwatch
    buckets: BucketEngine | None = None
    token: CancellationToken = field(default_factory=CancellationToken)


def means_of(session: Session, execution: Execution) -> Means:
    """Return what a run lends."""

    def read(text: str, view: str | None = None, rows: pa.Table | None = None, most_bytes: int | None = None) -> pa.Table:
        return session.read(text, execution, most_bytes) if view is None else session.read_with(text, view, rows, execution)

    engine = session.buckets(execution)
    return Means(read, execution.watch, None if engine is None else NearBuckets(engine), execution.token)


@dataclass(frozen=True, slots=True)
class Upkeep:
    """``from_version`` is that of the entry's first table; ``delta_rows`` are signed rows read, ``delta_bytes`` those of their files."""

    decision: Decision
    from_version: int | None
    delta_rows: int = 0
    delta_source: DeltaSource | None = None
    recapture_reason: RecaptureReason | None = None
    detail: str = ""
    delta_bytes: int = 0
