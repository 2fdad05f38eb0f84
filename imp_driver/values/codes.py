"""Order-preserving codes of orderable values, the common currency of group keys, range bounds and min/max buffers.

In: an Arrow array of one of the orderable types. Out: numpy codes (int64, or Python objects for strings and wide decimals) and a NULL mask.
Invariant: codes compare exactly as Spark compares the values: NaN equals itself and is above every number, -0.0 equals 0.0,
strings compare by their UTF-8 bytes. Equal values have equal codes, so codes also serve for grouping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

BooleanArray: TypeAlias = npt.NDArray[np.bool_]
IntegerArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
CodeArray: TypeAlias = npt.NDArray[Any]

INT64_DECIMAL_DIGITS = 18
_SIGN_MASK = np.int64(0x7FFF_FFFF_FFFF_FFFF)
# No UTF-8 byte exceeds 0xF4, so 0xFE - byte is a byte below the terminator 0xFF that reversed strings end in.
_REVERSE_BYTES = bytes(0xFE - byte if byte <= 0xFE else 0xFF for byte in range(256))
TOP_STRING = b"\xff\xff"
"""Greater than every string and every reversed string."""
_TOP_DECIMAL = 10**40


def float_codes(values: FloatArray) -> IntegerArray:
    """Return int64 codes that sort as Spark sorts doubles."""
    normal = np.where(np.isnan(values), np.nan, values) + 0.0
    bits = normal.view(np.int64)
    codes: IntegerArray = bits ^ ((bits >> 63) & _SIGN_MASK)
    return codes


def floats_of(codes: IntegerArray) -> FloatArray:
    """Invert float_codes."""
    bits = codes ^ ((codes >> 63) & _SIGN_MASK)
    return bits.view(np.float64)


NAN_CODE = int(float_codes(np.array([np.nan]))[0])


def decimal_halves(array: pa.Array) -> tuple[IntegerArray, npt.NDArray[np.uint64]]:
    """Return the high (signed) and low (unsigned) 64 bits of the unscaled values of a decimal128 array; 0 where NULL."""
    words = (
        np.frombuffer(array.buffers()[1], dtype=np.int64)[2 * array.offset : 2 * (array.offset + len(array))] if len(array) else _NO_WORDS
    )
    high, low = words[1::2], words[0::2]
    if array.null_count:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        high, low = np.where(valid, high, 0), np.where(valid, low, 0)
    return np.ascontiguousarray(high), np.ascontiguousarray(low).view(np.uint64)


_NO_WORDS = np.zeros(0, dtype=np.int64)


def one_array(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a contiguous array; one that is one already is not copied."""
    if not isinstance(array, pa.ChunkedArray):
        return array
    return array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()


def is_string(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_string(data_type) or pa.types.is_large_string(data_type) or pa.types.is_string_view(data_type))


def is_orderable(data_type: pa.DataType) -> bool:
    """Say whether values of this type have codes."""
    types = pa.types
    return bool(
        types.is_signed_integer(data_type)
        or types.is_float32(data_type)
        or types.is_float64(data_type)
        or types.is_decimal128(data_type)
        or types.is_boolean(data_type)
        or types.is_date32(data_type)
        or (types.is_timestamp(data_type) and data_type.unit == "us")
        or is_string(data_type)
    )


