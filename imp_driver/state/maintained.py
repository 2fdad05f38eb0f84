"""A maintained relation: the groups of a block at one vector of table versions, and their life.

Nothing outside assigns a field. Groups are captured or restored, advanced, cut, saved, parked, and invalidated, and the relation says what
it is then; what is learned beside them has owners of its own (``usage``, ``costs``, ``attempts``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from typing import TypeAlias

import pyarrow as pa

from imp_driver.buckets.state import BucketedState
from imp_driver.circuit.circuit import Circuit
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.plan.bind import BoundBlock
from imp_driver.sketch.cut_groups import Cut, CutGroups
from imp_driver.snapshot.vector import Vector, is_ahead
from imp_driver.state.costs import Costs
from imp_driver.state.group_columns import ColumnCache
from imp_driver.state.ownership import Ownership
from imp_driver.state.sketches import SketchCache
from imp_driver.state.values import Attempts, Cause, Identity, Stored, Usage
from imp_driver.values.cuts import AttachedCut, CutName
from imp_driver.values.tables import TableSnapshot
from imp_driver.values.view_policy import ViewPolicy, strictest

Contents: TypeAlias = CutGroups | BucketedState
"""The groups: in memory, or in buckets where they are too many."""


class Maintained:
    """Changed under its lock (``held``); what others ask without it is one value that is replaced.

    ``stored`` is given where a former process has saved the groups; its tables are then to be proven to have that history.
    """

    def __init__(self, identity: Identity, stored: Stored | None = None, costs: Costs | None = None, templates: Iterable[str] = ()) -> None:
        self.identity = identity
        self.ownership = Ownership()
        self.costs = costs or Costs()
        self.usage = Usage(templates)
        self.attempts = Attempts()
        self.columns = ColumnCache()
        self._sketches: dict[CutName, SketchCache] = {}
        self._contents: Contents | None = None
        self._is_settled = True
        self._stored = stored
        self._is_proven = stored is None
        self._vector: Vector = {} if stored is None else stored.vector
        self._block: BoundBlock | None = None
        self._key_types: tuple[pa.DataType, ...] = ()
        self._circuit: Circuit | None = None
        self._cause: Cause | None = None
        self._is_dropped = False
        self._views: dict[tuple[str, ...], ViewPolicy] = {}

    @property
    def identifier(self) -> str:
        return self.identity.key[:12]

    @property
    def contents(self) -> Contents | None:
        """The groups that can be used at once; None while a step changes them, and after one that was interrupted."""
        return self._contents if self._is_settled else None

    @property
    def in_memory(self) -> CutGroups | None:
        """The groups with their cuts, where they are in memory."""
        contents = self.contents
        return contents if isinstance(contents, CutGroups) else None

    @property
    def state(self) -> GroupState | None:
        """The groups, where they are in memory."""
        contents = self.in_memory
        return None if contents is None else contents.state

    @property
    def bucketed(self) -> BucketedState | None:
        """The groups, where they are in buckets."""
        contents = self.contents
        return contents if isinstance(contents, BucketedState) else None

    @property
    def is_ready(self) -> bool:
        return self.contents is not None

    @property
    def is_held(self) -> bool:
        """Whether there are groups, in memory, in buckets or in the store; also while a step changes them."""
        return self._contents is not None or self._stored is not None

    @property
    def is_in_service(self) -> bool:
        """Whether there are groups, or there were and they are to be captured again."""
        return self.is_held or self._cause is not None

    @property
    def is_wanted(self) -> bool:
        """Whether it is worth remembering: it is in service, or a capture failed or was put off."""
        return self.is_in_service or self.is_named or self.attempts.failure is not None or self.costs.is_waiting

    @property
    def stored(self) -> Stored | None:
        """Where the groups can be read back from; None while they were not saved."""
        return self._stored

    @property
    def is_saved(self) -> bool:
        """Whether the store has the groups as they are."""
        return self._stored is not None and self._stored.vector == self._vector

    @property
    def is_proven(self) -> bool:
        """Whether the tables were seen to have the history that the groups are of; those from the store are not, at first."""
        return self._is_proven

    @property
    def vector(self) -> Vector:
        """Every table that the groups depend on, at the version that they stand for; empty before the first capture."""
        return self._vector

    @property
    def version(self) -> int | None:
        """Version of the first table that was cut; None before the first capture."""
        location = self.identity.location
        return None if location not in self._vector else self._vector[location].version

    @property
    def block(self) -> BoundBlock | None:
        """The block that the groups are of, with its row conditions."""
        return self._block

    @property
    def key_types(self) -> tuple[pa.DataType, ...]:
        return self._key_types

    @property
    def circuit(self) -> Circuit | None:
        """The tables of a join, kept for its next change."""
        return self._circuit

    @property
    def cause(self) -> Cause | None:
        """Why the groups are to be captured again; None before the first capture and while there are groups."""
        return self._cause

    @property
    def is_dropped(self) -> bool:
        """Whether it is not to be found any more, here or in the store, whoever still uses it."""
        return self._is_dropped

    @property
    def is_named(self) -> bool:
        """Whether it holds rows of an incremental view: it then stays in memory."""
        return bool(self._views)

    @property
    def views(self) -> tuple[tuple[str, ...], ...]:
        """The incremental views whose rows it holds, by their names."""
        return tuple(sorted(self._views))

    @property
    def policy(self) -> ViewPolicy | None:
        """The strictest of the views whose rows it holds; None where there is none."""
        return strictest(self._views.values())

    def named(self, view: tuple[str, ...], policy: ViewPolicy | None) -> None:
        """Hold rows of a view, under a policy; None: hold them no longer."""
        others = {name: each for name, each in self._views.items() if name != view}
        self._views = others if policy is None else {**others, view: policy}

    @property
    def targets(self) -> set[str]:
        """Tables of its groups in buckets: the present ones and those that the store has a record of."""
        bucketed = self._contents if isinstance(self._contents, BucketedState) else None
        stored = None if self._stored is None else self._stored.record.buckets
        return {each.target for each in (bucketed, stored) if each is not None}

    @property
    def groups(self) -> int | None:
        """How many there are."""
        match self.contents:
            case BucketedState() as bucketed:
                return int(bucketed.groups.sum())
            case CutGroups() as contents:
                return contents.state.groups
        return None if self._stored is None else self._stored.record.groups

    @property
    def cuts(self) -> tuple[AttachedCut, ...]:
        """What the groups are cut by, also where they are in the store."""
        contents = self.contents
        if contents is not None:
            return contents.attached
        return () if self._stored is None else tuple(each.cut for each in self._stored.record.cuts)

    @property
    def memory(self) -> int:
        """Bytes. Asked under the lock, since the parts change while they are counted; the registry remembers the answer."""
        parts = sum(part.memory for part in (self._contents, self._circuit, self.columns) if part is not None)
        return parts + sum(sketches.memory for sketches in self._sketches.values())

    def sketches(self, name: CutName) -> SketchCache:
        """Return the newest sketches by a cut; used under the lock."""
        return self._sketches.setdefault(name, SketchCache())

    def _put_sketches_aside(self) -> None:
        for sketches in self._sketches.values():
            sketches.put_aside()

    def is_ahead_of(self, snapshots: Iterable[TableSnapshot]) -> bool:
        """Say whether another thread has brought the groups beyond some of these snapshots of the same tables."""
        return is_ahead(self._vector, snapshots)

    def captured(
        self, contents: Contents, block: BoundBlock, key_types: tuple[pa.DataType, ...], vector: Vector, seconds: float = 0.0
    ) -> None:
        """Take groups that were just read; all that was known before may have been given up because something was wrong with it."""
        self._is_settled = False
        self._sketches = {}
        self.columns.clear()
        self._circuit = self._stored = self._cause = None
        self._contents, self._block, self._key_types, self._vector, self._is_proven = contents, block, key_types, vector, True
        self.attempts.note_failure(None)
        self.costs.note_capture(seconds)
        self.usage.add(captures=1)
        self._is_settled = True

    @contextmanager
    def changing(self) -> Iterator[Contents]:
        """Lend the groups to be changed; unless they are ``advanced`` inside, there are none afterwards, and a capture follows."""
        contents = self.contents
        assert contents is not None
        self._is_settled = False
        try:
            yield contents
        finally:
            if not self._is_settled:
                # Kept tables may be changed in part, too.
                self._contents = self._circuit = None
                self._is_settled = True
                self.columns.clear()

    def advanced(self, vector: Vector, circuit: Circuit | None, delta_rows: int) -> None:
        """Stand for newer versions: the groups were changed by so many signed rows, and the kept tables with them."""
        self._vector, self._circuit = vector, circuit
        self.usage.add(maintained=1, delta_rows=delta_rows)
        self._is_settled = True

    def attached(self, name: CutName, cut: Cut) -> None:
        """Cut the groups by one more column from here on. What is kept of a join may lack that column, and what is stored lacks the cut."""
        contents = self.in_memory
        assert contents is not None
        self._circuit, self._stored, self._is_proven = None, None, True
        contents.attach(name, cut)

    def detached(self, name: CutName) -> None:
        """Cut the groups by a column no longer; what is kept of a join may have it still."""
        contents = self.in_memory
        assert contents is not None
        contents.detach(name)
        self._circuit = None
        self._sketches.pop(name, None)

    def invalidated(self, cause: Cause | None = None) -> None:
        """Have no groups any more, here or in the store, until they are captured again.

        Without a cause it is as if they had never been: what they stood for is not certain.
        """
        self._contents = self._stored = self._circuit = None
        self._sketches, self._is_settled, self._is_proven = {}, True, True
        self.columns.clear()
        self._cause = cause
        if cause is None:
            self._vector = {}
        else:
            self.attempts.note_cause(cause)

    def forked(self) -> Maintained:
        """Return what can be changed in its place, and nobody else knows; without cuts. Called under the lock, where there are groups."""
        state = self.state
        assert state is not None
        assert self._block is not None
        other = Maintained(self.identity)
        other.captured(CutGroups(deepcopy(state)), self._block, self._key_types, self._vector)
        # Operators have no rows of their own, and a step replaces the tables that are kept.
        other._circuit = copy(self._circuit)
        return other

    def dropped(self) -> None:
        """Be saved no more, nor read by who does not hold it."""
        self._is_dropped = True
        self.columns.clear()

    def proven(self) -> None:
        """The tables have the history that the groups are of."""
        self._is_proven = True

    def described(self, block: BoundBlock | None) -> None:
        """Learn the block of groups that a former process has saved; the first one stays."""
        self._block = self._block or block

    def restored(self, contents: Contents, block: BoundBlock, key_types: tuple[pa.DataType, ...]) -> None:
        """Take groups that the store had."""
        assert self._stored is not None
        self._put_sketches_aside()
        self._contents, self._block, self._key_types, self._vector = contents, block, key_types, self._stored.vector

    def saved(self, stored: Stored, contents: Contents) -> bool:
        """Learn that groups were saved, as they were then; False when these have been given up meanwhile, or all of it was dropped."""
        is_parked = not self.is_ready and self._stored is not None
        is_same = (self.contents is contents or is_parked) and not self._is_dropped
        if is_same:
            self._stored = stored
        return is_same

    def parked(self) -> int:
        """Give the groups up where the store has them, unless they are in use; return the bytes that this saves.

        They are read back, and brought up to date, when they are needed.
        """
        with self.ownership.held_if_free() as is_held:
            if not is_held or self._stored is None or not isinstance(self._contents, CutGroups):
                return 0
            before = self.memory
            self._put_sketches_aside()
            self._contents = self._circuit = None
            self.columns.clear()
            self._vector = self._stored.vector
            return before - self.memory
