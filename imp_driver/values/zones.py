"""Rules of time zones as the engine has them: how far the clocks of a zone are ahead of UTC, and since when.

Source: java.time.ZonedDateTime, with which Spark 4.2 reads and truncates times (DateTimeUtils). All times are microseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from imp_driver.values.codes import BooleanArray, IntegerArray

UTC = "UTC"
"""The zone that needs no rules; every other name of it is read as this one."""
_OF_CLOCKS = frozenset({"day", "hour", "minute", "second"})
"""Units that Spark truncates the time of the clocks to; it looks for the first day of longer ones, and when that begins."""
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
BEGIN = 0
"""1970-01-01, in seconds: until then many zones had odd offsets, and changed them by odd times."""
REPEATS_FROM = 4_102_444_800
"""2100-01-01, in seconds: what rules say of later years comes again with the calendar."""
CYCLE = 146_097 * 86_400
"""Seconds of 400 years, which are whole weeks."""
_END = 253_402_300_800
"""The year 10000, in seconds."""


@dataclass(frozen=True, eq=False)
class Zone:
    """``offsets`` are east of UTC, one more than ``changes``, the instants from which on the next one holds."""

    name: str
    changes: IntegerArray
    offsets: IntegerArray

    @classmethod
    def of(cls, name: str, changes: Sequence[int], offsets: Sequence[int]) -> Zone:
        """Return a zone from its rules in seconds, from BEGIN to one CYCLE after REPEATS_FROM; later years follow from these."""
        times, later = np.array(changes, np.int64), np.array(offsets, np.int64)
        is_repeated = times >= REPEATS_FROM
        cycles = range(1, (_END - REPEATS_FROM) // CYCLE + 1)
        times = np.concatenate([times, *(times[is_repeated] + cycle * CYCLE for cycle in cycles)])
        later = np.concatenate([later, *(later[1:][is_repeated] for _ in cycles)])
        return cls(name, times * _SECOND, later * _SECOND)

    def has(self, instants: IntegerArray) -> BooleanArray:
        """Say which instants are of years with known rules."""
        return (instants >= BEGIN * _SECOND) & (instants < _END * _SECOND)

    def offset_at(self, instants: IntegerArray) -> IntegerArray:
        """Return how far the clocks are ahead."""
        found: IntegerArray = self.offsets[np.searchsorted(self.changes, instants, side="right")]
        return found

    def local(self, instants: IntegerArray) -> IntegerArray:
        """Return what the clocks show."""
        return instants + self.offset_at(instants)

    @cached_property
    def _until(self) -> IntegerArray:
        """What the clocks show, before and after each change, at the latest."""
        return self.changes + np.maximum(self.offsets[:-1], self.offsets[1:])

    def instant(self, shown: IntegerArray) -> IntegerArray:
        """Return when the clocks show a time: the first of two instants, or as much later as they skip it by."""
        found: IntegerArray = shown - self.offsets[np.searchsorted(self._until, shown, side="right")]
        return found

    def truncated(self, instants: IntegerArray, shown: IntegerArray) -> IntegerArray:
        """Return when the clocks show a time that instants were truncated to: with the offset of the instant, where that holds then."""
        own = self.offset_at(instants)
        like = shown - own
        return np.where(self.offset_at(like) == own, like, self.instant(shown))

    def day_start(self, midnights: IntegerArray) -> IntegerArray:
        """Return when days begin: where the clocks skip midnight, when they have."""
        found, place = self.instant(midnights), np.searchsorted(self._until, midnights, side="right")
        changes, offsets = np.append(self.changes, np.iinfo(np.int64).max), np.append(self.offsets, self.offsets[-1])
        is_skipped = (place < len(self.changes)) & (offsets[place + 1] > offsets[place]) & (midnights >= changes[place] + offsets[place])
        return np.where(is_skipped, changes[place], found)

    def unit_start(self, instants: IntegerArray, shown: IntegerArray, unit: str) -> IntegerArray:
        """Return when units of time begin that instants lie in; ``shown`` is what the clocks show then."""
        return self.truncated(instants, shown) if unit in _OF_CLOCKS else self.day_start(shown)

    @cached_property
    def is_whole(self) -> bool:
        """Whether the beginnings of minutes, hours and days never come after their times and keep the order of times.

        So it is where clocks that are put forward skip no beginning whose unit goes on, unless they show it just before, and clocks that
        are put back show no midnight twice, and again what is of one unit, or from a beginning on.
        """
        before, after = self.changes + self.offsets[:-1], self.changes + self.offsets[1:]
        return all(
            _skips_no_beginning(before[after > before], after[after > before], unit)
            and _shows_one_unit(after[after < before], before[after < before], unit)
            for unit in (60 * _SECOND, 3600 * _SECOND, _DAY)
        )


def _skips_no_beginning(first: IntegerArray, end: IntegerArray, unit: int) -> bool:
    begin = end // unit * unit
    return bool(np.all((begin == end) | (begin <= first)))


def _shows_one_unit(first: IntegerArray, end: IntegerArray, unit: int) -> bool:
    begin, is_of_one = first // unit * unit, (end - 1) // unit == first // unit
    return bool(np.all((is_of_one & (begin != first)) if unit == _DAY else (is_of_one | (begin == first))))


_known: dict[str, Zone] = {}


def learn(zone: Zone) -> None:
    """Keep the rules of a zone for the process."""
    _known[zone.name] = zone


def is_whole(name: str) -> bool:
    """Say whether the rules of a zone are known and what they say of units is whole (``Zone.is_whole``)."""
    zone = _known.get(name)
    return zone is not None and zone.is_whole


def known(name: str) -> Zone | None:
    """Return the rules of a zone, None where they were not learned."""
    return _known.get(name)
