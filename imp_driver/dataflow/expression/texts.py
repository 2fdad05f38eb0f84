"""Functions of text, counted in characters as Spark counts them (code points).

Upper and lower case of other letters than those of ASCII depend on Java's tables and are left to Spark. Source: UTF8String of Spark 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.values.codes import is_string


def text(array: pa.Array) -> pa.Array:
    """Return text in the one layout. Raises NotEvaluable for other values."""
    if not is_string(array.type):
        raise NotEvaluable(f"a value of type {array.type} is taken for text by a cast of Spark's")
    return array if pa.types.is_string(array.type) else array.cast(pa.string())


def cased(array: pa.Array, *, is_upper: bool) -> pa.Array:
    """Return upper or lower case. Raises NotEvaluable for letters beyond ASCII."""
    values = text(array)
    if not pc.all(pc.string_is_ascii(values)).as_py() and values.null_count < len(values):
        raise NotEvaluable("upper and lower case beyond ASCII are Java's")
    return (pc.ascii_upper if is_upper else pc.ascii_lower)(values)


def substring(array: pa.Array, position: int, length: int | None) -> pa.Array:
    """Return ``length`` characters (None: all) from a position, which counts from 1, below 0 from the end; 0 is the first as well."""
    values = text(array)
    if length is not None and length <= 0:
        return pc.utf8_slice_codeunits(values, 0, 0)
    if position >= 0:
        start = max(position - 1, 0)
        return pc.utf8_slice_codeunits(values, start, None if length is None else start + length)
    # Characters before the first one count as well.
    found = [None if each is None else _from_end(each, position, length) for each in values.to_pylist()]
    return pa.array(found, pa.string())


def _from_end(value: str, position: int, length: int | None) -> str:
    start = len(value) + position
    return value[max(start, 0) :] if length is None else value[max(start, 0) : max(start + length, 0)]


def right(array: pa.Array, length: int) -> pa.Array:
    """Return the last characters."""
    return substring(array, -length, None) if length > 0 else pc.utf8_slice_codeunits(text(array), 0, 0)


def concatenated(arrays: Sequence[pa.Array]) -> pa.Array:
    """Return texts one after the other, NULL where one is NULL."""
    return pc.binary_join_element_wise(*map(text, arrays), "", null_handling="emit_null")


def trimmed(array: pa.Array, side: str, characters: str) -> pa.Array:
    """Return text without these characters at one end (``ltrim``, ``rtrim``) or both (``trim``); Spark's own are spaces alone."""
    kernel = {"trim": pc.utf8_trim, "ltrim": pc.utf8_ltrim, "rtrim": pc.utf8_rtrim}[side]
    return kernel(text(array), characters=characters)


def replaced(array: pa.Array, search: str, replacement: str) -> pa.Array:
    """Return text with every occurrence of another one replaced; nothing is found by an empty one."""
    return pc.replace_substring(text(array), search, replacement) if search else text(array)


def removed(array: pa.Array, pattern: str) -> pa.Array:
    """Return text without what one of ALIKE_PATTERNS matches. Raises NotEvaluable for text with the end of a line at its end.

    Java's ``$`` stands before that, too.
    """
    values = text(array)
    if pc.any(pc.match_substring_regex(values, "[\n\r\u0085\u2028\u2029]$")).as_py():
        raise NotEvaluable("where text with the end of a line at its end ends in a pattern is Java's")
    return pc.replace_substring_regex(values, pattern, "")


def padded(array: pa.Array, length: int, pad: str, *, at_left: bool) -> pa.Array:
    """Return text of exactly so many characters: cut, or with one character repeated before or after it."""
    cut = pc.utf8_slice_codeunits(text(array), 0, max(length, 0))
    return (pc.utf8_lpad if at_left else pc.utf8_rpad)(cut, width=max(length, 0), padding=pad)
