"""Values as text and as JSON, written alike in tables, CSV and JSON."""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal


def as_text(value: object) -> str:
    """Return a value that is not NULL as Spark's own casts write most of them, binary ones as hexadecimal digits, nested ones as JSON."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return _float(value)
        case Decimal():
            return format(value, "f")
        case bytes():
            return value.hex().upper()
        case datetime.datetime():
            return value.isoformat(" ")
        case list() | dict() | tuple():
            return as_json(value)
    return str(value)


def as_json(value: object) -> str:
    """Return a value as JSON: decimals with all their digits, times as ISO 8601, what JSON has no form for as text."""
    match value:
        case None:
            return "null"
        case bool() | int() | Decimal():
            return as_text(value)
        case float() if math.isfinite(value):
            return as_text(value)
        case dict():
            return "{" + ", ".join(f"{_quoted(as_text(name))}: {as_json(each)}" for name, each in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(as_json, value)) + "]"
        case datetime.datetime():
            return _quoted(value.isoformat())
    return _quoted(as_text(value))


def _float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return repr(value) if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
