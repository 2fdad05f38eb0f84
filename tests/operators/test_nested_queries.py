"""Selections with nested aggregates on random streams: each is what its text says, in every way that it can be followed.

Two checks after each change: against twins that read every row for every row (``nested_twin.py``), and against the same operator loaded
with the current rows at once, by vectors. Rows come and go one at a time and in batches, with NULL, zero and negative volumes, duplicates.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.nested import recompute
from benchmarks.nested.queries import INDEXED, QUERIES
from imp_driver.dataflow.nested.description import (
    Comparison,
    Condition,
    Constant,
    Correlation,
    Inner,
    KeyMultiple,
    Measure,
    Product,
    Row,
    Selection,
    Strategy,
)
from imp_driver.dataflow.nested.maintained import Maintained, best, maintained
from imp_driver.dataflow.nested.selections import SelectionSums
from imp_driver.dataflow.nested.told import Change, Results
from tests.operators import nested_twin
from tests.operators.model import budget

Tables: TypeAlias = dict[str, list[Row]]

RELATIONS: Mapping[str, tuple[str, ...]] = {
    "EQ": ("r",),
    "Q17": ("lineitem", "joined"),
    "Q18": ("lines",),
    "MST": ("bids", "asks"),
    "PSP": ("bids", "asks"),
}
ALL = ("bids", "asks", "r", "lineitem", "joined", "lines")


def drawn(chance: random.Random, relation: str, nulls: float, least: int) -> Row:
    def value(low: int, high: int, step: int = 1) -> int | None:
        return None if chance.random() < nulls else step * chance.randrange(low, high)

    match relation:
        case "bids" | "asks":
            # So far apart that SQ2's 10,000 are some prices.
            return (0, 0, chance.randrange(2), value(least, 6), value(0, 7, 2_500))
        case "r":
            return (value(0, 3), value(least, 4))
        case "lines":
            return (value(0, 3), value(0, 200))
        case _:
            return (value(0, 3), value(least, 12), value(0, 9))


def batch(chance: random.Random, tables: Tables, relations: tuple[str, ...], nulls: float, least: int) -> dict[str, list[tuple[Row, int]]]:
    """Draw changes and follow them in the tables."""
    found: dict[str, list[tuple[Row, int]]] = {}
    for _ in range(chance.choice([0, 1, 1, 1, 3, 15])):
        relation = chance.choice(relations)
        rows = tables[relation]
        if rows and chance.random() < 0.5:
            signed = (rows.pop(chance.randrange(len(rows))), -1)
        else:
            rows.append(drawn(chance, relation, nulls, least))
            signed = (rows[-1], 1)
        found.setdefault(relation, []).append(signed)
    return found


def ways(name: str) -> list[Strategy | None]:
    more = {"VWAP": INDEXED, "EQ": (Strategy.PREFIX_DESCENT,)}.get(name, ())
    return [None, Strategy.GENERAL, *more]


def follow(operator: Maintained, changes: Mapping[str, list[tuple[Row, int]]], *, is_whole: bool) -> None:
    if is_whole:
        operator.apply(changes)
        return
    for relation, rows in changes.items():
        for row, weight in rows:
            operator.change(relation, row, weight)


def differences(old: Results, new: Results) -> dict[Any, Change]:
    return {group: (old.get(group), new.get(group)) for group in old | new if old.get(group) != new.get(group)}


def loaded(description: Selection | Product, tables: Tables, strategy: Strategy | None) -> dict[Any, tuple[Any, ...]]:
    operator = maintained(description, strategy)
    operator.apply({relation: [(row, 1) for row in rows] for relation, rows in tables.items()})
    return operator.results()


@pytest.mark.parametrize("name", QUERIES)
@budget(15)
@given(seed=st.integers(0, 2**32), nulls=st.sampled_from([0, 0, 0.15]), least=st.sampled_from([1, 0, 0, -2]))
def test_results_are_those_of_the_text_after_each_change(name: str, seed: int, nulls: float, least: int) -> None:
    chance, description = random.Random(seed), QUERIES[name]
    operators = {way: maintained(description, way) for way in ways(name)}
    tables: Tables = {relation: [] for relation in ALL}
    told = nested_twin.WRITTEN_OUT[name](tables)
    for step in range(14):
        changes = batch(chance, tables, RELATIONS.get(name, ("bids",)), nulls, least)
        expected = nested_twin.WRITTEN_OUT[name](tables)
        if isinstance(description, Product):
            assert nested_twin.multiplied(description, tables) == expected
        else:
            assert nested_twin.selected(description, tables) == expected
        for way, operator in operators.items():
            follow(operator, changes, is_whole=step % 2 == 1)
            assert operator.results() == expected, way
            assert operator.changed() == differences(told, expected), way
        told = expected
        assert loaded(description, tables, chance.choice(ways(name))) == expected
        if not nulls and least > 0:
            assert recompute.RECOMPUTED[name](tables) == expected


FACTORS = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(2), Fraction(-1), Fraction(0)])
COMPARISONS = st.sampled_from(list(Comparison))
ORDERED = st.sampled_from([each for each in Comparison if each not in (Comparison.EQUAL, Comparison.UNEQUAL)])


def first(row: Row) -> Any:
    return row[0]


def second(row: Row) -> Any:
    return row[1]


def third(row: Row) -> Any:
    return row[2]


def correlations(draw: st.DrawFn) -> Correlation:
    return Correlation(draw(st.sampled_from([first, second])), draw(ORDERED))


@st.composite
def inners(draw: st.DrawFn, is_within: bool = False, has_partition: bool = True) -> Inner:
    """Any inner aggregate over rows of three columns, of the relation of the outer rows or another one."""
    correlation = correlations(draw) if draw(st.booleans()) else None
    within = None
    if correlation is not None and not is_within and draw(st.integers(0, 3)) == 0:
        sides = draw(st.tuples(sides_within(), sides_within()))
        within = Condition(sides[0], draw(COMPARISONS), sides[1])
    return Inner(
        draw(st.sampled_from(["t", "t", "u"])),
        draw(st.sampled_from(list(Measure))),
        draw(st.sampled_from([second, third])),
        draw(FACTORS),
        correlation,
        partition=third if has_partition and draw(st.integers(0, 3)) == 0 else None,
        within=within,
        is_zero_when_empty=draw(st.booleans()),
    )


@st.composite
def sides_within(draw: st.DrawFn) -> Constant | KeyMultiple | Inner:
    side = draw(sides(is_within=True))
    if isinstance(side, Inner) and side.correlation is not None and draw(st.booleans()):
        return replace(side, correlation=replace(side.correlation, is_outermost=True))
    return side


@st.composite
def sides(draw: st.DrawFn, is_within: bool = False) -> Constant | KeyMultiple | Inner:
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return Constant(draw(st.sampled_from([None, 0, 1, 5, Fraction(7, 2)])))
    if kind == 1:
        return KeyMultiple(draw(FACTORS))
    return draw(inners(is_within=is_within))


@st.composite
def selections(draw: st.DrawFn) -> Selection:
    number = draw(st.integers(0, 2))
    conditions = tuple(Condition(draw(sides()), draw(COMPARISONS), draw(sides())) for _ in range(number))
    group = third if draw(st.booleans()) else None
    return Selection("t", (second, third), conditions, draw(st.sampled_from([first, second])), third, group)


VALUES = st.one_of(st.integers(-1, 4), st.integers(0, 4), st.none())
ROWS = st.tuples(st.sampled_from(["t", "t", "u"]), st.tuples(VALUES, VALUES, VALUES), st.integers(0, 5))
"""A relation, a row, and what becomes of it: at 0 one that is there goes instead."""


@budget(150)
@given(selection=selections(), rows=st.lists(ROWS, min_size=1, max_size=14), is_general=st.booleans())
def test_any_selection_is_what_its_description_says(selection: Selection, rows: list[tuple[str, Row, int]], is_general: bool) -> None:
    operator = SelectionSums(selection, Strategy.GENERAL if is_general else best(selection))
    tables: Tables = {"t": [], "u": []}
    for relation, row, fate in rows:
        there = tables[relation]
        if there and not fate:
            operator.change(relation, there.pop(0), -1)
        else:
            there.append(row)
            operator.change(relation, row, 1)
        assert operator.results() == nested_twin.selected(selection, tables)
    assert loaded(selection, tables, Strategy.GENERAL) == operator.results()
