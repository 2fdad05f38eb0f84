"""The sketches of one warehouse: find or make the relation of a block, bring it up to a snapshot, derive the sketch of the query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from imp_driver.maintain.attach import cut_relation
from imp_driver.maintain.buckets import bucketed_sketch
from imp_driver.maintain.choice import applied
from imp_driver.maintain.choices import Choices
from imp_driver.maintain.derive import constants_of, known_sketches, located
from imp_driver.maintain.identity import family_of, lifted, prefix_of, state_key
from imp_driver.maintain.prefix import forms
from imp_driver.maintain.questions import Questions
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.request import Prepared, Request, united
from imp_driver.maintain.reuse import Reuse
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.maintain.workload import Workload
from imp_driver.plan.bind import BoundBlock
from imp_driver.reasons import Decision
from imp_driver.snapshot.vector import vector_of
from imp_driver.state.maintained import Maintained
from imp_driver.state.sketches import Derived
from imp_driver.values.cuts import CutName


class Sketches:
    """Reads relations as sketches: chooses what is cut, and which state serves; shared as the relations are."""

    def __init__(self, relations: Relations, workload_file: Path | None = None) -> None:
        self.workload: Workload[Request] = Workload(workload_file)
        self.questions = Questions()
        self.relations = relations
        self._choices = Choices()
        self._reuse = Reuse()

    def prepare(self, request: Request, means: Means) -> Prepared:
        """Return the query's sketch at the request's snapshot.

        Raises:
            Refused: there is no sketch to be had; the reason says why.
            Error: Spark failed in maintenance.
        """
        self.relations.check_trusted(request.template.identifier)
        self.restore()
        every = self._with_states(applied(self._names(request), request), means.token.query_id)
        prepared = [self.relations.held(each, means, lambda own, relation: self._read(own, relation, means)) for each in every]
        self.relations.evict()
        return united(prepared)

    def restore(self, *, is_missed: bool = False) -> bool:
        """Take over what former processes have saved; say whether there was anything new."""
        relations = self.relations.recovery.restored(is_missed=is_missed)
        for relation in relations:
            self._choices.learn(relation.usage.templates, tuple(cut.name for cut in relation.cuts))
        return bool(relations)

    def _names(self, request: Request) -> tuple[CutName, ...]:
        """Return what the template's states are cut by. Raises Refused where the files are clustered by nothing that is safe."""
        template = request.template.identifier
        relations, before = self.relations.registry.of_template(template), self._choices.known(template)
        found = self._choices.of(request, is_cut=any(relation.is_in_service for relation in relations))
        for relation in relations if before is not None and found[:1] != before[:1] else ():
            relation.costs.note_other_cut()
        return found

    def _with_state(self, request: Request, run: str | None = None) -> Request:
        """Choose the state: the block's own, the lifted one, one with other constants that serves it, else the one to be captured."""
        own = self._state_at_hand(request, run)
        if own is None and self.restore(is_missed=True):
            own = self._state_at_hand(request, run)
        if own is not None:
            return own
        return self.relations.wide(request)

    def _state_at_hand(self, request: Request, run: str | None) -> Request | None:
        """Return the request about a state that is there; None when one must be captured."""
        every = forms(request, self.relations.registry.of_prefix(prefix_of(request)))
        for form in every:
            for own in filter(None, (form, lifted(form))):
                relation = self.relations.registry.find(state_key(own))
                if relation is not None and relation.is_in_service:
                    return own
        for form in every:
            reused = self._reuse.find(form, self.relations.registry.of_family(family_of(form)))
            # One that is served by a larger state is captured itself when it is asked for again.
            if reused is not None and (reused.is_exact or self.relations.admission.is_first(state_key(request), run)):
                return reused.request
        return None

    def _with_states(self, request: Request, run: str | None) -> tuple[Request, ...]:
        """Return what ``_with_state`` does; for a block of rows whose own state is still to be captured several states may do together."""
        single = self._with_state(request, run)
        if not request.analysis.plan.of_rows or single.reuse or len(request.names) > 1:
            return (single,)
        key = state_key(single)
        relation = self.relations.registry.find(key)
        if relation is None or not relation.is_held:
            found = self._reuse.find_union(request, self.relations.registry.of_family(family_of(request)))
            if found and self.relations.admission.is_first(key, run):
                return found
        return (single,)

    def state_of(self, request: Request) -> tuple[Maintained, BoundBlock] | None:
        """Return the relation that a request would use, at whatever versions, and the block that it is the state of."""
        names = self._choices.known(request.template.identifier)
        if names is None or names[0].key is None or not request.has_cut(names[0]):
            return None
        request = self._with_state(replace(request, names=names[:1]))
        relation = self.relations.registry.find(state_key(request))
        return None if relation is None else (relation, request.block)

    def _read(self, request: Request, relation: Maintained, means: Means) -> Prepared:
        kept = self._kept(request, relation)
        if kept:
            return self._prepared(request, relation, kept, Upkeep(Decision.FRESH, relation.version, detail="kept"))
        request, upkeep = self.relations.brought_up_to_date(request, relation, means)
        with means.watch.stage("sketch"):
            if upkeep.decision is Decision.CAPTURED and relation.state is not None:
                self._choices.reconsider(request, relation.state)
            request = cut_relation(relation, request, self._choices, means, self.relations.registry.memory_budget)
            derived = self._derived(request, relation, means)
            self.relations.checkpoint.note(relation)
            return self._prepared(request, relation, derived, upkeep)

    def _kept(self, request: Request, relation: Maintained) -> list[Derived]:
        """Return sketches of exactly these versions and constants that were made before; none where one is missing."""
        constants, vector = constants_of(request.block, may_tie=request.analysis.may_tie), vector_of(request.tables)
        kept = [relation.sketches(name).find(vector, constants) for name in request.names]
        found = [each for each in kept if each is not None]
        # What is in memory at these versions is asked itself, which learns from it.
        if (
            len(found) < len(kept)
            or (relation.state is not None and relation.vector == vector)
            or not self.relations.recovery.prove(relation)
        ):
            return []
        relation.usage.note_use()
        relation.costs.note_asked(is_new=False)
        return found

    def _derived(self, request: Request, relation: Maintained, means: Means) -> list[Derived]:
        if relation.in_memory is not None:
            return known_sketches(relation, relation.in_memory, request.names, request.block, may_tie=request.analysis.may_tie)
        bucketed = relation.bucketed
        assert bucketed is not None
        self.relations.note_bucket_version(relation)
        return [bucketed_sketch(relation, bucketed, request, means)]

    def _prepared(self, request: Request, relation: Maintained, every: Sequence[Derived], upkeep: Upkeep) -> Prepared:
        sketches = (located(relation, request, name, derived) for name, derived in zip(request.names, every, strict=True))
        return Prepared(relation, upkeep, tuple(sketches), request.reuse)

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
            self.relations.admission.learn(prepared.relation.identity.template, is_useful=is_useful)

    def note_time(self, prepared: Prepared, seconds: float, gain: float) -> None:
        """Learn what a sketch saved a query that took ``seconds``; ``gain`` is 0 where it was no filter."""
        prepared.relation.costs.note_query(seconds, gain)
