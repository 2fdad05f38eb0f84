"""All forms of descriptions that one way of following takes, by any comparison, and what the indexes of the paper must not follow."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.nested import queries
from benchmarks.nested.queries import MST, PSP, VWAP
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
    Term,
)
from imp_driver.dataflow.nested.maintained import Maintained, best, maintained
from imp_driver.dataflow.nested.pai_map import PaiMap
from imp_driver.dataflow.nested.shifted_index import ShiftedIndex
from tests.operators.model import budget
from tests.operators.nested_twin import multiplied, selected

PREFIX = Strategy.PREFIX_DESCENT
SUM, COUNT = Measure.SUM, Measure.COUNT
INDEXES = (Strategy.RPAI_TREE, Strategy.PAI_MAP)


def bid(price: Any, volume: Any, broker: int = 0) -> Row:
    return (0, 0, broker, volume, price)


def only(operator: Maintained) -> Any:
    [(value,)] = operator.results().values()
    return value


VOLUMES = tuple(range(1, 16))


class KeyIndexed:
    """The sum of prices above a volume as the paper's figure 2c writes it: levels are told apart by their aggregates alone."""

    def __init__(self) -> None:
        self.index, self.volumes, self.whole = PaiMap(), dict[int, int](), 0

    def change(self, row: Row, weight: int) -> None:
        price, volume = row[4], row[3] * weight
        below = sum(each for other, each in self.volumes.items() if other <= price)
        self.index.shift_keys(below - self.volumes.get(price, 0), volume)
        self.volumes[price] = self.volumes.get(price, 0) + volume
        self.whole += volume
        self.index.add(below + volume, price * weight)

    def result(self) -> int:
        return sum(value for key, value in self.index.items() if 4 * key > 3 * self.whole)


@pytest.mark.parametrize("strategy", [PREFIX, *INDEXES])
@pytest.mark.parametrize("least", [0, 1])
def test_levels_of_one_aggregate_are_told_apart(strategy: Strategy, least: int) -> None:
    """Where a volume is 0 two prices have one aggregate: the index by aggregates alone goes wrong, and is not what is used then."""
    chance, wrong = random.Random(3), 0
    naive, operator, rows = KeyIndexed(), maintained(replace(VWAP, values=(queries.price,)), strategy), list[Row]()
    for _ in range(1_500):
        weight = -1 if rows and chance.random() < 0.48 else 1
        row = rows.pop(chance.randrange(len(rows))) if weight < 0 else bid(chance.randrange(1, 12), chance.choice((least, *VOLUMES)))
        if weight > 0:
            rows.append(row)
        naive.change(row, weight)
        operator.change("bids", row, weight)
        whole = sum(each[3] for each in rows)
        passing = [each for each in rows if 4 * sum(other[3] for other in rows if other[4] <= each[4]) > 3 * whole]
        assert only(operator) == (sum(each[4] for each in passing) if passing else None)
        wrong += naive.result() != (only(operator) or 0)
    assert (wrong > 0) is (least == 0)
    if isinstance(operator, ShiftedIndex):
        assert (operator.rebuilt > 0) is (least == 0)


VALUES = st.one_of(st.integers(0, 3), st.integers(1, 4), st.none())
STEPS = st.lists(st.tuples(st.tuples(VALUES, VALUES, st.integers(0, 2)), st.integers(0, 3)), max_size=16)
COMPARISONS = st.sampled_from(list(Comparison))
ORDERED = st.sampled_from([each for each in Comparison if each not in (Comparison.EQUAL, Comparison.UNEQUAL)])
FACTORS = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(-2)])


def followed(operator: Maintained, description: Selection, steps: list[tuple[Row, int]]) -> None:
    rows: list[Row] = []
    told = operator.results()
    for row, fate in steps:
        if rows and not fate:
            operator.change("t", rows.pop(0), -1)
        else:
            rows.append(row)
            operator.change("t", row, 1)
        expected = selected(description, {"t": rows})
        assert operator.results() == expected
        groups = {group: (told.get(group), expected.get(group)) for group in {**told, **expected}}
        assert operator.changed() == {group: change for group, change in groups.items() if change[0] != change[1]}
        told = expected


