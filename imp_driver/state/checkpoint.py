"""Maintained relations into the store, in the background: one thread of a warehouse saves what was captured or maintained since.

The caller of a query only waits for the copy of a relation's columns, and only if it needs that relation at this moment. Source: design of
persistent state, ivm section 5, tier 1.
"""

from __future__ import annotations

import logging
import math
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from imp_driver.buckets.state import BucketedState
from imp_driver.errors import OperationalError
from imp_driver.persist.record import Record, Repository, StateColumns, StoredBuckets, StoredCut, StoredSketch, StoredTable
from imp_driver.plan.conditions import written_conditions
from imp_driver.plan.written import written_block
from imp_driver.sketch.cut_groups import CutGroups
from imp_driver.state.maintained import Contents, Maintained
from imp_driver.state.values import Stored
from imp_driver.state.worker import Life, Worker
from imp_driver.values.cuts import AttachedCut
from imp_driver.values.failures import described
from imp_driver.values.tables import ChangeSource

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


class Checkpoint:
    """Runs while connections are open. All methods are safe to call from several threads."""

    def __init__(self, repository: Repository | None, source: ChangeSource, clock: Callable[[], float] = time.monotonic) -> None:
        self._repository = repository
        self._source = source
        self._clock = clock
        self._mutex = threading.Lock()
        self._condition = threading.Condition(self._mutex)
        self._changed: dict[str, Maintained] = {}
        self._removed: set[str] = set()
        self._due: dict[str, float] = {}
        self._next_try = -math.inf
        self._worker = Worker()
        self._saves = threading.Lock()
        self.problem = ""

    @property
    def is_running(self) -> bool:
        return self._worker.is_running

    def open(self) -> None:
        """Count a connection; the first starts the thread."""
        if self._repository is not None:
            self._worker.open(lambda: Life("imp-store", self._run, self._condition, JOIN_SECONDS, self._finished))

    def close(self) -> None:
        """Count a connection off; the last saves what is left and stops the thread."""
        if self._repository is not None:
            self._worker.close()

    def note(self, relation: Maintained) -> None:
        """Have a state saved that was captured or maintained."""
        if self._repository is not None and not relation.is_saved and not relation.is_dropped:
            with self._mutex:
                # To wake the thread takes as long as a small step, and one that waits already is saved as it is then.
                if self._changed.get(relation.identity.key) is not relation:
                    self._changed[relation.identity.key] = relation
                    self._condition.notify_all()

    def awaits(self, key: str) -> bool:
        """Say whether a relation of this key is still to be saved; what the store has of it is older."""
        with self._mutex:
            return key in self._changed

    def forget(self, relations: Iterable[Maintained]) -> None:
        """Have the records of dropped relations removed."""
        if self._repository is not None:
            with self._mutex:
                for relation in relations:
                    self._changed.pop(relation.identity.key, None)
                    self._removed.add(relation.identity.key)
                self._condition.notify_all()

    def remove(self) -> None:
        """Remove the records of dropped relations, now. A failure is logged, and made up for later."""
        if self._repository is None:
            return
        with self._saves:
            with self._mutex:
                removed, self._removed = sorted(self._removed), set()
            self._save(([], removed))

    def flush(self) -> None:
        """Save everything that waits, now. A failure is logged."""
        with self._saves:
            self._save(self._take(is_all=True))

    def _finished(self, has_ended: bool) -> None:
        if has_ended:
            self.flush()
        else:
            _LOG.warning("Sketches are still being saved; those that are left will be captured or maintained again.")

    def _run(self, life: Life) -> None:
        while True:
            with self._mutex:
                while not life.is_over and (wait := self._wait()) > 0:
                    self._condition.wait(min(wait, threading.TIMEOUT_MAX))
                if life.is_over:
                    return
            with self._saves:
                self._save(self._take(is_all=False))

    def _wait(self) -> float:
        """Return the seconds until something is to be done."""
        if not self._changed and not self._removed:
            return math.inf
        due = 0.0 if self._removed else min(self._due.get(key, 0.0) for key in self._changed)
        return max(due, self._next_try) - self._clock()

    def _take(self, *, is_all: bool) -> tuple[list[Maintained], list[str]]:
        now = self._clock()
        with self._mutex:
            keys = [key for key in self._changed if is_all or self._due.get(key, 0.0) <= now]
            removed, self._removed = sorted(self._removed), set()
            return [self._changed.pop(key) for key in keys], removed

    def _save(self, work: tuple[list[Maintained], list[str]]) -> None:
        assert self._repository is not None
        relations, removed = work
        try:
            if removed:
                self._repository.remove(removed)
            while relations:
                self._save_some(self._repository, relations)
            self.problem = ""
        except OperationalError as error:
            self._failed(error, relations, removed)
        except Exception as error:
            _LOG.warning("A sketch could not be saved: %s", described(error))
            self.problem = f"{type(error).__name__}: {error}".split("\n", 1)[0]

    def _failed(self, error: OperationalError, relations: list[Maintained], removed: list[str]) -> None:
        _LOG.warning("%s Sketches are kept in memory; the next try is in %d seconds.", error, RETRY_SECONDS)
        self.problem = str(error)
        with self._mutex:
            self._next_try = self._clock() + RETRY_SECONDS
            self._removed.update(removed)
            for relation in relations:
                self._changed.setdefault(relation.identity.key, relation)
            for key in self._changed:
                self._due[key] = self._clock() + RETRY_SECONDS

    def _save_some(self, repository: Repository, relations: list[Maintained]) -> None:
        """Save relations from the end of the list, as many as fit in one commit; they are taken off when they are saved."""
        copies: list[_Copy] = []
        count = size = 0
        begin = self._clock()
        for relation in reversed(relations):
            copy = self._copied(relation)
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
            self._due[copy.relation.identity.key] = self._clock() + pause
            self._note_saved(copy)
        del relations[len(relations) - count :]

    def _note_saved(self, copy: _Copy) -> None:
        relation, key = copy.relation, copy.relation.identity.key
        with relation.ownership.held():
            is_same = relation.saved(Stored.of(copy.record), copy.contents)
        if not is_same:
            # It was given up meanwhile, perhaps since it was found to be wrong; unless another is to be saved its record must go.
            with self._mutex:
                if key not in self._changed:
                    self._removed.add(key)

    def _copied(self, relation: Maintained) -> _Copy | None:
        with relation.ownership.held():
            contents = relation.contents
            if contents is None or relation.is_saved or relation.is_dropped:
                return None
            columns, record, vector = _columns(contents), _record(relation, contents), relation.vector
        tables = []
        for location, table in vector.items():
            digest = self._source.commit_digest(location, table.version)
            if digest is None:
                return None
            tables.append(StoredTable(location, table.table_id, table.version, table.rows, digest))
        return _Copy(relation, contents, replace(record, tables=tuple(tables)), columns)


