"""Recursive relations with absorption provenance: each row with the monotone function of base rows that says when it is there.

Invariant between two changes: the annotation of a row is exactly the disjunction, over all derivations from base rows that are there, of
the conjunction of their variables (least fixpoint of the rules of the paper's figure 6). Hence a deletion only makes variables false,
wherever they occur, and follows no rule; an insertion is followed semi-naively, by what it adds to annotations.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from imp_driver.dataflow.recursion.facts import Facts, Row
from imp_driver.dataflow.recursion.rules import Body, Rule
from imp_driver.errors import InternalError
from imp_driver.provenance.annotations import Annotations
from imp_driver.provenance.base_rows import BaseRows, Fact
from imp_driver.provenance.diagrams import Diagrams, TooManyNodes
from imp_driver.provenance.library import Function
from imp_driver.provenance.minimal_sets import minimal_sets
from imp_driver.provenance.variable_order import rows_nearby

_FACT_BYTES = 300
"""Of a row in its relation and in the map of annotations, without its values: about what CPython takes."""
_SPARE_VARIABLES = 1_000
"""Variables of deleted rows that may stay before the diagrams are made anew without them."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Rows of recursive relations that a change made appear and vanish."""

    appeared: tuple[Fact, ...] = ()
    vanished: tuple[Fact, ...] = ()


