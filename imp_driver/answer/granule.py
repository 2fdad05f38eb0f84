"""Years, quarters, months and weeks in the place of dates: what can be said of a date by the first day of its granule alone.

A granule's first day never comes after the date, and keeps the order of dates. So for the first day ``e`` of any granule, ``d >= e`` says
the same as ``trunc(d) >= e``, and ``d < e`` the same as ``trunc(d) < e``; ``d > c`` is ``d >= c + 1`` and ``d <= c`` is ``d < c + 1``. A
bound within a granule cuts it, and says nothing of its first day (StarRocks issue 75150 has the wrong rows that follow otherwise).
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.dates import date_of_text, truncated
from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.values.expressions import (
    MIRRORED,
    Column,
    Comparison,
    Constant,
    DatePart,
    Expression,
    Function,
    IsNull,
    parts_of,
    with_parts,
)

_NESTING: Mapping[str, frozenset[str]] = {
    "year": frozenset({"year"}),
    "quarter": frozenset({"year", "quarter"}),
    "month": frozenset({"year", "quarter", "month"}),
    "week": frozenset({"week", "weekofyear"}),
}
"""Of each granule: the granules that it lies in, and the parts of a date that all its dates share. A week may lie in two years."""
CHAIN = ("year", "quarter", "month", "day")
"""Granules that lie in each other, the coarsest first; the last is the date itself."""
_ONE_ROW = pa.table({"": [True]})


@dataclass(frozen=True, slots=True)
class Granule:
    """``key`` has the first day of the granule of a date; ``unit`` is year, quarter, month or week."""

    unit: str
    key: Column


def granule_key(key: Expression) -> tuple[str, str] | None:
    """Return column and unit of a key that is the granule of a date."""
    match key:
        case Function("trunc", (Column(name),), (str(unit),)) if unit in _NESTING:
            return name, unit
        case _:
            return None


def over_granules(expression: Expression, granules: Mapping[str, Sequence[Granule]]) -> Expression | None:
    """Return an expression that says the same of granules, None where it says more of a date than its granule does.

    Args:
        granules: by columns of dates, which stand nowhere in what is returned.
    """
    found = next(_rewritten(expression, granules), None)
    if found is not None:
        return found
    if isinstance(expression, Column) and expression.name in granules:
        return None
    parts = [over_granules(part, granules) for part in parts_of(expression)]
    known = [part for part in parts if part is not None]
    return with_parts(expression, known) if len(known) == len(parts) else None


def _rewritten(expression: Expression, granules: Mapping[str, Sequence[Granule]]) -> Iterator[Expression]:
    """Yield what a node right above a date says of each of its granules that tells it."""
    match expression:
        case Comparison(operator, Column(name), bound) if name in granules:
            yield from _compared(operator, granules[name], bound)
        case Comparison(operator, bound, Column(name)) if name in granules:
            yield from _compared(MIRRORED.get(operator, ""), granules[name], bound)
        case IsNull(Column(name)) if name in granules:
            yield IsNull(granules[name][0].key)
        case DatePart(part, Column(name)) if name in granules:
            yield from (DatePart(part, each.key) for each in granules[name] if part in _NESTING[each.unit])
        case Function("trunc", (Column(name),), (str(unit),)) if name in granules:
            yield from (Function("trunc", (each.key,), (unit,)) for each in granules[name] if unit in _NESTING[each.unit])
        case Function("last_day", (Column(name),), ()) if name in granules:
            yield from (Function("last_day", (each.key,)) for each in granules[name] if each.unit == "month")


def _compared(operator: str, granules: Sequence[Granule], bound: Expression) -> Iterator[Expression]:
    day = _day(bound)
    if day is None or operator not in MIRRORED:
        return
    if operator in (">", "<="):
        if day == datetime.date.max:
            return
        operator, day = {">": ">=", "<=": "<"}[operator], day + datetime.timedelta(days=1)
    yield from (Comparison(operator, each.key, Constant(day)) for each in granules if _is_first(day, each.unit))


def _day(bound: Expression) -> datetime.date | None:
    """Return the date that a bound without columns is."""
    try:
        value = computed(_ONE_ROW, bound)[0].as_py()
    except NotEvaluable:
        return None
    if isinstance(value, str):
        return date_of_text(value)
    return value if type(value) is datetime.date else None


def _is_first(day: datetime.date, unit: str) -> bool:
    return bool(truncated(pa.array([day]), unit)[0].as_py() == day)


def grain(condition: Expression, column: str) -> int:
    """Return the place in ``CHAIN`` of the coarsest granule of a column's dates that a condition leaves whole."""

    def is_whole(unit: str) -> bool:
        return over_granules(condition, {column: (Granule(unit, Column(unit)),)}) is not None

    return next((place for place, unit in enumerate(CHAIN[:-1]) if is_whole(unit)), len(CHAIN) - 1)
