"""What was told of results, so that the next time only what differs is: signed rows of an incremental view, say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Results: TypeAlias = dict[Any, tuple[Any, ...]]
"""The sums of each group, None for that of nothing."""
Change: TypeAlias = tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]
"""The row of a group before and after; None where it is not there."""


class Told:
    """The results as they were told last."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def differences(self, results: Mapping[Any, tuple[Any, ...] | None]) -> dict[Any, Change]:
        """Tell of some groups, None for those that are gone; return those that are others than before."""
        found: dict[Any, Change] = {}
        told = self._results
        for group, new in results.items():
            old = told.get(group)
            if new == old:
                continue
            found[group] = (old, new)
            if new is None:
                del told[group]
            else:
                told[group] = new
        return found

    def all_differences(self, results: Results) -> dict[Any, Change]:
        """Tell of all groups, and return those that are others than before."""
        gone = [group for group in self._results if group not in results]
        return self.differences({**results, **dict.fromkeys(gone)} if gone else results)
