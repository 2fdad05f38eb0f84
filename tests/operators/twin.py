"""What Spark may answer for the values of one group, in plain Python: the slow twin of the accumulators (model.py)."""

from __future__ import annotations

import functools
import math
import operator
import random
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from imp_driver.values.aggregates import DIGITS_OF_DOUBLES, OF_MULTISETS, AccumulatorKind, AggregateSpecification, ValueForm

K = AccumulatorKind


class Nan:
    """Stands for NaN, equal to itself and hashable."""

    def __repr__(self) -> str:
        return "NaN"


NAN = Nan()


def canonical(value: Any) -> Any:
    """Return a value that is equal exactly when Spark groups it."""
    if isinstance(value, float):
        return NAN if math.isnan(value) else value + 0.0
    return value


def rank(value: Any) -> tuple[int, Any]:
    """Order non-NULL values as Spark does."""
    value = canonical(value)
    if value is NAN:
        return (1, 0)
    return (0, value.encode() if isinstance(value, str) else value)


def scale_of(spec: AggregateSpecification) -> int:
    assert spec.argument_type is not None
    return int(spec.argument_type.scale) if pa.types.is_decimal(spec.argument_type) else 0


def wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def added(values: Sequence[float], chance: random.Random) -> float:
    """Add doubles in a random order and nesting."""
    parts = list(values)
    while len(parts) > 1:
        left, right = (parts.pop(chance.randrange(len(parts))) for _ in range(2))
        parts.append(left + right)
    return parts[0] if parts else 0.0


def exact_decimal(value: Fraction, scale: int) -> Decimal | None:
    """Return the decimal, rounded half up to ``scale``; None beyond 38 digits."""
    shifted = abs(value) * 10**scale
    unscaled = math.floor(shifted + Fraction(1, 2))
    if unscaled >= 10**38:
        return None
    digits = tuple(int(digit) for digit in str(unscaled))
    return Decimal((1 if value < 0 else 0, digits, -scale))


def aggregate(spec: AggregateSpecification, values: Sequence[Any], chance: random.Random) -> Any:
    """Return what Spark may answer; doubles are added in a random order."""
    present = [value for value in values if value is not None]
    if spec.kind is K.COUNT_ROWS:
        return len(values)
    if spec.kind is K.COUNT:
        return len(present)
    if spec.kind is K.COUNT_DISTINCT:
        return len({canonical(value) for value in present})
    if not present:
        return None
    if spec.kind in OF_MULTISETS:
        return of_multiset(spec, present, chance)
    average = spec.form is ValueForm.AVERAGE
    match spec.kind:
        case K.SUM_INTEGER | K.SUM_LONG:
            return wrapped(sum(present))
        case K.AVERAGE_INTEGER:
            return added([float(value) for value in present], chance) / len(present)
        case K.SUM_DECIMAL | K.SUM_WIDE_DECIMAL:
            total = sum((Fraction(value) for value in present), Fraction(0))
            scale = scale_of(spec)
            assert spec.argument_type is not None
            if average and spec.argument_type.precision <= DIGITS_OF_DOUBLES:
                double = float(total * 10**scale) / len(present) / 10.0**scale
                return Decimal(repr(double)).quantize(Decimal(1).scaleb(-scale - 4), ROUND_HALF_UP)
            if average:
                return exact_decimal(total / len(present), min(38, scale + 4))
            return exact_decimal(total, scale)
        case K.BOOLEAN_AND | K.BOOLEAN_OR:
            return all(present) if spec.kind is K.BOOLEAN_AND else any(present)
        case K.VARIANCE:
            return merged_variance([float(value) for value in present], spec.form, chance)
        case K.SUM_FLOAT | K.SUM_FLOAT_EXACT:
            total_float = added(present, chance)
            return total_float / len(present) if average else total_float
        case _:
            return sorted(present, key=rank)[-1 if spec.kind is K.MAXIMUM else 0]


_BITS: dict[K, Callable[[int, int], int]] = {K.BIT_AND: operator.and_, K.BIT_OR: operator.or_, K.BIT_XOR: operator.xor}


def of_multiset(spec: AggregateSpecification, present: Sequence[Any], chance: random.Random) -> Any:
    """Return an aggregate of distinct or ordered values, of which there are some."""
    if spec.kind in _BITS:
        return functools.reduce(_BITS[spec.kind], present)
    if spec.kind is K.PERCENTILE:
        return percentile(spec, sorted(present, key=rank))
    distinct = list({canonical(value): value for value in present}.values())
    return aggregate(summed_once(spec), distinct, chance)


def summed_once(spec: AggregateSpecification) -> AggregateSpecification:
    """Return the same sum without DISTINCT."""
    kind = K.SUM_DECIMAL if pa.types.is_decimal(spec.argument_type) else K.SUM_FLOAT_EXACT
    if pa.types.is_integer(spec.argument_type):
        kind = K.AVERAGE_INTEGER if spec.form is ValueForm.AVERAGE else K.SUM_LONG
    return AggregateSpecification(kind, spec.form, spec.argument_type)


def percentile(spec: AggregateSpecification, ordered: list[Any]) -> float:
    """Return the value at a share of a list that is written out."""
    assert spec.share is not None
    if spec.share.is_descending:
        ordered = ordered[::-1]
    if not spec.share.is_interpolated:
        return float(ordered[max(math.ceil(len(ordered) * spec.share.value), 1) - 1])
    position = (len(ordered) - 1) * spec.share.value
    lower, upper = ordered[math.floor(position)], ordered[math.ceil(position)]
    if canonical(lower) == canonical(upper):
        return float(lower)
    return (math.ceil(position) - position) * float(lower) + (position - math.floor(position)) * float(upper)


def merged_variance(values: Sequence[float], form: ValueForm, chance: random.Random) -> float | None:
    """Return what CentralMomentAgg of Spark 4.2 may come to: values update some buffers, which are merged in a random order."""
    buffers: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)] * chance.randint(1, 3)
    for value in values:
        place = chance.randrange(len(buffers))
        number, mean, moment = buffers[place]
        delta = value - mean
        step_of_mean = delta / (number + 1.0)
        buffers[place] = (number + 1.0, mean + step_of_mean, moment + delta * (delta - step_of_mean))
    chance.shuffle(buffers)
    whole = (0.0, 0.0, 0.0)
    for number, mean, moment in buffers:
        together = whole[0] + number
        delta = mean - whole[1]
        step_of_mean = delta / together if together else 0.0
        whole = (together, whole[1] + step_of_mean * number, whole[2] + moment + delta * step_of_mean * whole[0] * number)
    if form in (ValueForm.SAMPLE_VARIANCE, ValueForm.SAMPLE_DEVIATION):
        if len(values) == 1:
            return None
        variance = whole[2] / (whole[0] - 1.0)
    else:
        variance = whole[2] / whole[0]
    return math.sqrt(variance) if form in (ValueForm.POPULATION_DEVIATION, ValueForm.SAMPLE_DEVIATION) else variance
