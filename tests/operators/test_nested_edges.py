"""Edges of conditions with nested aggregates, each by itself, and what the aggregate indexes of the paper may follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

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
)
from imp_driver.dataflow.nested.maintained import Maintained, maintained
from imp_driver.dataflow.nested.selections import SelectionSums
from tests.operators.nested_twin import Tables, multiplied, selected

PREFIX, GENERAL = Strategy.PREFIX_DESCENT, Strategy.GENERAL
SUM = Measure.SUM
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
