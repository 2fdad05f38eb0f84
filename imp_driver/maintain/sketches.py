"""The sketches of one warehouse: find or make the entry of a block, bring it up to a snapshot, derive the sketch of the query."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.advise.workload import Workload
from imp_driver.capture.capture import StateTooLarge, check_size, column, parts_of
from imp_driver.capture.clustering import FEW_FILES, LARGEST_OVERLAP, best_attribute
from imp_driver.capture.instrument import capture_sql
from imp_driver.delta.contract import ChangeSource, TableSnapshot
from imp_driver.delta.coverage import FileFragments
from imp_driver.errors import CANCELLED, Error
from imp_driver.maintain.admission import Admission
from imp_driver.maintain.derive import derive_sketch
from imp_driver.maintain.entry import CaptureFailure, StateEntry
from imp_driver.maintain.lazy import SparkReader, Upkeep, bring_up_to_date
from imp_driver.observe.guard import Guard
from imp_driver.observe.stopwatch import Stopwatch
from imp_driver.operators.aggregate.group import GroupState
from imp_driver.parse.nodes import Column
from imp_driver.parse.supported import Refused
from imp_driver.parse.template import Template
from imp_driver.plan.bind import BoundBlock
from imp_driver.ports import Relation
from imp_driver.reasons import Reason
from imp_driver.safety.analysis import Analysis
from imp_driver.sketch.ranges import equi_depth
from imp_driver.sketch.sketch import Sketch
from imp_driver.sketch.store import SketchStore

FEW_ROWS = 1_000_000
"""Tables of fewer rows are captured with deep buffers at once; in larger ones groups are large too, and few changes meet an extremum."""


@dataclass(frozen=True, slots=True)
class Request:
    """All that is known of one block of a SELECT when its sketch is asked for.

    ``lifted`` is the same block with a state that does not depend on conditions on its keys, None when it has no such conditions;
    ``is_lifted`` says that this request is about it.
    """

    template: Template
    analysis: Analysis
    block: BoundBlock
    relation: Relation
    snapshot: TableSnapshot
    settings: tuple[tuple[str, str], ...]
    fragments: int
    lifted: BoundBlock | None = None
    is_lifted: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A sketch at the snapshot's version. ``rows`` are the state's rows per fragment, the NULL fragment last."""

    entry: StateEntry
    upkeep: Upkeep
    sketch: Sketch
    files: FileFragments
    rows: npt.NDArray[np.int64]


