"""The queries of the RPAI paper, described as the driver's operators follow them.

Rows of ``bids`` and ``asks`` are (t, id, broker, volume, price), of ``r`` (a, b), of ``lineitem`` and of ``joined`` (its rows whose part is
of the brand and container asked for) (part, quantity, price in cents), of ``lines`` (order, quantity). SQ1, SQ1b, SQ2, NQ1 and NQ2 are only
described in the paper: these are readings of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

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


def broker(row: Row) -> Any:
    return row[2]


def volume(row: Row) -> Any:
    return row[3]


def price(row: Row) -> Any:
    return row[4]


def turnover(row: Row) -> Any:
    """Return price times volume."""
    return None if row[3] is None or row[4] is None else row[3] * row[4]


def doubled_price(row: Row) -> Any:
    return None if row[4] is None else 2 * row[4]


def raised_price(row: Row) -> Any:
    return None if row[4] is None else row[4] + 10_000


def first(row: Row) -> Any:
    return row[0]


def second(row: Row) -> Any:
    return row[1]


def third(row: Row) -> Any:
    return row[2]


def first_times_second(row: Row) -> Any:
    return None if row[0] is None or row[1] is None else row[0] * row[1]


LESS, AT_MOST, GREATER, EQUAL = Comparison.LESS, Comparison.AT_MOST, Comparison.GREATER, Comparison.EQUAL


def _volumes(relation: str = "bids", factor: Fraction = Fraction(1), **more: Any) -> Inner:
    return Inner(relation, Measure.SUM, volume, factor, **more)


_THREE_QUARTERS = _volumes(factor=Fraction(3, 4))
_UP_TO = Correlation(price, AT_MOST)
_ABOVE = Correlation(price, GREATER)
_UP_TO_VOLUME = _volumes(correlation=_UP_TO)
_UPPER = Condition(_volumes(factor=Fraction(1, 4)), LESS, _UP_TO_VOLUME)

VWAP = Selection("bids", (turnover,), (Condition(_THREE_QUARTERS, LESS, _UP_TO_VOLUME),), key=price)
"""Volume-weighted price of the last quarter."""
VWAP_ABOVE = Selection("bids", (turnover,), (Condition(_volumes(factor=Fraction(1, 4)), GREATER, _volumes(correlation=_ABOVE)),), key=price)
"""VWAP in the form ``0.25 * total > sum above``: the highest price has nothing above it, and that is NULL."""
SQ1 = Selection("bids", (turnover,), (Condition(_volumes(factor=Fraction(3, 4), correlation=_ABOVE), LESS, _UP_TO_VOLUME),), key=price)
SQ1B = Selection(
    "bids", (turnover,), (Condition(_volumes(factor=Fraction(3, 4), partition=broker), LESS, _UP_TO_VOLUME),), key=price, partition=broker
)
SQ2 = Selection(
    "bids",
    (turnover,),
    (Condition(_THREE_QUARTERS, LESS, _volumes(correlation=Correlation(doubled_price, AT_MOST))),),
    key=raised_price,
)
NQ1 = Selection("bids", (turnover,), (Condition(_THREE_QUARTERS, LESS, _volumes(correlation=_UP_TO, within=_UPPER)),), key=price)
_UPPER_OF_OUTERMOST = Condition(
    _volumes(factor=Fraction(1, 4), correlation=Correlation(price, AT_MOST, is_outermost=True)), LESS, _UP_TO_VOLUME
)
NQ2 = Selection(
    "bids", (turnover,), (Condition(_THREE_QUARTERS, LESS, _volumes(correlation=_UP_TO, within=_UPPER_OF_OUTERMOST)),), key=price
)
EQ = Selection(
    "r",
    (first_times_second,),
    (Condition(Inner("r", Measure.SUM, second, Fraction(1, 2)), EQUAL, Inner("r", Measure.SUM, second, partition=first)),),
    partition=first,
)
"""Example 2.1."""


def _side_of_mst(relation: str, group: Any = None) -> Selection:
    condition = Condition(_volumes(relation, Fraction(1, 4)), GREATER, _volumes(relation, correlation=_ABOVE))
    return Selection(relation, (turnover,), (condition,), key=price, group=group)


def _side_of_psp(relation: str) -> Selection:
    condition = Condition(KeyMultiple(), GREATER, _volumes(relation, Fraction(1, 10_000)))
    return Selection(relation, (price,), (condition,), key=volume)


_DIFFERENCE = (Term(1, (0, None)), Term(-1, (None, 0)))
MST = Product((_side_of_mst("asks"), _side_of_mst("bids", broker)), _DIFFERENCE)
PSP = Product((_side_of_psp("asks"), _side_of_psp("bids")), _DIFFERENCE)
Q17 = Selection(
    "joined",
    (third,),
    (Condition(KeyMultiple(), LESS, Inner("lineitem", Measure.AVERAGE, second, Fraction(1, 5), partition=first)),),
    key=second,
    partition=first,
)
"""Without the division by 7.0, which is the caller's."""
Q18 = Selection(
    "lines",
    (second,),
    (Condition(Constant(300), LESS, Inner("lines", Measure.SUM, second, partition=first)),),
    partition=first,
    group=first,
)

QUERIES: Mapping[str, Selection | Product] = {
    "VWAP": VWAP,
    "MST": MST,
    "PSP": PSP,
    "SQ1": SQ1,
    "SQ1b": SQ1B,
    "SQ2": SQ2,
    "NQ1": NQ1,
    "NQ2": NQ2,
    "EQ": EQ,
    "Q17": Q17,
    "Q18": Q18,
}
INDEXED = (Strategy.RPAI_TREE, Strategy.PAI_MAP)
"""Ways that only VWAP has, being one condition by its own key."""
