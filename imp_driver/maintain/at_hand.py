"""Groups that stand for the versions of a query already, read without holding their relation: readers wait neither for each other nor for
a step to newer versions that is under way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from imp_driver.maintain.identity import state_key
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Upkeep
from imp_driver.reasons import Decision
from imp_driver.snapshot.vector import vector_of
from imp_driver.state.group_columns import NotThere, ReadGroups
from imp_driver.state.maintained import Maintained

ReadT = TypeVar("ReadT")


@dataclass(frozen=True, slots=True, eq=False)
class AtHand:
    """Groups at exactly a request's versions, though not all of their columns may be there."""

    request: Request
    relation: Maintained
    upkeep: Upkeep
    groups: ReadGroups

    def read(self, relations: Relations, read: Callable[[Request, Maintained, Upkeep, ReadGroups], ReadT]) -> ReadT | None:
        """Return what a reader makes of the groups; None where it needs a column that is to be made. Raises what ``read`` raises."""
        try:
            found = read(self.request, self.relation, self.upkeep, self.groups)
        except NotThere:
            return None
        _note_use(relations, self.request, self.relation)
        return found


def at_hand(relations: Relations, request: Request) -> AtHand | None:
    """Return the groups of a request where they stand for its versions as they are; None elsewhere."""
    relation = relations.registry.find(state_key(request))
    vector = vector_of(request.tables)
    groups = None if relation is None else relation.columns.at(vector)
    if relation is None or groups is None:
        return None
    return AtHand(request, relation, Upkeep(Decision.FRESH, vector[relation.identity.location].version), groups)


def read_at_hand(relations: Relations, request: Request, read: Callable[[Request, Maintained, Upkeep, ReadGroups], ReadT]) -> ReadT | None:
    """Return what a reader makes of groups at exactly the request's versions; None where the relation must be held for them.

    Raises what ``read`` raises.
    """
    found = at_hand(relations, request)
    return None if found is None else found.read(relations, read)


def still_at_hand(relations: Relations, request: Request, relation: Maintained) -> Upkeep | None:
    """Say that groups which were read before at the request's versions are still there at these; None where they are not."""
    vector = vector_of(request.tables)
    if relations.registry.find(relation.identity.key) is not relation or relation.columns.at(vector) is None:
        return None
    _note_use(relations, request, relation)
    return Upkeep(Decision.FRESH, vector[relation.identity.location].version)


def _note_use(relations: Relations, request: Request, relation: Maintained) -> None:
    relations.registry.use(relation, request.template.identifier)
    relation.costs.note_asked(is_new=False)
    relations.note_read(relation, request)
