"""The day and the time of a query, by the engine's clock and its rules of zones, which may be others than Python's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from imp_driver.ports import Moment
from imp_driver.spark.classes import java_class
from imp_driver.values.zones import BEGIN, CYCLE, REPEATS_FROM, Zone

_ZONES = "org.apache.spark.sql.catalyst.util.DateTimeUtils"


def zone_rules(jvm: Any, name: str) -> Zone:
    """Return the rules of a zone as the JVM has them; a name is read as Spark reads it."""
    rules = java_class(jvm, _ZONES).getZoneId(name).getRules()
    begin = java_class(jvm, "java.time.Instant").ofEpochSecond(BEGIN)
    changes: list[int] = []
    offsets = [int(rules.getOffset(begin).getTotalSeconds())]
    change = rules.nextTransition(begin)
    while change is not None and (second := int(change.toEpochSecond())) < REPEATS_FROM + CYCLE:
        changes.append(second)
        offsets.append(int(change.getOffsetAfter().getTotalSeconds()))
        change = rules.nextTransition(change.getInstant())
    return Zone.of(name, changes, offsets)


def moment(jvm: Any, zone: str) -> Moment:
    """Return what ``current_date()`` and ``now()`` are in a session of a zone now."""
    now = java_class(jvm, "java.time.ZonedDateTime").now(java_class(jvm, _ZONES).getZoneId(zone))
    # As in 2024-03-01T10:15:30.123456789+01:00[Europe/Berlin].
    found = datetime.fromisoformat(str(now.toString()).partition("[")[0])
    return Moment(found.date(), found.astimezone(UTC))
