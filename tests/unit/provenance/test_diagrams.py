"""Functions against truth tables, in both libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.provenance.diagrams import Diagrams, TooManyNodes
from imp_driver.provenance.library import Function, LibraryName
from imp_driver.provenance.minimal_sets import minimal_sets
from tests.unit.provenance.twins import libraries

VARIABLES = range(5)
Formula: TypeAlias = "int | tuple[str, Formula, Formula]"
Assignment: TypeAlias = tuple[bool, ...]
FORMULAS: st.SearchStrategy[Formula] = st.recursive(
    st.sampled_from(VARIABLES), lambda inner: st.tuples(st.sampled_from(["and", "or"]), inner, inner), max_leaves=12
)
ALL: list[Assignment] = list(product([False, True], repeat=len(VARIABLES)))


def value(formula: Formula, assignment: Assignment) -> bool:
    if isinstance(formula, int):
        return assignment[formula]
    name, one, other = formula
    results = (value(one, assignment), value(other, assignment))
    return all(results) if name == "and" else any(results)


def made(diagrams: Diagrams, formula: Formula) -> Function:
    if isinstance(formula, int):
        return diagrams.variable(formula)
    name, one, other = formula
    return (diagrams.and_ if name == "and" else diagrams.or_)(made(diagrams, one), made(diagrams, other))


def table(diagrams: Diagrams, function: Function) -> list[bool]:
    """Return the values under all assignments, each found by walking down the diagram."""
    found = []
    for assignment in ALL:
        at = function
        while at not in (diagrams.true, diagrams.false):
            variable, low, high = diagrams.branches(at)
            at = high if assignment[variable] else low
        found.append(at == diagrams.true)
    return found


def empty(library: LibraryName) -> Diagrams:
    diagrams = Diagrams(library)
    for number in VARIABLES:
        diagrams.variable(number)
    return diagrams


pytestmark = pytest.mark.parametrize("library", libraries())


@given(one=FORMULAS, other=FORMULAS, gone=st.frozensets(st.sampled_from(VARIABLES)))
def test_operations_agree_with_truth_tables(library: LibraryName, one: Formula, other: Formula, gone: frozenset[int]) -> None:
    diagrams = empty(library)
    left, right = made(diagrams, one), made(diagrams, other)
    ones, others = ([value(formula, each) for each in ALL] for formula in (one, other))
    assert table(diagrams, left) == ones
    assert table(diagrams, diagrams.and_(left, right)) == [a and b for a, b in zip(ones, others, strict=True)]
    assert table(diagrams, diagrams.or_(left, right)) == [a or b for a, b in zip(ones, others, strict=True)]
    assert table(diagrams, diagrams.minus(left, right)) == [a and not b for a, b in zip(ones, others, strict=True)]
    without = [tuple(is_true and number not in gone for number, is_true in enumerate(each)) for each in ALL]
    assert table(diagrams, diagrams.restrict_false(left, gone)) == [value(one, each) for each in without]
    assert diagrams.is_false(diagrams.minus(left, right)) == all(b or not a for a, b in zip(ones, others, strict=True))


@given(formula=FORMULAS)
def test_equal_functions_are_one_and_depend_on_what_makes_a_difference(library: LibraryName, formula: Formula) -> None:
    diagrams = empty(library)
    function = made(diagrams, formula)
    absorbed = diagrams.or_(function, diagrams.and_(function, diagrams.variable(0)))
    assert absorbed == function
    assert hash(absorbed) == hash(function)
    tables = {number: diagrams.restrict_false(function, [number]) for number in VARIABLES}
    assert diagrams.variables_of(function) == {number for number, restricted in tables.items() if restricted != function}


@given(formula=FORMULAS)
def test_minimal_sets_are_all_there_are_smallest_first(library: LibraryName, formula: Formula) -> None:
    diagrams = empty(library)
    true = [frozenset(number for number in VARIABLES if each[number]) for each in ALL if value(formula, each)]
    minimal = [each for each in true if not any(other < each for other in true)]
    found = list(minimal_sets(diagrams, made(diagrams, formula)))
    assert len(found) == len(set(found))
    assert set(found) == set(minimal)
    assert [len(each) for each in found] == sorted(len(each) for each in minimal)


@given(formula=FORMULAS, chances=st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=5, max_size=5))
def test_probability_is_the_sum_over_all_assignments(library: LibraryName, formula: Formula, chances: list[float]) -> None:
    diagrams = empty(library)
    expected = 0.0
    for each in ALL:
        weight = 1.0
        for chance, is_true in zip(chances, each, strict=True):
            weight *= chance if is_true else 1 - chance
        expected += weight * value(formula, each)
    # All numbers are multiples of a small power of two, so that nothing is rounded.
    assert diagrams.probability(made(diagrams, formula), dict(enumerate(chances))) == expected


@given(formulas=st.lists(FORMULAS, max_size=3))
def test_copies_elsewhere_are_the_same_functions(library: LibraryName, formulas: list[Formula]) -> None:
    diagrams, other = empty(library), empty(library)
    functions = [made(diagrams, formula) for formula in formulas]
    copies = list(diagrams.copied(functions, other))
    assert [table(other, each) for each in copies] == [table(diagrams, each) for each in functions]
    assert copies == [made(other, formula) for formula in formulas]


def test_true_and_false(library: LibraryName) -> None:
    diagrams = empty(library)
    assert list(minimal_sets(diagrams, diagrams.false)) == []
    assert list(minimal_sets(diagrams, diagrams.true)) == [frozenset()]
    assert diagrams.all_of([]) == diagrams.true
    assert not diagrams.is_false(diagrams.all_of([1, 2]))
    assert diagrams.probability(diagrams.true, {}) == 1.0
    assert diagrams.probability(diagrams.variable(3), {}) == 1.0
    assert diagrams.restrict_false(diagrams.variable(3), [77]) == diagrams.variable(3)
    assert list(diagrams.variables) == list(VARIABLES)


def test_the_first_of_very_many_minimal_sets_comes_at_once(library: LibraryName) -> None:
    diagrams = Diagrams(library)
    pairs = [diagrams.or_(diagrams.variable(2 * number), diagrams.variable(2 * number + 1)) for number in range(60)]
    function = diagrams.true
    for pair in reversed(pairs):
        function = diagrams.and_(pair, function)
    found = minimal_sets(diagrams, function)
    first, second = next(found), next(found)
    assert first != second
    assert {number // 2 for number in first} == {number // 2 for number in second} == set(range(60))
    assert len(first) == len(second) == 60


def _crossing(diagrams: Diagrams, pairs: int) -> Iterator[Function]:
    """Yield functions of twice as many nodes each: x0 y0 OR x1 y1 .. with all x before all y."""
    for number in range(2 * pairs):
        diagrams.variable(number)
    function = diagrams.false
    for number in range(pairs):
        function = diagrams.or_(function, diagrams.and_(diagrams.variable(number), diagrams.variable(pairs + number)))
        yield function


def test_nodes_are_counted_while_something_refers_to_them(library: LibraryName) -> None:
    diagrams = Diagrams(library)
    functions = list(_crossing(diagrams, 8))
    together = diagrams.nodes_of(functions)
    assert together >= diagrams.nodes_of(functions[-1:]) >= 2**8
    assert diagrams.node_count >= together
    del functions
    assert diagrams.node_count < 40


def _keep(diagrams: Diagrams, functions: Iterable[Function], kept: list[Function]) -> None:
    for function in functions:
        diagrams.keep_within_limit(function)
        kept.append(function)


def test_too_many_nodes_are_noticed_when_they_are_kept(library: LibraryName) -> None:
    diagrams = Diagrams(library, limit=500)
    kept: list[Function] = []
    with pytest.raises(TooManyNodes, match="more than 500 nodes"):
        _keep(diagrams, _crossing(diagrams, 20), kept)
    assert 5 <= len(kept) < 12
    kept.clear()
    diagrams.keep_within_limit(diagrams.variable(0))


def test_one_operation_that_goes_on_and_on_is_ended(library: LibraryName) -> None:
    diagrams = Diagrams(library, limit=100)
    with pytest.raises(TooManyNodes, match="One operation"):
        list(_crossing(diagrams, 26))
    # What was made on the way is gone, and the rest works.
    assert diagrams.node_count < 200
    assert list(minimal_sets(diagrams, diagrams.all_of([1, 2]))) == [{1, 2}]


def test_a_diagram_too_deep_for_pythons_stack_is_too_large(library: LibraryName) -> None:
    diagrams = Diagrams(library)
    deep = range(5_000)
    for number in deep:
        diagrams.variable(number)
    function = diagrams.all_of(reversed(deep))
    assert next(minimal_sets(diagrams, function)) == set(deep)
    assert diagrams.probability(function, {0: 0.5}) == 0.5
    if library is LibraryName.CUDD:
        diagrams.keep_within_limit(function)
        assert len(diagrams.variables_of(function)) == len(deep)
    else:
        with pytest.raises(TooManyNodes, match="too deep"):
            diagrams.keep_within_limit(function)
        with pytest.raises(TooManyNodes, match="too deep"):
            diagrams.variables_of(function)
        with pytest.raises(TooManyNodes, match="too deep"):
            diagrams.restrict_false(function, [4_999])
