"""Random conditions against the tests of implication, by brute force over small domains with NULL.

``python -m tests.soundness.implication_attack 100000`` tries that many and stops at the first wrong yes.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

import sqlglot
from sqlglot import exp

from imp_driver.plan.attributes import identifiers
from imp_driver.reuse.atoms import implies
from imp_driver.reuse.decide import Answer, BlockConditions, answers
from imp_driver.reuse.relations import implies_related
from imp_driver.reuse.solver import proves
from imp_driver.safety.levels import Bound
from tests.soundness.values import Row, Value, value

Conjuncts = tuple[exp.Expr, ...]
Relation = Mapping[str, Bound]
Types = Mapping[str, str | None]
Judge = Callable[[Conjuncts, Conjuncts, Relation, Types], bool]

NAMES = ("a", "b")
_LIMIT = 3
"""The greatest constant; the domains go beyond it on both sides."""

DOMAINS: Mapping[str, tuple[Value, ...]] = {
    "integer": (None, *range(-3, _LIMIT + 3)),
    "decimal(10,2)": (None, *(Fraction(half, 2) for half in range(-4, 2 * _LIMIT + 4))),
}


def parsed(text: str) -> exp.Expr:
    """Parse a condition in which every name is a quoted attribute."""
    select = sqlglot.parse_one(f"SELECT 1 WHERE {text}", read="spark")
    condition: exp.Expr = select.args["where"].this
    for identifier in condition.find_all(exp.Identifier):
        identifier.set("quoted", True)
    return condition


def conjunction(*texts: str) -> Conjuncts:
    return tuple(parsed(text) for text in texts)


@dataclass(frozen=True, slots=True)
class Shapes:
    """Makes a condition of a fixed shape for any constants: the old and the new one differ in these alone, as bound plans do."""

    chance: random.Random

    def shape(self, depth: int = 1) -> str:
        """Return a text in which each # is to become a constant."""
        name, other = self.chance.choice(NAMES), self.chance.choice(NAMES)
        comparison = self.chance.choice([">", ">=", "<", "<=", "=", "<>"])
        plain = [f"{name} {comparison} #"] * 6 + [f"# {comparison} {name}", f"{name} BETWEEN # AND #", f"{name} BETWEEN # AND #"]
        lists = [f"{name} IN (#, #)", f"{name} IN (#)", f"{name} IN (#, #, #)", f"{name} NOT IN (#, #)", f"{name} NOT IN (#)"]
        others = [f"{name} IS NULL", f"{name} IS NOT NULL", f"{name} {comparison} {other}", f"NOT ({name} {comparison} #)"]
        others += [f"{name} + # {comparison} #", f"{name} - {other} {comparison} #", f"2 * {name} {comparison} #", f"{name} <=> #"]
        others += [f"coalesce({name}, #) {comparison} #", f"NOT ({name} BETWEEN # AND #)"]
        others += [f"CASE WHEN {name} > # THEN {other} ELSE # END {comparison} #"]
        nested = [] if depth == 0 else [f"({self.shape(depth - 1)} {self.chance.choice(['OR', 'AND'])} {self.shape(depth - 1)})"]
        return self.chance.choice(self.chance.choice([plain, plain, lists, others, nested or plain]))

    def constant(self) -> str:
        return "NULL" if self.chance.random() < 0.02 else str(self.chance.randint(-1, _LIMIT))

    def filled(self, shape: str) -> str:
        return "".join(part + self.constant() for part in shape.split("#")[:-1]) + shape.split("#")[-1]

    def pair(self) -> tuple[Conjuncts, Conjuncts]:
        """Return two conjunctions, mostly of the same shapes; the new one may have a condition more."""
        shapes = [self.shape() for _ in range(self.chance.choice([1, 1, 2, 3]))]
        old = [self.filled(shape) for shape in shapes]
        same = self.chance.random() < 0.85
        new = [
            text if self.chance.random() < 0.25 else self.filled(shape if same else self.shape())
            for shape, text in zip(shapes, old, strict=True)
        ]
        if self.chance.random() < 0.3:
            new.append(self.filled(self.shape()))
        return conjunction(*new), conjunction(*old)

    def relation(self) -> Relation:
        return {name: self.chance.choice(list(Bound)) for name in NAMES}


