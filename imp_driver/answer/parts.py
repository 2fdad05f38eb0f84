"""The groups that a query's rows come from: found, brought up to its versions and read, constants of the query first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial

import pyarrow as pa

from imp_driver.answer.ahead import Ahead
from imp_driver.answer.finish import bounds_of
from imp_driver.answer.group_reader import Forks, GroupReader
from imp_driver.answer.groups import check_keys, check_maintained, repeated
from imp_driver.answer.held import Held
from imp_driver.answer.nested.sliced import sliced_merges
from imp_driver.answer.rounding import rounded_in
from imp_driver.answer.states import Source, States
from imp_driver.answer.summary import Groups
from imp_driver.answer.tops import First, Tops
from imp_driver.buckets.sums import ADDITIVE, EXTREMES
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.errors import Error, raise_if_cancelled
from imp_driver.maintain.at_hand import AtHand, at_hand
from imp_driver.maintain.identity import state_key
from imp_driver.maintain.request import Request, request_of
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import Means
from imp_driver.parse.literals import typed_literal
from imp_driver.parse.statement import with_named
from imp_driver.persist.record import StoreDamaged
from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.bind import BoundBlock, with_values
from imp_driver.plan.nodes import Aggregate, Plan, TopK
from imp_driver.plan.slices import slice_key
from imp_driver.plan.tops import Top
from imp_driver.ports import Session
from imp_driver.reasons import BESIDE_GROUPS, Reason
from imp_driver.snapshot.reading import Reading
from imp_driver.snapshot.text import Grouped
from imp_driver.values.codes import one_array
from imp_driver.values.execution import Parameters
from imp_driver.values.option_kinds import Floats
from imp_driver.values.options import Options
from imp_driver.values.ranges import RangePartition
from imp_driver.values.refusal import Refused
from imp_driver.values.view_policy import ViewPolicy


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
        self._reader = GroupReader(self._states, sketches.relations, options)

    def over(self, forks: Forks) -> Parts:
        """Return what reads copies of relations, after changes that nobody makes."""
        other = copy(self)
        other._reader = self._reader.over(forks)
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
            part = own.read(self._relations, partial(self._reader.whole, aggregate))
            if part is None:
                return None
            found[aggregate.name] = part
        rows = {name: part.rows for name, part in found.items()}
        return Held(grouped, reading.with_values(grouped.plan, parameters), rows, tuple(found.values()))

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
        if self._reader.forks is None:
            self.note_answered(parts)
        named = {aggregate.name: (aggregate, part) for (aggregate, _), part in zip(grouped.parts, parts, strict=True)}
        rows = {
            name: repeated(part.rows, aggregate) if aggregate in grouped.bags else part.rows
            for name, (aggregate, part) in named.items()
            if part.in_buckets is None
        }
        plan = reading.with_values(grouped.plan, parameters)
        merges = self._merges(plan, {name: part for name, (_, part) in named.items()}, reading, means) if len(rows) < len(parts) else {}
        return Held(grouped, plan, rows, (*(part for each in held for part in each.parts), *parts), merges)

    def _merges(self, plan: Plan, parts: Mapping[str, Groups], reading: Reading, means: Means) -> dict[str, pa.Table]:
        """Return what is merged from groups in buckets. Raises Refused."""
        try:
            with means.watch.stage("answer"):
                return sliced_merges(plan, parts, reading.settings, self._relations.slices)
        except (Error, StateCorrupt, StoreDamaged) as error:
            raise_if_cancelled(error)
            self._relations.drop([part.relation for part in parts.values() if part.in_buckets is not None])
            raise Refused(Reason.RECAPTURE_DEFERRED, str(error).split("\n", 1)[0]) from error

    def _constant(self, held: Held) -> object:
        """Return what a marker of a subquery stands for. Raises NotEvaluable where it has no one value that is known exactly."""
        rows = held.finish(may_round=self._options.floats is Floats.ROUNDED).rows(held.plan)
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
        bags = {place: request for place, request in enumerate(requests) if grouped.parts[place][0] in grouped.bags}
        kept = self._kept(bags) if self._policy is None else {}
        # Others follow from finer groups (plan/shared.py) once these are there.
        found: dict[int, Groups] = {}
        ranges = self._ranges(requests)
        for place in sorted(range(len(requests)), key=lambda place: not requests[place].is_finer):
            request = requests[place] = replace(requests[place], bucket_ranges=ranges) if requests[place].is_finer else requests[place]
            source = kept.get(place) or self._shared(request, requests, list(found.values()))
            found[place] = part = self._reader.of(request, grouped.parts[place][0], source, means)
            if part.in_buckets is not None:
                ranges = part.in_buckets.view.coarse
        return [found[place] for place in range(len(requests))]

    def _shared(self, request: Request, every: Sequence[Request], found: Sequence[Groups]) -> Source | None:
        """Return where groups come from that follow from others of the same query; None: from the best state that there is."""
        bucketed = [each.request for each in found if each.in_buckets is not None]
        if self._policy is None:
            # What is in buckets of the same rows is not captured once more; other states are found as any.
            return self._states.among(request, bucketed) if bucketed and request.is_finer else None
        hosts = [each for each in every if each.is_finer]
        # Of groups in buckets others are merged alone.
        return self._states.among(request, hosts if request.is_finer or not bucketed else [])

    def _ranges(self, requests: Iterable[Request]) -> RangePartition | None:
        """Return by which ranges groups of a query are in buckets already: others are to be looked at beside them."""
        relations = [self._relations.registry.find(state_key(each)) for each in requests if each.bucket_key]
        bucketed = (None if relation is None else relation.bucketed for relation in relations)
        return next((each.coarse for each in bucketed if each is not None), None)

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
            yield replace(
                request,
                lifted=lifted,
                keeps_conditions=keeps_conditions,
                is_finer=aggregate.is_finer,
                bucket_key=_bucket_key(grouped, aggregate, block),
            )

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


def _bucket_key(grouped: Grouped, aggregate: Aggregate, block: BoundBlock) -> str:
    """Return by which key an aggregation's groups may be kept in buckets, as SQL; empty where by none."""
    place = slice_key(grouped.plan, aggregate) if aggregate.is_finer else None
    if place is None or any(each.specification.kind not in ADDITIVE | EXTREMES for each in block.aggregates):
        return ""
    return block.keys_sql[place]
