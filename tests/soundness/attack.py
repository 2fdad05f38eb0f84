"""Random queries, databases, attributes and supersets of the accurate sketch against the calculus.

``python -m tests.soundness.attack 100000`` tries that many (query, database, superset) triples and stops at the first difference.
Queries are numbered and each has its own random choices: ``--seed 0 --query 17`` tries one again.
"""

from __future__ import annotations

import argparse
import random
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

import sqlglot
from sqlglot import exp

from imp_driver.plan.blocks import Block, find_blocks
from imp_driver.plan.nodes import Aggregate, Plan, Scan, TopK, children, scans
from imp_driver.plan.resolve import resolve
from imp_driver.safety.cuts import KeyCuts, assignment_of, find_cuts
from imp_driver.safety.setting import Assignment, Setting
from imp_driver.safety.verdict import Verdict, judge
from imp_driver.values.refusal import Refused
from tests.pairs.grammar import random_choice, text_of
from tests.soundness.cases import ACCEPTED, CASES
from tests.soundness.interpret import Annotated, bag, evaluate
from tests.soundness.queries import Queries
from tests.soundness.tables import Catalog, Database, SignFacts, random_database
from tests.soundness.ties import ends_decided
from tests.soundness.values import Value

NULL_FRAGMENT = -1


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """A wrong answer: everything needed to see it again."""

    number: int
    text: str
    cut: Mapping[str, object]
    database: Database
    expected: Counter[tuple[Value, ...]]
    found: Counter[tuple[Value, ...]]
    derivation: tuple[str, ...]

    def __str__(self) -> str:
        rows = "\n".join(f"  {table}: {[tuple(row.values()) for row in rows]}" for table, rows in self.database.items())
        derivation = "\n  ".join(self.derivation)
        return (
            f"query {self.number}: {self.text}\n  cut {self.cut}\n{rows}\n  expected {self.expected}\n  found {self.found}\n  {derivation}"
        )


@dataclass(slots=True)
class Tally:
    """What an attack did; ``decided`` and ``undecided`` count tables on which a top-k whose order may tie did not, or did.

    ``by_key`` counts, beside the triples, those of sketches of group keys.
    """

    triples: int = 0
    by_key: int = 0
    safe: int = 0
    unsafe: int = 0
    refused: int = 0
    counterexamples: int = 0
    decided: int = 0
    undecided: int = 0
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A query of an attack; whatever else is chosen for it comes from ``chance`` too."""

    number: int
    text: str
    chance: random.Random


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


def queries(seed: int, first: int = 0) -> Iterator[Query]:
    """Yield queries without end: the corpus twice, then random ones with one of the corpus now and then; every fourth by the grammar."""
    corpus = [*(case.text for case in CASES), *ACCEPTED]
    for number in count(first):
        chance = random.Random(f"{seed} {number}")
        if number < 2 * len(corpus):
            text = corpus[number % len(corpus)]
        elif number % 4 == 0:
            text = text_of(random_choice(chance), chance)
        else:
            text = chance.choice(corpus) if chance.random() < 0.5 else Queries(chance).query()
        yield Query(number, text, chance)


def attack(triples: int, seed: int, *, first: int = 0, stop_at: int = 1, with_unsafe: bool = False) -> Tally:
    """Try triples of the queries from the first one on, until that many are done or ``stop_at`` differences are found."""
    tally = Tally()
    for query in queries(seed, first):
        if tally.triples >= triples or len(tally.differences) >= stop_at:
            break
        _attack_one(query, tally, with_unsafe=with_unsafe)
    return tally


def attack_query(seed: int, number: int) -> Tally:
    """Try the triples of one query."""
    tally = Tally()
    _attack_one(next(queries(seed, number)), tally)
    return tally


def attack_text(text: str, chance: random.Random) -> Tally:
    """Try triples of a query."""
    tally = Tally()
    _attack_one(Query(0, text, chance), tally)
    return tally


def _attack_one(query: Query, tally: Tally, *, with_unsafe: bool = False) -> None:
    chance = query.chance
    try:
        plan = resolve(sqlglot.parse_one(query.text, read="spark"), Catalog())
    except Refused:
        tally.refused += 1
        return
    for assignment in assignments(plan, chance):
        nonnegative = chance.random() < 0.7
        verdict = judge(plan, Setting(assignment, SignFacts(nonnegative), may_pin=chance.random() < 0.4))
        tally.safe, tally.unsafe = tally.safe + verdict.is_safe, tally.unsafe + (not verdict.is_safe)
        if not verdict.is_safe and not with_unsafe:
            continue
        for _ in range(6):
            database = random_database(chance, nonnegative=nonnegative)
            if verdict.needs.undecided:
                is_decided = all(ends_decided(top, database) for top in verdict.needs.undecided)
                tally.decided, tally.undecided = tally.decided + is_decided, tally.undecided + (not is_decided)
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
                tally.triples += 1
                if found == expected:
                    continue
                if not verdict.is_safe:
                    tally.counterexamples += 1
                else:
                    cut = {f"{k}: {v}": kept[assignment.set_of(k)] for k, v in assignment.columns.items()} | {"bounds": bounds}
                    tally.differences += (Difference(query.number, query.text, cut, database, expected, found, verdict.derivation),)
    _attack_keys(query, plan, tally)


def _attack_keys(query: Query, plan: Plan, tally: Tally) -> None:
    """Cut the blocks of a query to the fragments of the passing groups' keys, which may hold less than the provenance of the groups."""
    try:
        blocks = find_blocks(plan)
    except Refused:
        return
    for block in blocks:
        for index in range(len(block.query.keys)):
            try:
                found = find_cuts(block, index)
            except Refused:
                continue
            _attack_block(query, block, index, found, tally)


