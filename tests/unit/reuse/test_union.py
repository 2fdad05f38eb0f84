"""Several states together: a table of yes and no, and a random check against all values."""

from __future__ import annotations

import random

import pytest
from sqlglot import parse_one

from imp_driver.plan.attributes import conjuncts_of
from imp_driver.reuse.decide import Conjuncts
from imp_driver.reuse.union import covering

TYPES = {"i": "integer", "j": "integer", "s": "string"}


def _conjuncts(text: str) -> Conjuncts:
    return conjuncts_of(parse_one(text, dialect="spark")) if text else ()


def _covering(new: str, *olds: str, with_solver: bool = False) -> tuple[int, ...] | None:
    return covering(_conjuncts(new), [_conjuncts(old) for old in olds], TYPES, with_solver=with_solver)


@pytest.mark.parametrize(
    ("new", "olds", "by_cases", "by_solver"),
    [
        ("i IN (3, 7)", ("i = 3", "i = 7"), (0, 1), (0, 1)),
        ("i IN (3, 7)", ("i = 3", "i = 5", "i IN (7, 8)"), (0, 2), (0, 2)),
        ("i IN (3, 7, 9)", ("i = 3", "i = 7"), None, None),
        ("s IN ('a', 'b') AND i > 5", ("s = 'b' AND i > 5", "s = 'a' AND i >= 2"), (0, 1), (0, 1)),
        ("s IN ('a', 'b') AND i > 5", ("s = 'b' AND i > 5", "s = 'a' AND i > 6"), None, None),
        ("i = 3 OR j = 4", ("j > 2", "i < 9"), (0, 1), (0, 1)),
        ("i IN (1, 2) AND j IN (1, 2)", ("i = 1 AND j = 1", "i = 1 AND j = 2", "i = 2"), (0, 1, 2), (0, 1, 2)),
        ("i BETWEEN 6 AND 15", ("i BETWEEN 5 AND 10", "i BETWEEN 11 AND 20"), None, (0, 1)),
        ("i BETWEEN 6 AND 15", ("i BETWEEN 5 AND 10", "i BETWEEN 12 AND 20"), None, None),
        ("i = 3", ("i > 1", "i < 5"), (1,), (1,)),
        ("i IN (3, '7')", ("i = 3", "i = '7'"), None, None),
        ("i = 3", (), None, None),
        ("", ("i > 1", ""), (1,), (1,)),
    ],
)
def test_covering(new: str, olds: tuple[str, ...], by_cases: tuple[int, ...] | None, by_solver: tuple[int, ...] | None) -> None:
    assert _covering(new, *olds) == by_cases
    assert _covering(new, *olds, with_solver=True) == by_solver


def test_too_many_cases_are_not_tried() -> None:
    many = ", ".join(map(str, range(40)))
    assert _covering(f"i IN ({many}) AND j IN ({many})", "i >= 0 AND i < 20", "i >= 20") is None
    assert _covering(f"i IN ({many}) AND j IN (1)", "i >= 0 AND i < 20", "i >= 20") == (0, 1)


def _condition(chance: random.Random) -> str:
    atoms = [f"i {chance.choice(['=', '<', '>=', '<>'])} {chance.randint(0, 3)}", f"j = {chance.randint(0, 3)}"]
    atoms.append(f"i IN ({', '.join(str(chance.randint(0, 3)) for _ in range(chance.randint(1, 3)))})")
    atoms.append(f"(i = {chance.randint(0, 3)} OR j > {chance.randint(0, 3)})")
    return " AND ".join(chance.sample(atoms, chance.randint(1, 2)))


@pytest.mark.parametrize("with_solver", [False, True])
def test_no_row_is_lost(with_solver: bool) -> None:
    chance = random.Random(5)
    yes = 0
    for _ in range(60 if with_solver else 600):
        new, olds = _condition(chance), [_condition(chance) for _ in range(4)]
        found = _covering(new, *olds, with_solver=with_solver)
        if found is not None:
            yes += 1
            for i, j in ((i, j) for i in range(-1, 5) for j in range(-1, 5)):
                if _holds(new, i, j):
                    assert any(_holds(olds[place], i, j) for place in found), (new, olds, found)
    assert yes > (10 if with_solver else 60)


def _holds(text: str, i: int, j: int) -> bool:
    python = text.replace("<>", "!=").replace(" = ", " == ").replace(" IN (", " in (0.5, ").replace("AND", "and").replace("OR", "or")
    return bool(eval(python, {"i": i, "j": j}))