def is_related(bound: Bound, new: Value, old: Value) -> bool:
    """NULL is below everything for AT_MOST, and above everything for AT_LEAST."""
    if bound is Bound.UNKNOWN:
        return True
    if bound is Bound.EQUAL or new is None or old is None:
        return new == old if bound is Bound.EQUAL else new is None
    return new <= old if bound is Bound.AT_MOST else new >= old


def true_rows(conjuncts: Conjuncts, domain: tuple[Value, ...]) -> set[tuple[Value, ...]]:
    """Return the rows over NAMES for which all conjuncts are true; each is evaluated over the attributes it reads."""
    found = set(product(domain, repeat=len(NAMES)))
    for each in conjuncts:
        places = [place for place, name in enumerate(NAMES) if name in identifiers(each)]
        true = {
            row
            for row in product(domain, repeat=len(places))
            if value(each, {NAMES[place]: part for place, part in zip(places, row, strict=True)}) is True
        }
        found = {row for row in found if tuple(row[place] for place in places) in true}
    return found


def counterexample(new: Conjuncts, old: Conjuncts, relation: Relation, domain: tuple[Value, ...]) -> tuple[object, object] | None:
    """Return related values with ``new`` true and ``old`` not true."""
    failing = set(product(domain, repeat=len(NAMES))) - true_rows(old, domain)
    if all(relation.get(name, Bound.EQUAL) is Bound.EQUAL for name in NAMES):
        return next(((row, row) for row in true_rows(new, domain) & failing), None)
    related = [[{other for other in domain if is_related(relation.get(name, Bound.EQUAL), one, other)} for one in domain] for name in NAMES]
    choices = [dict(zip(domain, each, strict=True)) for each in related]
    for row in true_rows(new, domain):
        for other in failing:
            if all(part in choice[each] for choice, each, part in zip(choices, row, other, strict=True)):
                return row, other
    return None


@dataclass(slots=True)
class Tally:
    """How many conditions there were, how many were truly implied, how many each judge said so of, and what was wrong."""

    cases: int = 0
    implied: int = 0
    yes: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    weaker: list[str] = field(default_factory=list)


def by_atoms(new: Conjuncts, old: Conjuncts, relation: Relation, types: Types) -> bool:
    return implies_related(new, old, relation, types) if relation else implies(new, old, types)


def by_solver(new: Conjuncts, old: Conjuncts, relation: Relation, types: Types) -> bool:
    return proves(new, old, types, relation, effort=10_000_000, checks_overflow=True)


def by_wrapping_solver(new: Conjuncts, old: Conjuncts, relation: Relation, types: Types) -> bool:
    return proves(new, old, types, relation, effort=10_000_000)


def attack(cases: int, seed: int, judges: Mapping[str, Judge], *, related: bool, counts_implied: bool = True) -> Tally:
    """Ask each judge until one is wrong; the last one must say yes wherever another does.

    Without ``counts_implied`` there is a look at the truth only where a judge says yes.
    """
    chance = random.Random(seed)
    shapes, tally = Shapes(chance), Tally(yes=dict.fromkeys(judges, 0))
    while tally.cases < cases and not tally.wrong:
        new, old = shapes.pair()
        relation = shapes.relation() if related else {}
        type_name, domain = chance.choice(list(DOMAINS.items()))
        says = {name: judge(new, old, relation, dict.fromkeys(NAMES, type_name)) for name, judge in judges.items()}
        asks_truth = counts_implied or any(says.values())
        found = counterexample(new, old, relation, domain) if asks_truth else None
        tally.cases, tally.implied = tally.cases + 1, tally.implied + (asks_truth and found is None)
        for name, yes in says.items():
            tally.yes[name] += yes
            text = f"{name}: {_text(new)}  =>  {_text(old)} over {type_name} under {relation}: {found}"
            if yes and found is not None:
                tally.wrong.append(text)
            if yes and not says[list(judges)[-1]]:
                tally.weaker.append(text)
    return tally


def _text(conjuncts: Conjuncts) -> str:
    return " AND ".join(each.sql(dialect="spark") for each in conjuncts)


