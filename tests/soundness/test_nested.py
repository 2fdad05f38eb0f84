"""Queries with nested aggregates through the driver, over random changes of many types, without a JVM. IMP_WIDE=1 tries 50,000 triples."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tests.seeds import SEED, WIDE
from tests.soundness.engine import in_duckdb
from tests.soundness.judged_path import unoptimised_engine
from tests.soundness.killers import problems
from tests.soundness.mutated import NESTED_CASES
from tests.soundness.nested_attack import FEW_BYTES, NestedTally, attack_nested, difference
from tests.soundness.nested_cases import BUCKETED_CASES, CASES, FOLLOWED_CASES, bucketed_cases
from tests.soundness.nested_data import SCHEMA, TABLES, Append, Ask, Script, Settle, Values, script_of, table_of
from tests.soundness.nested_mutants import NESTED_MUTANTS
from tests.soundness.nested_shapes import NestedShape
from tests.soundness.reading import bag, read
from tests.soundness.shrinking import shrunk

FOLLOWED_FROM_STATES = True
"""Whether the driver follows nested aggregates: most answers must then come from states that were there before."""


@pytest.mark.parametrize(("seed", "numbers"), [(0, range(1_450 if WIDE else 3)), (SEED, range(300 if WIDE else 1))])
def test_answers_are_those_of_the_query_as_it_is_written(seed: int, numbers: range, record_property: Callable[[str, object], None]) -> None:
    tally = NestedTally()
    attack_nested(seed, numbers, tally)
    record_property("cases", tally.triples)
    assert tally.differences == []
    assert tally.triples == 30 * len(numbers)
    assert tally.read > 0
    assert not FOLLOWED_FROM_STATES or tally.followed > tally.triples / 2


@pytest.mark.parametrize("name", CASES)
def test_what_is_easily_wrong(name: str) -> None:
    tally = NestedTally()
    assert difference(CASES[name], tally) is None
    # What is asked first is captured, and what is asked next may be captured with other keys.
    assert not FOLLOWED_FROM_STATES or tally.followed >= tally.triples - 2


@pytest.mark.parametrize("name", FOLLOWED_CASES)
def test_what_is_easily_wrong_where_merges_are_followed(name: str) -> None:
    tally = NestedTally()
    assert difference(FOLLOWED_CASES[name], tally, follows=True) is None
    # Of an equality within a subquery that is of all rows there is no descent.
    assert tally.merges >= (name != "partitions within")


_IN_MEMORY = frozenset(
    {
        "different volumes, of which copies go",
        "the greatest volume goes",
        "the least price of another table goes",
        "products of which a side is empty",
        "levels of levels",
        "ranges around each row",
        "an order that is turned",
        "a tenth, exactly",
        "partners that have no value",
        "two orders against each other",
        "two upper bounds",
        "two lower bounds",
        "two levels",
        "across two levels",
        "partitions within",
        "a bound of their own",
    }
)
"""Cases whose groups are not looked at range by range, or are few."""


_OTHERS = [name for name in bucketed_cases() if name not in BUCKETED_CASES and name not in _IN_MEMORY]


@pytest.mark.parametrize("name", bucketed_cases() if WIDE else [*BUCKETED_CASES, *_OTHERS[SEED % 3 :: 3]])
def test_what_is_easily_wrong_in_buckets(name: str) -> None:
    tally = NestedTally()
    assert difference(bucketed_cases()[name], tally, memory=FEW_BYTES) is None
    assert name in _IN_MEMORY or tally.in_buckets == tally.triples


def test_random_answers_from_buckets_are_those_of_the_query(record_property: Callable[[str, object], None]) -> None:
    tally = NestedTally()
    attack_nested(SEED, range(400 if WIDE else 4), tally, memory=2 * FEW_BYTES)
    record_property("cases", tally.triples)
    assert tally.differences == []


def _tables(chance: random.Random) -> dict[str, list[dict[str, Any]]]:
    values = Values(chance.choice([0, -2]), 0.1, chance.choice([2, 5]))
    return {name: [dict(zip(SCHEMA.names, row, strict=True)) for row in values.rows(chance, chance.choice([0, 4, 9]))] for name in TABLES}


def _exact(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"m": None if row["m"] is None else Fraction(row["m"])}


def test_both_judges_agree_on_every_form(record_property: Callable[[str, object], None]) -> None:
    """Neither may be wrong for the attack to mean much."""
    forms, features = set[str](), set[str]()
    count = 4_000 if WIDE else 100
    with unoptimised_engine() as engine:
        for number in range(count):
            chance = random.Random(f"judges {SEED if number % 2 else 0} {number}")
            tables, shape = _tables(chance), NestedShape(chance)
            for name, rows in tables.items():
                engine.register(name, table_of([tuple(row.values()) for row in rows]))
            text = shape.text(chance)
            exact = {name: [_exact(row) for row in rows] for name, rows in tables.items()}
            assert bag(read(text, exact)) == bag(engine.sql(in_duckdb(text)).fetchall()), (text, tables)
            forms.add(shape.form)
            features |= shape.features
    record_property("cases", count)
    assert forms == {"sums", "grouped", "rows", "product", "having", "case", "selected", "joined"}
    assert {"inequality", "equality", "both", "two inequalities", "unequal", "level 3", "outermost", "membership", "or", "not"} <= features


_TABLES: dict[str, list[dict[str, Any]]] = {
    "r": [{"x": 1, "a": 5}, {"x": 2, "a": None}, {"x": 2, "a": 3}, {"x": None, "a": 2}],
    "s": [],
}


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT SUM(o.a) AS f FROM r o WHERE 3 < (SELECT SUM(i.a) FROM r i WHERE i.x <= o.x)", [(8,)]),
        ("SELECT SUM(o.a) AS f FROM r o WHERE 5 < (SELECT SUM(i.a) FROM r i WHERE i.x <= o.x)", [(3,)]),
        ("SELECT SUM(o.a) AS f FROM r o WHERE NOT (SELECT SUM(i.a) FROM r i WHERE i.x < o.x) > 9", [(3,)]),
        ("SELECT COUNT(*) AS f FROM r o WHERE 0 = (SELECT COUNT(*) FROM r i WHERE i.x < o.x)", [(2,)]),
        ("SELECT COUNT(*) AS f FROM r o WHERE (SELECT SUM(i.a) FROM s i) <> 1", [(0,)]),
        ("SELECT AVG(o.a) AS f FROM r o", [(10 / 3,)]),
        ("SELECT MIN(o.x) AS f FROM s o", [(None,)]),
        ("SELECT o.x AS k, COUNT(o.a) AS f FROM r o GROUP BY o.x HAVING COUNT(*) > 1", [(2, 1)]),
    ],
)
def test_what_is_read_slowly_is_what_sql_says(text: str, rows: list[tuple[object, ...]]) -> None:
    assert bag(read(text, _TABLES)) == bag(rows)


def test_every_wrong_step_is_found() -> None:
    """By a case that is known to find it: a third of them each day."""
    mutants = NESTED_MUTANTS if WIDE else NESTED_MUTANTS[SEED % 3 :: 3]
    # Cases are tried without a mutant above.
    assert problems(mutants, lambda case: case.kind == NESTED_CASES) == []


def test_the_smallest_script_has_what_goes_wrong_and_nothing_else() -> None:
    script = script_of(0, 1)
    asked = [step for step in script if isinstance(step, Ask)]

    def is_wrong(tried: Script) -> bool:
        """As if any query of table r went wrong once a row with price 2 was added to a table."""
        added = [step for step in tried if isinstance(step, Append) and any(row[2] == 2 for row in step.rows)]
        return bool(added) and any(isinstance(step, Ask) and "FROM r" in step.text for step in tried)

    assert is_wrong(script)
    found = shrunk(script, is_wrong)
    assert len(found) == 2
    assert len(next(step for step in found if isinstance(step, Append)).rows) == 1
    assert len(next(step.text for step in found if isinstance(step, Ask))) < min(len(step.text) for step in asked)
    assert not any(isinstance(step, Settle) for step in found)
