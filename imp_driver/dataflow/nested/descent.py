"""One step of a descent: within some values, the first place up to which they add up beyond a threshold."""

from __future__ import annotations

from typing import Any

SMALL = 24
"""Values that are added one by one; more are halved, each half added at the speed of ``sum``."""


def descended(values: list[Any], begin: int, end: int, threshold: Any, is_strict: bool) -> tuple[int, Any]:
    """Return the first place up to which values, none negative, add up beyond a threshold, and what of it is left there."""
    while end - begin > SMALL:
        middle = (begin + end) // 2
        part = sum(values[begin:middle])
        if part > threshold or (part == threshold and not is_strict):
            end = middle
        else:
            begin = middle
            threshold -= part
    for place in range(begin, end - 1):
        value = values[place]
        if value > threshold or (value == threshold and not is_strict):
            return place, threshold
        threshold -= value
    return end - 1, threshold
