"""Functions by name: which computation gives the values of each (their types: ``values/function_types.py``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression import dates, read_texts, rounding, texts, zones
from imp_driver.dataflow.expression.arithmetic import absolute, arithmetic, negated, to_double
from imp_driver.dataflow.expression.casts import cast_as_spark
from imp_driver.dataflow.expression.comparison import compare
from imp_driver.dataflow.expression.decimals import decimals_of, remainders, rescaled, unscaled
from imp_driver.dataflow.expression.formats import formatted
from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.dataflow.expression.rounding import integers_of
from imp_driver.values.codes import is_string
from imp_driver.values.expressions import Value
from imp_driver.values.function_types import function_type

Arrays: TypeAlias = Sequence[pa.Array]
Computation: TypeAlias = Callable[[Arrays, Sequence[Any], pa.DataType], pa.Array]


def applied(name: str, operands: Arrays, arguments: Sequence[Value]) -> pa.Array:
    """Return a function's value per row. Raises NotEvaluable."""
    kind = function_type(name, [operand.type for operand in operands], arguments)
    if kind is None:
        raise NotEvaluable(f"{name} of {', '.join(str(operand.type) for operand in operands)} is not computed in process")
    return _COMPUTATIONS[name](operands, arguments, kind)


def _positive_remainders(operands: Arrays, _: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """A remainder below 0 has the divisor added, and its remainder taken again."""
    if pa.types.is_floating(kind):
        raise NotEvaluable("pmod of doubles is rounded on its way")
    left, right = operands
    # A zero divisor and sums beyond the type are refused.
    first = arithmetic("%", left, right)
    scale = max(each.type.scale if pa.types.is_decimal(each.type) else 0 for each in operands)
    (rest, nulls), (divisor, no_divisor) = unscaled(first), unscaled(right)
    own = first.type.scale if pa.types.is_decimal(first.type) else 0
    if own != scale:
        raise NotEvaluable("a remainder that is rounded")
    divisor = rescaled(np.where(no_divisor, 1, divisor), right.type.scale if pa.types.is_decimal(right.type) else 0, scale)
    total = np.where(rest < 0, rest + divisor, 0)
    found = np.where(rest < 0, remainders(total, divisor), rest)
    if pa.types.is_decimal(kind):
        return decimals_of(found, nulls, kind)
    integers_of(total, nulls, kind)
    return integers_of(found, nulls, kind)


def _whole_quotients(operands: Arrays, _: Sequence[Any], kind: pa.DataType) -> pa.Array:
    (a, no_a), (b, no_b) = map(unscaled, operands)
    if np.any((b == 0) & ~no_b & ~no_a):
        raise NotEvaluable("a division by zero depends on settings")
    b = np.where(no_a | no_b, 1, b)
    found = abs(a) // abs(b)
    return integers_of(np.where((a < 0) != (b < 0), -found, found), no_a | no_b, kind)


def _extreme(operator: str) -> Computation:
    """The first of the greatest, or least, values that are not NULL."""

    def computed(operands: Arrays, _: Sequence[Any], kind: pa.DataType) -> pa.Array:
        found, *others = (cast_as_spark(each, kind) for each in operands)
        for each in others:
            is_better = compare(operator, each, found).fill_null(False)
            found = pc.if_else(pc.or_(is_better, found.is_null()), each, found)
        return found

    return computed


def _tried(operands: Arrays, _: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Of other values than texts it is a cast, which is computed where it succeeds."""
    (values,) = operands
    if values.null_count == len(values):
        return pa.nulls(len(values), kind)
    return read_texts.read(values, kind) if is_string(values.type) else cast_as_spark(values, kind)


def _is_signed(values: pa.Array) -> pa.Array:
    return pa.array(np.signbit(values.fill_null(0.0).to_numpy(zero_copy_only=False)))


_COMPUTATIONS: Mapping[str, Computation] = {
    "upper": lambda operands, _, kind: texts.cased(operands[0], is_upper=True),
    "lower": lambda operands, _, kind: texts.cased(operands[0], is_upper=False),
    "length": lambda operands, _, kind: pc.utf8_length(texts.text(operands[0])).cast(kind),
    "substring": lambda operands, arguments, kind: texts.substring(operands[0], arguments[0], arguments[1]),
    "right": lambda operands, arguments, kind: texts.right(operands[0], arguments[0]),
    "concat": lambda operands, _, kind: texts.concatenated(operands),
    "trim": lambda operands, arguments, kind: texts.trimmed(operands[0], "trim", arguments[0]),
    "ltrim": lambda operands, arguments, kind: texts.trimmed(operands[0], "ltrim", arguments[0]),
    "rtrim": lambda operands, arguments, kind: texts.trimmed(operands[0], "rtrim", arguments[0]),
    "replace": lambda operands, arguments, kind: texts.replaced(operands[0], arguments[0], arguments[1]),
    "removed": lambda operands, arguments, kind: texts.removed(operands[0], arguments[0]),
    "extracted": lambda operands, arguments, kind: read_texts.extracted(operands[0], arguments[0], arguments[1]),
    "try_cast": _tried,
    "isnan": lambda operands, _, kind: pc.is_nan(operands[0]).fill_null(False),
    "lpad": lambda operands, arguments, kind: texts.padded(operands[0], arguments[0], arguments[1], at_left=True),
    "rpad": lambda operands, arguments, kind: texts.padded(operands[0], arguments[0], arguments[1], at_left=False),
    "startswith": lambda operands, arguments, kind: pc.starts_with(texts.text(operands[0]), arguments[0]),
    "endswith": lambda operands, arguments, kind: pc.ends_with(texts.text(operands[0]), arguments[0]),
    "contains": lambda operands, arguments, kind: pc.match_substring(texts.text(operands[0]), arguments[0]),
    "later": lambda operands, arguments, kind: dates.later(operands[0], arguments[0], arguments[1]),
    "datediff": lambda operands, _, kind: dates.days_between(operands[0], operands[1]),
    "add_months": lambda operands, arguments, kind: dates.months_later(operands[0], arguments[0]),
    "last_day": lambda operands, _, kind: dates.last_day(operands[0]),
    "trunc": lambda operands, arguments, kind: dates.truncated(operands[0], arguments[0]),
    "date_trunc": lambda operands, arguments, kind: dates.times_truncated(operands[0], arguments[0]),
    "date_format": lambda operands, arguments, kind: formatted(operands[0], arguments[0]),
    "local": lambda operands, _, kind: operands[0].cast(kind),
    "instant": lambda operands, _, kind: operands[0].cast(kind),
    "shown": lambda operands, arguments, kind: zones.shown(operands[0], arguments[0]),
    "trunc_in_zone": lambda operands, arguments, kind: zones.truncated_in_zone(operands[0], arguments[0], arguments[1]),
    "day_start": lambda operands, arguments, kind: zones.day_starts(operands[0], arguments[0]),
    "unix_micros": lambda operands, _, kind: operands[0].cast(kind),
    "negative": lambda operands, _, kind: negated(operands[0]),
    "abs": lambda operands, _, kind: absolute(operands[0]),
    "sign": lambda operands, _, kind: rounding.signs(to_double(operands[0])),
    "is_minus_zero": lambda operands, _, kind: pc.and_(pc.equal(operands[0], 0.0), _is_signed(operands[0])),
    "round": lambda operands, arguments, kind: rounding.rounded(operands[0], arguments[0], kind, to_even=False),
    "bround": lambda operands, arguments, kind: rounding.rounded(operands[0], arguments[0], kind, to_even=True),
    "floor": lambda operands, _, kind: rounding.whole(operands[0], kind, is_up=False),
    "ceil": lambda operands, _, kind: rounding.whole(operands[0], kind, is_up=True),
    "pmod": _positive_remainders,
    "div": _whole_quotients,
    "greatest": _extreme(">"),
    "least": _extreme("<"),
}
