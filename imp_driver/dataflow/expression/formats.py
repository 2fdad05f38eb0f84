"""Texts of times without zone, by patterns. Source: date_format of Spark 4.2, whose names of months and days are English."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.dates import times_truncated
from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.values.date_patterns import as_arrow_writes

_FIRST = -141_427 * 86_400
"""1582-10-15 in seconds since 1970; before, Spark's older parser policy counts by another calendar."""


def formatted(times: pa.Array, pattern: str) -> pa.Array:
    """Return the text of each time. Raises NotEvaluable."""
    # Arrow would write parts of seconds.
    seconds = times_truncated(times, "second").cast(pa.timestamp("s"))
    first = pc.min(seconds).value
    if first is not None and first < _FIRST:
        raise NotEvaluable("date_format of a time before the Gregorian calendar")
    return pc.strftime(seconds, format=as_arrow_writes(pattern), locale="C")