class Absorption:
    """The relations of some rules. Those that are the head of one are recursive, the others base relations, which are multisets of rows.

    Rows hold what can be hashed; NULL (None) in a column that a rule compares derives nothing.

    Args:
        rules: their relations are numbered from 0 on.
        diagrams: new and empty ones; those of the fastest library that is installed if None. They carry the bound on nodes.

    Raises:
        NotSupportedError: no library of decision diagrams is installed.
    """

    def __init__(self, rules: Sequence[Rule], diagrams: Diagrams | None = None) -> None:
        self._diagrams = diagrams or Diagrams()
        self._facts = [Facts() for _ in range(1 + max(number for rule in rules for number in (rule.head, *rule.reads)))]
        self._recursive = {rule.head for rule in rules}
        self._readers: list[list[tuple[Rule, int]]] = [[] for _ in self._facts]
        for rule in rules:
            for read, number in enumerate(rule.reads):
                self._readers[number].append((rule, read))
        self._base = BaseRows()
        self._annotations: Annotations[Fact] = Annotations(self._diagrams)

    def insert(self, relation: int, row: Row) -> Effects:
        """Add one copy of a base row. Raises as ``apply``."""
        return self.apply((), ((relation, row),))

    def delete(self, relation: int, row: Row) -> Effects:
        """Take one copy of a base row. Raises as ``apply``."""
        return self.apply(((relation, row),), ())

    def apply(self, deletions: Iterable[Fact], insertions: Iterable[Fact]) -> Effects:
        """Change base rows, all at once: what a batch both deletes and inserts stays as it is.

        Raises:
            Contradiction: a row is deleted more often than it is there.
            TooManyNodes: the annotations would need more nodes than allowed.
            InternalError: a row is of a recursive relation, or of none.

        Whatever is raised, what a rule raises too, everything is as it was before.
        """
        change = self._base.change(self._checked(deletions), self._checked(insertions))
        numbers = self._base.numbered(rows_nearby(change.fresh))
        old: dict[Fact, Function] = {}
        try:
            self._forget([self._base.variable(fact) for fact in change.gone], old)
            self._derive(numbers, old)
            self._annotations.index()
        except BaseException:
            self._undo(old)
            raise
        self._base.make(change, numbers)
        effects = self._effects(old)
        self._renew()
        return effects

    def rows(self, relation: int) -> tuple[Row, ...]:
        """Return the rows of a relation, each once."""
        return tuple(self._facts[relation])

    def annotation(self, relation: int, row: Row) -> Function:
        """Return the function of a row; false where it is not there."""
        return self._annotations.get((relation, row))

    def why(self, relation: int, row: Row) -> Iterator[frozenset[Fact]]:
        """Return the minimal sets of base rows from which a row follows, smallest first, each when it is asked for.

        They are those of now, even if rows change before all are read. There are none for a row that is not there. Reading them
        raises TooManyNodes where there are so many that what is left of the function becomes too large.
        """
        function = self.annotation(relation, row)
        facts = {number: self._base.fact(number) for number in self._diagrams.variables_of(function)}
        return (frozenset(facts[number] for number in found) for found in minimal_sets(self._diagrams, function))

    def would_vanish(self, base: Iterable[Fact]) -> tuple[Fact, ...]:
        """Return the rows of recursive relations that would be there no longer without any copy of these base rows; changes nothing.

        Raises:
            InternalError: one of these is no base row that is there.
        """
        numbers = [self._number(fact) for fact in base]
        restricted = self._annotations.restricted(numbers)
        return tuple(each.key for each in restricted if self._diagrams.is_false(each.after) and each.key[0] in self._recursive)

    def probability(self, relation: int, row: Row, chances: Mapping[Fact, float]) -> float:
        """Return how probable a row is when base rows are there independently with these chances, and all others for certain.

        Exact, but for the rounding of each step; linear in the nodes of the annotation.

        Raises:
            InternalError: a chance is not in [0, 1], or one of these is no base row that is there.
        """
        if not all(0.0 <= chance <= 1.0 for chance in chances.values()):
            raise InternalError("The chance of a row must lie between 0 and 1.")
        numbers = {self._number(fact): chance for fact, chance in chances.items()}
        return self._diagrams.probability(self.annotation(relation, row), numbers)

    @property
    def node_count(self) -> int:
        """How many nodes all annotations have together."""
        return self._diagrams.node_count

    @property
    def state_bytes(self) -> int:
        """About the memory of rows, annotations and variables."""
        return self._annotations.bytes(lambda fact: sys.getsizeof(fact[1]) + _FACT_BYTES) + self._diagrams.variable_bytes

    def annotation_bytes(self, relation: int, row: Row) -> int:
        """Return about the memory of one annotation, as if it shared no node with others."""
        return self._diagrams.nodes_of([self.annotation(relation, row)]) * self._diagrams.node_bytes

    def _checked(self, facts: Iterable[Fact]) -> list[Fact]:
        found = list(facts)
        for relation, _ in found:
            if not 0 <= relation < len(self._facts) or relation in self._recursive:
                raise InternalError(f"Relation {relation} is no base relation of these rules; its rows cannot be changed.")
        return found

    def _number(self, fact: Fact) -> int:
        if fact not in self._base:
            raise InternalError(f"There is no base row {fact[1]} in relation {fact[0]}.")
        return self._base.variable(fact)

    def _forget(self, variables: Collection[int], old: dict[Fact, Function]) -> None:
        """Make variables false everywhere."""
        for each in self._annotations.restricted(variables):
            old[each.key] = each.before
            self._annotations.put(each.key, each.after)
            if self._diagrams.is_false(each.after):
                self._facts[each.key[0]].remove(each.key[1])

    def _derive(self, numbers: Mapping[Fact, int], old: dict[Fact, Function]) -> None:
        """Give base rows their variables, and follow what this adds until it adds nothing more.

        What waits is already in the annotations: of two rows that wait, the one that is followed later meets the other with all it has.
        """
        waiting: dict[Fact, Function] = {}
        for fact, number in numbers.items():
            self._gain(fact, self._diagrams.variable(number), old, waiting)
        while waiting:
            fact = next(iter(waiting))
            gained = waiting.pop(fact)
            for rule, read in self._readers[fact[0]]:
                bodies = list(rule.bodies(self._facts, read, fact[1]))
                for body, head in zip(bodies, rule.follow(bodies), strict=True):
                    if head is not None:
                        self._gain((rule.head, head), self._joined(rule, read, body, gained), old, waiting)

    def _joined(self, rule: Rule, read: int, body: Body, gained: Function) -> Function:
        """Return the conjunction over a body, with what is new of the row at one place."""
        function = gained
        for place, (number, row) in enumerate(zip(rule.reads, body, strict=True)):
            if place != read:
                function = self._diagrams.and_(function, self._annotations[number, row])
        return function

    def _gain(self, fact: Fact, function: Function, old: dict[Fact, Function], waiting: dict[Fact, Function]) -> None:
        before = self._annotations.get(fact)
        old.setdefault(fact, before)
        gained = self._annotations.absorb(fact, function)
        if self._diagrams.is_false(gained):
            return
        if self._diagrams.is_false(before):
            self._facts[fact[0]].add(fact[1])
        waiting[fact] = self._diagrams.or_(waiting.get(fact, self._diagrams.false), gained)

    def _undo(self, old: Mapping[Fact, Function]) -> None:
        """Give rows the annotations back that they had; these are among the nodes that were allowed."""
        for fact, function in old.items():
            self._annotations.put(fact, function)
            facts = self._facts[fact[0]]
            if self._diagrams.is_false(function):
                if fact[1] in facts:
                    facts.remove(fact[1])
            elif fact[1] not in facts:
                facts.add(fact[1])

    def _effects(self, old: Mapping[Fact, Function]) -> Effects:
        appeared: list[Fact] = []
        vanished: list[Fact] = []
        for fact, function in old.items():
            was_there, is_there = not self._diagrams.is_false(function), fact in self._annotations
            if fact[0] in self._recursive and was_there != is_there:
                (appeared if is_there else vanished).append(fact)
        return Effects(tuple(appeared), tuple(vanished))

    def _renew(self) -> None:
        """Make the diagrams anew where most of their variables are dead: a library never frees a variable."""
        living = self._base.variables
        if len(self._diagrams.variables) <= 2 * len(living) + _SPARE_VARIABLES:
            return
        diagrams = self._diagrams.empty()
        for number in living:
            diagrams.variable(number)
        # The change is made; where there is no room for the copy, the old ones do.
        with suppress(TooManyNodes):
            self._annotations = self._annotations.moved(diagrams)
            self._diagrams = diagrams
