"""Places in sorted sums that were found by descents, and stay known while sums change.

A threshold moves little with a change, so that mostly the key is asked for again that was the answer before: two comparisons tell.
"""

from __future__ import annotations

from typing import Any

from imp_driver.dataflow.nested.keys import Key

MOST_MARKS = 4
"""Two of each threshold, which goes to and fro between them, where a condition has another within itself."""


class Mark:
    """A key up to which a threshold was passed: its own sum of a column, and that of all keys below it. Both follow each change."""

    __slots__ = ("before", "index", "key", "own")

    def __init__(self, index: int, key: Key, before: Any, own: Any) -> None:
        self.index, self.key, self.before, self.own = index, key, before, own

    def passes(self, threshold: Any, is_strict: bool) -> bool:
        """Say whether its key is the first one up to which a threshold is passed, where no key has a negative sum."""
        left = threshold - self.before
        return bool(0 <= left < self.own if is_strict else 0 < left <= self.own)


def remember(marks: list[Mark], mark: Mark) -> None:
    """Add a mark to those of sorted sums, in the place of the nearest one where these are many: that is what has moved."""
    if len(marks) >= MOST_MARKS:
        marks.remove(min(marks, key=lambda each: abs(each.before - mark.before)))
    marks.append(mark)