@dataclass(frozen=True, slots=True, eq=False)
class _Copy:
    """The groups of a relation as they were at one moment."""

    relation: Maintained
    contents: Contents
    record: Record
    columns: StateColumns


def _columns(contents: Contents) -> StateColumns:
    return contents.snapshot() if isinstance(contents, CutGroups) else {}


def _buckets(contents: Contents) -> StoredBuckets | None:
    return StoredBuckets(contents.target, contents.version, contents.coarse.ranges) if isinstance(contents, BucketedState) else None


def _record(relation: Maintained, contents: Contents) -> Record:
    """Return the record of a relation as it is, without its tables; the caller holds it."""
    identity = relation.identity
    return Record(
        key=identity.key,
        family=identity.family,
        prefix=identity.prefix,
        source=identity.source,
        template=identity.template,
        template_text=identity.template_text,
        templates=tuple(sorted(relation.usage.templates)),
        table=identity.table,
        location=identity.location,
        tables=(),
        cuts=tuple(StoredCut(cut, _sketch(relation, cut)) for cut in relation.cuts),
        state=uuid.uuid4().hex,
        conditions=None if relation.block is None else written_conditions(relation.block),
        groups=relation.groups or 0,
        bytes=contents.memory,
        learned=relation.costs.learned(),
        buckets=_buckets(contents),
        block=None if relation.block is None else written_block(relation.block),
    )


def _sketch(relation: Maintained, cut: AttachedCut) -> StoredSketch | None:
    newest = relation.sketches(cut.name).newest
    if newest is None or newest.vector != relation.vector or newest.sketch.partition is not cut.partition:
        return None
    return StoredSketch(newest.constants, newest.sketch.fragments, newest.rows)
