"""States into the store, in the background: one thread of a warehouse that saves what was captured or maintained since.

The caller of a query only waits for the copy of a state's columns, and only if it needs that state at this moment. Source: design of
persistent state, ivm section 5, tier 1.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from imp_driver.buckets.state import BucketedState
from imp_driver.delta.contract import ChangeSource
from imp_driver.errors import OperationalError
from imp_driver.maintain.entry import StateEntry, Stored
from imp_driver.observe.failures import described
from imp_driver.operators.aggregate.group import GroupState
from imp_driver.persist.record import Record, Repository, StateColumns, StoredBuckets, StoredSketch, StoredTable
from imp_driver.plan.conditions import written_conditions

PAUSE_SECONDS = 5.0
"""Between two saves of one state at least (measured, benchmarks/results: at one a second, queries waited noticeably)."""
SHARE_OF_TIME = 0.05
"""Of the time between two saves of one state that a save may take."""
BYTES_PER_SECOND = 5_000_000
"""That one state may write in the long run."""
RETRY_SECONDS = 60.0
"""After a save that failed."""
BATCH_BYTES = 64 << 20
"""Of states that are copied for one commit."""
JOIN_SECONDS = 30.0
"""How long the last connection waits for what is left to be saved."""
_LOG = logging.getLogger("imp_driver.maintain")


class Saver:
    """Runs while connections are open. All methods are safe to call from several threads."""

    def __init__(self, repository: Repository | None, source: ChangeSource, clock: Callable[[], float] = time.monotonic) -> None:
        self._repository = repository
        self._source = source
        self._clock = clock
        self._condition = threading.Condition()
        self._changed: dict[str, StateEntry] = {}
        self._removed: set[str] = set()
        self._due: dict[str, float] = {}
        self._connections = 0
        self._thread: threading.Thread | None = None
        self._saves = threading.Lock()
        self.problem = ""

    def open(self) -> None:
        """Count a connection; the first starts the thread."""
        if self._repository is None:
            return
        with self._condition:
            self._connections += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="imp-store", daemon=True)
                self._thread.start()
                # A daemon thread inside a library while the interpreter ends could crash it.
                atexit.register(self._stop)

    def close(self) -> None:
        """Count a connection off; the last saves what is left and stops the thread."""
        if self._repository is None:
            return
        with self._condition:
            self._connections -= 1
            is_last = self._connections == 0
        if is_last:
            self._stop()

    def note(self, entry: StateEntry) -> None:
        """Have a state saved that was captured or maintained."""
        if self._repository is not None and not entry.is_saved:
            with self._condition:
                # To wake the thread takes as long as a small step, and one that waits already is saved as it is then.
                if self._changed.get(entry.key) is not entry:
                    self._changed[entry.key] = entry
                    self._condition.notify_all()

    def forget(self, entries: Iterable[StateEntry]) -> None:
        """Have the records of dropped entries removed."""
        if self._repository is not None:
            with self._condition:
                for entry in entries:
                    self._changed.pop(entry.key, None)
                    self._removed.add(entry.key)
                self._condition.notify_all()

    def remove(self) -> None:
        """Remove the records of dropped entries, now. A failure is logged, and made up for later."""
        if self._repository is None:
            return
        with self._saves:
            with self._condition:
                removed, self._removed = sorted(self._removed), set()
            self._save(([], removed))

    def flush(self) -> None:
        """Save everything that waits, now. A failure is logged."""
        with self._saves:
            self._save(self._take(is_all=True))

    def _stop(self) -> None:
        with self._condition:
            thread, self._thread = self._thread, None
            self._condition.notify_all()
        atexit.unregister(self._stop)
        if thread is not None:
            thread.join(JOIN_SECONDS)
            if thread.is_alive():
                _LOG.warning("Sketches are still being saved; those that are left will be captured or maintained again.")
            else:
                self.flush()

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._is_over() or self._changed or self._removed)
                if self._is_over():
                    return
                wait = min((self._due.get(key, 0.0) for key in self._changed), default=0.0) - self._clock()
                if wait > 0 and not self._removed:
                    self._condition.wait(wait)
            with self._saves:
                self._save(self._take(is_all=False))

    def _is_over(self) -> bool:
        return self._thread is not threading.current_thread()

    def _take(self, *, is_all: bool) -> tuple[list[StateEntry], list[str]]:
        now = self._clock()
        with self._condition:
            keys = [key for key in self._changed if is_all or self._due.get(key, 0.0) <= now]
            removed, self._removed = sorted(self._removed), set()
            return [self._changed.pop(key) for key in keys], removed

    def _save(self, work: tuple[list[StateEntry], list[str]]) -> None:
        assert self._repository is not None
        entries, removed = work
        try:
            if removed:
                self._repository.remove(removed)
            while entries:
                self._save_some(self._repository, entries)
            self.problem = ""
        except OperationalError as error:
            self._failed(error, entries, removed)
        except Exception as error:
            _LOG.warning("A sketch could not be saved: %s", described(error))
            self.problem = f"{type(error).__name__}: {error}".split("\n", 1)[0]

    def _failed(self, error: OperationalError, entries: list[StateEntry], removed: list[str]) -> None:
        _LOG.warning("%s Sketches are kept in memory; the next try is in %d seconds.", error, RETRY_SECONDS)
        self.problem = str(error)
        with self._condition:
            self._removed.update(removed)
            for entry in entries:
                self._changed.setdefault(entry.key, entry)
            for key in self._changed:
                self._due[key] = self._clock() + RETRY_SECONDS

    def _save_some(self, repository: Repository, entries: list[StateEntry]) -> None:
        """Save entries from the end of the list, as many as fit in one commit; they are taken off when they are saved."""
        copies: list[_Copy] = []
        count = size = 0
        begin = self._clock()
        for entry in reversed(entries):
            copy = self._copied(entry)
            count += 1
            if copy is not None:
                copies.append(copy)
                size += copy.record.bytes
            if size >= BATCH_BYTES:
                break
        if copies:
            repository.save([(copy.record, copy.columns) for copy in copies])
        taken = self._clock() - begin
        for copy in copies:
            pause = max(PAUSE_SECONDS, taken / len(copies) / SHARE_OF_TIME, copy.record.bytes / BYTES_PER_SECOND)
            self._due[copy.entry.key] = self._clock() + pause
            self._note_saved(copy)
        del entries[len(entries) - count :]

    def _note_saved(self, copy: _Copy) -> None:
        entry = copy.entry
        with entry.lock:
            is_parked = not entry.is_ready and entry.stored is not None
            is_same = entry.present is copy.state or is_parked
            if is_same:
                entry.stored = Stored.of(copy.record)
        if not is_same:
            # It was given up meanwhile, perhaps since it was found to be wrong; unless another is to be saved its record must go.
            with self._condition:
                if entry.key not in self._changed:
                    self._removed.add(entry.key)

    def _copied(self, entry: StateEntry) -> _Copy | None:
        with entry.lock:
            # A state that only awaits its next capture is not what it says.
            state = entry.present
            if state is None or entry.is_saved or entry.ahead.due is not None:
                return None
            columns, record, vector = _columns(state), _record(entry, state), entry.vector
        tables = []
        for location, table in vector.items():
            digest = self._source.commit_digest(location, table.version)
            if digest is None:
                return None
            tables.append(StoredTable(location, table.table_id, table.version, table.rows, digest))
        return _Copy(entry, state, replace(record, tables=tuple(tables)), columns)


@dataclass(frozen=True, slots=True, eq=False)
class _Copy:
    """A state as it was at one moment."""

    entry: StateEntry
    state: GroupState | BucketedState
    record: Record
    columns: StateColumns


def _columns(state: GroupState | BucketedState) -> StateColumns:
    return state.snapshot() if isinstance(state, GroupState) else {}


def _buckets(state: GroupState | BucketedState) -> StoredBuckets | None:
    return StoredBuckets(state.target, state.version, state.coarse.ranges) if isinstance(state, BucketedState) else None


def _record(entry: StateEntry, state: GroupState | BucketedState) -> Record:
    """Return the record of an entry as it is, without its tables; the caller holds the entry's lock."""
    derived = entry.derived
    sketch = None
    if derived is not None and derived.vector == entry.vector and derived.sketch.partition is state.partition:
        sketch = StoredSketch(derived.constants, derived.sketch.fragments, derived.rows)
    return Record(
        key=entry.key,
        family=entry.family,
        prefix=entry.prefix,
        template=entry.template,
        template_text=entry.template_text,
        templates=tuple(sorted(entry.templates)),
        table=entry.table,
        location=entry.location,
        attribute=entry.attribute,
        choice=entry.choice,
        tables=(),
        partition=state.partition,
        sketch=sketch,
        state=uuid.uuid4().hex,
        conditions=None if entry.block is None else written_conditions(entry.block),
        groups=entry.groups or 0,
        bytes=state.memory,
        learned=entry.costs.learned(),
        buckets=_buckets(state),
    )