def _attack_block(query: Query, block: Block, index: int, found: KeyCuts, tally: Tally) -> None:
    chance, top = query.chance, block.top
    assignment = assignment_of(found.cuts)
    key = groups_of(top).key_attributes[index].identifier
    for _ in range(4):
        database = random_database(chance, nonnegative=False)
        if not all(ends_decided(each, database) for each in found.verdict.needs.undecided):
            continue
        expected = bag(top, evaluate(top, database))
        bounds = list(range(-3, 5))
        least = {fragment(bounds, row.row[key]) for row in evaluate(_with_skipped(top), database)}
        for share in (0.0, 0.3):
            kept = {0: least | {each for each in (NULL_FRAGMENT, *range(len(bounds) + 1)) if chance.random() < share}}
            if not drops_rows(top, assignment, kept, database, bounds):
                continue
            tally.by_key += 1
            answer = bag(top, on_cut(top, assignment, kept, database, bounds))
            if answer != expected:
                cut: dict[str, object] = {f"{occurrence}: {name}": kept[0] for occurrence, name in assignment.columns.items()}
                derivation = found.verdict.derivation
                tally.differences += (Difference(query.number, query.text, cut, database, expected, answer, derivation),)


def _with_skipped(top: Plan) -> Plan:
    """Return a block whose first groups count those that OFFSET skips: without them others would be skipped."""
    if not isinstance(top, TopK) or top.offset is None:
        return top
    every = exp.Literal.number(int(str(top.limit.this)) + int(str(top.offset.this)))
    return replace(top, limit=every, offset=None)


def groups_of(top: Plan) -> Aggregate:
    """Return the groups of a block."""
    while not isinstance(top, Aggregate):
        (top,) = children(top)
    return top


def main() -> int:
    """Attack as the command line says; return 1 when a difference was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.soundness.attack", description=__doc__)
    parser.add_argument("triples", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--query", type=int, help="try this one alone")
    given = parser.parse_args()
    tally = attack(given.triples, given.seed) if given.query is None else attack_query(given.seed, given.query)
    for difference in tally.differences:
        print(difference)
    print(f"{tally.triples} triples, {tally.safe} safe cuts, {tally.unsafe} refused cuts, {tally.refused} refused queries")
    print(f"{tally.decided} tables on which no top-k tied where it ends, {tally.undecided} on which one did")
    return bool(tally.differences)


if __name__ == "__main__":
    sys.exit(main())
