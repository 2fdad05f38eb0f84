"""Edges of conditions with nested aggregates, each by itself, and what the aggregate indexes of the paper may follow."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.nested import queries
from benchmarks.nested.queries import MST, PSP, Q17, Q18, SQ1B, VWAP, VWAP_ABOVE
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
from imp_driver.dataflow.nested.selections import SelectionSums
from imp_driver.dataflow.nested.shifted_index import ShiftedIndex
from tests.operators.model import budget
from tests.operators.nested_twin import Tables, multiplied, selected

PREFIX, GENERAL = Strategy.PREFIX_DESCENT, Strategy.GENERAL
SUM, COUNT, AVERAGE = Measure
INDEXES = (Strategy.RPAI_TREE, Strategy.PAI_MAP)


def bid(price: Any, volume: Any, broker: int = 0) -> Row:
    return (0, 0, broker, volume, price)


def put(operator: Maintained, rows: Sequence[Row], relation: str = "bids", weight: int = 1) -> None:
    for row in rows:
        operator.change(relation, row, weight)


def only(operator: Maintained) -> Any:
    [(value,)] = operator.results().values()
    return value


def test_a_sum_of_nothing_is_null_and_lets_no_row_pass() -> None:
    rows = [bid(10, 1), bid(20, 5), bid(30, 5)]
    operator = maintained(VWAP_ABOVE)
    put(operator, rows)
    # Above 30 is nothing, which is NULL; above 20 are 5, which are not below a quarter of 11.
    assert only(operator) is None
    [condition] = VWAP_ABOVE.conditions
    assert isinstance(condition.right, Inner)
    as_zero = replace(VWAP_ABOVE, conditions=(replace(condition, right=replace(condition.right, is_zero_when_empty=True)),))
    operator = maintained(as_zero)
    put(operator, rows)
    assert only(operator) == 30 * 5


@pytest.mark.parametrize("description", [VWAP, VWAP_ABOVE, SQ1B, PSP, Q17])
def test_an_empty_table_has_a_sum_of_null(description: Selection | Product) -> None:
    operator = maintained(description)
    assert operator.results() == {(): (None,)}
    assert operator.changed() == {}


@pytest.mark.parametrize("description", [MST, Q18])
def test_an_empty_table_has_no_groups(description: Selection | Product) -> None:
    assert maintained(description).results() == {}


@pytest.mark.parametrize("strategy", [PREFIX, GENERAL, *INDEXES])
def test_a_threshold_at_a_sum_is_passed_by_whoever_includes_it(strategy: Strategy) -> None:
    [condition] = VWAP.conditions
    for comparison, expected in ((Comparison.LESS, 40), (Comparison.AT_MOST, 70), (Comparison.EQUAL, 30), (Comparison.GREATER, 30)):
        operator = maintained(replace(VWAP, conditions=(replace(condition, comparison=comparison),)), strategy)
        # Volumes up to a price are 1, 2, 3 and 4, and three quarters of all are 3.
        put(operator, [bid(price, 1) for price in (10, 20, 30, 40)])
        assert only(operator) == expected, comparison


def test_negative_volumes_turn_descents_into_masks_until_they_are_gone() -> None:
    operator = SelectionSums(VWAP)
    rows = [bid(10, 4), bid(20, 3), bid(30, 3)]
    put(operator, rows)
    assert only(operator) == 90
    assert (operator.descents > 0, operator.evaluations) == (True, 0)
    put(operator, [bid(20, -5)])
    # Up to 10: 4, up to 20: 2, up to 30: 5; three quarters of 5 are less than 4.
    assert only(operator) == 40 + 90
    assert operator.evaluations == 1
    descents = operator.descents
    put(operator, [bid(20, -5)], weight=-1)
    assert only(operator) == 90
    assert (operator.descents, operator.evaluations) == (descents + 1, 1)


def test_a_negative_row_within_a_price_of_a_positive_sum_is_no_obstacle() -> None:
    operator = SelectionSums(VWAP)
    put(operator, [bid(10, 9), bid(10, -5), bid(20, 1)])
    assert only(operator) == 40 + 20
    assert operator.evaluations == 0


def test_fractions_come_back_to_exactly_nothing() -> None:
    operator = maintained(VWAP)
    rows = [bid(Fraction(price, 3), Fraction(1, price)) for price in range(1, 50)]
    put(operator, rows)
    assert only(operator) == selected(VWAP, {"bids": rows})[()][0]
    put(operator, rows[::-1], weight=-1)
    assert operator.results() == {(): (None,)}


@pytest.mark.parametrize("strategy", [PREFIX, GENERAL, *INDEXES])
def test_null_prices_and_volumes(strategy: Strategy) -> None:
    operator = maintained(VWAP, strategy)
    rows = [bid(None, 50), bid(10, None), bid(10, 20), bid(20, 40), bid(30, None)]
    put(operator, rows)
    # The volume without a price counts in all and passes nowhere; the price without a volume passes with nothing to sum.
    assert operator.results() == selected(VWAP, {"bids": rows}) == {(): (None,)}
    put(operator, [bid(30, 100)])
    assert operator.results() == selected(VWAP, {"bids": [*rows, bid(30, 100)]}) == {(): (3000,)}


def test_a_group_is_there_while_it_has_rows_whatever_they_sum_up_to() -> None:
    description = Selection("t", (queries.second,), group=queries.first)
    operator = maintained(description)
    put(operator, [("a", 5), ("a", -5), ("b", 1)], "t")
    assert operator.results() == {"a": (0,), "b": (1,)}
    put(operator, [("a", 5)], "t", -1)
    put(operator, [("a", -5)], "t", -1)
    assert operator.changed() == {"b": (None, (1,))}
    assert operator.results() == {"b": (1,)}
    put(operator, [("b", None), ("c", None)], "t")
    assert operator.changed() == {"c": (None, (None,))}


@pytest.mark.parametrize("number", [1, 20])
def test_a_batch_may_take_what_it_brings_in_any_order(number: int) -> None:
    operator = maintained(VWAP)
    rows = [bid(price, 1) for price in range(number)]
    operator.apply({"bids": [(row, -1) for row in rows] + [(bid(7, 2), 1)] + [(row, 1) for row in rows]})
    assert only(operator) == 14
    operator.apply({"bids": [(bid(7, 2), -1)], "asks": [(bid(1, 1), 1)]})
    assert only(operator) is None


def test_the_average_of_an_emptied_part_is_null() -> None:
    operator = SelectionSums(Q17)
    lines = [(1, 1, 70), (1, 9, 50), (1, 40, 60), (2, 3, 10)]
    for relation in ("lineitem", "joined"):
        put(operator, lines, relation)
    # The fifth of part 1's average is 10/3, of part 2's 3/5.
    assert only(operator) == 70
    put(operator, lines[:3], "lineitem", -1)
    assert only(operator) is None
    put(operator, lines, "joined", -1)
    put(operator, lines[3:], "lineitem", -1)
    assert only(operator) is None
    assert operator.memory < 1_000


def test_equality_in_two_columns_is_a_partition_by_both() -> None:
    both = lambda row: None if None in row[:2] else row[:2]  # noqa: E731
    inner = Inner("t", SUM, queries.third, partition=both)
    description = Selection("t", (queries.third,), (Condition(Constant(4), Comparison.LESS, inner),), partition=both)
    operator = maintained(description)
    rows = [(1, 1, 3), (1, 1, 2), (1, 2, 4), (None, 1, 9)]
    put(operator, rows, "t")
    assert operator.results() == selected(description, {"t": rows}) == {(): (5,)}


def test_many_brokers_follow_a_boundary_that_jumps() -> None:
    operator = maintained(MST)
    rows = [bid(price, 10, price % 7) for price in range(100)]
    put(operator, rows)
    put(operator, rows, "asks")
    tables: Tables = {"bids": list(rows), "asks": list(rows)}
    assert operator.results() == multiplied(MST, tables)
    heavy = bid(1_000, 100_000, 3)
    put(operator, [heavy])
    assert operator.results() == multiplied(MST, {"bids": [*rows, heavy], "asks": rows}) == {}
    put(operator, [heavy], weight=-1)
    put(operator, [bid(50, 10, 8)])
    assert operator.results() == multiplied(MST, {"bids": [*rows, bid(50, 10, 8)], "asks": rows})


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
UNEQUAL = st.sampled_from([each for each in Comparison if each is not Comparison.EQUAL])
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
    correlation=UNEQUAL,
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


def test_conditions_on_both_sides_of_a_range() -> None:
    """Two conditions: below is more than a quarter, and above is more than a quarter too."""
    total = Inner("bids", SUM, queries.volume, Fraction(1, 4))
    below = Inner("bids", SUM, queries.volume, correlation=Correlation(queries.price, Comparison.LESS))
    above = Inner("bids", SUM, queries.volume, correlation=Correlation(queries.price, Comparison.GREATER))
    description = replace(VWAP, conditions=(Condition(total, Comparison.LESS, below), Condition(above, Comparison.GREATER, total)))
    operator = SelectionSums(description)
    rows = [bid(price, 1) for price in range(1, 9)]
    put(operator, rows)
    assert operator.results() == selected(description, {"bids": rows}) == {(): (4 + 5,)}
    assert operator.evaluations == 0


@pytest.mark.parametrize("strategy", [PREFIX, GENERAL, *INDEXES])
@pytest.mark.parametrize("comparison", [Comparison.AT_MOST, Comparison.GREATER, Comparison.LESS, Comparison.EQUAL])
def test_zero_is_no_sum_of_nothing(strategy: Strategy, comparison: Comparison) -> None:
    below = Inner("bids", SUM, queries.volume, correlation=Correlation(queries.price, Comparison.LESS))
    for limit in (Constant(0), Constant(-1)):
        description = replace(VWAP, conditions=(Condition(limit, comparison, below),))
        operator = maintained(description, strategy)
        rows = [bid(10, 1), bid(20, 1), bid(30, 1)]
        put(operator, rows)
        # Below 10 is nothing.
        assert operator.results() == selected(description, {"bids": rows})
        assert only(operator) == (50 if comparison is Comparison.AT_MOST or (limit.value, comparison) in [(0, "<"), (-1, "<")] else None)


def test_all_groups_or_none_pass_a_condition_of_no_key() -> None:
    total = Inner("bids", SUM, queries.volume)
    condition = Condition(Constant(3), Comparison.LESS, total)
    description = Selection("bids", (queries.volume,), (condition,), key=queries.price, group=queries.broker)
    operator = maintained(description)
    put(operator, [bid(10, 2, 1), bid(20, 2, 2)])
    assert operator.changed() == {1: (None, (2,)), 2: (None, (2,))}
    put(operator, [bid(10, 2, 1)], weight=-1)
    assert operator.changed() == {1: ((2,), None), 2: ((2,), None)}
    put(operator, [bid(30, 4, 2)])
    assert operator.results() == {2: (6,)}


@pytest.mark.parametrize("strategy", [PREFIX, GENERAL])
def test_a_batch_of_rows_that_no_aggregate_reads_is_seen(strategy: Strategy) -> None:
    description = replace(VWAP, conditions=(Condition(KeyMultiple(), Comparison.GREATER, Constant(5)),))
    operator = maintained(description, strategy)
    assert only(operator) is None
    operator.apply({"bids": [(bid(price, 1), 1) for price in range(20)]})
    assert only(operator) == sum(range(6, 20))
    operator.apply({"bids": [(bid(price, 1), -1) for price in range(19)]})
    assert only(operator) == 19


def test_a_partition_whose_aggregate_becomes_null_leaves_the_map() -> None:
    own = Inner("t", SUM, queries.second, partition=queries.first)
    description = Selection(
        "t", (queries.second,), (Condition(Constant(5), Comparison.EQUAL, own),), partition=queries.first, group=queries.first
    )
    operator = maintained(description, Strategy.EQUALITY_MAP)
    put(operator, [(1, 5), (1, None)], "t")
    assert operator.results() == {1: (5,)}
    put(operator, [(1, 5)], "t", -1)
    assert operator.results() == {}
    put(operator, [(1, None)], "t", -1)
    assert operator.memory == 0


@budget(150)
@given(
    steps=STEPS,
    comparison=COMPARISONS,
    correlations=st.tuples(UNEQUAL, UNEQUAL, UNEQUAL),
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


def test_masks_of_products_that_no_int64_holds() -> None:
    [condition] = VWAP.conditions
    assert isinstance(condition.left, Inner)
    assert isinstance(condition.right, Inner)
    sides = (replace(condition.left, factor=Fraction(3_000_000)), replace(condition.right, factor=Fraction(4_000_000)))
    description = replace(VWAP, conditions=(Condition(sides[0], Comparison.LESS, sides[1]),))
    rows = [bid(price, 2**50 + price) for price in range(100)]
    expected = selected(description, {"bids": rows})
    for strategy in (PREFIX, GENERAL):
        operator = maintained(description, strategy)
        operator.apply({"bids": [(row, 1) for row in rows]})
        assert operator.results() == expected
