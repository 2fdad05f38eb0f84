"""The groups that a query's rows come from: found, brought up to its versions and read, constants of the query first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Protocol

import pyarrow as pa

from imp_driver.answer.ahead import Ahead
from imp_driver.answer.finish import Finish, bounds_of
from imp_driver.answer.groups import check_keys, check_maintained, partials_of, repeated, rows_of
from imp_driver.answer.held import Held
from imp_driver.answer.matching import HeldWhere, own_match
from imp_driver.answer.nested.partial import Partials, with_places
from imp_driver.answer.rounding import check_comparable, rounded_in
from imp_driver.answer.states import Source, States
from imp_driver.answer.summary import Groups
from imp_driver.answer.tops import First, Tops
from imp_driver.answer.wider import NotOneToOne
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.maintain.at_hand import AtHand, at_hand, read_at_hand
from imp_driver.maintain.request import Request, request_of
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.parse.literals import typed_literal
from imp_driver.parse.statement import with_named
from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.bind import with_values
from imp_driver.plan.nodes import Aggregate, TopK
from imp_driver.plan.tops import Top
from imp_driver.ports import Session
from imp_driver.reasons import BESIDE_GROUPS, Reason, RecaptureReason
from imp_driver.rewrite.shadow import TOLERANCE
from imp_driver.snapshot.reading import Reading
from imp_driver.snapshot.text import Grouped
from imp_driver.state.group_columns import NotThere, ReadGroups
from imp_driver.state.maintained import Maintained
from imp_driver.state.values import Cause
from imp_driver.values.codes import one_array
from imp_driver.values.execution import Parameters
from imp_driver.values.option_kinds import Floats
from imp_driver.values.options import Options
from imp_driver.values.refusal import Refused
from imp_driver.values.view_policy import ViewPolicy

_FEW_GROUPS = 50_000
"""So many rows are filtered as soon as those that pass are picked from columns."""
_MOST_TRIES = 8
"""States over more tables that turn out not to serve a query."""


def _groups(
    request: Request, relation: Maintained, upkeep: Upkeep, rows: pa.Table, partials: Callable[[], Partials], aggregate: Aggregate
) -> Groups:
    if not aggregate.is_finer:
        return Groups(request, relation, upkeep, rows)
    return Groups(request, relation, upkeep, with_places(rows, aggregate), partials())


class Forks(Protocol):
    """Steps copies of relations by changes that nobody makes (what_if/fork.py)."""

    def concerns(self, request: Request) -> bool:
        """Say whether these changes are of a table of a request."""

    def stepped(self, request: Request, relation: Maintained, means: Means) -> tuple[Request, Maintained, Upkeep]:
        """Return a copy that stands for the changed tables, and the request at their versions. Raises Refused."""


class Parts:
    """Finds the groups of one connection's queries; with a ``policy`` those of its incremental views, which have states of their own."""

    def __init__(self, session: Session, sketches: Sketches, options: Options, policy: ViewPolicy | None = None) -> None:
        self._sketches = sketches
        self._relations = sketches.relations
        self._options = options
        self._policy = policy
        ahead = Ahead(sketches.relations.background, session, options.background_share)
        self._states = States(sketches, session, ahead)
        self._tops = Tops(sketches.relations.thresholds, ahead)
        self._forks: Forks | None = None

    def over(self, forks: Forks) -> Parts:
        """Return what reads copies of relations, after changes that nobody makes."""
        other = copy(self)
        other._forks = forks
        return other

    def of(self, grouped: Grouped, reading: Reading, parameters: Parameters, means: Means) -> Held:
        """Return the groups of a query at the versions of a reading.

        Raises:
            Refused: they are not there and not to be waited for, or not known.
            NotEvaluable: Spark alone knows a value.
            Error: Spark failed.
        """
        if grouped.top is not None and grouped.otherwise is not None:
            if self._policy is not None:
                return self.of(grouped.otherwise, reading, parameters, means)
            return self._first_rows(grouped, grouped.top, grouped.otherwise, reading, parameters, means)
        return self._held(grouped, reading, parameters, means)

    def at_hand(self, grouped: Grouped, reading: Reading, parameters: Parameters) -> Held | None:
        """Return all groups of a query, where these are few columns that stand for the versions of a reading already; None elsewhere.

        Raises:
            Refused, NotEvaluable: some group has a value that is not known; it need not be one that is asked for.
        """
        if not all(reading.is_constant(analysis) for _, analysis in grouped.parts):
            return None
        every: list[AtHand] = []
        for request in self._requests(grouped, reading, parameters):
            own = at_hand(self._relations, request)
            if own is None:
                # Nothing is read of some parts where others are not there.
                return None
            every.append(own)
        found: dict[str, Groups] = {}
        for own, (aggregate, _) in zip(every, grouped.parts, strict=True):
            part = own.read(self._relations, partial(self._whole, aggregate))
            if part is None:
                return None
            found[aggregate.name] = part
        rows = {name: part.rows for name, part in found.items()}
        return Held(grouped, reading.with_values(grouped.plan, parameters), rows, tuple(found.values()))

    def _whole(self, aggregate: Aggregate, request: Request, relation: Maintained, upkeep: Upkeep, groups: ReadGroups) -> Groups:
        if groups.groups > _FEW_GROUPS:
            raise NotThere
        # Other texts may ask for other groups of the same columns.
        found = own_match(request.block)
        rows = groups.table((aggregate, request.zone), lambda: rows_of(groups, found, request.block, aggregate))
        return self._checked(
            _groups(request, relation, upkeep, rows, lambda: partials_of(groups, found, request.block, aggregate), aggregate)
        )

    def _first_rows(self, grouped: Grouped, top: Top, whole: Grouped, reading: Reading, parameters: Parameters, means: Means) -> Held:
        """Return what the first rows of an order are finished from: the rows up to a threshold, or all of them where they are few."""
        first = self._first(top, whole, reading, parameters)
        value = self._tops.value(first)
        if value is None:
            return self.of(whole, reading, parameters, means)
        held = self._held(grouped, reading, with_named(parameters, {top.marker: value}), means)
        self._tops.check(first, next(iter(held.rows.values())).num_rows)
        return held

    def _first(self, top: Top, whole: Grouped, reading: Reading, parameters: Parameters) -> First:
        (request,) = self._requests(whole, reading, parameters)
        place = [plain_identifier(key) for key in whole.bags[0].keys].index(top.column)
        node = with_values(top.node, parameters, reading.times(whole.plan).read)
        assert isinstance(node, TopK)
        return First(request, top.key, place, sum(bounds_of(node)))

    def _held(self, grouped: Grouped, reading: Reading, parameters: Parameters, means: Means) -> Held:
        held: list[Held] = []
        values: dict[str, object] = {}
        try:
            for marker, subquery in grouped.constants:
                held.append(self.of(subquery, reading, parameters, means))
                values[marker] = self._constant(held[-1])
        except (Refused, NotEvaluable) as error:
            if grouped.otherwise is None or (isinstance(error, Refused) and error.reason in BESIDE_GROUPS):
                raise
            return self.of(grouped.otherwise, reading, parameters, means)
        parameters = with_named(parameters, values)
        parts = self._parts(grouped, reading, parameters, means)
        if self._forks is None:
            self.note_answered(parts)
        rows = {
            aggregate.name: repeated(part.rows, aggregate) if aggregate in grouped.bags else part.rows
            for (aggregate, _), part in zip(grouped.parts, parts, strict=True)
        }
        return Held(
            grouped,
            reading.with_values(grouped.plan, parameters),
            rows,
            (*(part for each in held for part in each.parts), *parts),
        )

    def _constant(self, held: Held) -> object:
        """Return what a marker of a subquery stands for. Raises NotEvaluable where it has no one value that is known exactly."""
        rows = Finish(held.rows, may_round=self._options.floats is Floats.ROUNDED, partials=held.partials).rows(held.plan)
        if held.grouped.others or rows.num_rows > 1 or rounded_in(rows):
            raise NotEvaluable("a scalar subquery of more than one row, or of a sum of doubles")
        found = typed_literal(one_array(rows.column(0))[0] if rows.num_rows else pa.scalar(None))
        if found is None:
            raise NotEvaluable(f"a scalar subquery of type {rows.schema.types[0]}")
        return found

    def _parts(self, grouped: Grouped, reading: Reading, parameters: Parameters, means: Means) -> list[Groups]:
        requests = list(self._requests(grouped, reading, parameters))
        self._sketches.restore()
        # Rows that are not kept are found missing before any groups are captured.
        if self._policy is not None:
            hosts = [request for request in requests if request.is_finer]
            own = [self._states.among(request, hosts) for request in requests]
            every = zip(requests, grouped.parts, own, strict=True)
            return [self._groups_of(request, aggregate, source, means) for request, (aggregate, _), source in every]
        kept = self._kept({place: request for place, request in enumerate(requests) if grouped.parts[place][0] in grouped.bags})
        # Others follow from finer groups (plan/shared.py) once these are there.
        order = sorted(range(len(requests)), key=lambda place: not requests[place].is_finer)
        found = {place: self._groups_of(requests[place], grouped.parts[place][0], kept.get(place), means) for place in order}
        return [found[place] for place in range(len(requests))]

    def _groups_of(self, request: Request, aggregate: Aggregate, kept: Source | None, means: Means) -> Groups:
        """Return the groups of a request; those of a state over more tables only where they turn out to be the query's."""
        source = kept or self._states.source(request)
        if aggregate.is_finer and any(isinstance(each, HeldWhere) for each in source.found.aggregates):
            # What is held of some rows of a group is not held of each.
            source = Source(request, own_match(request.block))
        for _ in range(_MOST_TRIES):
            try:
                return self._groups(request, aggregate, source, means)
            except NotOneToOne:
                assert source.wide is not None
                # It is not asked again until another of its tables changes, but there may be more such states.
                self._states.wider.note_lost(source.wide)
                source = self._states.source(request) if kept is None else self._states.kept(request)
        raise Refused(Reason.TABLE_CHANGED_MEANWHILE)

    def _requests(self, grouped: Grouped, reading: Reading, parameters: Parameters) -> Iterator[Request]:
        for place, (aggregate, analysis) in enumerate(grouped.parts, grouped.first):
            if not aggregate.output:
                raise Refused(Reason.UNSUPPORTED_EXPRESSION, "groups of which nothing is read")
            block, wide = reading.groups(analysis, parameters)
            check_maintained(block)
            check_keys(block, analysis.columns)
            # Numbers below 0 are those of blocks that are answered from.
            request = request_of(reading, analysis, (block, wide), reading.template_text, -1 - place, self._options)
            self._relations.check_trusted(request.template.identifier)
            if self._policy is not None:
                request = replace(request, lifted=None, is_named=True, by_cost=self._policy is ViewPolicy.AUTO)
            # Without the threshold these would be all rows.
            keeps_conditions = grouped.top is not None
            lifted = None if keeps_conditions else request.lifted
            yield replace(request, lifted=lifted, keeps_conditions=keeps_conditions, is_finer=aggregate.is_finer)

    def _kept(self, requests: Mapping[int, Request]) -> dict[int, Source]:
        """Return where rows come from. Raises Refused as the first does that are not kept, after all were asked for."""
        found: dict[int, Source] = {}
        missing: Refused | None = None
        for place, request in requests.items():
            try:
                found[place] = self._states.kept(request)
            except Refused as refused:
                missing = missing or refused
        if missing is not None:
            raise missing
        return found

    def _groups(self, request: Request, aggregate: Aggregate, source: Source, means: Means) -> Groups:
        def read(own: Request, relation: Maintained) -> Groups:
            own, upkeep = self._relations.brought_up_to_date(own, relation, means)
            if relation.state is None:
                raise Refused(Reason.STATE_TOO_LARGE, "the groups are in buckets")
            if self._forks is not None and self._forks.concerns(own):
                return forked(own, relation)
            try:
                return rows(own, relation, upkeep, columns(relation, means))
            except Refused as refused:
                if refused.reason is not Reason.NOT_EXACT or not relation.is_named:
                    raise
            # Of a view all groups are wanted, so that one whose extreme is not known is one too many.
            relation.invalidated(Cause(RecaptureReason.INEXACT_STATE, "a group whose minimum or maximum was deleted"))
            own, upkeep = self._relations.brought_up_to_date(own, relation, means)
            return rows(own, relation, upkeep, columns(relation, means))

        def columns(relation: Maintained, means: Means) -> ReadGroups:
            assert relation.state is not None
            with means.watch.stage("answer"):
                return relation.columns.of(relation.state, relation.vector)

        def forked(own: Request, relation: Maintained) -> Groups:
            assert self._forks is not None
            if source.wide is not None:
                raise Refused(Reason.NOT_SUPPOSED, "groups over more tables")
            own, fork, upkeep = self._forks.stepped(own, relation, means)
            assert fork.state is not None
            return rows(own, fork, upkeep, fork.columns.of(fork.state, fork.vector))

        def rows(own: Request, relation: Maintained, upkeep: Upkeep, groups: ReadGroups) -> Groups:
            with means.watch.stage("answer"):
                if source.wide is not None:
                    source.wide.check(own, groups, self._relations)
                found = rows_of(groups, source.found, request.block, aggregate)
                partials = partial(partials_of, groups, source.found, request.block, aggregate)
                return self._checked(_groups(own, relation, upkeep, found, partials, aggregate))

        try:
            found = read_at_hand(self._relations, source.request, rows) if self._forks is None else None
        except Refused as refused:
            if refused.reason is not Reason.NOT_EXACT:
                raise
            found = None
        return self._relations.held(source.request, means, read) if found is None else found

    def _checked(self, part: Groups) -> Groups:
        """Raise NotEvaluable where some groups cannot be compared with Spark's, and are to be."""
        if self._options.is_compared:
            check_comparable(part.rows, TOLERANCE)
        return part

    def note_answered(self, parts: Iterable[Groups]) -> None:
        """Count an answer from some groups, once for each relation, and what it has saved."""
        for part in {part.relation.identifier: part for part in parts}.values():
            relation = part.relation
            relation.usage.note_answer()
            self._relations.checkpoint.note(relation)
            if relation.costs.captured is not None:
                # A capture in the background is of more groups than a query asks for, with fewer cores.
                plain = self._relations.plain_seconds.get(part.request.shape[0])
                relation.costs.note_query(min(relation.costs.captured, math.inf if plain is None else plain), 0.5)

    def requests(self, grouped: Grouped, reading: Reading, parameters: Parameters) -> Iterator[tuple[Request, bool]]:
        """Yield what a query asks for, and whether that is different rows, those of its constants first. Raises Refused."""
        if grouped.top is not None and grouped.otherwise is not None:
            grouped = grouped.otherwise
        for _, each in grouped.constants:
            yield from self.requests(each, reading, parameters)
        parameters = with_named(parameters, dict.fromkeys((marker for marker, _ in grouped.constants), None))
        yield from self._needed(grouped, reading, parameters)

    def _needed(self, grouped: Grouped, reading: Reading, parameters: Parameters) -> list[tuple[Request, bool]]:
        """Return the requests of a query without those that follow from finer groups of the same query, as ``requests`` does."""
        every = list(self._requests(grouped, reading, parameters))
        hosts = [request for request in every if request.is_finer]
        bags = [aggregate in grouped.bags for aggregate, _ in grouped.parts]
        return [(each, is_bag) for each, is_bag in zip(every, bags, strict=True) if self._states.among(each, hosts).request is each]

    def told(self, grouped: Grouped, reading: Reading, parameters: Parameters) -> list[str]:
        """Say which groups a query would be answered from, those of its constants first.

        Raises Refused as ``of``, as far as that is known.
        """
        if grouped.top is not None and grouped.otherwise is not None:
            first = self._first(grouped.top, grouped.otherwise, reading, parameters)
            value = self._tops.known(first)
            if value is None:
                return self.told(grouped.otherwise, reading, parameters)
            parameters = with_named(parameters, {grouped.top.marker: value})
        lines = [line for _, each in grouped.constants for line in self.told(each, reading, parameters)]
        parameters = with_named(parameters, dict.fromkeys((marker for marker, _ in grouped.constants), None))
        needed = self._needed(grouped, reading, parameters)
        return [*lines, *(line for request, is_bag in needed for line in self._states.told(request, is_bag=is_bag))]
