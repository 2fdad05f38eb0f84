"""What bringing the state of an entry up to date took, and how it asks Spark."""

from __future__ import annotations

from dataclasses import dataclass, field

from imp_driver.ports import BucketEngine, SparkReader
from imp_driver.reasons import Decision, DeltaSource, RecaptureReason
from imp_driver.values.cancel import CancellationToken
from imp_driver.values.stopwatch import Stopwatch


@dataclass(frozen=True, slots=True)
class Means:
    """What one statement lends to the upkeep of its sketches; ``buckets`` is None where states live in memory only."""

    read: SparkReader
    watch: Stopwatch
    buckets: BucketEngine | None = None
    token: CancellationToken = field(default_factory=CancellationToken)


@dataclass(frozen=True, slots=True)
class Upkeep:
    """``from_version`` is that of the entry's first table; ``delta_rows`` are signed rows read."""

    decision: Decision
    from_version: int | None
    delta_rows: int = 0
    delta_source: DeltaSource | None = None
    recapture_reason: RecaptureReason | None = None
    detail: str = ""
