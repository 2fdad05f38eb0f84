"""Random queries, databases, attributes and supersets of the accurate sketch against the calculus.

``python -m tests.soundness.attack 100000`` tries that many (query, database, superset) triples and stops at the first difference.
"""

from __future__ import annotations

import random
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sqlglot

from imp_driver.parse.supported import Refused
from imp_driver.plan.nodes import Plan, Scan, scans
from imp_driver.plan.resolve import resolve
from imp_driver.safety.setting import Assignment, Setting
from imp_driver.safety.verdict import Verdict, judge
from tests.soundness.cases import ACCEPTED, CASES
from tests.soundness.interpret import Annotated, Value, bag, evaluate
from tests.soundness.queries import Queries
from tests.soundness.tables import Catalog, Database, SignFacts, random_database
from tests.soundness.ties import ends_decided

NULL_FRAGMENT = -1


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """A wrong answer: everything needed to see it again."""

    text: str
    cut: Mapping[str, object]
    database: Database
    expected: Counter[tuple[Value, ...]]
    found: Counter[tuple[Value, ...]]
    derivation: tuple[str, ...]

    def __str__(self) -> str:
        rows = "\n".join(f"  {table}: {[tuple(row.values()) for row in rows]}" for table, rows in self.database.items())
        derivation = "\n  ".join(self.derivation)
        return f"{self.text}\n  cut {self.cut}\n{rows}\n  expected {self.expected}\n  found {self.found}\n  {derivation}"


@dataclass(frozen=True, slots=True)
class Tally:
    """What an attack did; ``decided`` and ``undecided`` count tables on which a top-k whose order may tie did not, or did."""

    triples: int
    safe: int
    unsafe: int
    refused: int
    counterexamples: int
    decided: int
    undecided: int
    differences: tuple[Difference, ...]


def fragment(bounds: list[int], value: Value) -> int:
    """Return the range that holds a value; NULL has one of its own."""
    return NULL_FRAGMENT if value is None else bisect_right(bounds, value)


def assignments(plan: Plan, chance: random.Random) -> Iterator[Assignment]:
    """Yield ways to cut: single occurrences, several on their own, several by one common set."""
    occurrences = scans(plan)
    for _ in range(3):
        chosen = chance.sample(occurrences, chance.randint(1, min(len(occurrences), 3)))
        columns = {scan.occurrence: chance.choice(scan.output).identifier for scan in chosen}
        if len(chosen) > 1 and chance.random() < 0.5:
            name = chance.choice([("g", "k"), ("x", "y")])
            columns = {scan.occurrence: _named(scan, name) for scan in chosen}
        common = dict.fromkeys(columns, 0) if len(chosen) > 1 and chance.random() < 0.6 else {}
        yield Assignment(columns, common)


def _named(scan: Scan, names: tuple[str, str]) -> str:
    return next(attribute.identifier for attribute in scan.output if attribute.name in names)


def accurate(plan: Plan, verdict: Verdict, assignment: Assignment, database: Database, bounds: list[int]) -> dict[int, set[int]]:
    """Return per common set the fragments with provenance of the root and of all pins."""
    columns = _columns(plan, assignment)
    origins = [each.origin for each in evaluate(verdict.step.plan, database)]
    for pin in verdict.needs.pins:
        origins += [each.origin for each in evaluate(pin, database)]
    found: dict[int, set[int]] = {assignment.set_of(occurrence): set() for occurrence in columns}
    for occurrence, number in frozenset().union(*origins):
        if occurrence in columns:
            table, name = columns[occurrence]
            found[assignment.set_of(occurrence)].add(fragment(bounds, database[table][number][name]))
    return found


def _columns(plan: Plan, assignment: Assignment) -> dict[int, tuple[str, str]]:
    columns = {}
    for scan in scans(plan):
        identifier = assignment.columns.get(scan.occurrence)
        if identifier is not None:
            name = next(attribute.name for attribute in scan.output if attribute.identifier == identifier)
            columns[scan.occurrence] = (scan.table[-1], name)
    return columns


