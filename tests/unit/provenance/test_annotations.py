"""Tuples with annotations: what they gain, what depends on a variable, and what is left when there are too many nodes."""

from __future__ import annotations

import random

import pytest

from imp_driver.provenance.annotations import Annotations
from imp_driver.provenance.diagrams import Diagrams, TooManyNodes
from imp_driver.provenance.library import Function, LibraryName
from tests.unit.provenance.twins import libraries

pytestmark = pytest.mark.parametrize("library", libraries())


def test_a_derivation_adds_what_is_new(library: LibraryName) -> None:
    diagrams = Diagrams(library)
    annotations: Annotations[str] = Annotations(diagrams)
    one, other = diagrams.variable(0), diagrams.variable(1)
    assert annotations.absorb("a", one) == one
    assert diagrams.is_false(annotations.absorb("a", diagrams.and_(one, other)))
    assert annotations.absorb("a", other) == diagrams.minus(other, one)
    assert annotations["a"] == diagrams.or_(one, other)
    assert diagrams.is_false(annotations.absorb("b", diagrams.false))
    assert list(annotations) == ["a"]
    assert "b" not in annotations
    assert annotations.variables_of("b") == frozenset()
    with pytest.raises(KeyError):
        annotations["b"]


@pytest.mark.parametrize("seed", range(5))
def test_the_index_finds_what_depends_on_variables(library: LibraryName, seed: int) -> None:
    """Against a look at all tuples, after random changes of which some are undone before the index is asked."""
    chance = random.Random(seed)
    diagrams = Diagrams(library)
    annotations: Annotations[int] = Annotations(diagrams)
    for _ in range(60):
        key, variables = chance.randrange(6), chance.sample(range(8), chance.randrange(1, 4))
        if chance.random() < 0.2:
            annotations.put(key, diagrams.false)
        elif chance.random() < 0.2:
            annotations.restrict(variables)
        else:
            annotations.absorb(key, diagrams.all_of(variables))
        if chance.random() < 0.5:
            asked = chance.sample(range(8), 3)
            found = list(annotations.depending(asked))
            assert len(found) == len(set(found))
            assert set(found) == {
                (each, variable) for each in annotations for variable in asked if variable in annotations.variables_of(each)
            }


def test_what_makes_too_many_nodes_leaves_no_trace(library: LibraryName) -> None:
    """Each tuple is new, and has a function of twice as many nodes as the one before."""
    diagrams = Diagrams(library, limit=300)
    annotations: Annotations[int] = Annotations(diagrams)
    pairs = 20
    for number in range(2 * pairs):
        diagrams.variable(number)
    known: list[Function] = []

    def add(key: int) -> None:
        added = diagrams.all_of([key, key + pairs])
        annotations.absorb(key, diagrams.or_(known[-1], added) if known else added)
        known.append(annotations[key])

    with pytest.raises(TooManyNodes):
        list(map(add, range(pairs)))
    assert list(annotations) == list(range(len(known)))
    assert {key for key, _ in annotations.depending(range(2 * pairs))} == set(range(len(known)))


def test_moved_annotations_are_the_same(library: LibraryName) -> None:
    diagrams, other = Diagrams(library), Diagrams(library)
    annotations: Annotations[str] = Annotations(diagrams)
    annotations.absorb("a", diagrams.all_of([0, 1]))
    annotations.absorb("a", diagrams.all_of([2]))
    annotations.absorb("b", diagrams.all_of([2, 0]))
    for number in diagrams.variables:
        other.variable(number)
    moved = annotations.moved(other)
    assert moved["a"] == other.or_(other.all_of([0, 1]), other.variable(2))
    assert set(moved.depending([0, 1])) == {("a", 0), ("a", 1), ("b", 0)}
    assert [each.key for each in moved.restrict([2])] == ["a", "b"]
    assert list(moved) == ["a"]
    assert set(annotations) == {"a", "b"}
    assert annotations.bytes(lambda _: 10) > moved.bytes(lambda _: 10) > 10
