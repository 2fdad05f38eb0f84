"""What an engine keeps of recursions from one reading to the next."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from imp_driver.answer.recursion.round_texts import RelationForm
from imp_driver.answer.recursion.sorted_tables import SortedTable
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.ports import KeptRows

MOST_RUNS, MOST_ROWS = 4, 100_000_000
"""Of one connection that are kept: queries with other recursions, and rows of all of these together."""


@dataclass(frozen=True, slots=True)
class TableVersion:
    """``table_id`` is another one where another table has the same place."""

    location: str
    table_id: str
    version: int


@dataclass(slots=True, eq=False)
class KeptRelation:
    """The rows of one relation: those of ``parts`` with ``changes``, levels by row, -1 for those that are gone."""

    form: RelationForm
    kinds: Sequence[pa.DataType]
    parts: list[str]
    rows: int
    changes: dict[Row, int] = field(default_factory=dict)
    changed: str = ""
    """The name under which the engine has the changes; empty where there are none."""

    @property
    def names(self) -> list[str]:
        """The names, or queries in brackets, under which all rows are."""
        return self.form.changed(self.parts, self.changed) if self.changed else self.parts


@dataclass(slots=True, eq=False)
class KeptRecursion:
    """Relations in the order of their recursion, the versions of the tables that they are of, and how many rounds made them.

    ``asked`` are the seconds that questions have taken so far, ``sorted`` has tables of which there are copies then.
    """

    relations: list[KeptRelation]
    tables: Mapping[tuple[str, ...], TableVersion]
    rounds: int
    asked: float = 0.0
    sorted: dict[tuple[str, ...], SortedTable] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Rows that the engine keeps for it."""
        return sum(each.rows for each in self.relations) + sum(each.rows for each in self.sorted.values())

    @property
    def names(self) -> frozenset[str]:
        """The names under which the engine has these."""
        own = [name for each in self.relations for name in (*each.parts, each.changed) if name]
        return frozenset(own).union(*(each.names for each in self.sorted.values()))


@dataclass(slots=True, eq=False)
class KeptRun:
    """Recursions of one query by their signatures, and what keeps their rows."""

    kept: KeptRows
    states: dict[str, KeptRecursion] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(state.rows for state in self.states.values())


class KeptRuns:
    """The runs of one connection that nobody reads at the moment. Safe to use from several threads; each run is one thread's alone."""

    def __init__(self) -> None:
        self._runs: OrderedDict[Hashable, KeptRun] = OrderedDict()
        self._lock = threading.Lock()
        self._is_open = True

    @property
    def names(self) -> frozenset[str]:
        """The names under which the engine has what is kept here."""
        with self._lock:
            return frozenset[str]().union(*(state.names for run in self._runs.values() for state in run.states.values()))

    def take(self, key: Hashable) -> KeptRun | None:
        """Return what is kept of a query, for the caller alone; None where there is nothing, or another one has it."""
        with self._lock:
            return self._runs.pop(key, None)

    def put(self, key: Hashable, run: KeptRun) -> None:
        """Keep a run until it is asked for; those that were put here first go where there are too many."""
        run.kept.rest()
        with self._lock:
            gone = [self._runs.pop(key)] if key in self._runs else []
            self._runs[key] = run
            while self._runs and (
                not self._is_open or len(self._runs) > MOST_RUNS or sum(each.rows for each in self._runs.values()) > MOST_ROWS
            ):
                gone.append(self._runs.popitem(last=False)[1])
        for each in gone:
            each.kept.close()

    def close(self) -> None:
        """Let all go, and whatever is put here from then on. Raises nothing."""
        with self._lock:
            self._is_open = False
            gone = list(self._runs.values())
            self._runs.clear()
        for each in gone:
            each.kept.close()
