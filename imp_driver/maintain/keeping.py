"""States of former processes: entries from the store's records, and their states read back when they are first needed.

A state is believed only where the tables have, at its versions, the commits that they had when it was saved; else it is captured again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from imp_driver.delta.contract import ChangeSource
from imp_driver.errors import OperationalError
from imp_driver.maintain.choice import Choice
from imp_driver.maintain.costs import Costs
from imp_driver.maintain.entry import Derived, StateEntry, Stored
from imp_driver.observe.failures import described
from imp_driver.operators.aggregate.accumulator import StateCorrupt
from imp_driver.operators.aggregate.group import GroupState
from imp_driver.persist.record import Record, Repository, StoreDamaged
from imp_driver.plan.bind import BoundBlock
from imp_driver.sketch.sketch import Sketch
from imp_driver.sketch.store import SketchStore

LOOK_SECONDS = 5.0
"""Between two looks for what other processes have saved."""
_UNKNOWN = -2
_LOG = logging.getLogger("imp_driver.maintain")


class Keeper:
    """Brings entries back from a repository; without one there is nothing to bring back."""

    def __init__(
        self,
        store: SketchStore[StateEntry],
        repository: Repository | None,
        source: ChangeSource,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._repository = repository
        self._source = source
        self._clock = clock
        self._seen: int | None = None
        self._looked = -LOOK_SECONDS
        self._lock = threading.Lock()

    def restored(self, *, is_missed: bool = False) -> list[StateEntry]:
        """Take over records that are new since the last time; later than the first time only where a state is missed, and not often."""
        if self._repository is None or (self._seen is not None and not is_missed):
            return []
        with self._lock:
            if self._clock() - self._looked < LOOK_SECONDS:
                return []
            self._looked = self._clock()
            try:
                version = self._repository.version()
                records = [] if version == self._seen else self._repository.records()
            except OperationalError as error:
                _LOG.warning("Sketches of former sessions cannot be used: %s", error)
                version, records = -1, []
            self._seen = version
            return [entry for entry in map(_entry, records) if self._store.add(entry.key, entry)]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Take over no records meanwhile."""
        with self._lock:
            yield

    def look_again(self) -> None:
        """Have the records read again when a state is missed next: entries were dropped that the store may have."""
        self._seen = _UNKNOWN

    def prove(self, entry: StateEntry) -> bool:
        """Say whether a restored state and its sketch are of the tables' present history; one that is not is given up."""
        if entry.is_proven or entry.stored is None:
            return True
        for table in entry.stored.record.tables:
            if self._source.commit_digest(table.location, table.version) != table.digest:
                _LOG.info(
                    "Sketch %s is of another history of %s, or of one that is gone; it is captured again.", entry.identifier, table.location
                )
                entry.give_up()
                return False
        entry.is_proven = True
        return True

    def load(self, entry: StateEntry, block: BoundBlock) -> bool:
        """Read the state of an entry back; the caller holds its lock. False, with the entry given up, when it cannot be had."""
        stored = entry.stored
        if stored is None or self._repository is None or not self.prove(entry):
            return False
        try:
            columns = self._repository.load(stored.record)
            entry.key_types = tuple(columns[f"key_{place}"].type for place in range(len(block.keys)))
            specifications = tuple(aggregate.specification for aggregate in block.aggregates)
            choice, partition = stored.record.choice, stored.record.partition
            state = GroupState.restore(columns, specifications, entry.key_types, choice.key, partition)
            if state.groups != stored.record.groups:
                raise StoreDamaged(f"the state of sketch {entry.key} has {state.groups} groups instead of {stored.record.groups}")
        except (StoreDamaged, StateCorrupt, LookupError, TypeError, ValueError, pa.ArrowException) as error:
            problem = error if isinstance(error, StoreDamaged) else described(error)
            _LOG.warning("A stored state cannot be used and is captured again: %s", problem)
            entry.give_up()
            return False
        entry.put_aside()
        entry.state, entry.block, entry.vector = state, block, stored.vector
        return True


def choice_of(entry: StateEntry) -> Choice:
    """Return the choice that a state was captured for."""
    return Choice(entry.choice.key, entry.choice.place, entry.choice.column)


def _entry(record: Record) -> StateEntry:
    stored = Stored.of(record)
    entry = StateEntry(
        identifier=record.key[:12],
        key=record.key,
        template=record.template,
        template_text=record.template_text,
        table=record.table,
        location=record.location,
        attribute=record.attribute,
        templates=set(record.templates),
        family=record.family,
        prefix=record.prefix,
        choice=record.choice,
        vector=stored.vector,
        stored=stored,
        is_proven=False,
    )
    if record.sketch is not None:
        versions = {location: table.version for location, table in stored.vector.items()}
        sketch = Sketch(versions, record.attribute, record.partition, record.sketch.fragments)
        entry.derived = Derived(stored.vector, record.sketch.constants, sketch, record.sketch.rows)
    try:
        entry.costs = Costs.of(record.learned)
    except (TypeError, ValueError):
        _LOG.warning("What was learned about sketch %s cannot be read; it is learned anew.", entry.identifier)
    return entry
