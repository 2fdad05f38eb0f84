"""Columns in fewer bytes: numbers, dates and decimals as the narrowest whole numbers that hold them, text that repeats as a dictionary.

What is kept of data files takes a third of the memory so, and small pieces of it are made wide again when they are read.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.values.codes import INT64_DECIMAL_DIGITS, decimal_halves

_WIDTHS = (pa.int8(), pa.int16(), pa.int32())
_MOST_DISTINCT = 0.25
"""Share of different texts above which a dictionary saves too little."""
_SAMPLE = 10_000


def narrowed(values: pa.Array) -> pa.Array:
    """Return the same values, NULL where they are NULL, in the fewest bytes that are known here; ``widened`` inverts it."""
    kind = values.type
    if pa.types.is_signed_integer(kind):
        return _narrowest(values)
    if pa.types.is_date32(kind):
        return _narrowest(values.view(pa.int32()))
    if pa.types.is_decimal128(kind) and kind.precision <= INT64_DECIMAL_DIGITS:
        _, low = decimal_halves(values)
        return _narrowest(pa.array(low.view(np.int64), mask=_missing(values)))
    if pa.types.is_string(kind) and _repeats(values.slice(0, _SAMPLE)):
        found = values.dictionary_encode()
        if _repeats(found):
            return pa.DictionaryArray.from_arrays(_narrowest(found.indices), found.dictionary)
    return values


def widened(stored: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return narrowed values as the type that they had."""
    if stored.type == kind:
        return stored
    if pa.types.is_dictionary(stored.type):
        return stored.dictionary_decode()
    if pa.types.is_date32(kind):
        return stored.cast(pa.int32()).view(kind)
    if pa.types.is_decimal128(kind):
        return _decimals(stored.cast(pa.int64()), kind)
    return stored.cast(kind)


def _narrowest(numbers: pa.Array) -> pa.Array:
    bounds = pc.min_max(numbers).as_py()
    if bounds["min"] is None:
        return numbers.cast(_WIDTHS[0])
    for kind in _WIDTHS:
        limits = np.iinfo(kind.to_pandas_dtype())
        if limits.min <= bounds["min"] and bounds["max"] <= limits.max:
            return numbers if numbers.type == kind else numbers.cast(kind)
    return numbers


def _repeats(texts: pa.Array) -> bool:
    distinct = len(texts.dictionary) if pa.types.is_dictionary(texts.type) else len(pc.unique(texts))
    return distinct <= _MOST_DISTINCT * len(texts)


def _missing(values: pa.Array) -> np.ndarray | None:
    return values.is_null().to_numpy(zero_copy_only=False) if values.null_count else None


def _decimals(unscaled: pa.Array, kind: pa.DataType) -> pa.Array:
    missing = _missing(unscaled)
    low = pc.fill_null(unscaled, 0).to_numpy()
    words = np.stack((low, low >> 63), axis=1)
    valid = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.Array.from_buffers(kind, len(unscaled), [valid, pa.py_buffer(words)])
