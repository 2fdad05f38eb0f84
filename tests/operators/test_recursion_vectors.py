"""Recursive relations over keys: after each change rows and levels are those of plain rounds, and changes those of ``Levels``."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.answer.recursion.convert import as_column
from imp_driver.dataflow.recursion.coded_table import CodedTable
from imp_driver.dataflow.recursion.dictionaries import NotVectorised
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.keys import NotPacked
from imp_driver.dataflow.recursion.levels import Endless, Levels, RowChanges
from imp_driver.dataflow.recursion.rules import Place, Rule, copied
from imp_driver.dataflow.recursion.vectors import VectorLevels
from tests.operators.recursion_rules import (
    BASE,
    LINK,
    MEET,
    POINT,
    REACH,
    RULES,
    Rules,
    by_rounds,
    from_points,
    linear,
    non_linear,
)

Links: TypeAlias = set[Row]

FORMS: dict[str, dict[str, int]] = {
    "as users have it": {},
    "a hash table": {"recursive_rows._FEW_BITS": -1, "hashed_rows._LEAST_BITS": 1},
    "a hash table that becomes cells": {"recursive_rows._FEW_BITS": -1, "recursive_rows._CELLS_PER_ROW": 4},
    "products": {"products._FEW_KEYS": 1, "products._CELLS_PER_KEY": 1 << 20, "products._PIECE": 8},
    "small pieces": {"keys.PIECE": 2, "joins.PIECE": 2, "cell_rows.PIECE": 2, "cell_rows._FIRST_LOOK": 1, "settling._MANY": 1},
    "other ways": {"joins._MANY": 0, "joins._MANY_PER_HEAD": 0, "coded_rows._FEW_PREFIXES": 0, "coded_rows._PREFIXES_PER_QUERY": 0},
    "other ways by a hash table": {"joins._MANY": 0, "joins._MANY_PER_HEAD": 0, "recursive_rows._FEW_BITS": -1},
}
"""What is else chosen for large relations."""


@contextmanager
def in_form(form: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in FORMS[form].items():
            patch.setattr(f"imp_driver.dataflow.recursion.{name}", value)
        yield


def levels_of(vectors: VectorLevels, relation: int) -> dict[Row, int | None]:
    rows = vectors.rows(relation)
    assert len(rows) == len(set(rows))
    return {row: vectors.level(relation, row) for row in rows}


NODES = st.one_of(st.integers(0, 4), st.none(), st.sampled_from(["a", "b"]))
LINKS = st.sets(st.tuples(NODES, NODES), max_size=6)
POINTS = st.sets(st.tuples(NODES), max_size=2)
STEPS = st.lists(st.tuples(LINKS, LINKS, POINTS, POINTS), min_size=1, max_size=6)
Step: TypeAlias = tuple[Links, Links, Links, Links]


@pytest.mark.parametrize("make", RULES)
@given(steps=STEPS, form=st.sampled_from(sorted(FORMS)), is_replaced=st.booleans())
def test_rows_and_levels_are_those_of_rounds_after_each_change(make: Rules, form: str, is_replaced: bool, steps: list[Step]) -> None:
    with in_form(form):
        vectors, rows = VectorLevels(make()), {LINK: set[Row](), POINT: set[Row]()}
        known = by_rounds(make(), rows)
        for removed, added, points_removed, points_added in steps:
            rows = {LINK: (rows[LINK] - removed) | added, POINT: (rows[POINT] - points_removed) | points_added}
            if is_replaced:
                columns = {LINK: [[row[0] for row in rows[LINK]], [row[1] for row in rows[LINK]]], POINT: [[row[0] for row in rows[POINT]]]}
                changed = vectors.replace(columns)
            else:
                changed = vectors.apply({LINK: RowChanges(removed, added), POINT: RowChanges(points_removed, points_added)})
            expected = by_rounds(make(), rows)
            for relation, levels in expected.items():
                assert levels_of(vectors, relation) == levels
                assert set(vectors.rows_of(relation, changed[relation].removed)) == known[relation].keys() - levels.keys()
                assert set(vectors.rows_of(relation, changed[relation].added)) == levels.keys() - known[relation].keys()
            known = expected


# Levels takes a column as equal to one alone of two others.
@pytest.mark.parametrize("make", RULES)
@pytest.mark.parametrize("form", ["as users have it", "a hash table that becomes cells", "products"])
def test_changes_are_those_of_levels(make: Rules, form: str) -> None:
    with in_form(form):
        numbers = random.Random(form)
        vectors, levels, links = VectorLevels(make()), Levels(make()), set[Row]()
        nodes: list[object] = [None, "x", *range(10)]
        for _ in range(12):
            removed = set(numbers.sample(sorted(links, key=repr), numbers.choice([0, min(1, len(links)), len(links) // 2])))
            added = {(numbers.choice(nodes), numbers.choice(nodes)) for _ in range(numbers.choice([0, 1, 8]))}
            changes = {LINK: RowChanges(removed, added)}
            if make is from_points:
                changes[POINT] = RowChanges((), {(numbers.choice(nodes),)})
            found, expected = vectors.apply(changes), levels.apply(changes)
            links = (links - removed) | added
            for relation, change in expected.items():
                for keys, rows in ((found[relation].removed, change.removed), (found[relation].added, change.added)):
                    assert len(keys) == len(rows)
                    assert set(vectors.rows_of(relation, keys)) == set(rows)
                assert levels_of(vectors, relation) == {row: levels.level(relation, row) for row in levels.rows(relation)}


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize(("make", "count"), [(linear, 90), (non_linear, 75)])
def test_larger_graphs(make: Rules, count: int, form: str) -> None:
    """60 nodes, links come and go."""
    with in_form(form):
        numbers = random.Random(7)
        vectors, levels = VectorLevels(make()), Levels(make())
        links = {(numbers.randrange(60), numbers.randrange(60)) for _ in range(count)}
        table = CodedTable(vectors, REACH, [pa.int64(), pa.int64()], as_column)
        levels.apply({LINK: RowChanges((), links)})
        table.change(vectors.apply({LINK: RowChanges((), links)})[REACH])
        for step in range(30):
            removed = set(numbers.sample(sorted(links), numbers.choice([0, 1, 1, 4])))
            added = {(numbers.randrange(60), numbers.randrange(60)) for _ in range(numbers.choice([0, 1, 1, 4]))}
            links = (links - removed) | added
            change = RowChanges(removed, added)
            expected, changed = levels.apply({LINK: change})[REACH], vectors.apply({LINK: change})[REACH]
            assert (len(changed.removed), len(changed.added)) == (len(expected.removed), len(expected.added))
            assert set(vectors.rows(REACH)) == set(levels.rows(REACH))
            table.change(changed)
            assert [tuple(row.values()) for row in table.rows.to_pylist()] == list(vectors.rows(REACH))
            if step % 10 == 9:
                assert levels_of(vectors, REACH) == {row: levels.level(REACH, row) for row in levels.rows(REACH)}


def changed_rows(vectors: VectorLevels, removed: Sequence[Row], added: Sequence[Row]) -> tuple[set[Row], set[Row]]:
    found = vectors.apply({LINK: RowChanges(removed, added)})[REACH]
    return set(vectors.rows_of(REACH, found.removed)), set(vectors.rows_of(REACH, found.added))


def test_a_row_that_is_removed_and_added_at_once_stays() -> None:
    vectors = VectorLevels(linear())
    assert changed_rows(vectors, [], [(1, 2), (2, 3), (1, 2)]) == (set(), {(1, 2), (2, 3), (1, 3)})
    assert changed_rows(vectors, [(1, 2)], [(1, 2)]) == (set(), set())
    assert changed_rows(vectors, [(2, 3), (9, 9)], [(1, 2)]) == ({(2, 3), (1, 3)}, set())
    assert changed_rows(vectors, [], []) == (set(), set())
    assert vectors.apply({}).keys() == {REACH}


def test_a_way_that_is_replaced_by_another_does_not_come_and_go() -> None:
    vectors = VectorLevels(linear())
    changed_rows(vectors, [], [(1, 2), (2, 3), (1, 4)])
    assert changed_rows(vectors, [(2, 3)], [(4, 3)]) == ({(2, 3)}, {(4, 3)})
    assert vectors.level(REACH, (1, 3)) == 1


def test_loops_and_what_is_not_there() -> None:
    vectors = VectorLevels(non_linear())
    assert changed_rows(vectors, [], [(1, 1)]) == (set(), {(1, 1)})
    assert changed_rows(vectors, [], [(1, None), (None, 2), (1, 2)]) == (set(), {(1, None), (None, 2), (1, 2)})
    assert vectors.level(REACH, (1, 1)) == 0
    assert vectors.level(REACH, (2, 1)) is None
    assert vectors.level(REACH, ("never seen", 1)) is None
    assert changed_rows(vectors, [(1, 1)], []) == ({(1, 1)}, set())


def test_heads_that_a_rule_cannot_have_do_not_come_back_by_it() -> None:
    """Two columns of one value, and a column that has met another and so is not NULL."""
    loops = VectorLevels([BASE, Rule(REACH, (REACH,), (2,), (), copied([0, 0]))])
    changed_rows(loops, [], [(1, 2), (1, 3)])
    assert changed_rows(loops, [(1, 2)], []) == ({(1, 2)}, set())
    ends = VectorLevels([Rule(REACH, (POINT,), (2,), (), copied([0, 1])), Rule(REACH, (REACH, LINK), (2, 2), MEET, copied([1, 3]))])
    ends.apply({POINT: RowChanges((), [(1, None), (None, 5)]), LINK: RowChanges((), [(None, 5)])})
    ends.apply({POINT: RowChanges([(None, 5)], ())})
    assert ends.rows(REACH) == [(1, None)]


def test_a_component_that_is_cut_off_is_not_counted_up_to_infinity() -> None:
    vectors = VectorLevels(linear())
    inside: list[Row] = [(node, (node + 1) % 30) for node in range(30)]
    changed_rows(vectors, [], [*inside, (100, 0)])
    before = vectors.touched
    removed, _ = changed_rows(vectors, [(100, 0)], [])
    assert len(removed) == 30
    assert vectors.touched - before < 200


def test_rows_whose_level_stays_are_not_followed() -> None:
    """50 nodes before two ways of the same length, 50 after them: one of the ways goes and comes."""
    vectors = VectorLevels(linear())
    before: list[Row] = [(("before", node), ("before", node + 1)) for node in range(50)]
    after: list[Row] = [(("after", node), ("after", node + 1)) for node in range(50)]
    ways: list[Row] = [(("before", 50), "one"), ("one", ("after", 0)), (("before", 50), "other"), ("other", ("after", 0))]
    changed_rows(vectors, [], [*before, *after, *ways])
    touched = vectors.touched
    removed, _ = changed_rows(vectors, [("one", ("after", 0))], [])
    assert removed == {("one", ("after", node)) for node in range(51)}
    _, added = changed_rows(vectors, [], [("one", ("after", 0))])
    assert added == removed
    # The rows of the way alone, and those of the node before it, of which there are as many; 2,500 rows rest on these.
    assert vectors.touched - touched < 600


def test_values_that_are_gone_leave_their_codes_to_others() -> None:
    """A stream of ever new nodes beside some that stay: keys do not grow with all that ever were."""
    vectors = VectorLevels(linear())
    table = CodedTable(vectors, REACH, [pa.string(), pa.string()], as_column)
    stable: list[Row] = [(None, None), *((None, f"stays {node}") for node in range(100))]
    table.change(vectors.apply({LINK: RowChanges((), stable)})[REACH])
    links: list[Row] = []
    for step in range(300):
        added: list[Row] = [(f"n{step}", f"n{step + 1}"), (f"n{step}", None)]
        removed, links = links[:-4], links[-4:] + added
        table.change(vectors.apply({LINK: RowChanges(removed, added)})[REACH])
        if step % 10 == 9:
            assert [tuple(row.values()) for row in table.rows.to_pylist()] == vectors.rows(REACH)
        if step % 50 == 49:
            assert levels_of(vectors, REACH) == by_rounds(linear(), {LINK: {*stable, *links}})[REACH]
    assert len(vectors.values(REACH, 0)) <= 256 < 300
    assert vectors.generation >= 2


def test_values_of_other_columns_are_not_taken_for_these() -> None:
    """1, True and 1.0 are equal in Python."""
    rules = [
        Rule(REACH, (LINK,), (4,), (), copied([0, 1, 2, 3])),
        Rule(REACH, (LINK, REACH), (4, 4), ((Place(0, 1), Place(1, 0)),), copied([0, 5, 6, 7])),
    ]
    vectors = VectorLevels(rules)
    vectors.apply({LINK: RowChanges((), [(1, 2, True, 1.0), (2, 1, False, 0.0)])})
    assert sorted(map(repr, vectors.rows(REACH))) == sorted(
        map(repr, [(1, 2, True, 1.0), (2, 1, False, 0.0), (1, 1, False, 0.0), (2, 2, True, 1.0)])
    )


def test_rules_of_other_forms_are_refused() -> None:
    three = Rule(REACH, (REACH, LINK, REACH), (2, 2, 2), (*MEET, (Place(1, 1), Place(2, 0))), copied([0, 5]))
    apart = Rule(REACH, (REACH, LINK), (2, 2), (), copied([0, 3]))
    computed = Rule(REACH, (LINK,), (2,), (), lambda bodies: list(bodies))
    for rule in (three, apart, computed):
        with pytest.raises(NotVectorised):
            VectorLevels([BASE, rule])


def test_rows_that_do_not_fit_in_a_number_are_refused() -> None:
    vectors = VectorLevels([Rule(REACH, (LINK,), (5,), (), copied([0, 1, 2, 3, 4]))])
    vectors.apply({LINK: RowChanges((), [(number,) * 5 for number in range(4_000)])})
    with pytest.raises(NotPacked, match="65 bits of 63"):
        vectors.apply({LINK: RowChanges((), [(number,) * 5 for number in range(4_000, 8_000)])})


def test_too_many_rows_or_levels_end_with_an_error() -> None:
    chain: list[Row] = [(node, node + 1) for node in range(60)]
    with pytest.raises(Endless, match="50 rounds"):
        VectorLevels(linear(), most_levels=50).apply({LINK: RowChanges((), chain)})
    with pytest.raises(Endless, match="100 rows"):
        VectorLevels(linear(), most_rows=100).apply({LINK: RowChanges((), chain)})


@pytest.mark.parametrize("form", ["as users have it", "a hash table"])
def test_memory(form: str) -> None:
    """Less than a tenth of a kilobyte for a row, after changes too."""
    with in_form(form):
        numbers = random.Random(3)
        vectors = VectorLevels(linear())
        links: list[Row] = [(numbers.randrange(200), numbers.randrange(200)) for _ in range(600)]
        vectors.apply({LINK: RowChanges((), links)})
        vectors.apply({LINK: RowChanges(links[:20], ())})
        vectors.apply({LINK: RowChanges((), links[:20])})
        assert vectors.memory < 100 * len(vectors.rows(REACH))