@pytest.mark.parametrize("strategy", INDEXES)
@budget(60)
@given(
    steps=STEPS,
    correlation=ORDERED,
    comparison=COMPARISONS,
    measure=st.sampled_from([SUM, COUNT]),
    factor=FACTORS,
    limit=st.sampled_from([Constant(2), Constant(-1), Constant(0), Constant(None), Inner("t", SUM, queries.second, Fraction(1, 2))]),
    is_zero=st.booleans(),
)
def test_aggregate_indexes_by_any_comparison(
    strategy: Strategy,
    steps: list[tuple[Row, int]],
    correlation: Comparison,
    comparison: Comparison,
    measure: Measure,
    factor: Fraction,
    limit: Constant | Inner,
    is_zero: bool,
) -> None:
    inner = Inner("t", measure, queries.second, factor, Correlation(queries.first, correlation), is_zero_when_empty=is_zero)
    description = Selection("t", (queries.second, queries.third), (Condition(limit, comparison, inner),), key=queries.first)
    followed(maintained(description, strategy), description, steps)
    followed(
        maintained(replace(description, conditions=(Condition(inner, comparison, limit),)), PREFIX),
        replace(description, conditions=(Condition(inner, comparison, limit),)),
        steps,
    )


@budget(100)
@given(
    steps=STEPS,
    comparison=COMPARISONS,
    measure=st.sampled_from(list(Measure)),
    factor=FACTORS,
    shared=st.sampled_from([Constant(2), Constant(None), Inner("t", SUM, queries.second, Fraction(1, 2)), Inner("t", COUNT)]),
    group=st.sampled_from([None, queries.third]),
    is_zero=st.booleans(),
    is_turned=st.booleans(),
)
def test_equality_maps_by_any_comparison(
    steps: list[tuple[Row, int]],
    comparison: Comparison,
    measure: Measure,
    factor: Fraction,
    shared: Constant | Inner,
    group: Any,
    is_zero: bool,
    is_turned: bool,
) -> None:
    own = Inner("t", measure, queries.second, factor, partition=queries.first, is_zero_when_empty=is_zero)
    condition = Condition(own, comparison, shared) if is_turned else Condition(shared, comparison, own)
    description = Selection("t", (queries.second,), (condition,), partition=queries.first, group=group)
    followed(maintained(description, Strategy.EQUALITY_MAP), description, steps)
    assert best(description) is (PREFIX if isinstance(shared, Constant) else Strategy.EQUALITY_MAP)


@budget(60)
@given(steps=STEPS, grouped=st.sampled_from([None, 0, 1]), coefficients=st.lists(st.integers(-2, 2), min_size=3, max_size=3))
def test_products_of_several_values(steps: list[tuple[Row, int]], grouped: int | None, coefficients: list[int]) -> None:
    condition = Condition(Inner("t", SUM, queries.second, Fraction(1, 4)), Comparison.LESS, KeyMultiple())
    sides = [
        Selection("t", (queries.first, queries.second), (condition,), key=queries.second),
        Selection("u", (queries.second,), key=queries.first),
    ]
    if grouped is not None:
        sides[grouped] = replace(sides[grouped], group=queries.third)
    terms = tuple(map(Term, coefficients, ((0, 0), (None, 0), (1, None))))
    description = Product(tuple(sides), terms)
    operator, tables = maintained(description), {"t": list[Row](), "u": list[Row]()}
    for place, (row, fate) in enumerate(steps):
        relation = "tu"[place % 2]
        rows = tables[relation]
        if rows and not fate:
            operator.apply({relation: [(rows.pop(0), -1)]})
        else:
            rows.append(row)
            operator.apply({relation: [(row, 1)]})
        assert operator.results() == multiplied(description, tables)


