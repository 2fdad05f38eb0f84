"""Time grains of charts, by their ISO 8601 duration, as SQL of Spark; Spark's weeks begin on Monday."""

from __future__ import annotations

COLUMN = "{col}"
_PARTS = {"PT1S": "SECOND", "PT1M": "MINUTE", "PT1H": "HOUR", "P1D": "DAY", "P1W": "WEEK", "P1M": "MONTH", "P3M": "QUARTER", "P1Y": "YEAR"}
_SECONDS = {"PT5S": 5, "PT30S": 30, "PT5M": 300, "PT10M": 600, "PT15M": 900, "PT30M": 1800, "PT6H": 21600}
EPOCH_SECONDS = f"timestamp_seconds({COLUMN})"
EPOCH_MILLISECONDS = f"timestamp_millis({COLUMN})"


def time_grains() -> dict[str | None, str]:
    """Return an expression for each grain; None is the column as it is."""
    found: dict[str | None, str] = {None: COLUMN}
    found |= {duration: _truncated(part) for duration, part in _PARTS.items()}
    found |= {duration: _stepped(seconds) for duration, seconds in _SECONDS.items()}
    found["1969-12-29T00:00:00Z/P1W"] = _truncated("WEEK")
    found["P1W/1970-01-04T00:00:00Z"] = f"{_truncated('WEEK')} + INTERVAL 6 DAYS"
    found["1969-12-28T00:00:00Z/P1W"] = f"{_truncated('WEEK', f'{COLUMN} + INTERVAL 1 DAY')} - INTERVAL 1 DAY"
    found["P1W/1970-01-03T00:00:00Z"] = f"{_truncated('WEEK', f'{COLUMN} + INTERVAL 1 DAY')} + INTERVAL 5 DAYS"
    return found


def _truncated(part: str, operand: str = COLUMN) -> str:
    return f"date_trunc('{part}', {operand})"


def _stepped(seconds: int) -> str:
    """Count steps from 1970-01-01, the midnight of which begins all of them."""
    return f"timestamp_seconds(floor(unix_timestamp({COLUMN}) / {seconds}) * {seconds})"
