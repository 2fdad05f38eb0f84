"""States over more tables than a query reads: they serve it where each of its rows has one partner in each of the others (``narrow.py``).

Whether columns are unique Spark is asked once a version of their table, in the background; that no row lacks a partner is told by the
rows of the groups, each time that they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from imp_driver.answer.ahead import Ahead
from imp_driver.answer.matching import Asked, Match
from imp_driver.answer.narrow import Narrow, TableName, narrowed
from imp_driver.answer.pairs import Pairs
from imp_driver.capture.instrument import qualified
from imp_driver.errors import OperationalError
from imp_driver.maintain.identity import state_key
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Means
from imp_driver.plan.bind import BoundBlock, all_groups
from imp_driver.plan.render import quoted
from imp_driver.ports import Session
from imp_driver.state.group_columns import ReadGroups
from imp_driver.state.maintained import Maintained
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.tables import TableSnapshot, at_version

_MOST_LOST = 500
WIDER = "from finer groups over more tables"
"""What the report says of groups that others follow from."""


class NotOneToOne(Exception):
    """Some row of the query's has no partner in a table that it does not read, or a table is no longer known to have one alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Wide:
    """A request about a state over more tables, how the groups that are asked for follow from its groups, and what must hold for that."""

    request: Request
    found: Match
    narrow: Narrow

    def check(self, own: Request, groups: ReadGroups, relations: Relations) -> None:
        """Raise NotOneToOne, or NotThere as ``groups``.

        Args:
            own: the request with the snapshots that the groups stand for.
        """
        seen = [relations.unique_keys.are_unique(own.snapshots[each.table], each.columns) for each in self.narrow.unique]
        rows = groups.rows(np.flatnonzero(groups.alive)).sum()
        if not all(seen) or rows != own.snapshots[self.narrow.root].row_count:
            raise NotOneToOne


class Wider:
    """Finds them, for the answers of one connection."""

    def __init__(self, relations: Relations, session: Session, ahead: Ahead) -> None:
        self._relations = relations
        self._session = session
        self._ahead = ahead
        self._matches: Pairs[tuple[Match, Narrow] | None] = Pairs()
        self._lost: BoundedCache[tuple[str, TableName], Mapping[TableName, int]] = BoundedCache(_MOST_LOST)

    def of(self, request: Request, asked: Callable[[], Asked]) -> Iterator[tuple[Maintained, Wide]]:
        """Yield the states that serve a request, as far as that is known before their groups are read."""
        if request.is_pinned or request.keeps_conditions:
            return
        locations = {snapshot.location for snapshot in request.tables}
        for relation in self._relations.registry.relations():
            block = relation.block
            if block is None or len(relation.vector) == 1 or not locations <= relation.vector.keys() or relation.state is None:
                continue
            known = self._matches.get(request.block, block, partial(_match, request, block, asked))
            own = None if known is None else self._request(request, relation, block)
            if known is None or own is None or self._lost.get((relation.identity.key, known[1].root)) == _beside(own, known[1]):
                continue
            if self._are_unique(known[1], own):
                yield relation, Wide(own, *known)

    def note_lost(self, wide: Wide) -> None:
        """Ask a state that was found not to have one row for each of a query's again when another table has changed."""
        self._lost[state_key(wide.request), wide.narrow.root] = _beside(wide.request, wide.narrow)

    def _request(self, request: Request, relation: Maintained, block: BoundBlock) -> Request | None:
        """Return the request about a state at the newest versions of its tables; None where this session may not read them all."""
        use = self._relations.eager.ahead(relation).use
        if use is None or (use.request.settings, use.request.zone) != (request.settings, request.zone):
            return None
        known = {snapshot.location: snapshot for snapshot in request.tables}
        try:
            others = {location: self._relations.snapshot(location) for location in relation.vector.keys() - known.keys()}
        except OperationalError:
            return None
        if not all(self._session.may_read(name) for name, location in use.locations.items() if location in others):
            return None
        return replace(
            use.request_at(known | others),
            template=request.template,
            shape=request.shape,
            by_cost=request.by_cost,
            block=all_groups(block),
            names=(),
            partial=None,
            lifted=None,
            is_lifted=False,
            reuse=WIDER,
        )

    def _are_unique(self, narrow: Narrow, own: Request) -> bool:
        """Say whether all columns that must be unique were seen to be; what nobody has looked at is looked at in the background."""
        seen = {each: self._relations.unique_keys.are_unique(own.snapshots[each.table], each.columns) for each in narrow.unique}
        if False not in seen.values():
            for each, is_unique in seen.items():
                if is_unique is None:
                    self._look(each.table, own.snapshots[each.table], each.columns)
        return all(seen.values())

    def _look(self, table: tuple[str, ...], snapshot: TableSnapshot, columns: tuple[str, ...]) -> None:
        names = [quoted(column) for column in columns]
        given = " AND ".join(f"{name} IS NOT NULL" for name in names)
        relation = at_version(qualified(table), snapshot.version)
        repeated = f"SELECT 1 AS one FROM {relation} WHERE {given} GROUP BY {', '.join(names)} HAVING count(*) > 1"

        def look(means: Means, tasks: int | None) -> None:
            found = means.read(f"SELECT count(*) AS repeated FROM ({repeated}) AS each_once")
            self._relations.unique_keys.note(snapshot, columns, is_unique=found.column(0)[0].as_py() == 0)

        self._ahead.ask(f"unique {snapshot.location} {snapshot.version} {columns}", look)


def _match(request: Request, block: BoundBlock, asked: Callable[[], Asked]) -> tuple[Match, Narrow] | None:
    rows = {name: snapshot.row_count for name, snapshot in request.snapshots.items()}
    narrow = narrowed(block, request.block, request.analysis.columns, rows)
    found = None if narrow is None else asked().match(narrow.block)
    return (found, narrow) if narrow is not None and isinstance(found, Match) else None


def _beside(request: Request, narrow: Narrow) -> Mapping[TableName, int]:
    """Return the versions of the tables that are joined with the root."""
    return {name: version for name, version in request.versions.items() if name != narrow.root}
