"""The rows of one relation that rules read, found by the values of any of its columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

Row: TypeAlias = tuple[object, ...]
"""Values in the order of the columns; equal ones are the same Python object or equal by ``==``, NaN too."""


class Facts:
    """A set of rows with an index for each choice of columns that was asked for. Each row has a number, greater than those before it."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows = {row: number for number, row in enumerate(dict.fromkeys(rows))}
        self._next = len(self._rows)
        self._indexes: dict[tuple[int, ...], dict[Row, dict[Row, None]]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __contains__(self, row: Row) -> bool:
        return row in self._rows

    def add(self, row: Row) -> None:
        self._rows[row] = self._next
        self._next += 1
        for columns, index in self._indexes.items():
            _put(index, columns, row)

    def remove(self, row: Row) -> None:
        """Remove a row that is there. Raises KeyError."""
        del self._rows[row]
        for columns, index in self._indexes.items():
            key = tuple([row[column] for column in columns])
            found = index.get(key)
            if found is not None:
                del found[row]
                if not found:
                    del index[key]

    def serial(self, row: Row) -> int:
        """Return the number of a row that is there."""
        return self._rows[row]

    def renumber(self, row: Row, serial: int) -> None:
        """Have a row that is there under the number that it had before."""
        self._rows[row] = serial

    def matching(self, columns: tuple[int, ...], key: Sequence[object]) -> Collection[Row]:
        """Return the rows with these values in certain columns, ascending; NULL equals nothing. All rows where there are no columns."""
        if not columns:
            return self._rows
        found = self._indexes.get(columns)
        return (self.index(columns) if found is None else found).get(tuple(key), ())

    def index(self, columns: tuple[int, ...]) -> dict[Row, dict[Row, None]]:
        """Return what finds rows by the values of these columns, which are ascending and at least one; it stays up to date."""
        found = self._indexes.get(columns)
        if found is None:
            found = self._indexes[columns] = {}
            for row in self._rows:
                _put(found, columns, row)
        return found


def _put(index: dict[Row, dict[Row, None]], columns: tuple[int, ...], row: Row) -> None:
    key = tuple([row[column] for column in columns])
    if None in key:
        return
    found = index.get(key)
    if found is None:
        index[key] = {row: None}
    else:
        found[row] = None
