"""Why one row is there, from the derivations of all rows: the function of base rows that says when it is, worked out when it is asked for.

Source: absorption provenance, as in ``absorption``, which keeps the functions of all rows and follows their changes. Here nothing is kept:
for rows of which only the best are followed, since what was no best row yesterday may be one today.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from imp_driver.provenance.base_rows import Fact
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.library import Function
from imp_driver.provenance.minimal_sets import minimal_sets
from imp_driver.provenance.variable_order import rows_nearby

Derivations: TypeAlias = Mapping[Fact, Sequence[Sequence[Fact]]]
"""Of each row that follows from others the bodies; rows of bodies without an entry are base rows."""


def supports(derivations: Derivations, fact: Fact, diagrams: Diagrams) -> Iterator[frozenset[Fact]]:
    """Yield the minimal sets of base rows from which a row follows, smallest first; none for a row that is not there.

    Raises TooManyNodes, also while they are read.

    Args:
        diagrams: new and empty ones, with the bound on nodes.
    """
    if fact not in derivations:
        return
    below = _below(derivations, fact)
    numbers = {each: place for place, each in enumerate(rows_nearby([each for each in below if each not in derivations]))}
    functions = {each: diagrams.variable(number) for each, number in numbers.items()}
    facts = {number: each for each, number in numbers.items()}
    for found in minimal_sets(diagrams, _least(derivations, below, functions, diagrams).get(fact, diagrams.false)):
        yield frozenset(facts[number] for number in found)


def _below(derivations: Derivations, fact: Fact) -> list[Fact]:
    """Return a row and all that it may rest on."""
    found, waiting = {fact: None}, [fact]
    while waiting:
        for body in derivations.get(waiting.pop(), ()):
            for each in body:
                if each not in found:
                    found[each] = None
                    waiting.append(each)
    return list(found)


def _least(derivations: Derivations, below: Sequence[Fact], functions: dict[Fact, Function], diagrams: Diagrams) -> dict[Fact, Function]:
    """Return the least functions for which each row is the disjunction of its bodies; a cycle keeps no row alive."""
    readers: dict[Fact, dict[Fact, None]] = {}
    for head in below:
        for body in derivations.get(head, ()):
            for each in body:
                readers.setdefault(each, {})[head] = None
    waiting = dict.fromkeys(reversed([each for each in below if each in derivations]))
    while waiting:
        head = next(iter(waiting))
        del waiting[head]
        before = function = functions.get(head, diagrams.false)
        for body in derivations[head]:
            joined = diagrams.true
            for each in body:
                joined = diagrams.and_(joined, functions.get(each, diagrams.false))
            function = diagrams.or_(function, joined)
        if function != before:
            diagrams.keep_within_limit(function)
            functions[head] = function
            waiting.update(readers.get(head, {}))
    return functions
