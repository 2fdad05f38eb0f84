"""What bringing the state of an entry up to date took, and how it asks Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from imp_driver.reasons import Decision, DeltaSource, RecaptureReason


class SparkReader(Protocol):
    """Reads a query of the driver's own; with ``rows``, these are visible under the name ``view``."""

    def __call__(self, text: str, view: str | None = None, rows: pa.Table | None = None) -> pa.Table: ...


@dataclass(frozen=True, slots=True)
class Upkeep:
    """``from_version`` is that of the entry's first table; ``delta_rows`` are signed rows read."""

    decision: Decision
    from_version: int | None
    delta_rows: int = 0
    delta_source: DeltaSource | None = None
    recapture_reason: RecaptureReason | None = None
    detail: str = ""
