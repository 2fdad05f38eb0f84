"""A recursion that is kept elsewhere and follows changes by what they touch: the rows and levels of the one that is kept in process."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.frontier import Frontier, TooMuchChanges
from imp_driver.dataflow.recursion.levels import Endless, Levels, RowChanges
from imp_driver.dataflow.recursion.rules import Place, Rule, copied
from tests.operators.frontier_cases import PROGRAMS
from tests.operators.kept_elsewhere import KeptElsewhere
from tests.operators.recursion_rules import (
    LINK,
    OTHER,
    POINT,
    REACH,
    from_points,
    linear,
    non_linear,
)

NODES = st.one_of(st.integers(0, 4), st.none())
LINKS = st.sets(st.tuples(NODES, NODES), max_size=6)
POINTS = st.sets(st.tuples(NODES), max_size=2)
STEPS = st.lists(st.tuples(LINKS, LINKS, POINTS, POINTS), min_size=1, max_size=6)


@pytest.mark.parametrize("make", PROGRAMS)
@given(steps=STEPS)
def test_rows_and_levels_are_those_in_process_after_each_change(
    make: Callable[[], list[Rule]], steps: list[tuple[set[Row], set[Row], set[Row], set[Row]]]
) -> None:
    rules = make()
    levels, elsewhere = Levels(rules), KeptElsewhere(rules)
    read = {number for rule in rules for number in rule.reads}
    for fewer, more, points, new_points in steps:
        removed = {number: rows for number, rows in ((LINK, fewer), (POINT, points)) if number in read}
        added = {number: rows for number, rows in ((LINK, more), (POINT, new_points)) if number in read}
        levels.apply({number: RowChanges(removed[number], added[number]) for number in removed})
        elsewhere.change(removed, added)
        relations = {rule.head for rule in rules}
        expected = {(number, row): levels.level(number, row) for number in relations for row in levels.rows(number)}
        assert elsewhere.kept == expected


def _links(count: int) -> set[Row]:
    return {(number, number + 1) for number in range(count)}


def test_what_a_deletion_does_not_change_is_not_touched() -> None:
    elsewhere = KeptElsewhere(linear())
    elsewhere.change({}, {LINK: {*_links(8), (0, 3), (1, 3)}})
    # From 1 the way over 2 is as long as it was; a link that nobody needs touches the row that it made, and its derivations.
    frontier = elsewhere.change({LINK: {(0, 3)}}, {LINK: {(0, 2)}})
    assert all(row[0] == 0 for _, row in frontier.changes)
    frontier = elsewhere.change({LINK: {(9, 9)}}, {})
    assert (frontier.changes, frontier.touched) == ({}, 0)


def test_a_circle_that_nothing_leads_to_goes() -> None:
    rules = from_points()[:2]
    elsewhere = KeptElsewhere(rules)
    elsewhere.change({}, {LINK: {(0, 1), (1, 2), (2, 3), (3, 1)}, POINT: {(0,)}})
    frontier = elsewhere.change({LINK: {(0, 1)}}, {})
    assert frontier.changes == {(REACH, (1,)): None, (REACH, (2,)): None, (REACH, (3,)): None}
    assert elsewhere.kept == {(REACH, (0,)): 0}


def test_a_change_that_touches_too_much_is_given_up_and_nothing_is_changed() -> None:
    elsewhere = KeptElsewhere(linear())
    elsewhere.change({}, {LINK: _links(9)})
    before = dict(elsewhere.kept)
    elsewhere._new = {LINK: _links(9) - {(4, 5)}, REACH: set()}
    with pytest.raises(TooMuchChanges, match="more than 9 rows"):
        Frontier(elsewhere, most_rows=9).follow()
    assert elsewhere.kept == before


def test_what_never_ends_is_an_error() -> None:
    def longer(bodies: object) -> list[Row | None]:
        return [(body[0], body[1] + 1) for body in bodies]  # type: ignore[attr-defined]

    rules = [Rule(REACH, (LINK,), (2,), (), copied([0, 1])), Rule(REACH, (REACH,), (2,), (), longer)]
    elsewhere = KeptElsewhere(rules)
    elsewhere._new = {LINK: {(0, 0)}, REACH: set()}
    with pytest.raises(Endless, match="30 rounds"):
        Frontier(elsewhere, most_levels=30).follow()


def test_rows_that_meet_only_when_both_are_new() -> None:
    elsewhere = KeptElsewhere([*non_linear(), Rule(OTHER, (REACH, REACH), (2, 2), ((Place(0, 0), Place(1, 1)),), copied([0]))])
    elsewhere.change({}, {LINK: {(0, 1)}})
    elsewhere.change({}, {LINK: {(1, 2), (2, 3), (3, 0)}})
    assert {row for number, row in elsewhere.kept if number == OTHER} == {(0,), (1,), (2,), (3,)}
