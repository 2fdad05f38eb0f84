"""Groups that stand for the versions of a query already, read without holding their relation: readers wait neither for each other nor for
a step to newer versions that is under way."""

from __future__ import annotations

from collections.abc import Callable
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


def read_at_hand(relations: Relations, request: Request, read: Callable[[Request, Maintained, Upkeep, ReadGroups], ReadT]) -> ReadT | None:
    """Return what a reader makes of groups at exactly the request's versions; None where the relation must be held for them.

    Raises what ``read`` raises.
    """
    relation = relations.registry.find(state_key(request))
    vector = vector_of(request.tables)
    groups = None if relation is None else relation.columns.at(vector)
    if relation is None or groups is None:
        return None
    version = vector[relation.identity.location].version
    try:
        found = read(request, relation, Upkeep(Decision.FRESH, version), groups)
    except NotThere:
        return None
    _note_use(relations, request, relation)
    return found


def is_at_hand(relations: Relations, request: Request) -> bool:
    """Say whether there are groups at exactly the request's versions, though not all of their columns may be."""
    relation = relations.registry.find(state_key(request))
    return relation is not None and relation.columns.at(vector_of(request.tables)) is not None


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
