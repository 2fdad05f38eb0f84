"""Aggregates over frames of rows in order: differences of running sums, and extremes of what a frame has."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.ranks import ranks
from imp_driver.dataflow.window.frames import Frames
from imp_driver.values.codes import IntegerArray
from imp_driver.values.windows import Running

_WIDER = 10
"""Digits that Spark gives the sum of a decimal beyond its own."""
_MOST_DIGITS = 38
_EXACT_IN_DOUBLE = 2**53
_LARGEST = 2**63 - 1
_MOST_BESIDE = 400
"""Rows of a frame with two ends whose extreme is looked for."""


def type_of_running(kind: Running, argument: pa.DataType | None) -> pa.DataType:
    """Return Spark's type of an aggregate of a frame. Raises NotEvaluable for one that is not computed here."""
    if kind is Running.COUNT:
        return pa.int64()
    assert argument is not None
    if kind in (Running.MINIMUM, Running.MAXIMUM):
        return argument
    if pa.types.is_signed_integer(argument):
        return pa.int64() if kind is Running.SUM else pa.float64()
    if kind is Running.SUM and pa.types.is_decimal(argument) and argument.precision + _WIDER <= _MOST_DIGITS:
        return pa.decimal128(argument.precision + _WIDER, argument.scale)
    raise NotEvaluable(f"a running {kind.value} of {argument}")


def aggregated(kind: Running, values: pa.Array | None, frames: Frames) -> pa.Array:
    """Return an aggregate of each frame's values; ``values`` are those of the rows in order, None to count rows. Raises NotEvaluable."""
    if values is None:
        return pa.array(frames.sizes, pa.int64())
    result = type_of_running(kind, values.type)
    is_there = values.is_valid().to_numpy(zero_copy_only=False).astype(np.int64)
    counts = _between(np.concatenate(([0], np.cumsum(is_there))), frames)
    if kind is Running.COUNT:
        return pa.array(counts, pa.int64())
    if kind in (Running.MINIMUM, Running.MAXIMUM):
        return _extremes(values, frames, is_largest=kind is Running.MAXIMUM)
    if pa.types.is_decimal(result):
        return _decimals(values, frames, counts, result)
    return _integers(kind, values, frames, counts)


def _between(running: IntegerArray, frames: Frames) -> IntegerArray:
    """Return what is added from each frame's start to its end; ``running`` has what came before each row, then all."""
    start = np.minimum(frames.start, len(running) - 1)
    found: IntegerArray = np.where(frames.sizes > 0, running[np.maximum(frames.end, 0)] - running[start], 0)
    return found


def _integers(kind: Running, values: pa.Array, frames: Frames, counts: IntegerArray) -> pa.Array:
    numbers = values.cast(pa.int64()).fill_null(0).to_numpy()
    most = float(np.abs(numbers.astype(np.float64)).sum())
    if most >= (_LARGEST if kind is Running.SUM else _EXACT_IN_DOUBLE):
        raise NotEvaluable("a running sum that may leave 64 bits, or the whole numbers that a double has")
    sums = _between(np.concatenate(([0], np.cumsum(numbers))), frames)
    none = counts == 0
    if kind is Running.SUM:
        return pa.array(sums, pa.int64(), mask=none)
    return pa.array(sums / np.maximum(counts, 1), pa.float64(), mask=none)


def _decimals(values: pa.Array, frames: Frames, counts: IntegerArray, result: pa.DataType) -> pa.Array:
    scale = values.type.scale
    running = [0]
    with localcontext() as context:
        context.prec = _MOST_DIGITS * 2
        for value in values.to_pylist():
            running.append(running[-1] + (0 if value is None else int(value.scaleb(scale))))
        whole = np.array(running, dtype=object)
        sums = _between(whole, frames)
        found = [None if count == 0 else Decimal(int(each)).scaleb(-scale) for each, count in zip(sums, counts, strict=True)]
    return pa.array(found, result)


def _extremes(values: pa.Array, frames: Frames, *, is_largest: bool) -> pa.Array:
    if pa.types.is_floating(values.type):
        numbers = values.fill_null(1.0).to_numpy(zero_copy_only=False)
        if np.any((numbers == 0) & np.signbit(numbers)):
            raise NotEvaluable("extremes among zeros of both signs")
    own = ranks(values)
    count = int(own.max(initial=-1)) + 1
    # 0 stands for NULL, and the greatest number is the one that is looked for.
    numbers = np.where(own < 0, 0, own + 1 if is_largest else count - own)
    best = _greatest(numbers, frames)
    rank = np.where(best == 0, -1, best - 1 if is_largest else count - best)
    place = np.zeros(count + 1, dtype=np.int64)
    place[own] = np.arange(len(own))
    return values.take(pa.array(place[rank], mask=rank < 0))


def _greatest(numbers: IntegerArray, frames: Frames) -> IntegerArray:
    """Return the greatest number of each frame, 0 for a frame without rows."""
    if not len(numbers):
        return numbers
    is_there, last = frames.sizes > 0, len(numbers) - 1
    many = int(numbers.max()) + 1
    if frames.are_from_first:
        # What comes before a partition is below all of it.
        before = frames.start * many
        running = np.maximum.accumulate(before + numbers)
        return np.where(is_there, running[np.clip(frames.end - 1, 0, last)] - before, 0)
    if frames.are_to_last:
        before = (last + 1 - frames.end) * many
        running = np.maximum.accumulate((before + numbers)[::-1])[::-1]
        return np.where(is_there, running[np.clip(frames.start, 0, last)] - before, 0)
    here = np.arange(len(numbers))
    low, high = int((frames.start - here)[is_there].min(initial=0)), int((frames.end - here)[is_there].max(initial=0))
    if high - low > _MOST_BESIDE:
        raise NotEvaluable("extremes of wide frames")
    best = np.zeros(len(numbers), dtype=np.int64)
    for at in (here + offset for offset in range(low, high)):
        is_within = (at >= frames.start) & (at < frames.end)
        best = np.maximum(best, np.where(is_within, numbers[np.clip(at, 0, last)], 0))
    return best
