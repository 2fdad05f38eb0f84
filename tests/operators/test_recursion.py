"""Recursive relations by rules: after each change their rows are those of a plain fixpoint, and what is kept is what a fresh load keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.levels import Endless, Levels, NotOrdered, RowChanges
from imp_driver.dataflow.recursion.rules import Place, Rule, copied
from imp_driver.dataflow.recursion.selection import Selection

LINK, REACH, OTHER = 0, 1, 2
Links: TypeAlias = set[Row]


def linear() -> list[Rule]:
    return [
        Rule(REACH, (LINK,), (2,), (), copied([0, 1])),
        Rule(REACH, (LINK, REACH), (2, 2), ((Place(0, 1), Place(1, 0)),), copied([0, 3])),
    ]


def non_linear() -> list[Rule]:
    return [
        Rule(REACH, (LINK,), (2,), (), copied([0, 1])),
        Rule(REACH, (REACH, REACH), (2, 2), ((Place(0, 1), Place(1, 0)),), copied([0, 3])),
    ]


def of_three() -> list[Rule]:
    """Paths of two, then of three parts, all of them read at once."""
    return [
        Rule(REACH, (LINK,), (2,), (), copied([0, 1])),
        Rule(REACH, (REACH, LINK), (2, 2), ((Place(0, 1), Place(1, 0)),), copied([0, 3])),
        Rule(REACH, (REACH, REACH, REACH), (2, 2, 2), ((Place(0, 1), Place(1, 0)), (Place(1, 1), Place(2, 0))), copied([0, 5])),
    ]


def mutual() -> list[Rule]:
    """REACH by an odd number of links, OTHER by an even one."""
    return [
        Rule(REACH, (LINK,), (2,), (), copied([0, 1])),
        Rule(OTHER, (REACH, LINK), (2, 2), ((Place(0, 1), Place(1, 0)),), copied([0, 3])),
        Rule(REACH, (OTHER, LINK), (2, 2), ((Place(0, 1), Place(1, 0)),), copied([0, 3])),
    ]


def on_cycles() -> list[Rule]:
    """REACH as ever; OTHER has the nodes that reach themselves, by a row equal to itself."""
    return [*linear(), Rule(OTHER, (REACH,), (2,), ((Place(0, 0), Place(0, 1)),), copied([0]))]


def closure(links: Links) -> set[Row]:
    found: set[Row] = set(links)
    while True:
        more = {(a, d) for a, b in found for c, d in links if b is not None and b == c} - found
        if not more:
            return found
        found |= more


def by_parity(links: Links) -> tuple[set[Row], set[Row]]:
    odd: set[Row] = set(links)
    even: set[Row] = set()
    while True:
        to_even = {(a, d) for a, b in odd for c, d in links if b is not None and b == c} - even
        to_odd = {(a, d) for a, b in even | to_even for c, d in links if b is not None and b == c} - odd
        if not to_even and not to_odd:
            return odd, even
        even |= to_even
        odd |= to_odd


def expected(make: Callable[[], Sequence[Rule]], links: Links) -> dict[int, set[Row]]:
    if make is mutual:
        return dict(zip((REACH, OTHER), by_parity(links), strict=True))
    found = {REACH: closure(links)}
    return {**found, OTHER: {(a,) for a, b in found[REACH] if a == b and a is not None}} if make is on_cycles else found


NODES = st.one_of(st.integers(0, 4), st.none())
LINKS = st.sets(st.tuples(NODES, NODES), max_size=6)
STEPS = st.lists(st.tuples(LINKS, LINKS), min_size=1, max_size=8)


@pytest.mark.parametrize("make", [linear, non_linear, of_three, mutual, on_cycles])
@given(steps=STEPS)
def test_rows_are_those_of_a_fixpoint_after_each_change(make: Callable[[], Sequence[Rule]], steps: list[tuple[Links, Links]]) -> None:
    levels, links = Levels(make()), set[Row]()
    known: dict[int, set[Row]] = {relation: set() for relation in expected(make, links)}
    for removed, added in steps:
        changed = levels.apply({LINK: RowChanges(removed, added)})
        links = (links - removed) | added
        for relation, rows in expected(make, links).items():
            assert set(levels.rows(relation)) == rows
            assert set(changed[relation].removed) == known[relation] - rows
            assert set(changed[relation].added) == rows - known[relation]
            known[relation] = rows
        fresh = Levels(make())
        fresh.apply({LINK: RowChanges((), links)})
        for relation, rows in known.items():
            # Not only the rows: each at its level, with as many derivations at each level.
            assert {row: levels.support(relation, row) for row in rows} == {row: fresh.support(relation, row) for row in rows}
            assert levels.memory_rows() == fresh.memory_rows()


def _sum(one: object, other: object) -> int | None:
    return one + other if isinstance(one, int) and isinstance(other, int) else None


def paths() -> list[Rule]:
    return [
        Rule(REACH, (LINK,), (3,), (), copied([0, 1, 2])),
        Rule(
            REACH,
            (LINK, REACH),
            (3, 3),
            ((Place(0, 1), Place(1, 0)),),
            lambda bodies: [(body[0], body[4], _sum(body[2], body[5])) for body in bodies],
        ),
    ]


def _best(costs: set[int | None], most: int) -> set[int | None]:
    ordered = sorted(cost for cost in costs if cost is not None)[:most]
    return {*ordered, *({None} if len(ordered) < most and None in costs else set())}


def cheapest(links: Links, most: int) -> set[Row]:
    """Costs of the cheapest walks, the ``most`` least different ones of each pair, by improving until nothing changes."""
    found: dict[tuple[object, object], set[int | None]] = {}
    while True:
        better: dict[tuple[object, object], set[int | None]] = {}
        for a, b, cost in links:
            better.setdefault((a, b), set()).add(cost if isinstance(cost, int) else None)
            for (c, d), costs in found.items():
                if b == c:
                    better.setdefault((a, d), set()).update(_sum(cost, each) for each in costs)
        better = {pair: _best(costs, most) for pair, costs in better.items()}
        if better == found:
            return {(*pair, cost) for pair, costs in found.items() for cost in costs}
        found = better


COSTED = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4), st.one_of(st.integers(0, 4), st.none())), max_size=6)


@pytest.mark.parametrize("most", [1, 2])
@given(steps=st.lists(st.tuples(COSTED, COSTED), min_size=1, max_size=8))
def test_only_the_best_are_followed(most: int, steps: list[tuple[Links, Links]]) -> None:
    levels, links = Levels(paths(), selections={REACH: Selection((0, 1), 2, most=most)}), set[Row]()
    for removed, added in steps:
        levels.apply({LINK: RowChanges(removed, added)})
        links = (links - removed) | added
        assert set(levels.rows(REACH)) == cheapest(links, most)


def _least(one: object, other: object) -> int:
    assert isinstance(one, int)
    assert isinstance(other, int)
    return min(one, other)


def test_the_greatest_of_what_only_shrinks() -> None:
    rules = [
        Rule(REACH, (LINK,), (3,), (), copied([0, 1, 2])),
        Rule(
            REACH,
            (LINK, REACH),
            (3, 3),
            ((Place(0, 1), Place(1, 0)),),
            lambda bodies: [(body[0], body[4], _least(body[2], body[5])) for body in bodies],
        ),
    ]
    levels = Levels(rules, selections={REACH: Selection((0, 1), 2, greatest=True)})
    levels.apply({LINK: RowChanges((), {(1, 2, 5), (2, 3, 4), (1, 3, 3), (3, 1, 9)})})
    assert (1, 3, 4) in levels.rows(REACH)
    levels.apply({LINK: RowChanges({(2, 3, 4)}, ())})
    assert (1, 3, 3) in levels.rows(REACH)
    assert (1, 3, 4) not in levels.rows(REACH)


def test_a_cost_below_zero_is_refused() -> None:
    levels = Levels(paths(), selections={REACH: Selection((0, 1), 2)})
    with pytest.raises(NotOrdered, match="1 follows from 2"):
        levels.apply({LINK: RowChanges((), {(1, 2, -1), (2, 3, 2)})})


def test_what_counts_along_a_cycle_ends_with_an_error() -> None:
    rules = [
        Rule(REACH, (LINK,), (2,), (), lambda bodies: [(body[1], 1) for body in bodies]),
        Rule(
            REACH,
            (LINK, REACH),
            (2, 2),
            ((Place(0, 0), Place(1, 0)),),
            lambda bodies: [(body[1], _sum(body[3], 1)) for body in bodies],
        ),
    ]
    levels = Levels(rules, most_levels=50)
    levels.apply({LINK: RowChanges((), {(1, 2), (2, 3)})})
    with pytest.raises(Endless, match="50 rounds"):
        levels.apply({LINK: RowChanges((), {(3, 1)})})
    levels = Levels(rules, most_rows=20)
    with pytest.raises(Endless, match="20 rows"):
        levels.apply({LINK: RowChanges((), {(1, 2), (2, 1)})})


def test_a_link_that_shortens_nothing_touches_no_row_but_its_own() -> None:
    """Edge case: the distance stays, so that nothing is followed."""
    levels = Levels(linear())
    ring: Links = {(node, (node + 1) % 50) for node in range(50)}
    levels.apply({LINK: RowChanges((), {*ring, (0, 2)})})
    before = levels.touched
    # Row (0, 2) has its level from the link; the way over 1 has the same end at another level.
    levels.apply({LINK: RowChanges((), {(100, 0)})})
    added = levels.touched - before
    levels.apply({LINK: RowChanges({(100, 0)}, ())})
    assert added <= 4 * 51
    before = levels.touched
    levels.apply({LINK: RowChanges((), {(0, 1)})})
    assert levels.touched == before


def test_a_component_that_is_cut_off_is_not_counted_up_to_infinity() -> None:
    levels = Levels(linear())
    inside: Links = {(node, (node + 1) % 30) for node in range(30)}
    levels.apply({LINK: RowChanges((), {*inside, (100, 0)})})
    before = levels.touched
    changed = levels.apply({LINK: RowChanges({(100, 0)}, ())})
    assert len(changed[REACH].removed) == 30
    assert levels.touched - before < 200


@pytest.mark.parametrize("first", [0, 1])
def test_a_column_that_is_equal_to_two_others_is_compared_with_both(first: int) -> None:
    """``link JOIN r ON link.a = r.a AND link.b = r.a``, whichever of the rows comes first."""
    rule = Rule(2, (0, 1), (2, 1), ((Place(0, 0), Place(1, 0)), (Place(0, 1), Place(1, 0))), copied([0, 1]))
    levels = Levels([rule])
    rows: dict[int, set[Row]] = {0: {(1, 2), (3, 3)}, 1: {(1,), (3,)}}
    for relation in (first, 1 - first):
        levels.apply({relation: RowChanges((), rows[relation])})
    assert set(levels.rows(2)) == {(3, 3)}
