"""The sketches of one warehouse: find or make the entry of a block, bring it up to a snapshot, derive the sketch of the query."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pyarrow as pa

from imp_driver.capture.capture import StateTooLarge, check_size, column, parts_of
from imp_driver.capture.clustering import LARGEST_OVERLAP, cut_files, overlap_of
from imp_driver.capture.instrument import at_versions, capture_sql, qualified, rows_sql
from imp_driver.delta.contract import ChangeSource
from imp_driver.delta.coverage import FileFragments
from imp_driver.errors import CANCELLED, Error
from imp_driver.maintain.admission import Admission
from imp_driver.maintain.derive import derive_sketch
from imp_driver.maintain.entry import CaptureFailure, StateEntry, vector_of
from imp_driver.maintain.lazy import bring_up_to_date
from imp_driver.maintain.request import Prepared, Request
from imp_driver.maintain.reusing import Reuse
from imp_driver.maintain.upkeep import SparkReader, Upkeep
from imp_driver.observe.guard import Guard
from imp_driver.observe.stopwatch import Stopwatch
from imp_driver.operators.aggregate.group import GroupState
from imp_driver.parse.nodes import Column
from imp_driver.parse.supported import Refused
from imp_driver.reasons import Reason
from imp_driver.safety.cuts import Cut
from imp_driver.sketch.ranges import equi_depth
from imp_driver.sketch.store import SketchStore

FEW_ROWS = 1_000_000
"""Tables of fewer rows are captured with deep buffers at once; in larger ones groups are large too, and few changes meet an extremum."""


class Sketches:
    """Shared by all connections of a process to one warehouse; entries are keyed by everything that changes their meaning."""

    def __init__(self, source: ChangeSource, memory: int) -> None:
        self.store: SketchStore[StateEntry] = SketchStore(memory)
        self.guard = Guard()
        self._source = source
        self._admission = Admission()
        self._attributes: dict[str, int] = {}
        self._reuse = Reuse()

    def prepare(self, request: Request, read: SparkReader, watch: Stopwatch) -> Prepared:
        """Return the query's sketch at the request's snapshot.

        Raises:
            Refused: there is no sketch to be had; the reason says why.
            Error: Spark failed in maintenance.
        """
        problem = self.guard.problem(request.template.identifier)
        if problem is not None:
            raise Refused(Reason.TEMPLATE_DISABLED, problem)
        request = self._with_state(request)
        key, index = self._key(request)
        entry = self.store.get_or_add(key, lambda: self._new_entry(request, key, index))
        try:
            with entry.lock:
                prepared = self._prepare_locked(request, entry, index, read, watch)
        except BaseException:
            if entry.state is None and entry.failure is None and entry.awaited is None:
                self.store.discard(key, entry)
            raise
        self.store.evict()
        return prepared

    def _with_state(self, request: Request) -> Request:
        """Choose the state: the block's own, the lifted one, one with other constants that serves it, else the one to be captured.

        At first only the groups are captured that the conditions leave, all groups once other constants are asked for.
        """
        lifted = None if request.lifted is None else replace(request, block=request.lifted, lifted=None, is_lifted=True)
        for own in filter(None, (request, lifted)):
            if self._has_state(own):
                return own
        index = self._attributes.get(request.template.identifier)
        reused = None if index is None else self._reuse.find(request, _family(request, index), self.store.entries())
        # One that is served by a larger state is captured itself when it is asked for again.
        if reused is not None and (reused.is_exact or self._admission.is_first(_state_key(request, index or 0))):
            return reused.request
        is_first = not self._admission.has_admitted(_admission_name(request))
        return request if is_first or lifted is None else lifted

    def _has_state(self, request: Request) -> bool:
        return self._known(request) is not None

    def _prepare_locked(self, request: Request, entry: StateEntry, index: int, read: SparkReader, watch: Stopwatch) -> Prepared:
        failure = entry.failure
        if failure is not None and failure.vector in (None, vector_of(request.tables)):
            raise Refused(failure.reason, failure.detail)
        if entry.state is None and not self._admission.admits(_admission_name(request), entry.key):
            raise Refused(Reason.CAPTURE_DEFERRED)
        if entry.state is not None and entry.is_ahead_of(request.tables):
            # Another thread has seen a newer snapshot since this one was taken; the state cannot go back.
            newest = {each.location: self._source.snapshot(each.location) for each in request.tables}
            request = replace(request, snapshots={name: newest[each.location] for name, each in request.snapshots.items()})
        if entry.state is not None and entry.vector != vector_of(request.tables) and entry.rests():
            raise Refused(Reason.COVERS_ALMOST_ALL, "as it did before; it is brought up to date again after some more queries")
        with watch.stage("maintain"):
            upkeep = bring_up_to_date(entry, request, self._source, read, lambda: self._capture(request, entry, index, read, watch))
        self._count(entry, upkeep)
        state = entry.state
        assert state is not None
        with watch.stage("sketch"):
            sketch = derive_sketch(entry, state, request.block, may_tie=request.analysis.may_tie)
            cuts = request.analysis.cuts[index]
            files = self._files(request, entry, cuts, state)
            return Prepared(entry, upkeep, sketch, cuts, files, state.fragment_rows(), request.reuse)

    def _key(self, request: Request) -> tuple[str, int]:
        known = self._known(request)
        if known is not None:
            return known
        index = self._choose(request)
        self._attributes[request.template.identifier] = index
        return _state_key(request, index), index

    def _known(self, request: Request) -> tuple[str, int] | None:
        """Return the key and the attribute of the state that a request has already."""
        index = self._attributes.get(request.template.identifier)
        if index is None:
            return None
        key = _state_key(request, index)
        entry = self.store.find(key)
        return None if entry is None or entry.state is None else (key, index)

    def _choose(self, request: Request) -> int:
        """Choose the safe key that the files are best clustered by (sketch-safety rules 4, heuristic order)."""
        safe = request.analysis.safe
        overlaps = [overlap_of(cut_files(cuts, request.snapshots)) for cuts in request.analysis.cuts.values()]
        best = int(np.argmin(np.round(overlaps, 3)))
        name = request.analysis.attribute(safe[best])
        if overlaps[best] > LARGEST_OVERLAP:
            detail = f"{name}: an average value is in {overlaps[best]:.0%} of the files; try CLUSTER BY or ZORDER BY {name}"
            raise Refused(Reason.NOT_CLUSTERED, detail)
        return safe[best]

    def _new_entry(self, request: Request, key: str, index: int) -> StateEntry:
        return StateEntry(
            identifier=key[:12],
            key=key,
            template=request.template.identifier,
            template_text=request.template.text,
            table=".".join(request.analysis.cuts[index][0].scan.table),
            location=request.snapshots[request.analysis.cuts[index][0].scan.table].location,
            attribute=request.analysis.attribute(index),
            family=_family(request, index),
        )

    def _capture(self, request: Request, entry: StateEntry, index: int, read: SparkReader, watch: Stopwatch) -> None:
        block = request.block
        with watch.stage("capture"):
            try:
                deep = entry.deep_buffers or request.rows < FEW_ROWS
                captured = read(capture_sql(block, at_versions(request.versions), deep_buffers=deep))
                check_size(captured, self.store.memory_budget)
            except StateTooLarge as error:
                entry.failure = CaptureFailure(Reason.STATE_TOO_LARGE, str(error), None)
                raise Refused(Reason.STATE_TOO_LARGE, str(error)) from error
            except Error as error:
                if error.error_class == CANCELLED:
                    raise
                entry.failure = CaptureFailure(Reason.CAPTURE_FAILED, str(error).split("\n", 1)[0], vector_of(request.tables))
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
            entry.vector, entry.block = vector_of(request.tables), block
            entry.file_fragments = None

    @staticmethod
    def _key_column(captured: pa.Table, place: int, request: Request) -> pa.Array:
        """A key that is a column has the type that deltas will have; Spark's Arrow form may differ, in the time zone say."""
        key = request.block.keys[place]
        found = column(captured, f"key_{place}")
        wanted = request.analysis.columns.get(key.name) if isinstance(key, Column) else None
        return found if wanted is None else found.cast(wanted)

    def _files(self, request: Request, entry: StateEntry, cuts: tuple[Cut, ...], state: GroupState) -> tuple[FileFragments, ...]:
        if entry.file_fragments is None or entry.file_fragments[0] != entry.vector:
            located = [FileFragments.locate(files, name, state.partition) for files, name in cut_files(cuts, request.snapshots)]
            entry.file_fragments = (entry.vector, tuple(located))
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
    return _hashed(_family(request, index), request.block.where_sql)


def _family(request: Request, index: int) -> str:
    """Hash everything that the state depends on but its row conditions; constants above the groups are not among it."""
    block = request.block
    aggregates = [(str(each.specification), each.argument_sql) for each in block.aggregates]
    rows = rows_sql(block, lambda scan: qualified(scan.table))
    return _hashed(request.template.identifier, index, rows, block.keys_sql, aggregates, request.settings, request.fragments)


def _hashed(*parts: object) -> str:
    return hashlib.blake2s(repr(parts).encode(), digest_size=16).hexdigest()
