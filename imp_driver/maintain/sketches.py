"""The sketches of one warehouse: find or make the entry of a block, bring it up to a snapshot, derive the sketch of the query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from imp_driver.advise.workload import Workload
from imp_driver.capture.clustering import cut_files
from imp_driver.config import Options, SketchMode
from imp_driver.delta.contract import ChangeSource
from imp_driver.delta.coverage import FileFragments
from imp_driver.maintain.admission import Admission
from imp_driver.maintain.alternatives import better_choice
from imp_driver.maintain.bucketing import attach, bucketed_sketch
from imp_driver.maintain.capturing import capture_into
from imp_driver.maintain.choice import Choice, applied, check_again, choose
from imp_driver.maintain.derive import constants_of, known_sketch
from imp_driver.maintain.eager import EagerWorker
from imp_driver.maintain.entry import Derived, StateEntry, Vector, vector_of
from imp_driver.maintain.keeping import Keeper, choice_of
from imp_driver.maintain.keys import admission_name, family_of, lifted, new_entry, prefix_of, state_key
from imp_driver.maintain.lazy import bring_up_to_date
from imp_driver.maintain.request import Prepared, Request, united
from imp_driver.maintain.reusing import Reuse
from imp_driver.maintain.saving import Saver
from imp_driver.maintain.sharing import forms, replaced_by
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.observe.guard import Guard
from imp_driver.observe.metrics import Metrics
from imp_driver.operators.aggregate.group import GroupState
from imp_driver.parse.supported import Refused
from imp_driver.persist.folders import Folders
from imp_driver.persist.record import Repository
from imp_driver.plan.bind import BoundBlock
from imp_driver.reasons import Decision, Reason
from imp_driver.safety.cuts import Cut
from imp_driver.sketch.store import SketchStore


class Sketches:
    """Shared by all connections of a process to one warehouse; entries are keyed by everything that changes their meaning.

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
        self.store: SketchStore[StateEntry] = SketchStore(memory)
        self.guard = Guard()
        self.workload: Workload[Request] = Workload(workload_file)
        self.eager = EagerWorker(self.store, self.guard, source, metrics=self.metrics)
        self.saver = Saver(repository, source)
        self._keeper = Keeper(self.store, repository, source)
        self._folders = Folders(buckets)
        self._source = source
        self._admission = Admission()
        self._choices: dict[str, Choice] = {}
        self._settled: set[str] = set()
        self._unclustered: dict[str, tuple[Vector, Refused]] = {}
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
        choice = self._choice(request)
        every = self._with_states(applied(choice, request), choice)
        prepared = [self._prepare_one(each, choice, means) for each in every]
        self._evict()
        return united(prepared)

    def _evict(self) -> None:
        evicted = self.store.evict()
        self.metrics.count("imp_evictions_total", amount=len(evicted))
        if evicted:
            # Without its numbers a state in buckets is no more use than a new capture.
            self._leave(entry for entry in evicted if entry.bucketed is not None)
            self._keeper.look_again()

    def restore(self, *, is_missed: bool = False) -> bool:
        """Take over what former processes have saved; say whether there was anything new."""
        entries = self._keeper.restored(is_missed=is_missed)
        for entry in entries:
            for template in tuple(entry.templates):
                self._choices.setdefault(template, choice_of(entry))
        return bool(entries)

    def _prepare_one(self, request: Request, choice: Choice, means: Means) -> Prepared:
        key = state_key(request, choice)
        entry = self.store.get_or_add(key, lambda: new_entry(request, key, choice))
        entry.templates.add(request.template.identifier)
        try:
            with entry.lock:
                return self._prepare_locked(request, entry, choice, means)
        except BaseException:
            if not entry.is_held and entry.failure is None and entry.awaited is None:
                self.store.discard(key, entry)
            raise

    def _choice(self, request: Request) -> Choice:
        """Return the attribute that the template's states are cut on; without a state it is chosen by the files as they are now."""
        template, vector = request.template.identifier, vector_of(request.tables)
        known = self._choices.get(template)
        is_held = known is not None and any(template in entry.templates and entry.is_held for entry in self.store.entries())
        if known is not None and is_held and known.fits(request):
            return known
        refused = self._unclustered.get(template)
        if refused is not None and refused[0] == vector:
            raise Refused(refused[1].reason, refused[1].detail)
        try:
            self._choices[template] = choose(request)
        except Refused as found:
            self._unclustered[template] = (vector, found)
            raise
        return self._choices[template]

    def _with_state(self, request: Request, choice: Choice) -> Request:
        """Choose the state: the block's own, the lifted one, one with other constants that serves it, else the one to be captured.

        At first only the groups are captured that the conditions leave, all groups once other constants are asked for.
        """
        own = self._state_at_hand(request, choice)
        if own is None and self.restore(is_missed=True):
            own = self._state_at_hand(request, choice)
        if own is not None:
            return own
        is_first = not self._admission.has_admitted(admission_name(request))
        wide = None if is_first else lifted(request)
        return request if wide is None or self._cannot_be_captured(wide, choice) else wide

    def _cannot_be_captured(self, request: Request, choice: Choice) -> bool:
        """Say whether a capture failed: without the conditions on keys an expression may meet rows that it cannot be computed for."""
        entry = self.store.find(state_key(request, choice))
        return entry is not None and entry.failure is not None and entry.failure.reason is Reason.CAPTURE_FAILED

    def _state_at_hand(self, request: Request, choice: Choice) -> Request | None:
        """Return the request about a state that is there; None when one must be captured."""
        prefix, entries = prefix_of(request, choice), self.store.entries()
        every = forms(request, prefix, entries) if prefix else (request,)
        for form in every:
            for own in filter(None, (form, lifted(form))):
                entry = self.store.find(state_key(own, choice))
                if entry is not None and entry.is_held:
                    return own
        for form in every:
            reused = self._reuse.find(form, family_of(form, choice), entries)
            # One that is served by a larger state is captured itself when it is asked for again.
            if reused is not None and (reused.is_exact or self._admission.is_first(state_key(request, choice))):
                return reused.request
        return None

    def _with_states(self, request: Request, choice: Choice) -> tuple[Request, ...]:
        """Return what ``_with_state`` does; for a block of rows whose own state is still to be captured several states may do together."""
        single = self._with_state(request, choice)
        if not request.analysis.plan.of_rows or single.reuse:
            return (single,)
        key = state_key(single, choice)
        entry = self.store.find(key)
        if entry is None or not entry.is_held:
            found = self._reuse.find_union(request, family_of(request, choice), self.store.entries())
            if found and self._admission.is_first(key):
                return found
        return (single,)

    def state_of(self, request: Request) -> tuple[StateEntry, BoundBlock] | None:
        """Return the entry whose state a request would use, at whatever versions, and the block that it is the state of."""
        choice = self._choices.get(request.template.identifier)
        if choice is None or choice.key is None:
            return None
        request = self._with_state(request, choice)
        entry = self.store.find(state_key(request, choice))
        return None if entry is None else (entry, request.block)

    def forget(self, location: str) -> None:
        """Drop every state that depends on a table, so that the next queries choose anew what to cut."""
        self.drop([entry for entry in self.store.entries() if location in entry.vector])

    def drop(self, entries: Iterable[StateEntry]) -> int:
        """Drop states from memory and from the store; return how many there were."""
        every = list(entries)
        # Until the records are gone, a query that misses a state would find the dropped ones there.
        with self._keeper.paused():
            self._leave(every, is_now=True)
        return len(every)

    def _leave(self, entries: Iterable[StateEntry], *, is_now: bool = False) -> None:
        """Drop states from memory now, from the store soon."""
        every = list(entries)
        for entry in every:
            self.store.discard(entry.key, entry)
        self.saver.forget(every)
        if is_now:
            self.saver.remove()
        # Records first: they say where the tables are.
        self._folders.tidy(self._targets())

    def _targets(self) -> set[str]:
        """Return the tables of all states in buckets, those of former processes included."""
        return {target for entry in self.store.entries() for target in entry.targets}

    def open(self, options: Options) -> None:
        """Count a connection, which keeps the background threads running."""
        self.saver.open()
        if options.sketch is SketchMode.EAGER:
            self.eager.open(options.eager_batch)

    def close(self, options: Options) -> None:
        """Count a connection off; the last waits for the background threads."""
        if options.sketch is SketchMode.EAGER:
            self.eager.close()
        self.saver.close()

    def _prepare_locked(self, request: Request, entry: StateEntry, choice: Choice, means: Means) -> Prepared:
        failure = entry.failure
        if failure is not None and failure.vector in (None, vector_of(request.tables)):
            raise Refused(failure.reason, failure.detail)
        constants = constants_of(request.block, may_tie=request.analysis.may_tie)
        kept = entry.kept(vector_of(request.tables), constants)
        if kept is not None and (entry.state is None or entry.vector != kept.vector) and self._keeper.prove(entry):
            entry.counters.uses += 1
            entry.costs.note_asked(is_new=False)
            return self._prepared(request, entry, choice, kept, Upkeep(Decision.FRESH, entry.version, detail="kept"))
        source = ""
        if not entry.is_ready and entry.stored is not None and self._read_back(request, entry, choice, means):
            source = "read back from the store"
        if request.is_pinned and (not entry.is_ready or entry.is_ahead_of(request.tables)):
            raise Refused(Reason.OLD_VERSION)
        if not entry.is_ready:
            self._admit(request, entry)
        if entry.is_ready and entry.is_ahead_of(request.tables):
            # Another thread has seen a newer snapshot since this one was taken; the state cannot go back.
            newest = {each.location: self._source.snapshot(each.location) for each in request.tables}
            request = replace(request, snapshots={name: newest[each.location] for name, each in request.snapshots.items()})
            check_again(choice, request)
        if entry.is_ready and entry.vector != vector_of(request.tables) and entry.rests():
            raise Refused(Reason.COVERS_ALMOST_ALL, "as it did before; it is brought up to date again after some more queries")
        with means.watch.stage("maintain"):
            upkeep = self._brought_up_to_date(request, entry, choice, means)
        upkeep = replace(upkeep, detail=", ".join(filter(None, (source, upkeep.detail))))
        self._count(entry, upkeep)
        self.eager.note_use(entry, request)
        with means.watch.stage("sketch"):
            if upkeep.decision is Decision.CAPTURED and entry.state is not None:
                self._reconsider(request, entry.state, choice)
            derived = self._derived(request, entry, means)
            self.saver.note(entry)
            return self._prepared(request, entry, choice, derived, upkeep)

    def _read_back(self, request: Request, entry: StateEntry, choice: Choice, means: Means) -> bool:
        """Bring a state back from the store, into memory or as the buckets that it is in."""
        if entry.stored is None or entry.stored.record.buckets is None:
            return self._keeper.load(entry, request.block)
        return self._keeper.prove(entry) and attach(entry, entry.stored, request, choice, means)

    def _derived(self, request: Request, entry: StateEntry, means: Means) -> Derived:
        if entry.state is not None:
            return known_sketch(entry, entry.state, request.block, request.fragments, may_tie=request.analysis.may_tie)
        bucketed = entry.bucketed
        assert bucketed is not None
        bucketed.version = self._folders.noted(bucketed.target, bucketed.version, self._targets)
        return bucketed_sketch(entry, bucketed, request, means)

    def _brought_up_to_date(self, request: Request, entry: StateEntry, choice: Choice, means: Means) -> Upkeep:
        try:
            return bring_up_to_date(entry, request, self._source, means, lambda: self._capture(request, entry, choice, means))
        except Refused:
            if not entry.is_held:
                # What the store has may be what was just found to be of no use.
                self.saver.forget([entry])
            raise

    def _prepared(self, request: Request, entry: StateEntry, choice: Choice, derived: Derived, upkeep: Upkeep) -> Prepared:
        cuts = choice.cuts(request)
        files = self._files(request, entry, cuts, derived)
        return Prepared(entry, upkeep, derived.sketch, cuts, files, derived.rows, request.reuse)

    def _reconsider(self, request: Request, state: GroupState, choice: Choice) -> None:
        """Let the template's next state be cut on another key, once, if that reads less; it is then captured at the next query."""
        template = request.template.identifier
        if template not in self._settled:
            self._settled.add(template)
            better = better_choice(request, state, choice)
            if better is not None:
                self._choices[template] = better
                self._admission.is_first(state_key(request, better))

    def _admit(self, request: Request, entry: StateEntry) -> None:
        """Let a capture through that is likely to pay. Raises Refused for one that is put off."""
        if request.partial is not None and self._admission.is_first(entry.key):
            raise Refused(Reason.CAPTURE_DEFERRED, f"{entry.attribute} is no group key, so most of the table may be needed")
        if not self._admission.admits(admission_name(request), entry.key):
            raise Refused(Reason.CAPTURE_DEFERRED)
        if self._admission.is_tired(entry.template):
            raise Refused(Reason.COVERS_ALMOST_ALL, "as with other constants before; they are tried again ever more rarely")

    def _capture(self, request: Request, entry: StateEntry, choice: Choice, means: Means) -> None:
        with means.watch.stage("capture"):
            capture_into(entry, request, choice, means, self.store.memory_budget, self._folders.location)
        # One in memory is quicker than a larger one in buckets.
        if entry.prefix and entry.bucketed is None:
            self._leave(replaced_by(entry, self.store.entries()))

    def _files(self, request: Request, entry: StateEntry, cuts: tuple[Cut, ...], derived: Derived) -> tuple[FileFragments, ...]:
        known, template, partition = entry.file_fragments, request.template.identifier, derived.sketch.partition
        if known is None or known[:2] != (derived.vector, template) or known[2] is not partition:
            located = [FileFragments.locate(files, name, partition) for files, name in cut_files(cuts, request.snapshots)]
            entry.file_fragments = known = (derived.vector, template, partition, tuple(located))
        return known[3]

    def note_use(self, prepared: Prepared, *, is_useful: bool) -> None:
        """Learn from how a sketch turned out: one that would skip nothing is maintained more rarely, and fewer of its kind are captured."""
        entry = prepared.entry
        entry.useless = 0 if is_useful else entry.useless + 1
        if prepared.upkeep.decision is Decision.CAPTURED:
            self._admission.learn(entry.template, is_useful=is_useful)

    def note_time(self, prepared: Prepared, seconds: float, gain: float) -> None:
        """Learn what a sketch saved a query that took ``seconds``; ``gain`` is 0 where it was no filter."""
        prepared.entry.costs.note_query(seconds, gain)

    def _count(self, entry: StateEntry, upkeep: Upkeep) -> None:
        counters = entry.counters
        counters.uses += 1
        counters.delta_rows += upkeep.delta_rows
        if upkeep.decision.name.endswith("CAPTURED"):
            counters.captures += 1
            self.metrics.count("imp_captures_total", "" if upkeep.recapture_reason is None else upkeep.recapture_reason.name)
        elif upkeep.decision.name == "MAINTAINED":
            counters.maintained += 1
            self.metrics.count("imp_maintenance_steps_total", "query")
            self.metrics.count("imp_delta_rows_total", "query", amount=upkeep.delta_rows)
