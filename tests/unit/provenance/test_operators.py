"""Single operators of a distributed recursion: what goes in, what comes out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.errors import NotSupportedError
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.fixpoint import BASE, RECURSIVE, Fixpoint, Passing
from imp_driver.provenance.join import LEFT, RIGHT, PipelinedHashJoin
from imp_driver.provenance.library import Function
from imp_driver.provenance.minimal_sets import minimal_sets
from imp_driver.provenance.selection import Aggregate, AggregateName, AggregateSelection
from imp_driver.provenance.shipping import MinShip, Ship
from imp_driver.provenance.updates import Deletion, Kind, Output, Update
from imp_driver.provenance.windows import LatestRows, Lifetime

MIN_COST = Aggregate(AggregateName.MIN, 1)
MAX_WIDTH = Aggregate(AggregateName.MAX, 2)


@pytest.fixture
def diagrams() -> Diagrams:
    return Diagrams()


def of(diagrams: Diagrams, *sets: Iterable[int]) -> Function:
    """Return the function with these minimal sets."""
    function = diagrams.false
    for each in sets:
        function = diagrams.or_(function, diagrams.all_of(each))
    return function


def insert(row: Row, function: Function) -> Update:
    return Update(Kind.INSERT, row, function)


def seen(diagrams: Diagrams, outputs: Sequence[Output]) -> list[object]:
    """Return rows with minimal sets, of retractions rows alone, of deletions variables."""
    found: list[object] = []
    for each in outputs:
        if isinstance(each, Deletion):
            found.append(each.variables)
        elif each.kind is Kind.RETRACT:
            found.append(each.row)
        else:
            found.append((each.row, set(minimal_sets(diagrams, each.provenance))))
    return found


def joining(diagrams: Diagrams, **windows: Any) -> PipelinedHashJoin:
    return PipelinedHashJoin(diagrams, ((1,), (0,)), lambda left, right: (left[0], right[1]) if left[0] != "x" else None, **windows)


def test_join_meets_what_came_before(diagrams: Diagrams) -> None:
    join = joining(diagrams)
    assert join.process(LEFT, insert(("a", 1), of(diagrams, [0]))) == []
    assert seen(diagrams, join.process(RIGHT, insert((1, "b"), of(diagrams, [1])))) == [(("a", "b"), {frozenset({0, 1})})]
    assert join.process(RIGHT, insert((1, "b"), of(diagrams, [1, 2]))) == [], "absorbed"
    assert join.process(LEFT, insert(("x", 1), of(diagrams, [5]))) == [], "a further condition is not met"
    assert seen(diagrams, join.process(LEFT, insert(("c", 1), of(diagrams, [3])))) == [(("c", "b"), {frozenset({1, 3})})]
    assert seen(diagrams, join.process(RIGHT, insert((1, "b"), of(diagrams, [4])))) == [
        (("a", "b"), {frozenset({0, 4})}),
        (("c", "b"), {frozenset({3, 4})}),
    ]


def test_join_forgets_rows_and_what_they_met(diagrams: Diagrams) -> None:
    join = joining(diagrams)
    join.process(LEFT, insert(("a", 1), of(diagrams, [0], [1])))
    empty = join.state_bytes
    join.process(LEFT, insert(("c", 1), of(diagrams, [2])))
    assert join.state_bytes > empty
    assert join.forget(frozenset({0, 2})) == ()
    assert join.state_bytes <= empty
    assert seen(diagrams, join.process(RIGHT, insert((1, "b"), of(diagrams, [3])))) == [(("a", "b"), {frozenset({1, 3})})]
    join.process(RIGHT, Update(Kind.RETRACT, (1, "b"), diagrams.false))
    join.process(RIGHT, Update(Kind.RETRACT, (1, "never came"), diagrams.false))
    assert join.process(LEFT, insert(("d", 1), of(diagrams, [4]))) == []


def test_null_joins_with_nothing(diagrams: Diagrams) -> None:
    join = joining(diagrams)
    assert join.process(LEFT, insert(("a", None), of(diagrams, [0]))) == []
    assert join.process(RIGHT, insert((None, "b"), of(diagrams, [1]))) == []
    assert join.forget(frozenset({0, 1})) == ()
    assert join.state_bytes == joining(diagrams).state_bytes


def test_window_of_the_latest_rows(diagrams: Diagrams) -> None:
    join = joining(diagrams, windows=(LatestRows(2), None))
    assert [join.process(LEFT, insert((name, 1), of(diagrams, [place]))) for place, name in enumerate("abc")][:2] == [[], []]
    assert seen(diagrams, join.process(LEFT, insert(("d", 1), of(diagrams, [3])))) == [{1}]
    # Rows that are deleted in between take no place.
    join.forget(frozenset({0, 1, 2}))
    assert join.process(LEFT, insert(("e", 1), of(diagrams, [4]))) == []
    assert seen(diagrams, join.process(LEFT, insert(("f", 1), of(diagrams, [5])))) == [{3}]


def test_window_of_time(diagrams: Diagrams) -> None:
    join = joining(diagrams, windows=(Lifetime(0, 10), None))
    assert join.process(LEFT, insert((5, 1), of(diagrams, [0]))) == []
    assert join.process(LEFT, insert((3, 1), of(diagrams, [1]))) == []
    assert seen(diagrams, join.process(LEFT, insert((13, 1), of(diagrams, [2])))) == [{1}]
    assert seen(diagrams, join.process(LEFT, insert((30, 1), of(diagrams, [3])))) == [{0, 2}]


@pytest.mark.parametrize("passing", Passing)
def test_fixpoint_passes_on_what_changes_an_annotation(diagrams: Diagrams, passing: Passing) -> None:
    fixpoint = Fixpoint(diagrams, passing)
    assert seen(diagrams, fixpoint.process(BASE, insert((1,), of(diagrams, [0, 1])))) == [((1,), {frozenset({0, 1})})]
    assert fixpoint.process(RECURSIVE, insert((1,), of(diagrams, [0, 1, 2]))) == []
    (passed,) = fixpoint.process(RECURSIVE, insert((1,), of(diagrams, [1, 2])))
    expected = of(diagrams, [1, 2])
    assert passed.provenance == (expected if passing is Passing.DERIVATION else diagrams.minus(expected, of(diagrams, [0, 1])))
    assert fixpoint.forget(frozenset({0})) == ()
    assert set(minimal_sets(diagrams, fixpoint.annotations[1,])) == {frozenset({1, 2})}
    fixpoint.forget(frozenset({2}))
    assert list(fixpoint.annotations) == []


def test_fixpoint_with_a_selection_holds_the_best_of_both_streams(diagrams: Diagrams) -> None:
    fixpoint = Fixpoint(diagrams, selecting=lambda made: AggregateSelection(made, (0,), (MIN_COST,)))
    fixpoint.process(BASE, insert(("a", 5), of(diagrams, [0])))
    assert seen(diagrams, fixpoint.process(RECURSIVE, insert(("a", 3), of(diagrams, [1])))) == [("a", 5), (("a", 3), {frozenset({1})})]
    assert list(fixpoint.annotations) == [("a", 3)]
    assert fixpoint.process(BASE, insert(("a", 9), of(diagrams, [2]))) == []
    assert seen(diagrams, fixpoint.forget(frozenset({1}))) == [(("a", 5), {frozenset({0})})]
    assert list(fixpoint.annotations) == [("a", 5)]
    assert fixpoint.state_bytes > 0


def test_min_ship_lazily_ships_an_alternative_when_what_was_shipped_is_deleted(diagrams: Diagrams) -> None:
    ship = MinShip(diagrams, None)
    assert seen(diagrams, ship.process(insert((1,), of(diagrams, [0])))) == [((1,), {frozenset({0})})]
    for alternative in ([1, 2], [1, 3], [0, 4]):
        assert ship.process(insert((1,), of(diagrams, alternative))) == []
    assert ship.flush() == ()
    assert ship.forget(frozenset({3})) == []
    assert seen(diagrams, ship.forget(frozenset({0}))) == [((1,), {frozenset({1, 2})})]
    # The alternative counts as shipped.
    assert ship.process(insert((1,), of(diagrams, [1, 2, 5]))) == []
    assert ship.forget(frozenset({1})) == []
    assert seen(diagrams, ship.process(insert((1,), of(diagrams, [6])))) == [((1,), {frozenset({6})})], "a first derivation again"


def test_min_ship_lazily_ships_one_alternative_of_several(diagrams: Diagrams) -> None:
    ship = MinShip(diagrams, None)
    ship.process(insert((1,), of(diagrams, [0])))
    for alternative in ([1, 2, 3], [4], [5, 6]):
        ship.process(insert((1,), of(diagrams, alternative)))
    assert seen(diagrams, ship.forget(frozenset({0}))) == [((1,), {frozenset({4})})], "the smallest"
    assert seen(diagrams, ship.forget(frozenset({4}))) == [((1,), {frozenset({5, 6})})], "the others have waited on"
    assert seen(diagrams, ship.forget(frozenset({6}))) == [((1,), {frozenset({1, 2, 3})})]
    assert ship.forget(frozenset({2})) == []
    assert seen(diagrams, ship.process(insert((1,), of(diagrams, [7])))) == [((1,), {frozenset({7})})], "nothing is left"


def test_min_ship_does_not_ship_what_is_only_half_deleted(diagrams: Diagrams) -> None:
    ship = MinShip(diagrams, None)
    ship.process(insert((1,), of(diagrams, [0], [1])))
    ship.process(insert((1,), of(diagrams, [2])))
    assert ship.forget(frozenset({0})) == []
    assert seen(diagrams, ship.forget(frozenset({1}))) == [((1,), {frozenset({2})})]


def test_min_ship_eagerly_ships_when_the_window_is_full(diagrams: Diagrams) -> None:
    ship = MinShip(diagrams, 2)
    for row in (1, 2, 3):
        assert len(ship.process(insert((row,), of(diagrams, [row])))) == 1
    assert ship.process(insert((1,), of(diagrams, [10]))) == []
    assert ship.process(insert((1,), of(diagrams, [11]))) == [], "one row waits, with both derivations"
    assert seen(diagrams, ship.process(insert((3,), of(diagrams, [12])))) == [
        ((1,), {frozenset({10}), frozenset({11})}),
        ((3,), {frozenset({12})}),
    ]
    assert ship.process(insert((2,), of(diagrams, [13]))) == []
    assert seen(diagrams, ship.flush()) == [((2,), {frozenset({13})})]
    assert ship.flush() == []


def test_min_ship_with_a_selection_ships_the_best_and_promotes_the_next(diagrams: Diagrams) -> None:
    ship = MinShip(diagrams, None, lambda made: AggregateSelection(made, (0,), (MIN_COST,)))
    assert seen(diagrams, ship.process(insert(("a", 5), of(diagrams, [0])))) == [(("a", 5), {frozenset({0})})]
    assert ship.process(insert(("a", 7), of(diagrams, [1]))) == []
    assert seen(diagrams, ship.process(insert(("a", 3), of(diagrams, [2])))) == [(("a", 3), {frozenset({2})})], "retractions stay"
    assert ship.forget(frozenset({2})) == [], "the next one has been shipped"
    assert seen(diagrams, ship.forget(frozenset({0}))) == [(("a", 7), {frozenset({1})})]
    assert ship.state_bytes > 0


def test_ship_ships_everything(diagrams: Diagrams) -> None:
    ship, update = Ship(), insert((1,), of(diagrams, [0]))
    assert [ship.process(update), ship.process(update)] == [(update,), (update,)]
    assert ship.process(Update(Kind.RETRACT, (1,), diagrams.false)) == ship.flush() == ship.forget(frozenset({0})) == ()


@pytest.mark.parametrize("name", [AggregateName.COUNT, AggregateName.SUM])
def test_count_and_sum_select_nothing(diagrams: Diagrams, name: AggregateName) -> None:
    with pytest.raises(NotSupportedError, match=name.value):
        AggregateSelection(diagrams, (0,), (MIN_COST, Aggregate(name, 1)))


def best(rows: Iterable[tuple[Any, ...]], group: object) -> set[Row]:
    """The twin: rows of a group that are best for the minimum or for the maximum."""
    known = [row for row in rows if row[0] == group]
    costs = [row[1] for row in known if row[1] is not None]
    widths = [row[2] for row in known if row[2] is not None]
    return {row for row in known if (costs and row[1] == min(costs)) or (widths and row[2] == max(widths))}


@pytest.mark.parametrize("seed", range(20))
def test_selection_lets_the_best_rows_through(diagrams: Diagrams, seed: int) -> None:
    """Random insertions, with further derivations, NULL and ties, and deletions of several variables at once."""
    chance = random.Random(seed)
    selection = AggregateSelection(diagrams, (0,), (MIN_COST, MAX_WIDTH))
    derivations: dict[Row, set[int]] = {}
    passed: set[Row] = set()
    for number in range(60):
        if chance.random() < 0.7:
            row = (chance.choice("ab"), chance.choice([None, 1, 2, 3, 4]), chance.choice([None, 1, 2, 3, 4]))
            derivations.setdefault(row, set()).add(number)
            outputs = selection.process(insert(row, of(diagrams, [number])))
            assert [each.row for each in outputs if each.kind is Kind.INSERT] == [row] * (row in best(derivations, row[0]))
        else:
            gone = {each for found in derivations.values() for each in found if chance.random() < 0.4}
            derivations = {row: found - gone for row, found in derivations.items() if found - gone}
            outputs = selection.forget(frozenset(gone))
            passed &= derivations.keys()
            for each in outputs:
                assert set(minimal_sets(diagrams, each.provenance)) == {frozenset({left}) for left in derivations[each.row]}
                assert each.row not in passed
        for each in outputs:
            assert (each.kind is Kind.RETRACT) <= (each.row in passed)
            passed = passed - {each.row} if each.kind is Kind.RETRACT else passed | {each.row}
        assert Counter(passed) == Counter([row for group in "ab" for row in best(derivations, group)])
    assert selection.state_bytes > 0
