"""The day and the time of a query, by the engine's clock and its rules of zones, which may be others than Python's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from imp_driver.ports import Moment
from imp_driver.spark.classes import java_class

_ZONES = "org.apache.spark.sql.catalyst.util.DateTimeUtils"


def moment(jvm: Any, zone: str) -> Moment:
    """Return what ``current_date()`` and ``now()`` are in a session of a zone now."""
    now = java_class(jvm, "java.time.ZonedDateTime").now(java_class(jvm, _ZONES).getZoneId(zone))
    # As in 2024-03-01T10:15:30.123456789+01:00[Europe/Berlin].
    found = datetime.fromisoformat(str(now.toString()).partition("[")[0])
    return Moment(found.date(), found.astimezone(UTC))
