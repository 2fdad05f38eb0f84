"""Cheap tests of implication between conjunctions, atom by atom (sketch-reuse rules 2.3).

"Follows" is over "is true": unknown is no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.plan.attributes import conjuncts_of
from imp_driver.reuse.entailment import atom_follows, contradict
from imp_driver.reuse.reading import Atom, read
from imp_driver.reuse.texts import is_fixed, text_of


@dataclass(frozen=True, slots=True)
class Facts:
    """What a conjunction says.

    Attributes:
        atoms: what it says of each expression, by the expression's text.
        subjects: these expressions.
        conditions: every conjunct by its text.
        never: no row satisfies it.
    """

    atoms: Mapping[str, tuple[Atom, ...]]
    subjects: Mapping[str, exp.Expr]
    conditions: Mapping[str, exp.Expr]
    never: bool = False


def implies(new: tuple[exp.Expr, ...], old: tuple[exp.Expr, ...], types: Mapping[str, str | None]) -> bool:
    """Say whether every row for which all of ``new`` is true has all of ``old`` true; False when that is not certain.

    ``types`` gives the Delta type names of attributes by identifier; markers are replaced by constants.
    """
    facts = facts_of(new, types)
    return facts.never or follow(facts, old, types)


def facts_of(conjuncts: Sequence[exp.Expr], types: Mapping[str, str | None]) -> Facts:
    """Collect what a conjunction says; conjuncts that depend on more than their attributes say nothing."""
    atoms: dict[str, tuple[Atom, ...]] = {}
    subjects: dict[str, exp.Expr] = {}
    conditions: dict[str, exp.Expr] = {}
    never = False
    for conjunct in (part for each in conjuncts for part in conjuncts_of(each) if is_fixed(part)):
        conditions[text_of(conjunct)] = conjunct
        reading = read(conjunct, types)
        if reading is not None:
            key = text_of(reading.subject)
            subjects[key] = reading.subject
            atoms[key] = atoms.get(key, ()) + reading.atoms
            never = never or reading.never
    return Facts(atoms, subjects, conditions, never or any(contradict(each) for each in atoms.values()))


def follow(facts: Facts, old: Sequence[exp.Expr], types: Mapping[str, str | None]) -> bool:
    """Say whether every conjunct follows from facts."""
    return all(_follows(facts, part, types) for each in old for part in conjuncts_of(each))


def _follows(facts: Facts, conjunct: exp.Expr, types: Mapping[str, str | None]) -> bool:
    if not is_fixed(conjunct):
        return False
    if text_of(conjunct) in facts.conditions:
        return True
    reading = read(conjunct, types)
    if reading is None or reading.never:
        return False
    known = facts.atoms.get(text_of(reading.subject), ())
    return all(atom_follows(known, atom) for atom in reading.atoms)