class Sketches:
    """Shared by all connections of a process to one warehouse; entries are keyed by everything that changes their meaning."""

    def __init__(self, source: ChangeSource, memory: int, workload_file: Path | None = None) -> None:
        self.store: SketchStore[StateEntry] = SketchStore(memory)
        self.guard = Guard()
        self.workload: Workload[Request] = Workload(workload_file)
        self._source = source
        self._admission = Admission()
        self._attributes: dict[tuple[str, str], int] = {}

    def prepare(self, request: Request, read: SparkReader, watch: Stopwatch) -> Prepared:
        """Return the query's sketch at the request's snapshot.

        Raises:
            Refused: there is no sketch to be had; the reason says why.
            Error: Spark failed in maintenance.
        """
        problem = self.guard.problem(request.template.identifier)
        if problem is not None:
            raise Refused(Reason.TEMPLATE_DISABLED, problem)
        request = self._narrow_or_lifted(request)
        key, index = self._key(request)
        entry = self.store.get_or_add(key, lambda: self._new_entry(request, key, index))
        try:
            with entry.lock:
                prepared = self._prepare_locked(request, entry, index, read, watch)
        except BaseException:
            if entry.state is None and entry.failure is None:
                self.store.discard(key, entry)
            raise
        self.store.evict()
        return prepared

    def _narrow_or_lifted(self, request: Request) -> Request:
        """Choose the state: at first only the groups that the conditions leave, all groups once other constants are asked for."""
        if request.lifted is None:
            return request
        lifted = replace(request, block=request.lifted, lifted=None, is_lifted=True)
        if self._has_state(lifted):
            return lifted
        is_first = not self._admission.has_admitted(_admission_name(request))
        return request if is_first or self._has_state(request) else lifted

    def _has_state(self, request: Request) -> bool:
        return self._known(request) is not None

    def state_of(self, request: Request) -> tuple[StateEntry, BoundBlock] | None:
        """Return the entry whose state a request would use, at whatever version, and the block that it is the state of."""
        request = self._narrow_or_lifted(request)
        known = self._known(request)
        entry = None if known is None else self.store.find(known[0])
        return None if entry is None else (entry, request.block)

    def _prepare_locked(self, request: Request, entry: StateEntry, index: int, read: SparkReader, watch: Stopwatch) -> Prepared:
        failure = entry.failure
        if failure is not None and failure.version in (None, request.snapshot.version):
            raise Refused(failure.reason, failure.detail)
        if entry.state is None and not self._admission.admits(_admission_name(request), entry.key):
            raise Refused(Reason.CAPTURE_DEFERRED)
        if entry.state is not None and entry.table_id == request.snapshot.table_id and entry.version > request.snapshot.version:
            # Another thread has seen a newer snapshot since this one was taken; the state cannot go back.
            request = replace(request, snapshot=self._source.snapshot(request.snapshot.location))
        with watch.stage("maintain"):
            upkeep = bring_up_to_date(
                entry, request.block, request.snapshot, self._source, read, lambda: self._capture(request, entry, index, read, watch)
            )
        self._count(entry, upkeep)
        state = entry.state
        assert state is not None
        with watch.stage("sketch"):
            sketch = derive_sketch(entry, state, request.block)
            files = self._files(request.snapshot, entry, state)
            return Prepared(entry, upkeep, sketch, files, state.fragment_rows())

    def _key(self, request: Request) -> tuple[str, int]:
        known = self._known(request)
        if known is not None:
            return known
        index = self._choose(request)
        self._attributes[request.template.identifier, request.snapshot.table_id] = index
        return _state_key(request, index), index

    def _known(self, request: Request) -> tuple[str, int] | None:
        """Return the key and the attribute of the state that a request has already."""
        index = self._attributes.get((request.template.identifier, request.snapshot.table_id))
        if index is None:
            return None
        key = _state_key(request, index)
        entry = self.store.find(key)
        return None if entry is None or entry.state is None else (key, index)

    def _choose(self, request: Request) -> int:
        """Choose the safe key that the files are best clustered by (sketch-safety rules 4, heuristic order)."""
        names = [request.analysis.attribute(index) for index in request.analysis.safe]
        files = request.snapshot.files
        if len(files.sizes) < FEW_FILES:
            return request.analysis.safe[0]
        best, overlap = best_attribute(files, names)
        if overlap > LARGEST_OVERLAP:
            raise Refused(
                Reason.NOT_CLUSTERED,
                f"{names[best]}: an average value is in {overlap:.0%} of the files; try CLUSTER BY or ZORDER BY {names[best]}",
            )
        return request.analysis.safe[best]

    def _new_entry(self, request: Request, key: str, index: int) -> StateEntry:
        return StateEntry(
            identifier=key[:12],
            key=key,
            template=request.template.identifier,
            template_text=request.template.text,
            table=".".join(request.relation.name),
            location=request.snapshot.location,
            attribute=request.analysis.attribute(index),
        )

    def _capture(self, request: Request, entry: StateEntry, index: int, read: SparkReader, watch: Stopwatch) -> None:
        block, snapshot = request.block, request.snapshot
        with watch.stage("capture"):
            try:
                deep = entry.deep_buffers or (snapshot.row_count or 0) < FEW_ROWS
                captured = read(capture_sql(block, request.relation.name, snapshot.version, deep_buffers=deep))
                check_size(captured, self.store.memory_budget)
            except StateTooLarge as error:
                entry.failure = CaptureFailure(Reason.STATE_TOO_LARGE, str(error), None)
                raise Refused(Reason.STATE_TOO_LARGE, str(error)) from error
            except Error as error:
                if error.error_class == CANCELLED:
                    raise
                entry.failure = CaptureFailure(Reason.CAPTURE_FAILED, str(error).split("\n", 1)[0], snapshot.version)
                raise Refused(Reason.CAPTURE_FAILED, entry.failure.detail) from error
            entry.failure = None
            keys = tuple(self._key_column(captured, place, request) for place in range(len(block.keys)))
            rows = column(captured, "row_count")
            weights = np.asarray(rows.to_numpy(zero_copy_only=False), dtype=np.int64)
            specifications = tuple(aggregate.specification for aggregate in block.aggregates)
            partition = equi_depth(keys[index], weights, request.fragments)
            entry.key_types = tuple(key.type for key in keys)
            entry.state = GroupState.capture(
                keys, rows, parts_of(captured, specifications), specifications, entry.key_types, index, partition
            )
            entry.table_id, entry.version, entry.table_rows = snapshot.table_id, snapshot.version, snapshot.row_count
            entry.file_fragments = None

    @staticmethod
    def _key_column(captured: pa.Table, place: int, request: Request) -> pa.Array:
        """A key that is a column has the type that deltas will have; Spark's Arrow form may differ, in the time zone say."""
        key = request.block.keys[place]
        found = column(captured, f"key_{place}")
        wanted = request.analysis.columns.get(key.name) if isinstance(key, Column) else None
        return found if wanted is None else found.cast(wanted)

    def _files(self, snapshot: TableSnapshot, entry: StateEntry, state: GroupState) -> FileFragments:
        if entry.file_fragments is None or entry.file_fragments[0] != snapshot.version:
            entry.file_fragments = (snapshot.version, FileFragments.locate(snapshot.files, entry.attribute, state.partition))
        return entry.file_fragments[1]

    def _count(self, entry: StateEntry, upkeep: Upkeep) -> None:
        counters = entry.counters
        counters.uses += 1
        counters.delta_rows += upkeep.delta_rows
        if upkeep.decision.name.endswith("CAPTURED"):
            counters.captures += 1
        elif upkeep.decision.name == "MAINTAINED":
            counters.maintained += 1


def _admission_name(request: Request) -> str:
    return f"{request.template.identifier} {request.fragments}{' lifted' if request.is_lifted else ''}"


def _state_key(request: Request, index: int) -> str:
    """Hash everything that the state depends on; constants above the groups are not among it."""
    block = request.block
    aggregates = [(str(each.specification), each.argument_sql) for each in block.aggregates]
    parts: Sequence[object] = (
        request.snapshot.location,
        request.template.identifier,
        request.analysis.attribute(index),
        block.keys_sql,
        aggregates,
        block.where_sql,
        request.settings,
        request.fragments,
    )
    return hashlib.blake2s(repr(parts).encode(), digest_size=16).hexdigest()
