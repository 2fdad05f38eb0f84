"""Implication: the table of reuse rules 2.3 row by row, the cases of rules 2.2 and 7, and random attacks.

IMP_WIDE=1 tries 50 times as many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from imp_driver.plan.attributes import conjuncts_of
from imp_driver.reuse import atoms, entailment, reading, relations
from imp_driver.reuse.atoms import implies
from imp_driver.reuse.decide import Answer, BlockConditions, answers
from imp_driver.reuse.relations import implies_related
from imp_driver.reuse.solver import proves
from imp_driver.safety.levels import Bound
from tests.seeds import WIDE
from tests.soundness.implication_attack import Judge, Types, attack, attack_blocks, by_atoms, by_solver, by_wrapping_solver, conjunction

FACTOR = 50 if WIDE else 1
NAMED_TYPES: Types = {
    "i": "integer",
    "j": "integer",
    "l": "long",
    "p": "decimal(10,2)",
    "wide": "decimal(38,2)",
    "d": "double",
    "f": "float",
    "s": "string",
    "day": "date",
    "t": "timestamp",
    "n": "timestamp_ntz",
    "u": None,
    "c": "char(5)",
    "k": "boolean",
}

YES = """
i > 5 => i > 3 | i > 5 => i > 5 | i >= 5 => i >= 5 | i > 5 => i >= 5 | i > 4 => i >= 5 | i >= 5 => i > 4 | i > 5 => 3 < i
i < 3 => i < 5 | i <= 3 => i <= 3 | i < 3 => i <= 2 | i <= 2 => i < 3 | NOT (i > 2) => i < 3 | d > 5 => d >= 5 | d >= 6 => d > 5
i = 5 => i = 5 | i = 5 => i > 3 | i = 5 => i BETWEEN 5 AND 9 | i = 5 => i IN (1, 5) | i = 5 => i <> 4 | i IN (5) => i = 5
i <> 3 => i <> 3 | i > 3 => i <> 3 | i < 3 => i <> 3 | i IN (1, 2) => i <> 3 | i NOT IN (3, 4) => i <> 3 | i <> 3 => i NOT IN (3)
i BETWEEN 3 AND 4 => i BETWEEN 3 AND 5 | i BETWEEN 2 AND 3 => i BETWEEN 1 AND 3 | i BETWEEN 5 AND 4 => i > 100
i BETWEEN 4 AND 4 => i = 4 | i > 2 AND i < 5 => i BETWEEN 3 AND 4 | i BETWEEN 3 AND 4 => i > 2 AND i < 5 | i > 2 AND i < 4 => i = 3
i > 4 AND i < 3 => s = 'x' | i IN (1, 2) => i IN (2, 3, 1) | i IN (1, NULL) => i IN (1) | i IN (1) => i IN (NULL, 1)
i IN (1, 2) => i < 3 | i IN (NULL) => i = 7 | i IN (1, 2) AND i <> 2 => i = 1 | i IN (1, 9) AND i < 5 => i = 1
i IN (1) AND i IN (2) => i = 3 | i NOT IN (1, 2, 3) => i NOT IN (2, 1) | i NOT IN (1, NULL) => i = 7 | i > 3 => i NOT IN (1, 2)
i NOT IN (1, NULL) => i NOT IN (1, NULL) | s LIKE 'a%' => s LIKE 'a%' | s LIKE 'ab%' => s LIKE 'a%' | s = 'abc' => s LIKE 'ab%'
s IN ('ab', 'ac') => s LIKE 'a%' | s LIKE 'ab%' => s >= 'ab' | s LIKE 'ab%' => s < 'ac' | s LIKE 'a_b' => s LIKE 'a_b'
s LIKE 'ab%' => s <> 'b' | s > 'b' => s > 'a' | s > 'a' => s > 'B' | s > 'é' => s > 'z' | s LIKE 'ab%' AND s LIKE 'b%' => i = 0
u LIKE 'x' => u LIKE 'x' | s LIKE 'ab%' => s IS NOT NULL | i IS NULL => i IS NULL | i IS NOT NULL => i IS NOT NULL
i > 3 => i IS NOT NULL | i <> 3 => i IS NOT NULL | i IS NULL AND i > 3 => i = 7 | i > NULL => i < 0 | i = NULL => s = 'x'
i BETWEEN NULL AND 3 => j = 0 | NULL < i => i = 0 | i > CAST(NULL AS INT) => i = 0 | s LIKE NULL => i = 0
i > 1 OR j > 2 => i > 1 OR j > 2 | i + j > 5 => i + j > 3 | i + j > 4 => i + j >= 5 | abs(u) > 3 => abs(u) > 3 | i > j => i > j
i > 3 => TRUE | CASE WHEN i > 1 THEN 1 END = 1 => CASE WHEN i > 1 THEN 1 END = 1 | FALSE => i > 3 | k = TRUE => k <> FALSE | k => k
i > 5.0 => i > 5 | i > 4.5 => i >= 5 | i > '5' => i > 3 | i > 5D => i >= 6 | i = 4.5 => i = 100 | i > CAST('5' AS BIGINT) => i > 3
i > 1e1 => i > 9 | p > 5.25 => p > 5 | p > 5 => p > 4.999 | d > 5.5 => d > 5 | d > 0.1 => d >= 1e-1 | l > 3000000000 => l > 5
i > -3 => i > -4 | p IN (1, 2.50) => p < 3 | day > DATE '2024-01-01' => day >= DATE '2024-01-02'
day > '2024-02-01' => day > DATE '2024-01-01' | n > TIMESTAMP_NTZ '2024-01-01 00:00:01' => n > '2024-01-01 00:00:00'
t > TIMESTAMP '2024-01-03 12:00:00' => t > TIMESTAMP '2024-01-01 00:00:00'
t >= TIMESTAMP '2024-01-03 12:00:00' => t >= '2024-01-03 12:00:00'
t > TIMESTAMP '2024-01-01 01:00:00+01:00' => t >= TIMESTAMP '2024-01-01 00:00:00Z'
t > '2024-01-01 00:00:01Z' => t > '2024-01-01 00:00:00.5Z'
"""

NO = """
i > 3 => i > 5 | i >= 5 => i > 5 | i > 3 => i >= 5 | d > 4 => d >= 5 | p > 4 => p >= 5 | i > 3 => j > 3 | i > 3 => i < 9
d >= 5 => d > 5 | i < 5 => i < 3 | i <= 3 => i < 3 | d < 3 => d <= 2 | i = 5 => i = 4 | i = 5 => i > 5 | i = 5 => i IN (1, 4)
i = 5 => i <> 5 | i > 3 => TRUE AND j = 1 | i <> 3 => i <> 4 | i >= 3 => i <> 3 | i IN (1, 3) => i <> 3 | i NOT IN (4) => i <> 3
i IS NOT NULL => i <> 3 | i IS NULL => i <> 3 | i BETWEEN 3 AND 6 => i BETWEEN 3 AND 5 | i BETWEEN 0 AND 3 => i BETWEEN 1 AND 3
i BETWEEN 3 AND 4 => i = 3 | NOT (i BETWEEN 1 AND 3) => i > 3 | i IN (1, 4) => i IN (1, 2) | i IN (1, 2) => i = 1
i NOT IN (1) => i NOT IN (1, 2) | i NOT IN (1) => i NOT IN (1, NULL) | i IN (1, 2) => i IN (NULL) | s LIKE 'a%' => s LIKE 'ab%'
s LIKE 'a_b' => s LIKE 'a%' | s LIKE 'a%b%' => s LIKE 'a%' | s LIKE 'a\\\\_%' => s LIKE 'a%' | s LIKE 'ab%' => s > 'ab'
s LIKE 'ab%' => s < 'abc' | s > 'a' => s > 'b' | s >= 'ab' => s LIKE 'ab%' | s NOT LIKE 'ab%' => s LIKE 'a%'
s LIKE 'ab%' => s NOT LIKE 'a%' | s > 'Z' => s > 'a' | s LIKE 'ab%' => s LIKE 'b%' | c LIKE 'ab%' => c LIKE 'a%' | c = 'a' => c <> 'b'
s ILIKE 'ab%' => s ILIKE 'a%' | NOT (s LIKE 'ab%') => s <> 'a' | i IS NULL => i > 3 | i IS NULL => i IS NOT NULL
i IS NOT NULL => i IS NULL | i <=> 3 => i <=> 4 | i > 3 => i IS NULL | TRUE => i IS NOT NULL | i > 3 => i > NULL | i = 3 => i = NULL
i > 1 OR j > 2 => i > 1 OR j > 1 | i + j > 5 => j + i > 5 | abs(u) > 3 => abs(u) > 2 | TRUE => FALSE | u > 5 => u > 3 | f > 5 => f > 3
f = 5 => f > 3 | s > 5 => s > 3 | s = 5 => s = '5' | i > '5.0' => i > 3 | i = 'x' => i <> 'y' | i > ' 5' => i > 3 | l > 5D => l > 3
p > 5D => p > 3 | p > '5' => p > 3 | i IN (1, '2') => i IN (1, '2', 3) | day IN ('2024-01-01') => day > DATE '2023-01-01'
wide > 0.001 => wide > 0 | i > CAST('5.5' AS INT) => i > 3 | i > CAST('5.55' AS DECIMAL(3,1)) => i > 3 | i > 5F => i > 3
s > DATE '2024-01-01' => s > 'a' | day > TIMESTAMP '2024-03-01 00:00:00' => day > DATE '2024-01-01'
day > '2024-1-1' => day > '2023-1-1' | day > 'today' => day > DATE '2020-01-01'
t > TIMESTAMP '2024-03-31 03:15:00' => t > TIMESTAMP '2024-03-31 02:30:00' | t > DATE '2024-03-01' => t > DATE '2024-01-01'
t = TIMESTAMP '2024-03-31 03:30:00' => t <> TIMESTAMP '2024-03-31 02:30:00'
n > TIMESTAMP '2024-03-01 00:00:00' => n > TIMESTAMP '2024-01-01 00:00:00' | i > ? => i > ? | rand() > 0.5 => rand() > 0.5
day < current_date() => day < current_date() | day < 'today' => day < 'today' | i > :a => i > :a
day < CAST('now UTC' AS DATE) => day < CAST('now UTC' AS DATE) | some_function(i) > 1 => some_function(i) > 1 | k = TRUE => k = FALSE
day < concat('to', 'day') => day < concat('to', 'day')
k => j > 1
"""


def pairs(text: str) -> list[tuple[str, str]]:
    """Split a table of ``new => old``; the arrow stands alone, unlike the one in <=>."""
    found = []
    for each in text.replace("\n", "|").split("|"):
        new, arrow, old = each.partition(" => ")
        if arrow:
            found.append((new.strip(), old.strip()))
    return found


@pytest.mark.parametrize(("new", "old"), pairs(YES))
def test_atoms_say_yes(new: str, old: str) -> None:
    assert implies(conjunction(new), conjunction(old), NAMED_TYPES)


@pytest.mark.parametrize(("new", "old"), pairs(NO))
def test_atoms_say_no(new: str, old: str) -> None:
    assert not implies(conjunction(new), conjunction(old), NAMED_TYPES)
    assert not proves(conjunction(new), conjunction(old), NAMED_TYPES) or (new, old) in SOLVER_KNOWS_BETTER


SOLVER_KNOWS_BETTER = {("i > 1 OR j > 2", "i > 1 OR j > 1")}
"""What is true, and beyond the cheap tests."""


@pytest.mark.parametrize(
    ("new", "old", "bound", "expected"),
    [
        ("i > 5", "i > 3", Bound.AT_MOST, True),
        ("i > 5", "i > 5", Bound.AT_MOST, True),
        ("i > 3", "i > 5", Bound.AT_MOST, False),
        ("i < 3", "i < 5", Bound.AT_MOST, False),
        ("i = 5", "i > 3", Bound.AT_MOST, True),
        ("i = 5", "i = 5", Bound.AT_MOST, False),
        ("i IN (7, 5)", "i >= 5", Bound.AT_MOST, True),
        ("i BETWEEN 3 AND 6", "i >= 3", Bound.AT_MOST, True),
        ("i BETWEEN 3 AND 6", "i BETWEEN 3 AND 6", Bound.AT_MOST, False),
        ("i <> 3", "i <> 3", Bound.AT_MOST, False),
        ("i <> 3", "i IS NOT NULL", Bound.AT_MOST, True),
        ("i IS NULL", "i IS NULL", Bound.AT_MOST, False),
        ("i IS NOT NULL", "i IS NOT NULL", Bound.AT_MOST, True),
        ("s LIKE 'ab%'", "s >= 'ab'", Bound.AT_MOST, True),
        ("s LIKE 'ab%'", "s LIKE 'a%'", Bound.AT_MOST, False),
        ("u > 5", "u > 5", Bound.AT_MOST, False),
        ("s > 5", "s > 5", Bound.AT_MOST, False),
        ("i + 1 > 5", "i + 1 > 5", Bound.AT_MOST, False),
        ("i > j", "i > j", Bound.AT_MOST, True),
        ("i < j", "i < j", Bound.AT_MOST, False),
        ("i > l", "i > l", Bound.AT_MOST, True),
        ("i > d", "i > d", Bound.AT_MOST, False),
        ("NOT (i > 5 AND j > 1)", "NOT (i > 5 AND j > 1)", Bound.AT_MOST, False),
        ("i < 3", "i < 5", Bound.AT_LEAST, True),
        ("i <= 3", "i <= 3", Bound.AT_LEAST, True),
        ("i > 5", "i > 3", Bound.AT_LEAST, False),
        ("i IN (7, 5)", "i < 8", Bound.AT_LEAST, True),
        ("i > 5", "i IS NOT NULL", Bound.AT_LEAST, True),
        ("i > 5", "i > 5", Bound.UNKNOWN, False),
        ("i > 5", "i IS NOT NULL", Bound.UNKNOWN, False),
        ("i > 5 AND i < 4", "i = 0", Bound.UNKNOWN, True),
        ("j > 5", "j > 3", Bound.UNKNOWN, True),
    ],
)
def test_related_values(new: str, old: str, bound: Bound, expected: bool) -> None:
    relation = dict.fromkeys(("i", "s", "u"), bound)
    assert implies_related(conjunction(new), conjunction(old), relation, NAMED_TYPES) is expected
    assert proves(conjunction(new), conjunction(old), NAMED_TYPES, relation) is expected or "s" in (new[0], old[0])


SOLVER_YES = """
-i > 2 => i < -2 | i > 1 OR j > 2 => i > 1 OR j > 1 | i > 3 AND j > i => j > 4 | NOT (i BETWEEN 1 AND 5) => NOT (i BETWEEN 2 AND 4)
i < -5 => NOT (i > 0 OR j = i AND i > 2) | CASE WHEN i > 1 THEN 1 ELSE 0 END = 1 => i > 1
CASE i WHEN 1 THEN 2 WHEN 2 THEN 3 END = 3 => i = 2 | if(i > 1, j, NULL) > 2 => j > 1 | p + 1.5 > 3 => p > 1.4 | 2 * p > 3 => p > 1.4
i BETWEEN 1 AND 3 => i IN (1, 2, 3) | i = 3 AND j = i => j = 3 | (i > 3) IS TRUE => i > 2 | s = 'x' => s IN ('x', 'y')
s = 'x' => NOT (s = 'y') | day > DATE '2024-01-01' OR i > 3 => day >= DATE '2024-01-02' OR i >= 4 | d > 5 OR i = 1 => d > 4 OR i = 1
abs(u) > 1 AND i > 3 => i > 2 AND abs(u) > 1 | k = TRUE => k | k OR i > 3 => i > 2 OR k | i IS NULL => NOT (i IS NOT NULL)
"""

SOLVER_NO = """
i - 1 > 5 => i > 6 | i + i > 4 => i > 2 | d + 0.1 > 0.3 => d > 0.2 | wide + 1 > 3 => wide > 2 | d > 5 => d > 5 AND d * 1 > 5
l > 5D => l > 5 | i * j > 2 => i * j > 1 | s > 'b' OR i > 1 => s > 'a' OR i > 1 | f > 2 OR i > 1 => f > 1 OR i > 1
i > 3 OR i IS NULL => i > 2 | rand() > 0.5 OR i > 1 => rand() > 0.5 OR i > 1 | i > ? OR i > 1 => i > ? OR i > 1
i <> 3 => NOT (i = 3 OR i IS NULL AND j = 1) AND j IS NOT NULL
t > '2024-03-31 03:15:00' OR i > 1 => t > '2024-03-31 02:30:00' OR i > 1 | d > 5 AND d = l => l > 5 | u > 2 => u > 1
i NOT IN (1) => i NOT IN (1, NULL)
"""


@pytest.mark.parametrize(("new", "old"), pairs(SOLVER_YES))
def test_solver_says_yes(new: str, old: str) -> None:
    assert proves(conjunction(new), conjunction(old), NAMED_TYPES)


@pytest.mark.parametrize(("new", "old"), pairs(SOLVER_NO))
def test_solver_says_no(new: str, old: str) -> None:
    assert not proves(conjunction(new), conjunction(old), NAMED_TYPES)


def test_only_without_overflow_sums_keep_the_order() -> None:
    new, old = conjunction("i - 1 > 5"), conjunction("i > 6")
    assert not proves(new, old, NAMED_TYPES)
    assert proves(new, old, NAMED_TYPES, checks_overflow=True)


def test_without_the_library_and_without_time_nothing_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    new, old = conjunction("i > 1 OR j > 2"), conjunction("i > 1 OR j > 1")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "z3", None)
        assert not proves(new, old, NAMED_TYPES)
        assert answers(BlockConditions(new), BlockConditions(old), NAMED_TYPES) is Answer.NO
    assert answers(BlockConditions(new), BlockConditions(old), NAMED_TYPES, effort=0) is Answer.NO
    assert answers(BlockConditions(new), BlockConditions(old), NAMED_TYPES) is Answer.BY_SOLVER


BLOCK: Types = {"g": "integer", "a": "integer", "b": "integer", "h": "long", "total": "long", "mean": "double", "number": "long"}
SUB_BAG = {"total": Bound.AT_MOST, "number": Bound.AT_MOST, "mean": Bound.UNKNOWN}


def block(rows: str = "TRUE", keys: str = "TRUE", groups: str = "TRUE", relations: dict[str, Bound] | None = None) -> BlockConditions:
    return BlockConditions(conjunction(rows), conjunction(keys), conjunction(groups), SUB_BAG if relations is None else relations)


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (block("a > 1", "g < 3", "total > 3"), block("a > 1", "g < 3", "total > 3"), Answer.SAME_CONSTANTS),
        # Case 1: the same rows in every group, so that any aggregate may be asked in any direction.
        (block("a > 1", "g < 2", "mean < 3"), block("a > 1", "g < 3", "mean < 4"), Answer.BY_ATOMS),
        (block("a > 1", "g < 3", "mean < 4"), block("a >= 2", "g < 3", "mean < 4"), Answer.BY_ATOMS),
        (block("a > 1", "g < 4", "mean < 3"), block("a > 1", "g < 3", "mean < 4"), Answer.NO),
        (block("a > 1", groups="mean < 5"), block("a > 1", groups="mean < 4"), Answer.NO),
        # Case 2: fewer rows in the groups.
        (block("a > 2", groups="total > 4"), block("a > 1", groups="total > 3"), Answer.BY_ATOMS),
        (block("a > 2", groups="total > 3"), block("a > 1", groups="total > 3"), Answer.BY_ATOMS),
        (block("a > 2", groups="total > 2"), block("a > 1", groups="total > 3"), Answer.NO),
        (block("a > 2", groups="mean > 4"), block("a > 1", groups="mean > 3"), Answer.NO),
        (block("a > 2", groups="total + 1 > 9"), block("a > 1", groups="total + 1 > 8"), Answer.NO),
        (block("a > 2 AND b > 3"), block("a > 1 AND b > 3"), Answer.BY_ATOMS),
        (block("a > 2", "g = 1", "total > g"), block("a > 1", "g < 3", "total > g"), Answer.BY_ATOMS),
        (block("a > 2", groups="total > h"), block("a > 1", groups="total > h"), Answer.NO),
        # Case 3: rows that were not captured.
        (block("a > 0"), block("a > 1"), Answer.NO),
        # Rules 7, case 29: wider; an average; fewer rows where less is asked.
        (block("a > 0", groups="total > 3"), block("a > 1", groups="total > 3"), Answer.NO),
        (block("a > 1", groups="mean < 4"), block("a > 0", groups="mean < 3"), Answer.NO),
        (block("a > 1", groups="total < 5"), block("a > 0", groups="total < 9"), Answer.NO),
        # Rules 7, case 4: the sign of a was a fact of the old constants, or is one of the new ones only.
        (block("a >= -3", groups="total > 3", relations={}), block("a >= 0", groups="total > 3"), Answer.NO),
        (block("a >= 0", groups="total > 3"), block("a >= -3", groups="total > 3", relations={}), Answer.NO),
        # Nothing is asked of a row, or of nothing.
        (block("a > NULL", groups="mean > 1"), block("a > 5", groups="mean > 7"), Answer.BY_ATOMS),
        (block("a > 5"), block("a > NULL"), Answer.NO),
        # One key condition lets another row condition hold.
        (block("a > g", "g = 5"), block("a > g", "g IN (5, 6)"), Answer.BY_ATOMS),
        (block("a > g AND b = 1", "g = 5"), block("a > 3 AND b = 1", "g = 5"), Answer.BY_SOLVER),
        (block("a > 1 OR b > 2", groups="mean > 1"), block("b > 2 OR a > 1", groups="mean > 1"), Answer.BY_SOLVER),
    ],
)
def test_blocks(new: BlockConditions, old: BlockConditions, expected: Answer) -> None:
    assert answers(new, old, BLOCK) is expected


def test_what_decides_more_than_rows_must_be_equivalent() -> None:
    narrow, wide, other = (BlockConditions(unchanged=conjunction(text)) for text in ("a > 2", "a > 1", "a >= 3"))
    assert answers(narrow, wide, BLOCK) is Answer.NO
    assert answers(wide, narrow, BLOCK) is Answer.NO
    assert answers(narrow, other, BLOCK) is Answer.BY_ATOMS
    assert answers(narrow, BlockConditions(), BLOCK) is Answer.NO


def test_the_clock_makes_equal_constants_different() -> None:
    conditions = block("day < current_date()")
    assert answers(conditions, conditions, NAMED_TYPES) is Answer.NO


@pytest.mark.parametrize("related", [False, True])
def test_no_yes_of_atoms_is_wrong(related: bool) -> None:
    tally = attack(1_000 * FACTOR, 0, {"atoms": by_atoms}, related=related)
    assert not tally.wrong, tally.wrong[0]
    assert 0.2 < tally.implied / tally.cases < 0.8
    assert tally.yes["atoms"] > 0.7 * tally.implied


@pytest.mark.parametrize("related", [False, True])
def test_no_yes_of_the_solver_is_wrong_and_it_is_never_weaker(related: bool) -> None:
    judges: dict[str, Judge] = {"atoms": by_atoms, "wrapping solver": by_wrapping_solver, "solver": by_solver}
    tally = attack(300 * FACTOR, 1, judges, related=related)
    assert not tally.wrong, tally.wrong[0]
    assert not tally.weaker, tally.weaker[0]
    assert tally.yes["solver"] > 0.9 * tally.implied


@pytest.mark.parametrize("effort", [0, 10_000_000])
def test_no_sketch_lacks_provenance(effort: int) -> None:
    counts, wrong = attack_blocks((200 if effort else 2_000) * FACTOR, 0, effort=effort)
    assert not wrong
    assert counts[Answer.BY_ATOMS] > 0.1 * sum(counts.values())
    assert counts[Answer.NO] > 0.2 * sum(counts.values())


def _says_yes(*arguments: Any, **options: Any) -> bool:
    return True


MUTANTS: list[tuple[object, str, Callable[..., Any]]] = [
    (entailment, "_compared", lambda less, greater, closed: True if less == greater else less.low < greater.low),
    (entailment, "contradict", lambda atoms: len(atoms) > 2),
    (entailment, "candidates", lambda atoms: next((atom.constants[:1] for atom in atoms if atom.operator is reading.Operator.IN), None)),
    (atoms, "conjuncts_of", lambda expression: conjuncts_of(expression)[-1:]),
    (relations, "_lower", lambda atom: atom),
    (relations, "_is_carried", _says_yes),
    (relations, "bound_between", lambda subject, relation: Bound.AT_MOST),
]
"""Wrong versions of parts of the cheap tests."""


@pytest.mark.parametrize(("module", "name", "wrong"), MUTANTS)
def test_wrong_rules_are_found(module: object, name: str, wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, name, wrong)
    assert attack(4_000, 1, {"atoms": by_atoms}, related=module is relations, counts_implied=False).wrong
