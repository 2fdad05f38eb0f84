"""The maintained relations of one warehouse: found or made, held while a reader uses them, brought up to a snapshot, given up."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa

from imp_driver.maintain.background import Background
from imp_driver.maintain.buckets import attach_buckets
from imp_driver.maintain.capture import capture_into, size_of
from imp_driver.maintain.choice import check_again
from imp_driver.maintain.eager import EagerWorker
from imp_driver.maintain.guard import Guard
from imp_driver.maintain.identity import admission_name, identity_of, lifted, shape_name, state_key
from imp_driver.maintain.prefix import replaced_by
from imp_driver.maintain.request import Request
from imp_driver.maintain.step import bring_up_to_date
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.maintain.upkeep_times import UpkeepTimes
from imp_driver.observe.metrics import Metrics
from imp_driver.persist.folders import Folders
from imp_driver.persist.record import Repository
from imp_driver.reasons import Decision, Reason
from imp_driver.snapshot.vector import vector_of
from imp_driver.state.admission import Admission
from imp_driver.state.checkpoint import Checkpoint
from imp_driver.state.constants import SeenConstants
from imp_driver.state.graph_states import GraphStates
from imp_driver.state.hulls import Hulls
from imp_driver.state.maintained import Maintained
from imp_driver.state.named_views import NamedViews
from imp_driver.state.recovery import Recovery
from imp_driver.state.registry import Registry
from imp_driver.state.returning import Returning
from imp_driver.state.thresholds import Thresholds
from imp_driver.state.unique_keys import UniqueKeys
from imp_driver.state.values import CaptureFailure
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import ChangeSource, TableSnapshot

ReadT = TypeVar("ReadT")
MOST_OF_A_SHAPE = 8
"""States that serve one constant alone, wherever it stands in a text, and were asked for once."""
FIRST_BYTES = 4 << 20
"""Of groups from which a query is answered that is asked for the first time: more of them take longer to fetch than a small query."""
LARGE_BYTES = 100 << 20
"""Of the files that a query reads; beside reading so many a capture costs little, whether it is of use or not (workload ``adhoc``)."""
FIRST_SHARE = 0.25
"""Of the bytes of the files that the query reads; so many bytes of groups are fetched the first time too."""

_MOST_SHAPES = 1_000
MOST_REPEATS = MOST_INNER = 256
MOST_RECURSIONS = 32
MOST_MERGES = 64
MOST_SLICES = 2_000
"""Answers whose rows are kept for who asks the same again; what they look like is their reader's to know (answer/repeated.py)."""

FETCHED = 3
"""Times that groups may be larger when they are fetched, with a text for each, than when they are held."""

_NOT_HELD = (
    "the rows of its tables are not held at the versions that are asked for (by a transaction, option snapshot or VERSION AS OF), "
    "which are no longer the newest; COMMIT and ask again, or have Spark compute it there (option recursion=auto)"
)


