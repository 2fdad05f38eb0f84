"""Implication between conditions on values that are not equal but related: aggregates of part of a group (sketch-reuse rules 2.2, case 2).

The new query's value of an attribute is at most, or at least, the old query's. As in the safety calculus NULL is below everything for
AT_MOST and above everything for AT_LEAST, so that what is true of a new value that is not NULL speaks of an old one that is not NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from imp_driver.plan.attributes import identifiers, plain_identifier
from imp_driver.reuse.atoms import Facts, facts_of, follow
from imp_driver.reuse.constants import Constant, below, same
from imp_driver.reuse.entailment import candidates
from imp_driver.reuse.reading import NOT_NULL, Atom, Operator
from imp_driver.reuse.types import Family, value_type
from imp_driver.safety.levels import Bound


def implies_related(
    new: tuple[exp.Expr, ...], old: tuple[exp.Expr, ...], relation: Mapping[str, Bound], types: Mapping[str, str | None]
) -> bool:
    """Say whether ``new`` true for the new values makes ``old`` true for the old ones; False when that is not certain.

    ``relation`` says how the new value of an attribute relates to its old one; an attribute that is missing is EQUAL.
    """
    facts = facts_of(new, types)
    return facts.never or follow(_carried(facts, relation, types), old, types)


def _carried(facts: Facts, relation: Mapping[str, Bound], types: Mapping[str, str | None]) -> Facts:
    """Return what facts about the new values say about the old ones."""
    atoms = {key: _carry(known, bound_between(facts.subjects[key], relation)) for key, known in facts.atoms.items()}
    conditions = {key: each for key, each in facts.conditions.items() if _is_carried(each, relation, types)}
    return Facts(atoms, facts.subjects, conditions)


def bound_between(subject: exp.Expr, relation: Mapping[str, Bound]) -> Bound:
    """Return how an expression's new value relates to its old one; arithmetic may wrap around or round, so it carries no order."""
    if all(relation.get(name, Bound.EQUAL) is Bound.EQUAL for name in identifiers(subject)):
        return Bound.EQUAL
    return relation.get(plain_identifier(subject) or "", Bound.UNKNOWN)


def _carry(known: Sequence[Atom], bound: Bound) -> tuple[Atom, ...]:
    if bound is Bound.EQUAL:
        return tuple(known)
    if bound is Bound.UNKNOWN or not known or Atom(Operator.IS_NULL) in known:
        return ()
    values = candidates(known) or ()
    if bound is Bound.AT_MOST:
        kept = [_lower(atom) for atom in known]
        extreme = [Atom(Operator.FROM, (value,)) for value in values if all(_is_ordered(value, other) for other in values)]
    else:
        kept = [atom if atom.operator in (Operator.BELOW, Operator.UP_TO) else NOT_NULL for atom in known]
        extreme = [Atom(Operator.UP_TO, (value,)) for value in values if all(_is_ordered(other, value) for other in values)]
    return (*kept, *extreme)


def _lower(atom: Atom) -> Atom:
    """Return what remains of an atom for a value that may be greater."""
    if atom.operator is Operator.PREFIX:
        return Atom(Operator.FROM, atom.constants)
    return atom if atom.operator in (Operator.ABOVE, Operator.FROM) else NOT_NULL


def _is_ordered(one: Constant, other: Constant) -> bool:
    return same(one, other) or below(one, other)


def _is_carried(condition: exp.Expr, relation: Mapping[str, Bound], types: Mapping[str, str | None]) -> bool:
    """Say whether a condition that is true for the new values is true for the old ones by its text alone."""
    if all(relation.get(name, Bound.EQUAL) is Bound.EQUAL for name in identifiers(condition)):
        return True
    if isinstance(condition, (exp.LT, exp.LTE)):
        less, greater = condition.left, condition.right
    elif isinstance(condition, (exp.GT, exp.GTE)):
        less, greater = condition.right, condition.left
    else:
        return False
    one, other = (value_type(types.get(plain_identifier(side) or "")) for side in (less, greater))
    # Values of two types meet in a third, to which a cast may not keep their order; integers only grow wider.
    if one is None or other is None or (one != other and {one.family, other.family} != {Family.INTEGER}):
        return False
    bounds = (bound_between(less, relation), bound_between(greater, relation))
    return bounds[0] in (Bound.EQUAL, Bound.AT_LEAST) and bounds[1] in (Bound.EQUAL, Bound.AT_MOST)
