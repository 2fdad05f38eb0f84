"""The sketches of one warehouse: find or make the relation of a block, bring it up to a snapshot, derive the sketch of the query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from imp_driver.maintain.attach import cut_relation
from imp_driver.maintain.buckets import attach_buckets, bucketed_sketch
from imp_driver.maintain.capture import capture_into
from imp_driver.maintain.choice import applied, check_again
from imp_driver.maintain.choices import Choices
from imp_driver.maintain.derive import constants_of, known_sketches, located
from imp_driver.maintain.eager import EagerWorker
from imp_driver.maintain.guard import Guard
from imp_driver.maintain.identity import admission_name, family_of, identity_of, lifted, prefix_of, state_key
from imp_driver.maintain.prefix import forms, replaced_by
from imp_driver.maintain.request import Prepared, Request, united
from imp_driver.maintain.reuse import Reuse
from imp_driver.maintain.step import bring_up_to_date
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.maintain.workload import Workload
from imp_driver.observe.metrics import Metrics
from imp_driver.persist.folders import Folders
from imp_driver.persist.record import Repository
from imp_driver.plan.bind import BoundBlock
from imp_driver.reasons import Decision, Reason
from imp_driver.snapshot.vector import vector_of
from imp_driver.state.admission import Admission
from imp_driver.state.checkpoint import Checkpoint
from imp_driver.state.maintained import Maintained
from imp_driver.state.recovery import Recovery
from imp_driver.state.registry import Registry
from imp_driver.state.sketches import Derived
from imp_driver.values.cuts import CutName
from imp_driver.values.options import Options, SketchMode
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import ChangeSource


class Sketches:
    """Shared by all connections of a process to one warehouse; relations are keyed by everything that changes their meaning.

    ``buckets`` is the folder of states that are too large for ``memory`` bytes; None where there is none.
    """

    def __init__(
        self,
        source: ChangeSource,
        memory: int,
        workload_file: Path | None = None,
        repository: Repository | None = None,
        metrics: Metrics | None = None,
        buckets: str | None = None,
    ) -> None:
        self.metrics = metrics or Metrics()
        self.registry = Registry(memory)
        self.guard = Guard()
        self.workload: Workload[Request] = Workload(workload_file)
        self.eager = EagerWorker(self.registry, self.guard, source, metrics=self.metrics)
        self.checkpoint = Checkpoint(repository, source)
        self._recovery = Recovery(self.registry, repository, source, self.checkpoint.awaits)
        self._folders = Folders(buckets)
        self._source = source
        self._admission = Admission()
        self._choices = Choices()
        self._reuse = Reuse()

    def prepare(self, request: Request, means: Means) -> Prepared:
        """Return the query's sketch at the request's snapshot.

        Raises:
            Refused: there is no sketch to be had; the reason says why.
            Error: Spark failed in maintenance.
        """
        problem = self.guard.problem(request.template.identifier)
        if problem is not None:
            raise Refused(Reason.TEMPLATE_DISABLED, problem)
        self.restore()
        every = self._with_states(applied(self._names(request), request))
        prepared = [self._prepare_one(each, means) for each in every]
        self._evict()
        return united(prepared)

    def _evict(self) -> None:
        evicted = self.registry.evict()
        self.metrics.count("imp_evictions_total", amount=len(evicted))
        if evicted:
            # Without its numbers a state in buckets is no more use than a new capture.
            self._leave(relation for relation in evicted if relation.bucketed is not None)
            self._recovery.look_again()

    def restore(self, *, is_missed: bool = False) -> bool:
        """Take over what former processes have saved; say whether there was anything new."""
        relations = self._recovery.restored(is_missed=is_missed)
        for relation in relations:
            self._choices.learn(relation.templates, tuple(cut.name for cut in relation.cuts))
        return bool(relations)

    def _prepare_one(self, request: Request, means: Means) -> Prepared:
        key = state_key(request)
        while True:
            relation = self.registry.get_or_add(key, lambda: Maintained(identity_of(request)))
            self.registry.serve(relation, request.template.identifier)
            with relation.ownership.held(means.token):
                # While this thread waited, it may have been dropped or given room to another one.
                if self.registry.find(key) is relation:
                    return self._prepare_held_or_drop(request, relation, means)

    def _prepare_held_or_drop(self, request: Request, relation: Maintained, means: Means) -> Prepared:
        try:
            return self._prepare_held(request, relation, means)
        except BaseException:
            if not relation.is_wanted:
                self.registry.discard(relation)
            raise
        finally:
            self.registry.weigh(relation)

    def _names(self, request: Request) -> tuple[CutName, ...]:
        """Return what the template's states are cut by. Raises Refused where the files are clustered by nothing that is safe."""
        in_service = any(relation.is_in_service for relation in self.registry.of_template(request.template.identifier))
        return self._choices.of(request, is_cut=in_service)

    def _with_state(self, request: Request) -> Request:
        """Choose the state: the block's own, the lifted one, one with other constants that serves it, else the one to be captured.

        At first only the groups are captured that the conditions leave, all groups once other constants are asked for.
        """
        own = self._state_at_hand(request)
        if own is None and self.restore(is_missed=True):
            own = self._state_at_hand(request)
        if own is not None:
            return own
        is_first = not self._admission.has_admitted(admission_name(request))
        wide = None if is_first else lifted(request)
        return request if wide is None or self._cannot_be_captured(wide) else wide

    def _cannot_be_captured(self, request: Request) -> bool:
        """Say whether a capture failed: without the conditions on keys an expression may meet rows that it cannot be computed for."""
        relation = self.registry.find(state_key(request))
        return relation is not None and relation.failure is not None and relation.failure.reason is Reason.CAPTURE_FAILED

    def _state_at_hand(self, request: Request) -> Request | None:
        """Return the request about a state that is there; None when one must be captured."""
        every = forms(request, self.registry.of_prefix(prefix_of(request)))
        for form in every:
            for own in filter(None, (form, lifted(form))):
                relation = self.registry.find(state_key(own))
                if relation is not None and relation.is_in_service:
                    return own
        for form in every:
            reused = self._reuse.find(form, self.registry.of_family(family_of(form)))
            # One that is served by a larger state is captured itself when it is asked for again.
            if reused is not None and (reused.is_exact or self._admission.is_first(state_key(request))):
                return reused.request
        return None

    def _with_states(self, request: Request) -> tuple[Request, ...]:
        """Return what ``_with_state`` does; for a block of rows whose own state is still to be captured several states may do together."""
        single = self._with_state(request)
        if not request.analysis.plan.of_rows or single.reuse or len(request.names) > 1:
            return (single,)
        key = state_key(single)
        relation = self.registry.find(key)
        if relation is None or not relation.is_held:
            found = self._reuse.find_union(request, self.registry.of_family(family_of(request)))
            if found and self._admission.is_first(key):
                return found
        return (single,)

    def state_of(self, request: Request) -> tuple[Maintained, BoundBlock] | None:
        """Return the relation that a request would use, at whatever versions, and the block that it is the state of."""
        names = self._choices.known(request.template.identifier)
        if names is None or names[0].key is None or not request.has_cut(names[0]):
            return None
        request = self._with_state(replace(request, names=names[:1]))
        relation = self.registry.find(state_key(request))
        return None if relation is None else (relation, request.block)

    def forget(self, location: str) -> None:
        """Drop every relation that depends on a table, so that the next queries choose anew what to cut."""
        self.drop([relation for relation in self.registry.relations() if location in relation.vector])

    def drop(self, relations: Iterable[Maintained]) -> int:
        """Drop relations from memory and from the store; return how many there were."""
        every = list(relations)
        # Until the records are gone, a query that misses a state would find the dropped ones there.
        with self._recovery.paused():
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
        """Return what the sketches are at this moment, by name; a relation that another thread is just changing may be left out."""
        return {
            "imp_sketches": sum(relation.state is not None for relation in self.registry.relations()),
            "imp_state_bytes": self.registry.total,
            "imp_state_limit_bytes": self.registry.memory_budget,
            "imp_disabled_templates": self.guard.differences,
        }

    def open(self, options: Options) -> None:
        """Count a connection, which keeps the background threads running."""
        self.checkpoint.open()
        if options.sketch is SketchMode.EAGER:
            self.eager.open(options.eager_batch)

    def close(self, options: Options) -> None:
        """Count a connection off; the last waits for the background threads."""
        if options.sketch is SketchMode.EAGER:
            self.eager.close()
        self.checkpoint.close()

    def _prepare_held(self, request: Request, relation: Maintained, means: Means) -> Prepared:
        failure = relation.failure
        if failure is not None and failure.stands(vector_of(request.tables), request.rows):
            raise Refused(failure.reason, failure.detail)
        kept = self._kept(request, relation)
        if kept:
            return self._prepared(request, relation, kept, Upkeep(Decision.FRESH, relation.version, detail="kept"))
        source = ""
        if not relation.is_ready and relation.stored is not None and self._read_back(request, relation, means):
            source = "read back from the store"
        if request.is_pinned and (not relation.is_ready or relation.is_ahead_of(request.tables)):
            raise Refused(Reason.OLD_VERSION)
        if not relation.is_ready:
            self._admit(request, relation)
        if relation.is_ready and relation.is_ahead_of(request.tables):
            # Another thread has seen a newer snapshot since this one was taken; the state cannot go back.
            newest = {each.location: self._source.snapshot(each.location) for each in request.tables}
            request = replace(request, snapshots={name: newest[each.location] for name, each in request.snapshots.items()})
            check_again(request)
        if relation.is_ready and relation.vector != vector_of(request.tables) and relation.costs.rests():
            raise Refused(Reason.COVERS_ALMOST_ALL, "as it did before; it is brought up to date again after some more queries")
        with means.watch.stage("maintain"):
            upkeep = self._brought_up_to_date(request, relation, means)
        upkeep = replace(upkeep, detail=", ".join(filter(None, (source, upkeep.detail))))
        self._count(relation, upkeep)
        self.eager.note_use(relation, request)
        with means.watch.stage("sketch"):
            if upkeep.decision is Decision.CAPTURED and relation.state is not None:
                self._choices.reconsider(request, relation.state)
            request = cut_relation(relation, request, self._choices, means, self.registry.memory_budget)
            derived = self._derived(request, relation, means)
            self.checkpoint.note(relation)
            return self._prepared(request, relation, derived, upkeep)

    def _kept(self, request: Request, relation: Maintained) -> list[Derived]:
        """Return sketches of exactly these versions and constants that were made before; none where one is missing."""
        constants, vector = constants_of(request.block, may_tie=request.analysis.may_tie), vector_of(request.tables)
        kept = [relation.sketches(name).find(vector, constants) for name in request.names]
        found = [each for each in kept if each is not None]
        # What is in memory at these versions is asked itself, which learns from it.
        if len(found) < len(kept) or (relation.state is not None and relation.vector == vector) or not self._recovery.prove(relation):
            return []
        relation.used()
        relation.costs.note_asked(is_new=False)
        return found

    def _read_back(self, request: Request, relation: Maintained, means: Means) -> bool:
        """Bring a state back from the store, into memory or as the buckets that it is in."""
        if relation.stored is None or relation.stored.record.buckets is None:
            return self._recovery.load(relation, request.block)
        return self._recovery.prove(relation) and attach_buckets(relation, request, means)

    def _derived(self, request: Request, relation: Maintained, means: Means) -> list[Derived]:
        if relation.in_memory is not None:
            return known_sketches(relation, relation.in_memory, request.names, request.block, may_tie=request.analysis.may_tie)
        bucketed = relation.bucketed
        assert bucketed is not None
        bucketed.version = self._folders.noted(bucketed.target, bucketed.version, self._targets)
        return [bucketed_sketch(relation, bucketed, request, means)]

    def _brought_up_to_date(self, request: Request, relation: Maintained, means: Means) -> Upkeep:
        try:
            return bring_up_to_date(relation, request, self._source, means, lambda: self._capture(request, relation, means))
        except Refused:
            if not relation.is_held:
                # What the store has may be what was just found to be of no use.
                self.checkpoint.forget([relation])
            raise

    def _prepared(self, request: Request, relation: Maintained, every: Sequence[Derived], upkeep: Upkeep) -> Prepared:
        sketches = (located(relation, request, name, derived) for name, derived in zip(request.names, every, strict=True))
        return Prepared(relation, upkeep, tuple(sketches), request.reuse)

    def _admit(self, request: Request, relation: Maintained) -> None:
        """Let a capture through that is likely to pay. Raises Refused for one that is put off."""
        identity, first = relation.identity, request.names[0]
        if first.key is None and self._admission.is_first(identity.key):
            raise Refused(Reason.CAPTURE_DEFERRED, f"{first.column} is no group key, so most of the table may be needed")
        if not self._admission.admits(admission_name(request), identity.key):
            raise Refused(Reason.CAPTURE_DEFERRED)
        if self._admission.is_tired(identity.template):
            raise Refused(Reason.COVERS_ALMOST_ALL, "as with other constants before; they are tried again ever more rarely")

    def _capture(self, request: Request, relation: Maintained, means: Means) -> None:
        with means.watch.stage("capture"):
            capture_into(relation, request, means, self.registry.memory_budget, self._folders.location)
        # One in memory is quicker than a larger one in buckets.
        if relation.bucketed is None:
            self._leave(replaced_by(relation, self.registry.of_prefix(relation.identity.prefix)))

    def note_use(self, template: str, prepared: Prepared, useful: Sequence[bool]) -> None:
        """Learn from how the sketches of a template's block turned out.

        Where none would skip anything they are maintained more rarely, and fewer of their kind are captured; one that skips nothing beside
        others is left out.
        """
        is_useful = any(useful)
        for each, is_filter in zip(prepared.sketches, useful, strict=True):
            if is_useful and not is_filter:
                self._choices.leave_out(template, each.name)
        prepared.relation.costs.note_use(is_useful=is_useful)
        if prepared.upkeep.decision is Decision.CAPTURED:
            self._admission.learn(prepared.relation.identity.template, is_useful=is_useful)

    def note_time(self, prepared: Prepared, seconds: float, gain: float) -> None:
        """Learn what a sketch saved a query that took ``seconds``; ``gain`` is 0 where it was no filter."""
        prepared.relation.costs.note_query(seconds, gain)

    def _count(self, relation: Maintained, upkeep: Upkeep) -> None:
        relation.used()
        if upkeep.decision.name.endswith("CAPTURED"):
            self.metrics.count("imp_captures_total", "" if upkeep.recapture_reason is None else upkeep.recapture_reason.name)
        elif upkeep.decision.name == "MAINTAINED":
            self.metrics.count("imp_maintenance_steps_total", "query")
            self.metrics.count("imp_delta_rows_total", "query", amount=upkeep.delta_rows)