BLOCK_TYPES: Types = {"g": "integer", "a": "integer", "x": "integer"} | {
    "number": "long",
    "total": "long",
    "highest": "integer",
    "lowest": "integer",
    "mean": "double",
}
BLOCK_RELATIONS: Relation = {
    "number": Bound.AT_MOST,
    "total": Bound.AT_MOST,
    "highest": Bound.AT_MOST,
    "lowest": Bound.AT_LEAST,
    "mean": Bound.UNKNOWN,
}
Table = list[dict[str, Value]]


def provenance(conditions: BlockConditions, table: Table) -> set[int]:
    """Return the rows of the groups that a block keeps."""
    groups: dict[Value, list[int]] = {}
    for place, row in enumerate(table):
        if all(value(each, row) is True for each in conditions.rows + conditions.keys):
            groups.setdefault(row["g"], []).append(place)
    return {place for places in groups.values() if _is_kept(conditions, [table[place] for place in places]) for place in places}


def _is_kept(conditions: BlockConditions, rows: Table) -> bool:
    values = [Fraction(each) for row in rows if (each := row["a"]) is not None]
    group: Row = {"g": rows[0]["g"], "number": len(rows), "total": sum(values, Fraction()) if values else None}
    group |= {"highest": max(values, default=None), "lowest": min(values, default=None)}
    group["mean"] = sum(values, Fraction()) / len(values) if values else None
    return all(value(each, group) is True for each in conditions.groups)


def block_pairs(chance: random.Random) -> Iterator[tuple[BlockConditions, BlockConditions]]:
    """Yield conditions of one block with two sets of constants each."""

    def compared(names: tuple[str, ...], high: int) -> tuple[str, str]:
        name, comparison = chance.choice(names), chance.choice([">", ">=", "<", "<=", "=", "<>"])
        constants = [chance.randint(0, high), chance.randint(0, high)]
        if chance.random() < 0.4:
            constants[1] = constants[0]
        return f"{name} {comparison} {constants[0]}", f"{name} {comparison} {constants[1]}"

    while True:
        rows = [compared(("a", "x"), 3) for _ in range(chance.choice([0, 1, 1, 2]))]
        keys = [compared(("g",), 3) for _ in range(chance.choice([0, 0, 1]))]
        groups = [compared(tuple(BLOCK_RELATIONS), 6) for _ in range(chance.choice([0, 1, 1, 2]))]
        old, new = (_block([[pair[side] for pair in part] for part in (rows, keys, groups)]) for side in (0, 1))
        yield new, old


def _block(texts: list[list[str]]) -> BlockConditions:
    rows, keys, groups = (conjunction(*part) for part in texts)
    return BlockConditions(rows, keys, groups, BLOCK_RELATIONS)


def attack_blocks(cases: int, seed: int, *, effort: int = 0) -> tuple[dict[Answer, int], str]:
    """Ask for blocks over random tables whose column a is never negative; return the answers and the first wrong one."""
    chance = random.Random(seed)
    counts = dict.fromkeys(Answer, 0)
    for _, (new, old) in zip(range(cases), block_pairs(chance), strict=False):
        answer = answers(new, old, BLOCK_TYPES, effort=effort, checks_overflow=True)
        counts[answer] += 1
        if answer is Answer.NO:
            continue
        for _ in range(25):
            table: Table = [{name: _small(chance) for name in ("g", "a", "x")} for _ in range(chance.randint(1, 7))]
            if not provenance(new, table) <= provenance(old, table):
                texts = [" / ".join(map(_text, each.all)) for each in (new, old)]
                return counts, f"{answer}: {texts[0]}  after  {texts[1]} on {table}"
    return counts, ""


def _small(chance: random.Random) -> int | None:
    return None if chance.random() < 0.12 else chance.randint(0, 4)


if __name__ == "__main__":
    every: Mapping[str, Judge] = {"atoms": by_atoms, "wrapping solver": by_wrapping_solver, "solver": by_solver}
    for with_relation in (False, True):
        print(attack(int(sys.argv[1]), 0, every, related=with_relation))
    print(attack_blocks(int(sys.argv[1]), 0), attack_blocks(int(sys.argv[1]), 1, effort=10_000_000))
