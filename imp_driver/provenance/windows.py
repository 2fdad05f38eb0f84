"""Windows over base relations: which rows expire as others come (section 4.3.3 of the paper)."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, Protocol

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.provenance.annotations import Annotations
from imp_driver.provenance.updates import Update


class Window(Protocol):
    """The window function W of one input of a join."""

    def expired(self, update: Update, held: Annotations[Row]) -> frozenset[int]:
        """Take an update, after it was processed, and return the variables of the base rows that expire with it.

        Args:
            held: the rows of the input at this node; each is a base row, and its annotation one variable.
        """


class LatestRows:
    """Keeps a number of rows, at each node, in the order in which they came."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._rows: dict[int, Row] = {}

    def expired(self, update: Update, held: Annotations[Row]) -> frozenset[int]:
        self._rows.update(dict.fromkeys(held.variables_of(update.row), update.row))
        if len(self._rows) > self._size:
            # Rows that were deleted or inserted anew since they came have no part in the count.
            self._rows = {variable: row for variable, row in self._rows.items() if variable in held.variables_of(row)}
        gone = list(self._rows)[: max(0, len(self._rows) - self._size)]
        for variable in gone:
            del self._rows[variable]
        return frozenset(gone)


class Lifetime:
    """Keeps rows until one comes whose time, a number in one of the columns, is later by a certain length or more."""

    def __init__(self, column: int, length: float) -> None:
        self._column = column
        self._length = length
        self._times: list[tuple[float, int]] = []
        self._now = float("-inf")

    def expired(self, update: Update, held: Annotations[Row]) -> frozenset[int]:
        value: Any = update.row[self._column]
        time = float(value)
        self._now = max(self._now, time)
        for variable in held.variables_of(update.row):
            heappush(self._times, (time, variable))
        gone = set()
        while self._times and self._times[0][0] <= self._now - self._length:
            gone.add(heappop(self._times)[1])
        return frozenset(gone)
