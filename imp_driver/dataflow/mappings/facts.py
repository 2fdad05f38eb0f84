"""The triples of one place that match a shape, as sets, with indexes that come with the first use and follow the changes.

One object serves all triple patterns of the same shape in all patterns of a circuit. Within a step it has its rows before and after, which
are the two graphs of the delta rule (the counting algorithm for SPARQL, section 4.3).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

from imp_driver.dataflow.mappings.operator import Row, keying, taking
from imp_driver.errors import InternalError

Columns: TypeAlias = tuple[int, ...]
Found: TypeAlias = tuple[Row, ...] | dict[Row, None]
"""What is found under a key: of most keys it is little, of which a tuple is smaller; from a long one no row could be removed in time."""

_FEW = 8


class Finder(Protocol):
    def get(self, key: Any, default: tuple[Row, ...]) -> Iterable[Row]: ...


class Index:
    """Rows by the values of some columns; what is found are the other columns."""

    __slots__ = ("_key", "_rest", "found")

    def __init__(self, columns: Columns, width: int, rows: Iterable[Row]) -> None:
        self._key: Callable[[Row], Any] = keying(columns)
        self._rest = taking([column for column in range(width) if column not in columns])
        self.found: dict[Any, Found] = {}
        self.add(rows)

    def add(self, rows: Iterable[Row]) -> None:
        found, key_of, rest_of = self.found, self._key, self._rest
        for row in rows:
            key, rest = key_of(row), rest_of(row)
            known = found.get(key)
            if known is None:
                found[key] = (rest,)
            elif isinstance(known, dict):
                known[rest] = None
            elif len(known) < _FEW:
                found[key] = (*known, rest)
            else:
                found[key] = dict.fromkeys((*known, rest))

    def remove(self, rows: Iterable[Row]) -> None:
        found = self.found
        for row in rows:
            key, rest = self._key(row), self._rest(row)
            known = found[key]
            if isinstance(known, dict):
                del known[rest]
            else:
                known = found[key] = tuple([other for other in known if other != rest])
            if not known:
                del found[key]


class _Before:
    """What an index found before the step."""

    __slots__ = ("_added", "_index", "_removed")

    def __init__(self, index: Index, added: Index, removed: Index) -> None:
        self._index, self._added, self._removed = index.found, added.found, removed.found

    def get(self, key: Any, default: tuple[Row, ...]) -> Iterable[Row]:
        found: Iterable[Row] = self._index.get(key, default)
        added, removed = self._added.get(key), self._removed.get(key)
        if added:
            new = frozenset(added)
            found = [rest for rest in found if rest not in new]
        return (*found, *removed) if removed else found


class _BeforeAll:
    """Which rows were there before the step."""

    __slots__ = ("_facts",)

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def __contains__(self, row: object) -> bool:
        facts = self._facts
        return (row in facts.rows and row not in facts.added) or row in facts.removed


class Holds(Protocol):
    def __contains__(self, row: object) -> bool: ...


class Facts:
    """Rows of one width; each counts once, however often it is put.

    Attributes:
        rows: those that are there, with how often they were put.
        added, removed: what the last ``settle`` changed.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: dict[Row, int] = {}
        self.added: Collection[Row] = frozenset()
        self.removed: Collection[Row] = frozenset()
        self.waiting: dict[Row, int] = {}
        self._indexes: dict[Columns, Index] = {}
        self._before: dict[Columns, _Before] = {}

    @property
    def has_changed(self) -> bool:
        return bool(self.added or self.removed)

    @property
    def size_before(self) -> int:
        return len(self.rows) - len(self.added) + len(self.removed)

    def settle(self) -> None:
        """Take in what waits: rows with how often they are put more.

        Raises:
            InternalError: a row was taken away more often than it was put.
        """
        self._before = {}
        waiting, self.waiting = self.waiting, {}
        if not self.rows and all(count > 0 for count in waiting.values()):
            # By far the most rows come in the first step.
            self.rows, self.added, self.removed = waiting, waiting.keys(), frozenset()
            for index in self._indexes.values():
                index.add(waiting)
            return
        added, removed = dict[Row, None](), dict[Row, None]()
        rows = self.rows
        for row, count in waiting.items():
            before = rows.get(row, 0)
            after = before + count
            if after > 0:
                rows[row] = after
                if not before:
                    added[row] = None
            elif after < 0:
                raise InternalError(f"A triple was deleted more often than it was there: {row!r}. The view must be made again.")
            elif before:
                del rows[row]
                removed[row] = None
        self.added, self.removed = added, removed
        for index in self._indexes.values():
            index.remove(removed)
            index.add(added)

    def index(self, columns: Columns) -> Index:
        """Return what finds rows by some of their columns, all of which are after the step."""
        found = self._indexes.get(columns)
        if found is None:
            found = self._indexes[columns] = Index(columns, self.width, self.rows)
        return found

    def finder(self, columns: Columns, *, is_before: bool) -> Finder:
        """Return what finds the other columns by these, before or after the step."""
        index = self.index(columns)
        if not is_before or not self.has_changed:
            return index.found
        found = self._before.get(columns)
        if found is None:
            added, removed = (Index(columns, self.width, rows) for rows in (self.added, self.removed))
            found = self._before[columns] = _Before(index, added, removed)
        return found

    def holder(self, *, is_before: bool) -> Holds:
        """Return what says whether a row is there before or after the step."""
        return _BeforeAll(self) if is_before and self.has_changed else self.rows

    def all(self, *, is_before: bool) -> Sequence[Row] | dict[Row, int]:
        """Return all rows before or after the step."""
        if not is_before or not self.has_changed:
            return self.rows
        added = self.added
        return [*(row for row in self.rows if row not in added), *self.removed]
