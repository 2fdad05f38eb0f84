"""Selections with nested aggregates, the slow way: for each row every condition, for each condition every row (as SQL says what they mean).

``selected`` reads any description; the others are the queries of the paper, each written out by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from imp_driver.dataflow.nested.description import (
    Comparison,
    Condition,
    Constant,
    Inner,
    KeyMultiple,
    Measure,
    Product,
    Row,
    Selection,
    Side,
)

Tables: TypeAlias = Mapping[str, Sequence[Row]]
Results: TypeAlias = dict[Any, tuple[Any, ...]]


def total(values: Sequence[Any]) -> Any:
    """SUM: of those that are not NULL, NULL where there is none."""
    present = [value for value in values if value is not None]
    return sum(present) if present else None


def compares(one: Any, comparison: Comparison, other: Any) -> bool:
    return one is not None and other is not None and bool(comparison.holds(one, other))


def selected(selection: Selection, tables: Tables) -> Results:
    groups: dict[Any, list[Row]] = {} if selection.group else {(): []}
    for row in tables.get(selection.relation, ()):
        if all(_holds(condition, selection, tables, row, None) for condition in selection.conditions):
            groups.setdefault(selection.group(row) if selection.group else (), []).append(row)
    return {key: tuple(total([value(row) for row in rows]) for value in selection.values) for key, rows in groups.items()}


def multiplied(product: Product, tables: Tables) -> Results:
    """All combinations of rows, one by one; of two sides."""
    groups: dict[Any, list[Any]] = {}
    first, second = product.sides
    passing = [
        [row for row in tables.get(side.relation, ()) if all(_holds(each, side, tables, row, None) for each in side.conditions)]
        for side in product.sides
    ]
    if first.group is None and second.group is None:
        groups[()] = []
    for one in passing[0]:
        for two in passing[1]:
            key = first.group(one) if first.group else second.group(two) if second.group else ()
            groups.setdefault(key, []).append(_of_pair(product, (one, two)))
    return {key: (total(values),) for key, values in groups.items()}


def _of_pair(product: Product, rows: tuple[Row, Row]) -> Any:
    found: Any = 0
    for side, row in zip(product.sides, rows, strict=True):
        if any(value(row) is None for value in side.values):
            return None
    for term in product.terms:
        part: Any = term.coefficient
        for side, row, place in zip(product.sides, rows, term.values, strict=True):
            part *= 1 if place is None else side.values[place](row)
        found += part
    return found


def _holds(condition: Condition, selection: Selection, tables: Tables, row: Row, inner: tuple[Any, Any] | None) -> bool:
    one, other = (_value(side, selection, tables, row, inner) for side in (condition.left, condition.right))
    return compares(one, condition.comparison, other)


def _value(side: Side, selection: Selection, tables: Tables, row: Row, around: tuple[Any, Any] | None) -> Any:
    """``around`` is the key of the row around, in a list of one, where that is not the outermost one."""
    outermost = selection.key(row) if selection.key else None
    key = outermost if around is None else around[0]
    if isinstance(side, Constant):
        return side.value
    if isinstance(side, KeyMultiple):
        return None if key is None else side.factor * key
    rows = []
    for each in tables.get(side.relation, ()):
        if side.partition is not None:
            assert selection.partition is not None
            if not compares(side.partition(each), Comparison.EQUAL, selection.partition(row)):
                continue
        if side.correlation is not None:
            against = outermost if side.correlation.is_outermost else key
            if not compares(side.correlation.value(each), side.correlation.comparison, against):
                continue
            if side.within is not None and not _holds(side.within, selection, tables, row, (side.correlation.value(each), None)):
                continue
        rows.append(each)
    return _aggregated(side, rows)


def _aggregated(inner: Inner, rows: Sequence[Row]) -> Any:
    if inner.argument is None:
        return inner.factor * len(rows)
    present = [value for value in map(inner.argument, rows) if value is not None]
    if inner.measure is Measure.COUNT:
        return inner.factor * len(present)
    if not present:
        return 0 if inner.is_zero_when_empty else None
    return inner.factor * (sum(present) if inner.measure is Measure.SUM else Fraction(sum(present)) / len(present))


Book: TypeAlias = Sequence[tuple[Any, ...]]
Pairs: TypeAlias = Callable[[tuple[Any, ...], tuple[Any, ...]], bool]
"""Says of an inner and an outer row whether the inner one counts."""


def volumes(rows: Book) -> Any:
    return total([row[3] for row in rows])


def counted(rows: Book, outer: tuple[Any, ...], keep: Pairs) -> Any:
    """Sum the volumes of the rows that count for an outer one."""
    return total([row[3] for row in rows if keep(row, outer)])


def is_up_to(inner: tuple[Any, ...], outer: tuple[Any, ...]) -> bool:
    return compares(inner[4], Comparison.AT_MOST, outer[4])


def is_above(inner: tuple[Any, ...], outer: tuple[Any, ...]) -> bool:
    return compares(inner[4], Comparison.GREATER, outer[4])


def times(factor: Fraction, value: Any) -> Any:
    return None if value is None else factor * value


def less(one: Any, other: Any) -> bool:
    return compares(one, Comparison.LESS, other)


def turnovers(rows: Book) -> Results:
    return {(): (total([None if row[3] is None or row[4] is None else row[3] * row[4] for row in rows]),)}


Q, H = Fraction(1, 4), Fraction(3, 4)


def vwap(tables: Tables) -> Results:
    bids = tables["bids"]
    return turnovers([b for b in bids if less(times(H, volumes(bids)), counted(bids, b, is_up_to))])


def sq1(tables: Tables) -> Results:
    bids = tables["bids"]
    return turnovers([b for b in bids if less(times(H, counted(bids, b, is_above)), counted(bids, b, is_up_to))])


def sq1b(tables: Tables) -> Results:
    bids = tables["bids"]

    def is_of_broker(b1: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        return bool(b1[2] == b[2])

    return turnovers([b for b in bids if less(times(H, counted(bids, b, is_of_broker)), counted(bids, b, is_up_to))])


def sq2(tables: Tables) -> Results:
    bids = tables["bids"]

    def is_below(b2: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        return b2[4] is not None and b[4] is not None and 2 * b2[4] <= b[4] + 10_000

    return turnovers([b for b in bids if less(times(H, volumes(bids)), counted(bids, b, is_below))])


def nq1(tables: Tables) -> Results:
    bids = tables["bids"]

    def counts(b2: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        return is_up_to(b2, b) and less(times(Q, volumes(bids)), counted(bids, b2, is_up_to))

    return turnovers([b for b in bids if less(times(H, volumes(bids)), counted(bids, b, counts))])


def nq2(tables: Tables) -> Results:
    bids = tables["bids"]

    def counts(b2: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        return is_up_to(b2, b) and less(times(Q, counted(bids, b, is_up_to)), counted(bids, b2, is_up_to))

    return turnovers([b for b in bids if less(times(H, volumes(bids)), counted(bids, b, counts))])


def eq(tables: Tables) -> Results:
    r = tables["r"]
    found = []
    for a, b in r:
        own = total([other for key, other in r if key is not None and key == a])
        if compares(times(Fraction(1, 2), total([each for _, each in r])), Comparison.EQUAL, own):
            found.append(None if a is None or b is None else a * b)
    return {(): (total(found),)}


def mst(tables: Tables) -> Results:
    asks, bids = tables["asks"], tables["bids"]

    def upper(rows: Book) -> list[tuple[Any, ...]]:
        return [a for a in rows if less(counted(rows, a, is_above), times(Q, volumes(rows)))]

    found: dict[Any, list[Any]] = {}
    for a in upper(asks):
        for b in upper(bids):
            values = (a[3], a[4], b[3], b[4])
            found.setdefault(b[2], []).append(None if None in values else a[4] * a[3] - b[4] * b[3])
    return {key: (total(values),) for key, values in found.items()}


def psp(tables: Tables) -> Results:
    def large(rows: Book) -> list[tuple[Any, ...]]:
        return [a for a in rows if less(times(Fraction(1, 10_000), volumes(rows)), a[3])]

    pairs = [(a[4], b[4]) for a in large(tables["asks"]) for b in large(tables["bids"])]
    return {(): (total([None if a is None or b is None else a - b for a, b in pairs]),)}


def q17(tables: Tables) -> Results:
    lines = tables["lineitem"]
    found = []
    for part, quantity, cents in tables["joined"]:
        quantities = [each[1] for each in lines if each[0] == part and part is not None and each[1] is not None]
        if quantities and less(quantity, Fraction(1, 5) * sum(quantities) / len(quantities)):
            found.append(cents)
    return {(): (total(found),)}


def q18(tables: Tables) -> Results:
    found: dict[Any, list[Any]] = {}
    for order, quantity in tables["lines"]:
        if less(300, total([each for other, each in tables["lines"] if order is not None and other == order])):
            found.setdefault(order, []).append(quantity)
    return {key: (total(values),) for key, values in found.items()}


WRITTEN_OUT: Mapping[str, Callable[[Tables], Results]] = {
    "VWAP": vwap,
    "MST": mst,
    "PSP": psp,
    "SQ1": sq1,
    "SQ1b": sq1b,
    "SQ2": sq2,
    "NQ1": nq1,
    "NQ2": nq2,
    "EQ": eq,
    "Q17": q17,
    "Q18": q18,
}