class Relations:
    """Shared by all connections of a process to one warehouse; relations are keyed by everything that changes their meaning.

    ``buckets`` is the folder of states that are too large for ``memory`` bytes; None where there is none. ``plain_seconds`` has what the
    engine took for the last text of a shape that ran unchanged.
    """

    def __init__(
        self,
        source: ChangeSource,
        memory: int,
        repository: Repository | None = None,
        metrics: Metrics | None = None,
        buckets: str | None = None,
    ) -> None:
        self.metrics = metrics or Metrics()
        self.registry = Registry(memory)
        self.guard = Guard()
        self.eager = EagerWorker(self.registry, self.guard, source, metrics=self.metrics)
        self.checkpoint = Checkpoint(repository, source)
        self.recovery = Recovery(self.registry, repository, source, self.checkpoint.awaits)
        self.admission = Admission()
        self.returning = Returning()
        self.constants = SeenConstants()
        self.hulls = Hulls()
        self.thresholds = Thresholds()
        self.unique_keys = UniqueKeys()
        self.views = NamedViews()
        self.background = Background()
        self.upkeep_times = UpkeepTimes()
        self.plain_seconds: BoundedCache[str, float] = BoundedCache(_MOST_SHAPES)
        self.repeats: BoundedCache[Hashable, object] = BoundedCache(MOST_REPEATS)
        self.inner: BoundedCache[Hashable, tuple[tuple[str, ...], pa.Table]] = BoundedCache(MOST_INNER)
        self.recursions: BoundedCache[Hashable, object] = BoundedCache(MOST_RECURSIONS)
        self.merges: BoundedCache[Hashable, object] = BoundedCache(MOST_MERGES)
        self.slices: BoundedCache[Hashable, object] = BoundedCache(MOST_SLICES)
        self.graphs = GraphStates()
        self._folders = Folders(buckets)
        self._source = source

    def snapshot(self, location: str) -> TableSnapshot:
        """Return the newest version of a table. Raises OperationalError."""
        return self._source.snapshot(location)

    def check_trusted(self, template: str) -> None:
        """Raise Refused for a template of which the guard has seen other rows than the plain ones."""
        problem = self.guard.problem(template)
        if problem is not None:
            raise Refused(Reason.TEMPLATE_DISABLED, problem)

    def held(self, request: Request, means: Means, read: Callable[[Request, Maintained], ReadT]) -> ReadT:
        """Return what a reader makes of the relation of a request, which is made where there is none, and is held meanwhile.

        Raises what ``read`` raises, and Refused where another try to capture it would fail again.
        """
        key = state_key(request)
        while True:
            relation = self.registry.get_or_add(key, lambda: Maintained(identity_of(request)))
            self.registry.serve(relation, request.template.identifier)
            with relation.ownership.held(means.token):
                # While this thread waited, it may have been dropped or given room to another one.
                if self.registry.find(key) is relation:
                    return self._read_or_drop(request, relation, read)

    def _read_or_drop(self, request: Request, relation: Maintained, read: Callable[[Request, Maintained], ReadT]) -> ReadT:
        try:
            failure = relation.attempts.failure
            if failure is not None and failure.stands(vector_of(request.tables), request.rows):
                raise Refused(failure.reason, failure.detail)
            return read(request, relation)
        except BaseException:
            if not relation.is_wanted:
                self.registry.discard(relation)
            raise
        finally:
            self.registry.weigh(relation)

    def wide(self, request: Request) -> Request:
        """Return the request about the state to be captured: at first that of the groups which the conditions leave.

        That of all groups once other constants are asked for.
        """
        is_first = not self.admission.has_admitted(admission_name(request))
        found = None if is_first else lifted(request)
        return request if found is None or self._cannot_be_captured(found) else found

    def _cannot_be_captured(self, request: Request) -> bool:
        """Say whether a capture failed: without the conditions on keys an expression may meet rows that it cannot be computed for."""
        relation = self.registry.find(state_key(request))
        return relation is not None and relation.attempts.failure is not None and relation.attempts.failure.reason is Reason.CAPTURE_FAILED

    def brought_up_to_date(self, request: Request, relation: Maintained, means: Means) -> tuple[Request, Upkeep]:
        """Make a relation that is held stand for the request's snapshots, or for newer ones that another thread has seen.

        Return the request with the snapshots that it stands for.

        Raises:
            Refused: its groups are not to be had; the reason says why.
            Error: Spark failed.
        """
        source = ""
        if not relation.is_ready and relation.stored is not None and self._read_back(request, relation, means):
            source = "read back from the store"
        if request.is_pinned and not self._can_be_at(request, relation):
            raise Refused(Reason.OLD_VERSION, _NOT_HELD if request.is_named else "")
        if not relation.is_ready:
            self._admit(request, relation, means.token.query_id)
        if relation.is_ready and relation.is_ahead_of(request.tables):
            # Another thread has seen a newer snapshot since this one was taken; the state cannot go back.
            newest = {each.location: self._source.snapshot(each.location) for each in request.tables}
            request = replace(request, snapshots={name: newest[each.location] for name, each in request.snapshots.items()})
            check_again(request)
        if request.names and relation.is_ready and relation.vector != vector_of(request.tables) and relation.costs.rests():
            raise Refused(Reason.COVERS_ALMOST_ALL, "as it did before; it is brought up to date again after some more queries")
        before, begin = relation.vector, time.perf_counter()
        with means.watch.stage("maintain"):
            upkeep = self._stepped(request, relation, means)
        changed = [name for name, each in request.snapshots.items() if before.get(each.location) != relation.vector.get(each.location)]
        self.upkeep_times.note(changed, upkeep.delta_source, time.perf_counter() - begin)
        upkeep = replace(upkeep, detail=", ".join(filter(None, (source, upkeep.detail))))
        self.count(upkeep)
        self.note_read(relation, request, means.token.query_id)
        return request, upkeep

    def _can_be_at(self, request: Request, relation: Maintained) -> bool:
        """Say whether a relation is to stand for versions that are asked for: none goes back, and none is captured for old versions."""
        if relation.is_ready:
            return not relation.is_ahead_of(request.tables)
        # Of a recursion nobody else may have the rows, and a transaction often begins at the newest versions.
        return request.is_named and all(self._source.snapshot(each.location).version == each.version for each in request.tables)

    def note_read(self, relation: Maintained, request: Request, run: str | None = None) -> None:
        """Learn that a query reads a relation, which need not be held; ``run`` is None where it cannot have captured it."""
        relation.usage.note_use()
        self.returning.note(request.shape[0], run)
        self.eager.note_use(relation, request)

    def _read_back(self, request: Request, relation: Maintained, means: Means) -> bool:
        """Bring a state back from the store, into memory or as the buckets that it is in."""
        if relation.stored is None or relation.stored.record.buckets is None:
            return self.recovery.load(relation, request.block)
        is_wanted = bool(request.names or request.bucket_key)
        return is_wanted and self.recovery.prove(relation) and attach_buckets(relation, request, means)

    def _stepped(self, request: Request, relation: Maintained, means: Means) -> Upkeep:
        try:
            return bring_up_to_date(relation, request, self._source, means, lambda: self._capture(request, relation, means))
        except Refused:
            if not relation.is_held:
                # What the store has may be what was just found to be of no use.
                self.checkpoint.forget([relation])
            raise

    def _admit(self, request: Request, relation: Maintained, run: str | None) -> None:
        """Let a capture through that is likely to pay. Raises Refused for one that is put off."""
        identity, first = relation.identity, request.names[0] if request.names else None
        if request.is_named:
            return
        if request.by_cost and request.bytes < LARGE_BYTES and not self.returning.is_likely(request.shape[0], run):
            raise Refused(Reason.ASKED_ONCE)
        if first is not None and first.key is None and self.admission.is_first(identity.key, run):
            raise Refused(Reason.CAPTURE_DEFERRED, f"{first.column} is no group key, so most of the table may be needed")
        if not self.admission.admits(identity.key, {admission_name(request): 1, shape_name(request): MOST_OF_A_SHAPE}, run):
            raise Refused(Reason.CAPTURE_DEFERRED)
        if first is not None and self.admission.is_tired(identity.template):
            raise Refused(Reason.COVERS_ALMOST_ALL, "as with other constants before; they are tried again ever more rarely")

    def _capture(self, request: Request, relation: Maintained, means: Means) -> None:
        budget, name = self.registry.memory_budget, f"rows {relation.identity.key}"
        is_first = not request.names and not request.is_named and self.admission.is_first(name, means.token.query_id)
        is_bounded = not request.is_finer and (is_first or (request.is_named and request.by_cost))
        most = max(FIRST_BYTES, int(FIRST_SHARE * request.bytes)) if is_bounded else None
        with means.watch.stage("capture"):
            capture_into(relation, request, means, budget, self._folders.location, most=most)
        # One in memory is quicker than a larger one in buckets.
        if relation.bucketed is None:
            self._leave(replaced_by(relation, self.registry.of_prefix(relation.identity.prefix)))

    def count(self, upkeep: Upkeep) -> None:
        """Count what was done for a query in the metrics."""
        if upkeep.decision.name.endswith("CAPTURED"):
            self.metrics.count("imp_captures_total", "" if upkeep.recapture_reason is None else upkeep.recapture_reason.name)
        elif upkeep.decision is Decision.MAINTAINED:
            self.metrics.count("imp_maintenance_steps_total", "query")
            self.metrics.count("imp_delta_rows_total", "query", amount=upkeep.delta_rows)

    def capture_ahead(self, request: Request, means: Means, why_not: Callable[[int, int], str], most: int) -> None:
        """Capture groups that no query waits for, unless ``why_not``, told of groups and rows, says something.

        Raises what a capture raises.

        Args:
            most: bytes that they may take.
        """

        def read(own: Request, relation: Maintained) -> None:
            if relation.is_held:
                return
            problem = why_not(*size_of(relation, own, means))
            if problem:
                relation.attempts.note_failure(CaptureFailure(Reason.LIFT_TOO_LARGE, problem, rows=own.rows))
                return
            capture_into(relation, own, means, FETCHED * most, None, most_held=most)
            self.metrics.count("imp_captures_total", "BACKGROUND")
            self.checkpoint.note(relation)

        self.held(request, means, read)
        self.evict()

    def note_bucket_version(self, relation: Maintained) -> None:
        """Learn of versions of a state in buckets that other processes have made."""
        bucketed = relation.bucketed
        assert bucketed is not None
        bucketed.version = self._folders.noted(bucketed.target, bucketed.version, self._targets)

    def evict(self) -> None:
        """Make room where the relations weigh more than their budget."""
        evicted = self.registry.evict()
        self.metrics.count("imp_evictions_total", amount=len(evicted))
        if evicted:
            # Without its numbers a state in buckets is no more use than a new capture.
            self._leave(relation for relation in evicted if relation.bucketed is not None)
            self.recovery.look_again()

    def forget(self, location: str) -> None:
        """Drop every relation that depends on a table, so that the next queries choose anew what to cut."""
        self.drop([relation for relation in self.registry.relations() if location in relation.vector])

    def drop(self, relations: Iterable[Maintained]) -> int:
        """Drop relations from memory and from the store; return how many there were."""
        every = list(relations)
        # Until the records are gone, a query that misses a state would find the dropped ones there.
        with self.recovery.paused():
            self._leave(every, is_now=True)
        return len(every)

    def _leave(self, relations: Iterable[Maintained], *, is_now: bool = False) -> None:
        """Drop relations from memory now, from the store soon."""
        every = list(relations)
        for relation in every:
            relation.dropped()
            self.registry.discard(relation)
        self.checkpoint.forget(every)
        if is_now:
            self.checkpoint.remove()
        # Records first: they say where the tables are.
        self._folders.tidy(self._targets())

    def _targets(self) -> set[str]:
        """Return the tables of all states in buckets, those of former processes included."""
        return {target for relation in self.registry.relations() for target in relation.targets}

    def gauges(self) -> dict[str, float]:
        """Return what the relations are at this moment, by name; one that another thread is just changing may be left out."""
        return {
            "imp_sketches": sum(relation.state is not None for relation in self.registry.relations()),
            "imp_state_bytes": self.registry.total,
            "imp_state_limit_bytes": self.registry.memory_budget,
            "imp_disabled_templates": self.guard.differences,
            "imp_graph_states": len(self.graphs.all()),
            "imp_graph_bytes": sum(each.bytes for each in self.graphs.all()),
        }

    def open(self, options: Options) -> None:
        """Count a connection, which keeps the background threads running."""
        self.checkpoint.open()
        self.background.open()
        if options.sketch is SketchMode.EAGER:
            self.eager.open(options.eager_batch)

    def close(self, options: Options) -> None:
        """Count a connection off; the last waits for the background threads."""
        if options.sketch is SketchMode.EAGER:
            self.eager.close()
        self.background.close()
        self.checkpoint.close()
