"""The day of a query, by the engine's clock and its rules of zones, which may be others than Python's."""

from __future__ import annotations

from datetime import date
from typing import Any

from imp_driver.spark.classes import java_class

_ZONES = "org.apache.spark.sql.catalyst.util.DateTimeUtils"


def today(jvm: Any, zone: str) -> date:
    """Return what ``current_date()`` is in a session of a zone now."""
    day = java_class(jvm, "java.time.LocalDate").now(java_class(jvm, _ZONES).getZoneId(zone))
    return date.fromisoformat(str(day.toString()))
