"""What bringing the state of an entry up to date took, and how it asks Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from imp_driver.observe.stopwatch import Stopwatch
from imp_driver.ports import BucketEngine
from imp_driver.reasons import Decision, DeltaSource, RecaptureReason


class SparkReader(Protocol):
    """Reads a query of the driver's own; with ``rows``, these are visible under the name ``view``."""

    def __call__(self, text: str, view: str | None = None, rows: pa.Table | None = None, most_bytes: int | None = None) -> pa.Table:
        """Raises Error, ResultTooLarge beyond ``most_bytes``."""


@dataclass(frozen=True, slots=True)
class Means:
    """What one statement lends to the upkeep of its sketches; ``buckets`` is None where states live in memory only."""

    read: SparkReader
    watch: Stopwatch
    buckets: BucketEngine | None = None


@dataclass(frozen=True, slots=True)
class Upkeep:
    """``from_version`` is that of the entry's first table; ``delta_rows`` are signed rows read."""

    decision: Decision
    from_version: int | None
    delta_rows: int = 0
    delta_source: DeltaSource | None = None
    recapture_reason: RecaptureReason | None = None
    detail: str = ""