def on_cut(plan: Plan, assignment: Assignment, kept: Mapping[int, set[int]], database: Database, bounds: list[int]) -> list[Annotated]:
    """Return the rows of a query with its cut occurrences reduced to the kept fragments.

    The tables are read backwards: an answer that depends on the order of rows is none.
    """
    columns = _columns(plan, assignment)
    backwards = {table: list(reversed(rows)) for table, rows in database.items()}

    def is_kept(occurrence: int, row: Mapping[str, Value]) -> bool:
        if occurrence not in columns:
            return True
        return fragment(bounds, row[columns[occurrence][1]]) in kept[assignment.set_of(occurrence)]

    return evaluate(plan, backwards, is_kept)


def drops_rows(plan: Plan, assignment: Assignment, kept: Mapping[int, set[int]], database: Database, bounds: list[int]) -> bool:
    """Say whether a cut loses any row at all; one that does not can show nothing."""
    return any(
        fragment(bounds, row[name]) not in kept[assignment.set_of(occurrence)]
        for occurrence, (table, name) in _columns(plan, assignment).items()
        for row in database[table]
    )


def texts(chance: random.Random) -> Iterator[str]:
    """Yield queries without end: the corpus twice, then random ones with one of the corpus now and then."""
    corpus = [*(case.text for case in CASES), *ACCEPTED]
    yield from corpus * 2
    while True:
        yield chance.choice(corpus) if chance.random() < 0.5 else Queries(chance).query()


def attack(triples: int, seed: int, *, stop_at: int = 1, with_unsafe: bool = False) -> Tally:
    """Try triples until that many are done or ``stop_at`` differences are found."""
    chance = random.Random(seed)
    done = safe = unsafe = refused = counterexamples = decided = undecided = 0
    differences: list[Difference] = []
    for text in texts(chance):
        if done >= triples or len(differences) >= stop_at:
            break
        try:
            plan = resolve(sqlglot.parse_one(text, read="spark"), Catalog())
        except Refused:
            refused += 1
            continue
        for assignment in assignments(plan, chance):
            nonnegative = chance.random() < 0.7
            verdict = judge(plan, Setting(assignment, SignFacts(nonnegative), may_pin=chance.random() < 0.4))
            safe, unsafe = safe + verdict.is_safe, unsafe + (not verdict.is_safe)
            if not verdict.is_safe and not with_unsafe:
                continue
            for _ in range(6):
                database = random_database(chance, nonnegative=nonnegative)
                if verdict.needs.undecided:
                    is_decided = all(ends_decided(top, database) for top in verdict.needs.undecided)
                    decided, undecided = decided + is_decided, undecided + (not is_decided)
                    if not is_decided:
                        continue
                expected = bag(plan, evaluate(plan, database))
                bounds = list(range(-3, 5)) if chance.random() < 0.7 else sorted(chance.sample(range(-1, 5), chance.randint(1, 4)))
                least = accurate(plan, verdict, assignment, database, bounds)
                for share in (0.0, 0.2, chance.random()):
                    every = [NULL_FRAGMENT, *range(len(bounds) + 1)]
                    kept = {name: part | {each for each in every if chance.random() < share} for name, part in least.items()}
                    if not drops_rows(plan, assignment, kept, database, bounds):
                        continue
                    found = bag(plan, on_cut(plan, assignment, kept, database, bounds))
                    done += 1
                    if found == expected:
                        continue
                    if not verdict.is_safe:
                        counterexamples += 1
                    else:
                        cut = {f"{k}: {v}": kept[assignment.set_of(k)] for k, v in assignment.columns.items()} | {"bounds": bounds}
                        differences.append(Difference(text, cut, database, expected, found, verdict.derivation))
    return Tally(done, safe, unsafe, refused, counterexamples, decided, undecided, tuple(differences))


if __name__ == "__main__":
    tally = attack(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    for difference in tally.differences:
        print(difference)
    print(f"{tally.triples} triples, {tally.safe} safe cuts, {tally.unsafe} refused cuts, {tally.refused} refused queries")
    print(f"{tally.decided} tables on which no top-k tied where it ends, {tally.undecided} on which one did")
    sys.exit(bool(tally.differences))
