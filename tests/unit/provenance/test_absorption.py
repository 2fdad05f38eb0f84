"""Relations with provenance against rules followed from nothing, after every change of random streams.

Rows are compared with the closure of the base rows that are there; annotations with the closures of subsets of these, which finds one
that says too much or too little even while the rows are right.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.rules import Place, Rule, copied
from imp_driver.errors import InternalError
from imp_driver.provenance import absorption
from imp_driver.provenance.absorption import Absorption, Effects
from imp_driver.provenance.base_rows import Contradiction, Fact
from imp_driver.provenance.diagrams import Diagrams, TooManyNodes
from imp_driver.provenance.library import LibraryName
from tests.unit.provenance.twins import LINEAR, RULES, closure, libraries

NODES = (0, 1, 2, None)
ROWS = st.tuples(st.sampled_from(NODES), st.sampled_from(NODES))
STEPS = st.lists(st.lists(st.tuples(st.booleans(), st.integers(0, 1), ROWS), max_size=6), min_size=3, max_size=8)
"""Batches of changes: insert or delete, relation, row."""


def recursive_rows(relations: Absorption, rules: Sequence[Rule]) -> set[Fact]:
    return {(number, row) for number in {rule.head for rule in rules} for row in relations.rows(number)}


def check_annotations(relations: Absorption, diagrams: Diagrams, rules: Sequence[Rule], base: Sequence[Fact], kept: set[Fact]) -> None:
    """Compare the rows of which the annotations say that they follow from some of the base rows with those that do."""
    gone = set(base) - kept
    vanished = set(relations.would_vanish(gone))
    assert recursive_rows(relations, rules) - vanished == closure(rules, kept)
    for number, row in vanished:
        assert relations.probability(number, row, dict.fromkeys(gone, 0.0)) == 0.0


@pytest.mark.parametrize("library", libraries())
@pytest.mark.parametrize("name", RULES)
@given(steps=STEPS, seed=st.integers(0, 1_000))
def test_streams_with_copies_cycles_and_null(
    library: LibraryName, name: str, steps: list[list[tuple[bool, int, tuple[int, int]]]], seed: int
) -> None:
    rules, chance = RULES[name], random.Random(seed)
    diagrams = Diagrams(library)
    relations, copies = Absorption(rules, diagrams), Counter[Fact]()
    for step in steps:
        deletions, insertions = [], []
        for is_insertion, relation, row in step:
            fact: Fact = (relation if name == "mutual" else 0, row)
            # A deletion may be of what the same batch inserts.
            if is_insertion:
                insertions.append(fact)
                copies[fact] += 1
            elif copies[fact]:
                deletions.append(fact)
                copies[fact] -= 1
        before = recursive_rows(relations, rules)
        effects = relations.apply(deletions, insertions)
        base = [fact for fact, count in copies.items() if count]
        now = recursive_rows(relations, rules)
        assert now == closure(rules, base)
        assert set(effects.appeared) == now - before
        assert set(effects.vanished) == before - now
        assert {(0, row) for row in relations.rows(0)} == {fact for fact in base if fact[0] == 0}
        check_annotations(relations, diagrams, rules, base, {fact for fact in base if chance.random() < 0.7})


@pytest.fixture(params=libraries())
def relations(request: pytest.FixtureRequest) -> Absorption:
    return Absorption(LINEAR, Diagrams(request.param))


def test_a_cycle_does_not_support_itself(relations: Absorption) -> None:
    relations.apply((), [(0, ("a", "b")), (0, ("b", "c")), (0, ("c", "b"))])
    assert set(relations.rows(1)) == {("a", "b"), ("a", "c"), ("b", "b"), ("b", "c"), ("c", "b"), ("c", "c")}
    effects = relations.delete(0, ("a", "b"))
    assert set(effects.vanished) == {(1, ("a", "b")), (1, ("a", "c"))}
    assert set(relations.delete(0, ("c", "b")).vanished) == {(1, ("b", "b")), (1, ("c", "b")), (1, ("c", "c"))}
    assert relations.rows(1) == (("b", "c"),)


def test_a_row_stays_until_its_last_copy_goes(relations: Absorption) -> None:
    assert relations.insert(0, (1, 2)) == Effects(((1, (1, 2)),), ())
    assert relations.insert(0, (1, 2)) == Effects()
    assert relations.delete(0, (1, 2)) == Effects()
    assert relations.rows(1) == ((1, 2),)
    assert relations.delete(0, (1, 2)) == Effects((), ((1, (1, 2)),))
    assert relations.rows(1) == relations.rows(0) == ()


def test_a_link_that_comes_again_does_not_bring_back_what_went_with_it(relations: Absorption) -> None:
    relations.apply((), [(0, (1, 2)), (0, (2, 3))])
    first = relations.annotation(1, (1, 3))
    relations.delete(0, (2, 3))
    relations.insert(0, (2, 4))
    relations.insert(0, (2, 3))
    again = relations.annotation(1, (1, 3))
    assert again != first
    assert next(relations.why(1, (1, 3))) == {(0, (1, 2)), (0, (2, 3))}
    relations.delete(0, (1, 2))
    assert set(relations.rows(1)) == {(2, 3), (2, 4)}


def test_a_batch_that_deletes_and_inserts_a_row_leaves_it_alone(relations: Absorption) -> None:
    relations.insert(0, (1, 2))
    before = relations.annotation(1, (1, 2))
    assert relations.apply([(0, (1, 2))], [(0, (1, 2))]) == Effects()
    assert relations.annotation(1, (1, 2)) == before
    assert relations.apply([(0, (5, 6))], [(0, (5, 6))]) == Effects()
    assert relations.apply([(0, (1, 2))], [(0, (2, 3)), (0, (1, 2)), (0, (1, 2))]).appeared == ((1, (2, 3)), (1, (1, 3)))
    assert relations.delete(0, (1, 2)) == Effects()


def test_more_deletions_than_copies_are_refused_and_change_nothing(relations: Absorption) -> None:
    relations.insert(0, (1, 2))
    for deletions in ([(0, (1, 2))] * 2, [(0, (1, 2)), (0, (7, 7))]):
        with pytest.raises(Contradiction):
            relations.apply(deletions, [(0, (2, 3))])
    assert relations.rows(1) == relations.rows(0) == ((1, 2),)
    assert relations.delete(0, (1, 2)).vanished == ((1, (1, 2)),)


@pytest.mark.parametrize("relation", [1, 2, -1])
def test_only_base_relations_are_changed(relations: Absorption, relation: int) -> None:
    with pytest.raises(InternalError, match=f"Relation {relation}"):
        relations.insert(relation, (1, 2))


def test_rules_with_conditions_and_equal_columns_in_one_row() -> None:
    heads = copied((0, 3))
    rules = (
        LINEAR[0],
        # Ways do not go on over loops, nor to smaller numbers.
        Rule(
            1,
            (0, 1),
            (2, 2),
            ((Place(0, 1), Place(1, 0)),),
            lambda bodies: [head if head and values[0] < values[3] else None for head, values in zip(heads(bodies), bodies, strict=True)],  # type: ignore[operator]
        ),
        Rule(2, (1,), (2,), ((Place(0, 0), Place(0, 1)),), copied((0,))),
    )
    relations = Absorption(rules)
    base: list[Fact] = [(0, row) for row in [(1, 2), (2, 2), (2, 3), (3, 1)]]
    relations.apply((), base)
    assert recursive_rows(relations, rules) == closure(rules, base)
    assert relations.rows(2) == ((2,),)


@pytest.mark.parametrize("limit", [200, 260, 350])
@pytest.mark.parametrize("library", libraries())
def test_where_too_many_nodes_are_needed_everything_is_as_before(library: LibraryName, limit: int) -> None:
    """With other limits it is noticed at other rows, new ones and others."""
    links: list[Fact] = [(0, link) for link in permutations(range(7), 2)]
    random.Random(3).shuffle(links)
    relations = Absorption(LINEAR, Diagrams(library, limit=limit))
    relations.apply((), links[:7])
    pairs = list(product(range(7), repeat=2))
    before = {number: set(relations.rows(number)) for number in (0, 1)}, [relations.annotation(1, pair) for pair in pairs]
    for _ in range(2):
        with pytest.raises(TooManyNodes):
            relations.apply(links[:2], links[7:])
        assert ({number: set(relations.rows(number)) for number in (0, 1)}, [relations.annotation(1, pair) for pair in pairs]) == before
    # It goes on from there, also by the index from variables to rows.
    relations.apply((), links[7:8])
    assert recursive_rows(relations, LINEAR) == closure(LINEAR, links[:8])
    relations.apply([*links[:2], links[7]], ())
    assert recursive_rows(relations, LINEAR) == closure(LINEAR, links[2:7])
    relations.apply(links[2:6], ())
    assert recursive_rows(relations, LINEAR) == closure(LINEAR, links[6:7])


def test_where_a_rule_fails_everything_is_as_before() -> None:
    def heads(bodies: Sequence[Row]) -> Sequence[Row | None]:
        return [(values[0], 12 // values[1]) for values in bodies]  # type: ignore[operator]

    relations = Absorption((*LINEAR, Rule(2, (1,), (2,), (), heads)))
    relations.apply((), [(0, (1, 2)), (0, (2, 3))])
    before = [relations.rows(number) for number in range(3)]
    with pytest.raises(ZeroDivisionError):
        relations.apply([(0, (1, 2))], [(0, (2, 4)), (0, (4, 0)), (0, (3, 1))])
    assert [set(relations.rows(number)) for number in range(3)] == [set(rows) for rows in before]
    assert set(relations.insert(0, (3, 4)).appeared) == {(1, (3, 4)), (1, (2, 4)), (1, (1, 4)), (2, (3, 3)), (2, (2, 3)), (2, (1, 3))}
    assert set(relations.delete(0, (2, 3)).vanished) >= {(1, (1, 3)), (1, (2, 4)), (2, (2, 3))}


@pytest.mark.parametrize("library", libraries())
def test_diagrams_are_made_anew_when_most_variables_are_dead(library: LibraryName, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(absorption, "_SPARE_VARIABLES", 5)
    diagrams = Diagrams(library)
    relations, base = Absorption(LINEAR, diagrams), dict[Fact, None]()
    chance, largest = random.Random(1), 0
    waiting = None
    for step in range(60):
        fact: Fact = (0, (chance.randrange(4), chance.randrange(4)))
        if fact in base:
            del base[fact]
            relations.apply([fact], ())
        else:
            base[fact] = None
            relations.apply((), [fact])
        assert recursive_rows(relations, LINEAR) == closure(LINEAR, base)
        if step % 10 == 0:
            for row in relations.rows(1):
                assert next(relations.why(1, row)) <= base.keys()
        if step == 20 and relations.rows(1):
            waiting = relations.why(1, relations.rows(1)[0])
        largest = max(largest, relations.state_bytes)
    assert len(diagrams.variables) < 40, "the first diagrams were left"
    # What was asked before is answered about the rows of then.
    assert waiting is not None
    assert all(sets for sets in waiting)


def test_sizes(relations: Absorption) -> None:
    nothing = relations.state_bytes
    relations.apply((), [(0, (1, 2)), (0, (2, 3)), (0, (1, 3))])
    assert relations.state_bytes > nothing
    assert relations.node_count >= 3
    assert relations.annotation_bytes(1, (1, 3)) > relations.annotation_bytes(1, (1, 2)) > relations.annotation_bytes(1, (9, 9)) > 0
