"""Why, what if, and how probable: against all subsets of the base rows of small graphs."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.errors import InternalError
from imp_driver.provenance.absorption import Absorption
from imp_driver.provenance.base_rows import Fact
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.library import LibraryName
from tests.unit.provenance.twins import LINEAR, RULES, closure, libraries, subsets, supports

LINKS = st.lists(st.tuples(st.integers(0, 1), st.tuples(st.integers(0, 3), st.integers(0, 3))), max_size=6, unique=True)


def loaded(library: LibraryName, name: str, facts: Sequence[Fact]) -> tuple[Absorption, list[Fact]]:
    base = list(dict.fromkeys(fact if name == "mutual" else (0, fact[1]) for fact in facts))
    relations = Absorption(RULES[name], Diagrams(library))
    for fact in base:
        relations.apply((), [fact])
    return relations, base


@pytest.mark.parametrize("library", libraries())
@pytest.mark.parametrize("name", RULES)
@given(facts=LINKS)
def test_why_gives_the_minimal_supports_smallest_first(library: LibraryName, name: str, facts: list[Fact]) -> None:
    relations, base = loaded(library, name, facts)
    expected = supports(RULES[name], base)
    for (number, row), minimal in expected.items():
        found = list(relations.why(number, row))
        assert len(found) == len(minimal)
        assert set(found) == set(minimal)
        assert list(map(len, found)) == sorted(map(len, found))
    assert {(number, row) for number in (1, 2, 3)[: 1 if name != "mutual" else 3] for row in relations.rows(number)} - set(base) == set(
        expected
    )


@pytest.mark.parametrize("library", libraries())
@given(facts=LINKS, seed=st.integers(0, 100))
def test_what_would_vanish_is_what_does(library: LibraryName, facts: list[Fact], seed: int) -> None:
    relations, base = loaded(library, "mutual", facts)
    gone = [fact for fact in base if random.Random(seed).random() < 0.4]
    before = relations.node_count, relations.rows(2), relations.rows(3)
    foretold = relations.would_vanish(gone)
    assert (relations.node_count, relations.rows(2), relations.rows(3)) == before
    assert len(foretold) == len(set(foretold))
    assert set(foretold) == set(relations.apply(gone, ()).vanished)


@pytest.mark.parametrize("library", libraries())
@given(facts=LINKS, seed=st.integers(0, 100))
def test_probability_is_the_sum_over_all_subsets(library: LibraryName, facts: list[Fact], seed: int) -> None:
    relations, base = loaded(library, "linear", facts)
    chances = {fact: random.Random(seed).choice([0.0, 0.5, 0.75]) for fact in base[:4]}
    expected = dict.fromkeys(closure(LINEAR, base), 0.0)
    for subset in subsets(list(chances)):
        weight = 1.0
        for fact, chance in chances.items():
            weight *= chance if fact in subset else 1 - chance
        for fact in closure(LINEAR, [*subset, *base[4:]]):
            expected[fact] += weight
    for (number, row), probability in expected.items():
        assert relations.probability(number, row, chances) == probability


@pytest.fixture
def relations() -> Absorption:
    made = Absorption(LINEAR)
    made.apply((), [(0, (1, 2)), (0, (2, 3)), (0, (1, 3)), (0, (1, 3))])
    return made


def test_a_base_row_supports_itself(relations: Absorption) -> None:
    assert list(relations.why(0, (1, 3))) == [{(0, (1, 3))}]
    assert relations.probability(0, (1, 3), {(0, (1, 3)): 0.25}) == 0.25


def test_nothing_supports_a_row_that_is_not_there(relations: Absorption) -> None:
    assert list(relations.why(1, (3, 1))) == []
    assert relations.probability(1, (3, 1), {}) == 0.0


def test_all_copies_would_go(relations: Absorption) -> None:
    assert relations.would_vanish([(0, (1, 3))]) == ()
    assert set(relations.would_vanish([(0, (1, 3)), (0, (2, 3))])) == {(1, (1, 3)), (1, (2, 3))}
    assert relations.would_vanish([]) == ()


def test_why_is_about_the_rows_of_when_it_was_asked(relations: Absorption) -> None:
    asked = relations.why(1, (1, 3))
    relations.apply([(0, (1, 2)), (0, (2, 3))], ())
    assert list(asked) == [{(0, (1, 3))}, {(0, (1, 2)), (0, (2, 3))}]
    assert list(relations.why(1, (1, 3))) == [{(0, (1, 3))}]


def test_questions_about_rows_that_are_no_base_rows_are_refused(relations: Absorption) -> None:
    with pytest.raises(InternalError, match="no base row"):
        relations.would_vanish([(0, (3, 1))])
    with pytest.raises(InternalError, match="no base row"):
        relations.probability(1, (1, 3), {(1, (1, 3)): 0.5})
    with pytest.raises(InternalError, match="between 0 and 1"):
        relations.probability(1, (1, 3), {(0, (1, 3)): 1.5})
