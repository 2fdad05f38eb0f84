"""Occurrences cut in step: one set of fragments over equal ranges, on columns that every interaction equates (rules 1.7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.nodes import Attribute, SetOperation, UnionAll, children
from imp_driver.safety.levels import Derived, Level, Needs, closure
from imp_driver.safety.setting import Setting


def common_determinants(derived: Derived) -> frozenset[str]:
    """Return the attributes that determine every sketched attribute below; empty when nothing is cut."""
    sets = [closure(names, derived.equal) for names in derived.determined.values()]
    return frozenset.intersection(*sets) if sets else frozenset()


def share_one_set(occurrences: frozenset[int], setting: Setting) -> bool:
    return len({setting.assignment.set_of(each) for each in occurrences}) == 1


def shared_places(plan: UnionAll | SetOperation, branches: Sequence[Derived], setting: Setting) -> frozenset[str]:
    """Return the output columns at which every branch carries its sketched attributes; a branch that is not cut carries none."""
    if not share_one_set(occurrences_of(branches), setting):
        return frozenset()
    places = []
    for place, attribute in enumerate(plan.output):
        carried = all(
            branch.output[place].identifier in common_determinants(derived)
            for branch, derived in zip(children(plan), branches, strict=True)
        )
        if carried and attribute.type_name is not None:
            places.append(attribute.identifier)
    return frozenset(places)


def occurrences_of(inputs: Iterable[Derived]) -> frozenset[int]:
    """Return the occurrences that are cut below some operators."""
    return frozenset(occurrence for each in inputs for occurrence in each.determined)


def cut_in_step(kept: Derived, inputs: Sequence[Derived], determined: frozenset[str]) -> Derived:
    """Return a result whose inputs are cut by one common set, and in which ``determined`` tells each row's fragment."""
    occurrences = occurrences_of(inputs)
    needs = kept.needs | Needs(common=frozenset({occurrences}))
    return replace(kept, determined=dict.fromkeys(occurrences, determined), needs=needs)


def in_step(
    left: Derived, right: Derived, conjuncts: tuple[exp.Expr, ...], types: Mapping[str, Attribute], setting: Setting
) -> frozenset[str] | None:
    """Return the left attributes by which both sides are cut in step, None when they are not.

    Both sides must be ALIGNED and cut by one common set, and a conjunct must equate a column of the left that determines all its
    sketched attributes with such a column of the right, of the same type: then rows interact only within one fragment.
    """
    if left.level is not Level.ALIGNED or right.level is not Level.ALIGNED:
        return None
    if not share_one_set(occurrences_of((left, right)), setting):
        return None
    lefts, rights = common_determinants(left), common_determinants(right)
    for conjunct in conjuncts:
        pair = equated(conjunct, types)
        if pair and pair & lefts and pair & rights:
            return lefts
    return None


def equated(conjunct: exp.Expr, types: Mapping[str, Attribute]) -> frozenset[str] | None:
    """Return two attributes of one known type that a conjunct equates."""
    if not isinstance(conjunct, exp.EQ):
        return None
    left, right = plain_identifier(conjunct.left), plain_identifier(conjunct.right)
    if left is None or right is None or left not in types or right not in types:
        return None
    type_name = types[left].type_name
    return frozenset({left, right}) if type_name is not None and type_name == types[right].type_name else None
