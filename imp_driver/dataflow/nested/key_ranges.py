"""Ranges of keys between two cuts, which need not be keys that are there."""

from __future__ import annotations

from typing import NamedTuple

from imp_driver.dataflow.nested.keys import Cut, Key


class KeyRange(NamedTuple):
    """Keys after ``low`` and before ``high``; None is an end. ``low`` is never after ``high``: that is NOTHING.

    One is made for each change of each condition, so it is a tuple: that is made and compared in a third of the time.
    """

    low: Cut | None
    high: Cut | None
    is_nothing: bool = False

    def has(self, key: Key) -> bool:
        """Say whether a key is in it."""
        if self.is_nothing:
            return False
        if self.low is not None and (key, 0) < self.low:
            return False
        return self.high is None or (key, 1) <= self.high

    def meeting(self, other: KeyRange) -> KeyRange:
        """Return the keys that are in both."""
        if self is EVERYTHING:
            return other
        if other is EVERYTHING:
            return self
        if self.is_nothing or other.is_nothing:
            return NOTHING
        low = other.low if self.low is None or (other.low is not None and other.low > self.low) else self.low
        high = other.high if self.high is None or (other.high is not None and other.high < self.high) else self.high
        return NOTHING if low is not None and high is not None and low >= high else KeyRange(low, high)

    def without(self, other: KeyRange) -> KeyRange | None:
        """Return the keys that are not in a range within this one; None where they are two ranges."""
        if other.is_nothing:
            return self
        if self.low == other.low:
            return NOTHING if self.high == other.high else KeyRange(other.high, self.high)
        return KeyRange(self.low, other.low) if self.high == other.high else None


EVERYTHING = KeyRange(None, None)
NOTHING = KeyRange(None, None, is_nothing=True)


def after(cut: Cut | None) -> KeyRange:
    """Return the keys after a place; all after None."""
    return EVERYTHING if cut is None else KeyRange(cut, None)


def before(cut: Cut | None) -> KeyRange:
    """Return the keys before a place; all before None."""
    return EVERYTHING if cut is None else KeyRange(None, cut)
