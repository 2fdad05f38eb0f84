"""The one type that Spark brings several values to, of columns that become one."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}
"""Digits of the decimal that Spark takes an integer of so many bits for."""


def least_bits(value: int) -> int:
    """Return the width of the narrowest integer type that holds a value; 128 where none does."""
    return next((bits for bits in INTEGER_DIGITS if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)), 128)


def common_type(kinds: Sequence[pa.DataType]) -> pa.DataType | None:
    """Return the type that Spark brings the branches of a CASE to, None where that is not certain; NULL has any type."""
    known = list(dict.fromkeys(kind for kind in kinds if not pa.types.is_null(kind)))
    if len(known) < 2:
        return known[0] if known else None
    if all(map(pa.types.is_signed_integer, known)):
        return max(known, key=lambda kind: kind.bit_width)
    if not all(map(is_number, known)) or any(map(pa.types.is_float32, known)):
        return None
    if any(map(pa.types.is_float64, known)):
        return pa.float64()
    decimals = [kind if pa.types.is_decimal(kind) else pa.decimal128(INTEGER_DIGITS[kind.bit_width], 0) for kind in known]
    scale = max(kind.scale for kind in decimals)
    precision = max(kind.precision - kind.scale for kind in decimals) + scale
    return pa.decimal128(precision, scale) if precision <= 38 else None


def is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
