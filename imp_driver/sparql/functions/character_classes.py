"""Character classes of XML Schema's regular expressions as those of Python: categories of Unicode, and the classes that have a letter.

A class is written as what stands between square brackets in Python.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Final

from imp_driver.errors import NotSupportedError

_LAST: Final = sys.maxunicode
_NAME_STARTS: Final = (
    (0x3A, 0x3A), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF), (0x370, 0x37D), (0x37F, 0x1FFF),
    (0x200C, 0x200D), (0x2070, 0x218F), (0x2C00, 0x2FEF), (0x3001, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFFD), (0x10000, 0xEFFFF),
)  # fmt: skip
_NAME_OTHERS: Final = ((0x2D, 0x2E), (0x30, 0x39), (0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040))
_MAJOR: Final = frozenset("LMNPZSC")


class BadPattern(Exception):
    """A text that is no regular expression of XPath."""


def escaped_class(letter: str) -> str:
    """Return the class of an escape such as ``\\d``, by its letter."""
    match letter:
        case "s":
            return "\\t\\n\\r "
        case "d":
            return _category("Nd")
        case "w":
            return _complement(_ranges(frozenset("PZC")))
        case "i":
            return _written(_NAME_STARTS)
        case "c":
            return _written((*_NAME_STARTS, *_NAME_OTHERS))
        case "S" | "D" | "W" | "I" | "C":
            return _complement(_known_ranges(letter.lower()))
        case _:
            raise BadPattern(letter)


def property_class(name: str, *, is_complement: bool) -> str:
    """Return the class of ``\\p{name}``, or of ``\\P{name}``.

    Raises:
        NotSupportedError: for a block of Unicode, such as IsGreek.
    """
    if name.startswith("Is"):
        message = f"The regular expression asks for the Unicode block {name}; write its characters as a range, such as [\\u0370-\\u03FF]."
        raise NotSupportedError(message)
    ranges = _ranges(frozenset([name]))
    return _complement(ranges) if is_complement else _written(ranges)


def _category(name: str) -> str:
    return _written(_ranges(frozenset([name])))


@cache
def _known_ranges(letter: str) -> tuple[tuple[int, int], ...]:
    match letter:
        case "s":
            return ((0x9, 0xA), (0xD, 0xD), (0x20, 0x20))
        case "d":
            return _ranges(frozenset(["Nd"]))
        case "w":
            return _merged(_gaps(_ranges(frozenset("PZC"))))
        case "i":
            return _NAME_STARTS
        case _:
            return _merged((*_NAME_STARTS, *_NAME_OTHERS))


@cache
def _ranges(names: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """Return the ranges of characters of categories, each by one letter or two."""
    by_category = _by_category()
    found = [ranges for category, ranges in by_category.items() if category in names or category[0] in names]
    if not found or any(len(name) == 1 and name not in _MAJOR for name in names):
        raise BadPattern(" ".join(names))
    return _merged(each for ranges in found for each in ranges)


@cache
def _by_category() -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    start, category = 0, unicodedata.category(chr(0))
    for code in range(1, _LAST + 2):
        following = unicodedata.category(chr(code)) if code <= _LAST else ""
        if following != category:
            found.setdefault(category, []).append((start, code - 1))
            start, category = code, following
    return found


def _merged(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return tuple(found)


def _gaps(ranges: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    following = 0
    for first, last in _merged(ranges):
        if first > following:
            yield following, first - 1
        following = last + 1
    if following <= _LAST:
        yield following, _LAST


def _complement(ranges: Iterable[tuple[int, int]]) -> str:
    return _written(_gaps(ranges))


def _written(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(code_text(first) if first == last else f"{code_text(first)}-{code_text(last)}" for first, last in ranges)


def code_text(code: int) -> str:
    return f"\\U{code:08x}"
