"""One aggregation of a query -> its groups, from the state that serves it, brought up to the query's versions."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Protocol

import pyarrow as pa

from imp_driver.answer.groups import partials_of, rows_of
from imp_driver.answer.matching import HeldWhere, own_match
from imp_driver.answer.nested.in_buckets import InBuckets
from imp_driver.answer.nested.partial import Partials, with_places
from imp_driver.answer.rounding import check_comparable
from imp_driver.answer.states import Source, States
from imp_driver.answer.summary import Groups
from imp_driver.answer.wider import NotOneToOne
from imp_driver.buckets.view import BucketView
from imp_driver.maintain.at_hand import read_at_hand
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.plan.nodes import Aggregate
from imp_driver.reasons import Reason, RecaptureReason
from imp_driver.rewrite.shadow import TOLERANCE
from imp_driver.state.group_columns import NotThere, ReadGroups
from imp_driver.state.maintained import Maintained
from imp_driver.state.values import Cause
from imp_driver.values.options import Options
from imp_driver.values.refusal import Refused

_FEW_GROUPS = 50_000
"""So many rows are filtered as soon as those that pass are picked from columns."""
_MOST_TRIES = 8
"""States over more tables that turn out not to serve a query."""


class Forks(Protocol):
    """Steps copies of relations by changes that nobody makes (what_if/fork.py)."""

    def concerns(self, request: Request) -> bool:
        """Say whether these changes are of a table of a request."""

    def stepped(self, request: Request, relation: Maintained, means: Means) -> tuple[Request, Maintained, Upkeep]:
        """Return a copy that stands for the changed tables, and the request at their versions. Raises Refused."""


class GroupReader:
    """Reads the groups of one connection's queries; ``forks`` is None where they are those of the tables as they are."""

    def __init__(self, states: States, relations: Relations, options: Options) -> None:
        self._states = states
        self._relations = relations
        self._options = options
        self.forks: Forks | None = None

    def over(self, forks: Forks) -> GroupReader:
        """Return what reads copies of relations."""
        other = copy(self)
        other.forks = forks
        return other

    def whole(self, aggregate: Aggregate, request: Request, relation: Maintained, upkeep: Upkeep, groups: ReadGroups) -> Groups:
        """Return all groups as they are. Raises NotThere where a column is to be made first, Refused and NotEvaluable as ``of``."""
        if groups.groups > _FEW_GROUPS:
            raise NotThere
        # Other texts may ask for other groups of the same columns.
        found = own_match(request.block)
        rows = groups.table((aggregate, request.zone), lambda: rows_of(groups, found, request.block, aggregate))
        return self._checked(
            _groups(request, relation, upkeep, rows, lambda: partials_of(groups, found, request.block, aggregate), aggregate)
        )

    def of(self, request: Request, aggregate: Aggregate, kept: Source | None, means: Means) -> Groups:
        """Return the groups of a request; those of a state over more tables only where they turn out to be the query's.

        Args:
            kept: where they come from; None: from the best state that there is.

        Raises:
            Refused: they are not there and not to be waited for, or not known.
            NotEvaluable: Spark alone knows a value.
            Error: Spark failed.
        """
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

    def _groups(self, request: Request, aggregate: Aggregate, source: Source, means: Means) -> Groups:
        def read(own: Request, relation: Maintained) -> Groups:
            self._check_buckets(relation, aggregate, source, means)
            own, upkeep = self._relations.brought_up_to_date(own, relation, means)
            if relation.state is None:
                self._check_buckets(relation, aggregate, source, means)
                view = self._view(relation, means)
                upkeep = replace(upkeep, detail=", ".join(filter(None, (upkeep.detail, f"in {view.coarse.fragments} buckets"))))
                return Groups(own, relation, upkeep, pa.table({}), {}, InBuckets(view, source.found, request.block, aggregate))
            if self.forks is not None and self.forks.concerns(own):
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
            assert self.forks is not None
            if source.wide is not None:
                raise Refused(Reason.NOT_SUPPOSED, "groups over more tables")
            own, fork, upkeep = self.forks.stepped(own, relation, means)
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
            found = read_at_hand(self._relations, source.request, rows) if self.forks is None else None
        except Refused as refused:
            if refused.reason is not Reason.NOT_EXACT:
                raise
            found = None
        return self._relations.held(source.request, means, read) if found is None else found

    def _check_buckets(self, relation: Maintained, aggregate: Aggregate, source: Source, means: Means) -> None:
        """Raise Refused where groups are in buckets, and nothing reads them there."""
        if relation.bucketed is not None and not (aggregate.is_finer and means.buckets and source.wide is None and self.forks is None):
            raise Refused(Reason.STATE_TOO_LARGE, "the groups are in buckets")

    def _view(self, relation: Maintained, means: Means) -> BucketView:
        bucketed = relation.bucketed
        assert bucketed is not None
        assert means.buckets is not None
        self._relations.note_bucket_version(relation)
        return BucketView.of(bucketed, means.buckets)

    def _checked(self, part: Groups) -> Groups:
        """Raise NotEvaluable where some groups cannot be compared with Spark's, and are to be."""
        if self._options.is_compared:
            check_comparable(part.rows, TOLERANCE)
        return part


def _groups(
    request: Request, relation: Maintained, upkeep: Upkeep, rows: pa.Table, partials: Callable[[], Partials], aggregate: Aggregate
) -> Groups:
    if not aggregate.is_finer:
        return Groups(request, relation, upkeep, rows)
    return Groups(request, relation, upkeep, with_places(rows, aggregate), partials())
