"""Instants as the clocks of a zone show them, by the engine's rules of zones (``values/zones.py``)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.expression.dates import times_truncated
from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.values.codes import BooleanArray, IntegerArray
from imp_driver.values.types import INSTANT, LOCAL
from imp_driver.values.zones import Zone, known


def shown(instants: pa.Array, name: str) -> pa.Array:
    """Return what the clocks of a zone show. Raises NotEvaluable."""
    zone, times, nulls = _read(instants, name)
    return _times(zone.local(times), nulls, LOCAL)


def truncated_in_zone(instants: pa.Array, unit: str, name: str) -> pa.Array:
    """Return when the unit of time that instants lie in begins in a zone. Raises NotEvaluable."""
    zone, times, nulls = _read(instants, name)
    cut = times_truncated(_times(zone.local(times), nulls, LOCAL), unit).view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return _times(zone.unit_start(times, cut, unit), nulls, INSTANT)


def day_starts(dates: pa.Array, name: str) -> pa.Array:
    """Return when days begin in a zone. Raises NotEvaluable."""
    midnights = dates.cast(LOCAL).cast(pa.int64()).cast(INSTANT)
    zone, times, nulls = _read(midnights, name)
    return _times(zone.day_start(times), nulls, INSTANT)


def _read(instants: pa.Array, name: str) -> tuple[Zone, IntegerArray, BooleanArray]:
    zone = known(name)
    if zone is None:
        raise NotEvaluable(f"the rules of the zone {name} are not known here")
    nulls: BooleanArray = instants.is_null().to_numpy(zero_copy_only=False)
    times: IntegerArray = instants.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    if not np.all(zone.has(times) | nulls):
        raise NotEvaluable("a time before 1970 or after 9999, in a zone")
    return zone, times, nulls


def _times(values: IntegerArray, nulls: BooleanArray, kind: pa.DataType) -> pa.Array:
    return pa.array(np.where(nulls, 0, values), mask=nulls).cast(kind)
