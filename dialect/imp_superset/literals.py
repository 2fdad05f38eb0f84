"""Moments of a chart's time filter as literals of a column's type."""

from __future__ import annotations

from datetime import UTC, datetime


def literal(kind: str, moment: datetime) -> str | None:
    """Return the literal for a column of this type of Spark; None where the column has another one.

    Superset gives a moment without zone, which is UTC. A TIMESTAMP gets that zone, whatever that of the session is.
    """
    name = kind.upper()
    if name == "DATE":
        return f"DATE'{moment.date().isoformat()}'"
    if name in ("TIMESTAMP_NTZ", "DATETIME"):
        return f"TIMESTAMP_NTZ'{moment.replace(tzinfo=None).isoformat(sep=' ')}'"
    if name == "TIMESTAMP":
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return f"TIMESTAMP'{aware.isoformat(sep=' ')}'"
    return None
