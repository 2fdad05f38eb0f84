"""Bounds of constants: the rows beyond all that were asked for are left out of a state that would be too large with them.

``day > 7 March`` and ``day > 20 March`` both imply ``day >= 1 March``: groups by day of the rows from there on serve both.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, floor

from sqlglot import exp

from imp_driver.answer.keys import is_sparks
from imp_driver.answer.lifting import Lifted
from imp_driver.maintain.request import Request
from imp_driver.parse.literals import literal_node
from imp_driver.plan.attributes import conjuncts_of
from imp_driver.plan.bind import with_rows
from imp_driver.plan.convert import row_expression
from imp_driver.reuse.reading import Operator, read
from imp_driver.reuse.types import Family, type_of
from imp_driver.state.constants import Seen
from imp_driver.state.hulls import Hulls, Outward

_LOWER = (Operator.ABOVE, Operator.FROM)
_UPPER = (Operator.BELOW, Operator.UP_TO)
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_DAYS_OF_MONTH = 31


def bounded(request: Request, wide: Lifted, seen: Seen, hulls: Hulls) -> Lifted | None:
    """Return a lifted request about the rows alone that lie within bounds of what was asked for; None where nothing bounds them."""
    types = request.analysis.columns
    where = [(place, node) for place, node in enumerate(request.block.where_nodes) if place in seen.places]
    found = [bound for place, node in where for bound in _bounds(node, request.type_names, partial(hulls.bound, seen.shape, place))]
    found = [bound for bound in found if not is_sparks(row_expression(bound, types), types)]
    if not found:
        return None
    block = with_rows(wide.request.block, (*wide.request.block.where_nodes, *found), types)
    return replace(wide, request=replace(wide.request, block=block))


def _bounds(condition: exp.Expr, types: dict[str, str | None], reached: Callable[..., Fraction | None]) -> Iterator[exp.Expr]:
    """Yield what a condition implies, and what those implied that stood in its place before."""
    for conjunct in conjuncts_of(condition):
        reading = read(conjunct, types)
        kind = None if reading is None else type_of(reading.subject, types)
        scale = None if kind is None else _SCALES.get(kind.family)
        if reading is None or scale is None or not reading.subject.find(exp.Column):
            continue
        for operator, constants in ((atom.operator, atom.constants) for atom in reading.atoms if atom.constants):
            is_day = operator is Operator.IN and scale is not _NUMBERS
            if operator in _LOWER or is_day:
                value = min(each.low for each in constants if isinstance(each.low, Fraction))
                yield from _bound(exp.GTE, reading.subject, scale, partial(reached, value, is_lower=True, outward=scale.down))
            if operator in _UPPER or is_day:
                value = max(each.high for each in constants if isinstance(each.high, Fraction))
                yield from _bound(exp.LTE, reading.subject, scale, partial(reached, value, is_lower=False, outward=scale.up))


def _bound(kind: type[exp.Binary], subject: exp.Expr, scale: _Scale, reached: Callable[[], Fraction | None]) -> Iterator[exp.Expr]:
    try:
        value = reached()
        if value is not None:
            yield kind(this=subject.copy(), expression=literal_node(scale.value(value)))
    except (OverflowError, ValueError):
        # No date lies there.
        return


@dataclass(frozen=True, slots=True)
class _Scale:
    """Ranks of constants of a type as values, and the edges below and above one that are likely to hold the next constants too."""

    value: Callable[[Fraction], object]
    down: Outward
    up: Outward


def _day(rank: Fraction) -> datetime.date:
    return datetime.date.fromordinal(floor(rank))


def _time(rank: Fraction) -> datetime.datetime:
    return _EPOCH + floor(rank) * _MICROSECOND


def _instant(rank: Fraction) -> datetime.datetime:
    return _time(rank).replace(tzinfo=datetime.UTC)


def _first_day(rank: Fraction) -> Fraction:
    return Fraction(_day(rank).replace(day=1).toordinal())


def _next_first_day(rank: Fraction) -> Fraction:
    return _first_day(_first_day(rank) + _DAYS_OF_MONTH)


def _first_time(rank: Fraction) -> Fraction:
    first = _time(rank).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return Fraction((first - _EPOCH) // _MICROSECOND)


def _next_first_time(rank: Fraction) -> Fraction:
    return _first_time(_first_time(rank) + datetime.timedelta(days=_DAYS_OF_MONTH) // _MICROSECOND)


def _step(rank: Fraction) -> int:
    """Return what the first digit of a number counts: 100 for 570."""
    return int(10 ** (len(str(abs(floor(rank)))) - 1))


def _less(rank: Fraction) -> Fraction:
    return Fraction(floor(rank / _step(rank)) * _step(rank))


def _more(rank: Fraction) -> Fraction:
    return Fraction(ceil(rank / _step(rank)) * _step(rank))


_NUMBERS = _Scale(int, _less, _more)
_SCALES = {
    Family.INTEGER: _NUMBERS,
    Family.DECIMAL: _NUMBERS,
    Family.DATE: _Scale(_day, _first_day, _next_first_day),
    Family.TIMESTAMP_NTZ: _Scale(_time, _first_time, _next_first_time),
    Family.TIMESTAMP: _Scale(_instant, _first_time, _next_first_time),
}
