"""The state of one template's block for one set of row conditions: what the operators keep, at which versions of the tables."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from imp_driver.buckets.state import BucketedState
from imp_driver.delta.contract import ChangesUnavailable, TableSnapshot
from imp_driver.delta.coverage import FileFragments
from imp_driver.maintain.batch import BatchCost
from imp_driver.maintain.costs import Costs
from imp_driver.operators.aggregate.group import GroupState
from imp_driver.operators.merge import Merge
from imp_driver.persist.record import NO_CHOICE, Record, StoredChoice
from imp_driver.plan.bind import BoundBlock
from imp_driver.reasons import Reason
from imp_driver.sketch.codes import IntegerArray
from imp_driver.sketch.ranges import RangePartition
from imp_driver.sketch.sketch import Sketch

if TYPE_CHECKING:
    from imp_driver.maintain.request import Use
    from imp_driver.maintain.sides import Sides

PATIENCE = 3
"""Useless sketches in a row after which maintenance is left out now and then."""
KEPT_SKETCHES = 4
"""Sketches of former versions or constants; they are small."""
LONGEST_REST = 64
"""Queries, at most, between two tries."""


@dataclass(slots=True, eq=False)
class Counters:
    """How often an entry was used, for SHOW SKETCHES."""

    captures: int = 0
    maintained: int = 0
    uses: int = 0
    delta_rows: int = 0


@dataclass(frozen=True, slots=True)
class TableState:
    """One table as the state has seen it; ``rows`` of the whole table by its statistics, None when unknown."""

    table_id: str
    version: int
    rows: int | None


Vector = Mapping[str, TableState]
"""By location."""


def vector_of(snapshots: Iterable[TableSnapshot]) -> Vector:
    return {each.location: TableState(each.table_id, each.version, each.row_count) for each in snapshots}


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """The newest sketch of a state: for which constants above the groups, and the state's rows per fragment, the NULL fragment last.

    ``merged`` changes along with the groups; None where the sketch is derived from all of them each time.
    """

    vector: Vector
    constants: str
    sketch: Sketch
    rows: IntegerArray
    merged: Merge | None = None


@dataclass(frozen=True, slots=True)
class CaptureFailure:
    """Why there is no state; ``vector`` are the versions at which another try would fail again, None for all."""

    reason: Reason
    detail: str
    vector: Vector | None


@dataclass(slots=True, eq=False)
class Ahead:
    """What the worker of the eager strategy knows of an entry. Mutable; changed under the entry's lock.

    Attributes:
        use: the newest query that was served; None before the first.
        left: the vector from which the worker did not get on; the next query does.
        problem: why, or what went wrong; empty after a step that succeeded.
        due: why only a new capture will do, found when the state had been changed already; the next query makes it.
        steps, milliseconds: of the worker.
    """

    use: Use | None = None
    left: Vector | None = None
    problem: str = ""
    due: ChangesUnavailable | None = None
    steps: int = 0
    milliseconds: float = 0.0
    cost: BatchCost = field(default_factory=BatchCost)


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """Where the state can be read back from, and at which versions it stands there."""

    record: Record
    vector: Vector

    def version(self, location: str) -> int | None:
        """Return the version of one table; None for another one."""
        return None if location not in self.vector else self.vector[location].version

    @classmethod
    def of(cls, record: Record) -> Stored:
        return cls(record, {table.location: TableState(table.table_id, table.version, table.rows) for table in record.tables})


@dataclass(slots=True, eq=False)
class StateEntry:
    """Mutable; ``lock`` is held while the state is captured, maintained or read.

    Attributes:
        table, attribute: what is cut, the first of them where there are several.
        location: of that table.
        templates: identifiers of all templates that it has served; ``template`` is that of the first.
        family: what the state depends on but its row conditions, hashed; ``block`` has these.
        prefix: the same without the aggregates; empty where the state serves its own template only.
        choice: which attribute is cut.
        vector: every table that the state depends on.
        derived, older: the newest sketch, and those before it, the newest last.
        stored: where the state can be read back from; None while it was not saved.
        bucketed: the state where it is too large for memory; then ``state`` is None.
        is_proven: whether the tables were seen to have the history that the state is of; a state from the store is not, at first.
        deep_buffers: shallow buffers of minima or maxima ran dry before, so the next capture takes deep ones.
        awaited: versions at which a capture that could not be avoided was put off; asked for again, it is made.
        failure: why the last capture failed.
        sides: the tables of a join, kept for its next change; ``without_sides`` says that this was tried in vain.
        useless: how many sketches in a row kept almost everything; ``rested`` counts the queries since that were not maintained for.
    """

    identifier: str
    key: str
    template: str
    template_text: str
    table: str
    location: str
    attribute: str
    templates: set[str] = field(default_factory=set)
    family: str = ""
    prefix: str = ""
    choice: StoredChoice = NO_CHOICE
    block: BoundBlock | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    state: GroupState | None = None
    key_types: tuple[pa.DataType, ...] = ()
    vector: Vector = field(default_factory=dict)
    file_fragments: tuple[Vector, str, RangePartition, tuple[FileFragments, ...]] | None = None
    derived: Derived | None = None
    older: deque[Derived] = field(default_factory=lambda: deque(maxlen=KEPT_SKETCHES))
    stored: Stored | None = None
    bucketed: BucketedState | None = None
    is_proven: bool = True
    deep_buffers: bool = False
    sides: Sides | None = None
    without_sides: bool = False
    awaited: Vector | None = None
    failure: CaptureFailure | None = None
    useless: int = 0
    rested: int = 0
    costs: Costs = field(default_factory=Costs)
    counters: Counters = field(default_factory=Counters)
    ahead: Ahead = field(default_factory=Ahead)

    @property
    def is_held(self) -> bool:
        """Whether there is a state, in memory, in buckets or in the store."""
        return self.is_ready or self.stored is not None

    @property
    def present(self) -> GroupState | BucketedState | None:
        """The state that can be used at once, in memory or in buckets."""
        return self.state or self.bucketed

    @property
    def is_ready(self) -> bool:
        return self.present is not None

    @property
    def sketches(self) -> tuple[Derived, ...]:
        """All that are kept, the newest last."""
        return (*self.older, *(() if self.derived is None else (self.derived,)))

    @property
    def targets(self) -> set[str]:
        """Tables of its states in buckets: the present one and the one that the store has a record of."""
        stored = None if self.stored is None else self.stored.record.buckets
        return {each.target for each in (self.bucketed, stored) if each is not None}

    @property
    def groups(self) -> int | None:
        """Groups of the state, where there is one."""
        state, stored = self.state, self.stored
        if self.bucketed is not None:
            return int(self.bucketed.groups.sum())
        return state.groups if state is not None else None if stored is None else stored.record.groups

    @property
    def fragments(self) -> int | None:
        """Fragments of its partition, where there is a state."""
        state, stored = self.state, self.stored
        if self.bucketed is not None:
            return self.bucketed.partition.fragments
        return state.partition.fragments if state is not None else None if stored is None else stored.record.partition.fragments

    @property
    def is_saved(self) -> bool:
        """Whether the store has the state as it is."""
        return self.stored is not None and self.stored.vector == self.vector

    def kept(self, vector: Vector, constants: str) -> Derived | None:
        """Return the sketch of exactly these versions and constants, None when there is none any more."""
        return next((each for each in reversed(self.sketches) if each.constants == constants and each.vector == vector), None)

    def put_aside(self) -> None:
        """Make the newest sketch one of the older ones; there is no newest one then."""
        if self.derived is not None:
            self.older.append(replace(self.derived, merged=None))
            self.derived = None

    def park(self) -> None:
        """Give the state up where the store has it, unless it is in use; it is read back, and brought up to date, when it is needed."""
        if self.stored is None or self.state is None or not self.lock.acquire(blocking=False):
            return
        try:
            self.put_aside()
            self.state = self.sides = None
            self.vector = self.stored.vector
        finally:
            self.lock.release()

    def give_up(self) -> None:
        """Forget the state and every sketch of it: what they stand for is no longer certain."""
        self.state = self.bucketed = self.sides = self.stored = self.derived = self.file_fragments = None
        self.older.clear()
        self.vector, self.is_proven = {}, True

    def rests(self) -> bool:
        """Say whether maintenance is left out this time: after a few useless sketches ever rarer ones are tried."""
        if self.useless < PATIENCE or self.rested >= min(2 ** (self.useless - PATIENCE), LONGEST_REST):
            self.rested = 0
            return False
        self.rested += 1
        return True

    @property
    def memory(self) -> int:
        merged = None if self.derived is None else self.derived.merged
        sketches = sum(each.rows.nbytes + each.sketch.fragments.memory for each in self.sketches)
        return sum(part.memory for part in (self.state, self.bucketed, self.sides, merged) if part is not None) + sketches

    @property
    def version(self) -> int | None:
        """Version of the first cut table; None before the first capture."""
        return None if self.location not in self.vector else self.vector[self.location].version

    def is_ahead_of(self, snapshots: Iterable[TableSnapshot]) -> bool:
        """Say whether another thread has brought the state beyond some of these snapshots of the same tables."""
        pairs = [(self.vector.get(each.location), each) for each in snapshots]
        is_same = all(known is not None and known.table_id == each.table_id for known, each in pairs)
        return is_same and any(known is not None and known.version > each.version for known, each in pairs)