@dataclass(frozen=True, slots=True)
class Codec:
    """Codes of one Arrow type. Raises TypeError when the type has no supported order."""

    type: pa.DataType

    def __post_init__(self) -> None:
        if not is_orderable(self.type):
            raise TypeError(
                f"values of type {self.type} cannot be ordered into codes; use a number, string, boolean, date32 or timestamp[us]"
            )

    @property
    def is_float(self) -> bool:
        return bool(pa.types.is_floating(self.type))

    @property
    def is_object(self) -> bool:
        """Whether codes are Python objects (bytes of strings, unscaled integers of wide decimals)."""
        return is_string(self.type) or (pa.types.is_decimal(self.type) and self.type.precision > INT64_DECIMAL_DIGITS)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(object) if self.is_object else np.dtype(np.int64)

    @property
    def zero(self) -> Any:
        """A code to put where there is no value."""
        return b"" if is_string(self.type) else 0

    @property
    def top(self) -> Any:
        """A code at or above every code and every reversed code."""
        if is_string(self.type):
            return TOP_STRING
        return _TOP_DECIMAL if self.is_object else np.iinfo(np.int64).max

    def canonical(self, array: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Return an array that Arrow hashes as Spark groups: the type itself, int64 codes for floats."""
        found = plain(one_array(array))
        if found.type != self.type:
            found = found.cast(self.type)
        if not self.is_float:
            return found
        values = found.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
        mask = found.is_null().to_numpy(zero_copy_only=False) if found.null_count else None
        return pa.array(float_codes(values), mask=mask)

    def codes_of(self, canonical: pa.Array) -> tuple[CodeArray, BooleanArray]:
        """Return (codes, NULL mask) of an array made by ``canonical``."""
        nulls: BooleanArray = (
            canonical.is_null().to_numpy(zero_copy_only=False) if canonical.null_count else np.zeros(len(canonical), dtype=bool)
        )
        if is_string(self.type):
            return canonical.fill_null("").cast(pa.large_binary()).to_numpy(zero_copy_only=False), nulls
        if pa.types.is_decimal(self.type):
            high, low = decimal_halves(canonical)
            if not self.is_object:
                return low.view(np.int64), nulls
            codes = np.empty(len(canonical), dtype=object)
            codes[:] = [(h << 64) | w for h, w in zip(high.tolist(), low.tolist(), strict=True)]
            return codes, nulls
        if pa.types.is_boolean(self.type):
            canonical = canonical.cast(pa.int8())
        elif pa.types.is_date32(self.type):
            canonical = canonical.view(pa.int32())
        elif pa.types.is_timestamp(self.type):
            canonical = canonical.view(pa.int64())
        filled = canonical.fill_null(0) if canonical.null_count else canonical
        return filled.to_numpy(zero_copy_only=False).astype(np.int64, copy=False), nulls

    def encode(self, array: pa.Array | pa.ChunkedArray) -> tuple[CodeArray, BooleanArray]:
        """Return (codes, NULL mask)."""
        return self.codes_of(self.canonical(array))

    def decode(self, codes: CodeArray, nulls: BooleanArray) -> pa.Array:
        """Invert ``encode``."""
        if is_string(self.type):
            return pa.array(codes, type=pa.binary(), mask=nulls).cast(self.type)
        if pa.types.is_decimal(self.type):
            return _decimals(codes, nulls, self.type)
        if self.is_float:
            return pa.array(floats_of(codes.astype(np.int64)), mask=nulls).cast(self.type)
        integers = pa.array(codes.astype(np.int64), mask=nulls)
        if pa.types.is_date32(self.type):
            return integers.cast(pa.int32()).view(self.type)
        if pa.types.is_timestamp(self.type):
            return integers.view(self.type)
        if pa.types.is_boolean(self.type):
            return pc.not_equal(integers, 0)
        return integers.cast(self.type)

    def reverse(self, codes: CodeArray) -> CodeArray:
        """Return codes that compare the other way round."""
        if not is_string(self.type):
            return ~codes
        result = np.empty(len(codes), dtype=object)
        result[:] = [code.translate(_REVERSE_BYTES) + b"\xff" for code in codes.tolist()]
        return result

    def restore(self, codes: CodeArray) -> CodeArray:
        """Invert ``reverse``."""
        if not is_string(self.type):
            return ~codes
        result = np.empty(len(codes), dtype=object)
        result[:] = [code[:-1].translate(_REVERSE_BYTES) for code in codes.tolist()]
        return result


def _decimals(codes: CodeArray, nulls: BooleanArray, data_type: pa.DataType) -> pa.Array:
    if codes.dtype == object:
        data = b"".join(int(code).to_bytes(16, "little", signed=True) for code in codes.tolist())
    else:
        words = np.empty((len(codes), 2), dtype=np.int64)
        words[:, 0], words[:, 1] = codes, codes >> 63
        data = words.tobytes()
    validity = pa.py_buffer(np.packbits(~nulls, bitorder="little").tobytes())
    return pa.Array.from_buffers(data_type, len(codes), [validity, pa.py_buffer(data)])


def plain(array: pa.Array) -> pa.Array:
    """Return the values of an array that may be a dictionary."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def as_grouped(array: pa.Array) -> pa.Array:
    """Return the values that Spark groups by: 0.0 for -0.0, and one NaN."""
    if not pa.types.is_floating(array.type):
        return array
    codec = Codec(array.type)
    return codec.decode(*codec.encode(array))