def correlated(**more: Any) -> Inner:
    return Inner("t", SUM, queries.second, correlation=Correlation(queries.first, Comparison.AT_MOST), **more)


def selection(*sides: Any, **more: Any) -> Selection:
    return Selection("t", (queries.second,), (Condition(sides[0], Comparison.LESS, sides[1]),), **{"key": queries.first, **more})


EQUALS = replace(correlated(), correlation=Correlation(queries.first, Comparison.EQUAL))
OUTERMOST = replace(correlated(), correlation=Correlation(queries.first, Comparison.LESS, is_outermost=True))
DEEP = correlated(within=Condition(Constant(1), Comparison.LESS, correlated(within=Condition(Constant(1), Comparison.LESS, correlated()))))
NOT_CORRELATED = Inner("t", SUM, queries.second, within=Condition(Constant(1), Comparison.LESS, Constant(2)))


@pytest.mark.parametrize(
    ("description", "strategy", "message"),
    [
        (selection(Constant(1), correlated(), key=None), None, "has none"),
        (selection(Constant(1), Inner("t", COUNT, partition=queries.first)), None, "has none"),
        (selection(Constant(1), EQUALS), None, "has a partition"),
        (selection(Constant(1), OUTERMOST), None, "outermost ones here"),
        (selection(Constant(1), DEEP), None, "not followed"),
        (selection(Constant(1), NOT_CORRELATED), None, "needs a correlation"),
        (selection(Constant(1), correlated()), Strategy.EQUALITY_MAP, "by equality"),
        (selection(Constant(1), Inner("t", COUNT)), Strategy.EQUALITY_MAP, "that they share"),
        (selection(Constant(1), KeyMultiple()), Strategy.RPAI_TREE, "follows one condition"),
        (selection(Constant(1), correlated(), key=queries.third), Strategy.PAI_MAP, "own key"),
        (replace(VWAP, conditions=()), Strategy.PAI_MAP, "follows one condition"),
        (PSP, Strategy.RPAI_TREE, "a product"),
        (replace(PSP, sides=(PSP.sides[0], replace(PSP.sides[1], values=()))), None, "has a value"),
        (replace(PSP, terms=(Term(1, (None, None)),)), None, "takes of each side"),
        (replace(MST, sides=(MST.sides[1], MST.sides[1])), None, "one of its sides"),
    ],
)
def test_what_cannot_be_followed_says_why(description: Selection | Product, strategy: Strategy | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        maintained(description, strategy)


@budget(150)
@given(
    steps=STEPS,
    comparison=COMPARISONS,
    correlations=st.tuples(ORDERED, ORDERED, ORDERED),
    is_turned=st.booleans(),
    factor=st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(-1)]),
    least=st.sampled_from([0, 0, -1]),
)
def test_conditions_within_that_the_outermost_row_decides(
    steps: list[tuple[Row, int]],
    comparison: Comparison,
    correlations: tuple[Comparison, Comparison, Comparison],
    is_turned: bool,
    factor: Fraction,
    least: int,
) -> None:
    first, second, third = (Correlation(queries.first, each) for each in correlations)
    volume = Inner("t", SUM, queries.second)
    of_outermost = replace(volume, factor=factor, correlation=replace(second, is_outermost=True))
    of_own = replace(volume, correlation=third)
    within = Condition(of_own, comparison, of_outermost) if is_turned else Condition(of_outermost, comparison, of_own)
    condition = Condition(replace(volume, factor=Fraction(1, 2)), Comparison.LESS, replace(volume, correlation=first, within=within))
    description = Selection("t", (queries.second,), (condition,), key=queries.first)
    lowered = [((row[0], None if row[1] is None else row[1] + least, row[2]), fate) for row, fate in steps]
    followed(maintained(description), description, lowered)
