"""Rows of a recursion that are kept elsewhere, as another machine would keep them: old and new tables, and the levels before a change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from imp_driver.dataflow.recursion.facts import Facts, Row
from imp_driver.dataflow.recursion.frontier import Derivation, Fact, Frontier
from imp_driver.dataflow.recursion.rules import Rule


class KeptElsewhere:
    """The rows that rules make; ``given`` are those of all other relations. What is asked for is searched for among all derivations."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.given: dict[int, set[Row]] = {number: set() for rule in rules for number in rule.reads}
        self.kept: dict[Fact, int] = {}
        self._new = self.given

    def change(self, removed: Mapping[int, set[Row]], added: Mapping[int, set[Row]]) -> Frontier:
        """Follow a change of given rows: what is removed and added is there in the end."""
        self._new = {number: (rows - removed.get(number, set())) | added.get(number, set()) for number, rows in self.given.items()}
        frontier = Frontier(self)
        frontier.follow()
        for fact, level in frontier.changes.items():
            if level is None:
                del self.kept[fact]
            else:
                self.kept[fact] = level
        self.given = self._new
        return frontier

    def lost(self) -> list[Derivation]:
        return list(self._with_one_of({number: rows - self._new[number] for number, rows in self.given.items()}, self.given))

    def led_to(self, rows: Collection[Fact]) -> list[Derivation]:
        return list(self._with_one_of(_by_relation(rows), self.given))

    def of(self, rows: Collection[Fact], level: int) -> list[Derivation]:
        wanted = set(rows)
        found = [each for rule in self.rules for each in self._bodies(rule, self._new, ()) if each.head in wanted]
        return [each for each in found if each.body or not level]

    def won(self) -> list[Derivation]:
        return list(self._with_one_of({number: rows - self.given[number] for number, rows in self._new.items()}, self._new))

    def leads_to(self, rows: Collection[Fact], more: Collection[Fact]) -> list[Derivation]:
        return list(self._with_one_of(_by_relation(rows), self._new, {*rows, *more}))

    def levels(self, rows: Collection[Fact]) -> dict[Fact, int]:
        return {fact: self.kept[fact] for fact in rows if fact in self.kept}

    def _with_one_of(
        self, rows: Mapping[int, set[Row]], given: Mapping[int, set[Row]], more: Collection[Fact] = ()
    ) -> Iterator[Derivation]:
        facts = self._facts(given, more)
        for rule in self.rules:
            for read, number in enumerate(rule.reads):
                for row in rows.get(number, ()):
                    yield from self._derivations(rule, list(rule.bodies(facts, read, row)))

    def _bodies(self, rule: Rule, given: Mapping[int, set[Row]], more: Collection[Fact]) -> Iterator[Derivation]:
        facts = self._facts(given, more)
        for row in list(facts[rule.reads[0]]):
            yield from self._derivations(rule, list(rule.bodies(facts, 0, row)))

    def _derivations(self, rule: Rule, bodies: Sequence[tuple[Row, ...]]) -> Iterator[Derivation]:
        for body, head in zip(bodies, rule.follow(bodies), strict=True):
            if head is not None:
                made = ((number, row) for number, row in zip(rule.reads, body, strict=True) if self._is_made(number))
                yield Derivation((rule.head, head), tuple(made))

    def _facts(self, given: Mapping[int, set[Row]], more: Collection[Fact]) -> list[Facts]:
        own: dict[int, dict[Row, None]] = {}
        for number, row in (*self.kept, *more):
            own.setdefault(number, {})[row] = None
        count = 1 + max(max(rule.head, *rule.reads) for rule in self.rules)
        return [Facts(own.get(number, ()) if self._is_made(number) else given.get(number, ())) for number in range(count)]

    def _is_made(self, number: int) -> bool:
        return any(rule.head == number for rule in self.rules)


def _by_relation(rows: Collection[Fact]) -> dict[int, set[Row]]:
    found: dict[int, set[Row]] = {}
    for number, row in rows:
        found.setdefault(number, set()).add(row)
    return found
