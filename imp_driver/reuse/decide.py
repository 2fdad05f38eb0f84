"""Whether a sketch captured for one set of constants answers the same block with another set (sketch-reuse rules 2.2).

This is about provenance only: that the attribute is safe for the new constants is asked of the calculus again (rules 2.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp

from imp_driver.plan.attributes import identifiers
from imp_driver.reuse.relations import implies_related
from imp_driver.reuse.solver import DEFAULT_EFFORT, proves
from imp_driver.reuse.texts import is_fixed, text_of
from imp_driver.safety.levels import Bound

Conjuncts = tuple[exp.Expr, ...]


class Answer(Enum):
    """Whether a sketch may be reused, and what shows it."""

    SAME_CONSTANTS = "same constants"
    BY_ATOMS = "by atoms"
    BY_SOLVER = "by solver"
    NO = "no"


@dataclass(frozen=True, slots=True, eq=False)
class BlockConditions:
    """The conditions of one block with constants for its markers. Both sides of a question are bound from one plan.

    Attributes:
        rows: conjuncts below the groups, not only over group keys; each is true for every row that enters a group.
        keys: conjuncts over group keys, or what they determine, below or above the groups.
        groups: the other conjuncts of HAVING.
        relations: how each aggregate, by its attribute, relates to its old value when a new group is a sub-bag of the old one. In
            ``groups`` an attribute that is neither here nor read by ``keys`` is UNKNOWN.
        unchanged: conjuncts that decide more than which rows stay (of outer joins, of negations): each must be equivalent to its
            counterpart, by position.
    """

    rows: Conjuncts = ()
    keys: Conjuncts = ()
    groups: Conjuncts = ()
    relations: Mapping[str, Bound] = field(default_factory=dict)
    unchanged: Conjuncts = ()

    @property
    def all(self) -> tuple[Conjuncts, ...]:
        return (self.rows, self.keys, self.groups, self.unchanged)


Implication = Callable[[Conjuncts, Conjuncts, Mapping[str, Bound]], bool]
"""(new, old, relation) -> whether new implies old under the relation."""

EQUAL: Mapping[str, Bound] = {}
NEVER = (exp.Boolean(this=False),)


def answers(
    new: BlockConditions,
    old: BlockConditions,
    types: Mapping[str, str | None],
    *,
    effort: int = DEFAULT_EFFORT,
    checks_overflow: bool = False,
) -> Answer:
    """Say whether a sketch captured under ``old`` holds the provenance of the block under ``new``, on every database.

    ``types`` gives the Delta type names of attributes, aggregates included; what has none is compared by its text alone.
    ``effort`` bounds one question to the solver, of which there are at most four and two per ``unchanged`` conjunct;
    0 asks none.
    """

    by_atoms, by_solver = implications(types, effort, checks_overflow=checks_overflow)
    if _texts(new) == _texts(old) and all(is_fixed(each) for part in new.all for each in part):
        return Answer.SAME_CONSTANTS
    if _is_contained(new, old, by_atoms):
        return Answer.BY_ATOMS
    if effort > 0 and _is_contained(new, old, by_solver):
        return Answer.BY_SOLVER
    return Answer.NO


def implications(
    types: Mapping[str, str | None], effort: int = DEFAULT_EFFORT, *, checks_overflow: bool = False
) -> tuple[Implication, Implication]:
    """Return the cheap test and the strong one, which asks the solver where the cheap one says no."""

    def by_atoms(one: Conjuncts, other: Conjuncts, relation: Mapping[str, Bound]) -> bool:
        return implies_related(one, other, relation, types)

    def by_solver(one: Conjuncts, other: Conjuncts, relation: Mapping[str, Bound]) -> bool:
        return by_atoms(one, other, relation) or proves(one, other, types, relation, effort=effort, checks_overflow=checks_overflow)

    return by_atoms, by_solver


def _texts(conditions: BlockConditions) -> list[list[str]]:
    return [[text_of(each) for each in part] for part in conditions.all]


def _is_contained(new: BlockConditions, old: BlockConditions, implied: Implication) -> bool:
    """Apply the cases of rule 2.2."""
    if not _are_unchanged(new.unchanged, old.unchanged, implied):
        return False
    if implied(new.rows + new.keys, NEVER, EQUAL):
        return True
    if not rows_are_contained(new, old, implied):
        return False
    # With the same rows in every group all aggregates are equal; with fewer of them only some are related.
    relation = EQUAL if groups_are_whole(new, old, implied) else _relation(new, old)
    return implied(new.keys + new.groups, old.groups, relation)


def rows_are_contained(new: BlockConditions, old: BlockConditions, implied: Implication) -> bool:
    """Say whether every row below the new groups is below the old ones. Rows satisfy the keys' conditions too, so these are premises."""
    return implied(new.rows + new.keys, old.rows + old.keys, EQUAL)


def groups_are_whole(new: BlockConditions, old: BlockConditions, implied: Implication) -> bool:
    """Say whether an old group which the new keys admit has no rows that the new one lacks."""
    return implied(old.rows + new.keys, new.rows, EQUAL)


def _are_unchanged(new: Conjuncts, old: Conjuncts, implied: Implication) -> bool:
    return len(new) == len(old) and all(
        implied((one,), (other,), EQUAL) and implied((other,), (one,), EQUAL) for one, other in zip(new, old, strict=True)
    )


def _relation(new: BlockConditions, old: BlockConditions) -> Mapping[str, Bound]:
    """Return how aggregates relate. A sign that only one set of constants guarantees proves nothing (rules 7, case 4)."""
    keys = frozenset().union(*(identifiers(each) for each in new.keys + old.keys))
    read = frozenset().union(*(identifiers(each) for each in new.groups + old.groups))
    found = {}
    for name in read:
        default = Bound.EQUAL if name in keys else Bound.UNKNOWN
        bounds = {each.relations.get(name, default) for each in (new, old)}
        found[name] = bounds.pop() if len(bounds) == 1 else Bound.UNKNOWN
    return found
