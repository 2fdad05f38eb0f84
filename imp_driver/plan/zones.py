"""Times of a session, whose days and hours depend on its zone: what does says so.

At UTC they are those of the instants themselves: a TIMESTAMP is read as the time without zone that it is there, by a cast of its own kind,
and what comes of it is brought back. In another zone whose rules the engine has told (``values/zones.py``) it is the time that the clocks
show; what is truncated there is an instant by a function of its own, since clocks that are put back show a time twice. A text or a day
beside a time is the time that Spark reads from it. Without rules parts of a TIMESTAMP are Spark's.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.dialect import AtUtc, DateFormat, InZone, TruncatedInZone
from imp_driver.parse.literals import literal_node
from imp_driver.plan.expressions import made_by
from imp_driver.plan.moments import Clocks, computed, time_at_utc
from imp_driver.plan.nodes import Plan, every
from imp_driver.plan.types import infer
from imp_driver.values import zones
from imp_driver.values.types import INSTANT, LOCAL, arrow_type
from imp_driver.values.zones import UTC

_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_UTC_NAMES = frozenset({"UTC", "Etc/UTC", "Z", "GMT", "+00:00", "UTC+00:00", "Etc/GMT", "Zulu", "Etc/Zulu"})
_INSTANTS = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ)
_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?))?")
_ORDERED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ)
_PARTS = (exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.DayOfYear, exp.WeekOfYear)
_OF_ONE = (*_PARTS, exp.Hour, exp.Minute, exp.Second, exp.TimestampTrunc, exp.TsOrDsToDate, DateFormat)


def zone_of(settings: Mapping[str, str]) -> str:
    """Return the zone of a session, empty where TIMESTAMP means no instant; every name of UTC is UTC."""
    is_instant = settings.get("spark.sql.timestampType", "TIMESTAMP_LTZ") in ("TIMESTAMP_LTZ", "None")
    name = settings.get("spark.sql.session.timeZone", "") if is_instant else ""
    return UTC if name in _UTC_NAMES else name


def types_in(plan: Plan) -> dict[str, pa.DataType | None]:
    """Return the types of all columns that operators of a plan make, by identifier."""
    return {attribute.identifier: arrow_type(attribute.type_name or "") for node in every(plan) for attribute in made_by(node)}


def local(value: exp.Expr) -> exp.Expr:
    """Return an instant as the time that it is at UTC."""
    return AtUtc(this=value, to=exp.DType.TIMESTAMPNTZ.into_expr())


def instant(value: exp.Expr) -> exp.Expr:
    """Return a time at UTC as the instant that it is."""
    return AtUtc(this=value, to=exp.DType.TIMESTAMPTZ.into_expr())


@dataclass(frozen=True, slots=True)
class Times:
    """Puts what can be computed with in the place of times in expressions over columns of these types."""

    types: Mapping[str, pa.DataType | None]
    zone: str
    is_needed: bool

    @classmethod
    def of(cls, types: Mapping[str, pa.DataType | None], zone: str) -> Times:
        """Return how times are read in expressions over columns of these types; where none is a time, all stay as they are.

        ``zone`` is that of the session, empty where its rules are not known.
        """
        kinds = {*types.values()}
        return cls(types, zone, LOCAL in kinds or (bool(zone) and not kinds.isdisjoint((INSTANT, pa.date32()))))

    @property
    def is_utc(self) -> bool:
        return self.zone == UTC

    def read(self, expression: exp.Expr) -> exp.Expr:
        """Return an expression with the same value."""
        if not self.is_needed:
            return expression
        root = expression.copy()
        # Parts before what is made of them.
        for node in reversed(list(root.walk(bfs=False))):
            found = self._changed(node)
            if node is root:
                root = found
            elif found is not node:
                node.replace(found)
        return root

    def _changed(self, node: exp.Expr) -> exp.Expr:
        constant = computed(node, self.zone) if self.zone else None
        if constant is not None:
            return constant
        if isinstance(node, exp.Cast) and _text(node.this):
            kind = LOCAL if node.to.this is exp.DType.TIMESTAMPNTZ else INSTANT if self.zone and node.to.this in _INSTANTS else None
            return (None if kind is None else _moment(_text(node.this), kind, self.zone)) or node
        if isinstance(node, _ORDERED):
            self._beside(node, "this", "expression")
        elif isinstance(node, exp.Between):
            self._beside(node, "this", "low")
            self._beside(node, "this", "high")
        elif isinstance(node, _OF_ONE) or (isinstance(node, exp.Cast) and node.to.this is exp.DType.DATE):
            return self._of_local(node, "this")
        elif isinstance(node, exp.Extract):
            return self._of_local(node, "expression")
        return node

    def _beside(self, node: exp.Expr, one: str, other: str) -> None:
        """Read a constant text or day beside a time as Spark does."""
        for column, constant in ((one, other), (other, one)):
            like = self._like(node.args[column], node.args[constant], _rounding_of(node, constant))
            if like is not None:
                node.set(constant, like)
                continue
            written = _day_or_text(node.args[constant])
            kind = infer(node.args[column], self.types) if written else None
            found = _moment(written, kind, self.zone) if kind == LOCAL or (kind == INSTANT and self.zone) else None
            if found is not None:
                node.set(constant, found)

    def _like(self, column: exp.Expr, constant: exp.Expr, rounding: _Rounding) -> exp.Expr | None:
        """Return the day, or the time without zone, that says of such values what a constant instant does.

        Each day is the time when it begins.
        """
        found, clocks = time_at_utc(constant), Clocks.of(self.zone)
        kind = None if found is None else infer(column, self.types)
        if found is None or clocks is None or kind not in (pa.date32(), LOCAL):
            return None
        if kind == LOCAL:
            # Other clocks show a time twice, or skip it.
            return literal_node(found.replace(tzinfo=None)) if self.is_utc else None
        try:
            day, is_begin = clocks.day_begun(found)
        except (OverflowError, ValueError):
            return None
        if is_begin or rounding is _Rounding.DOWN:
            return literal_node(day)
        is_next = rounding is _Rounding.UP and day < datetime.date.max
        return literal_node(day + datetime.timedelta(days=1)) if is_next else None

    def _of_local(self, node: exp.Expr, place: str) -> exp.Expr:
        """Give a function the time at UTC that an instant is; its own value is an instant again where Spark's is one."""
        value = node.args[place]
        kind = infer(value, self.types)
        is_truncated = isinstance(node, exp.TimestampTrunc)
        # Spark makes an instant first of what these are given.
        is_of_instant = is_truncated or isinstance(node, DateFormat)
        if is_of_instant and kind == LOCAL and not self.is_utc:
            return _left_to_spark(node, value)
        if self.zone and not self.is_utc and kind == INSTANT:
            return self._in_zone(node, place)
        if not self.is_utc or not (kind == INSTANT or (is_of_instant and kind == pa.date32())):
            return node
        changed = node.copy()
        changed.set(place, local(value.copy()) if kind == INSTANT else exp.cast(value.copy(), exp.DType.TIMESTAMPNTZ))
        return instant(changed) if is_truncated else changed

    def _in_zone(self, node: exp.Expr, place: str) -> exp.Expr:
        """Give a function what the clocks of the zone show at an instant."""
        value, zone = node.args[place].copy(), exp.Literal.string(self.zone)
        if isinstance(node, exp.TimestampTrunc):
            return TruncatedInZone(this=value, unit=node.args["unit"].copy(), zone=zone)
        changed = node.copy()
        changed.set(place, InZone(this=value, to=exp.DType.TIMESTAMPNTZ.into_expr(), zone=zone))
        return changed


class _Rounding(Enum):
    """Which day stands for a time within it."""

    NONE = "none"
    DOWN = "the one that it is in"
    UP = "the next one"


def _rounding_of(node: exp.Expr, constant: str) -> _Rounding:
    """Return how the constant of a comparison is rounded: ``day >= time`` begins with the next day."""
    if isinstance(node, exp.Between):
        return {"low": _Rounding.UP, "high": _Rounding.DOWN}.get(constant, _Rounding.NONE)
    if isinstance(node, (exp.GTE, exp.LT)):
        return _Rounding.UP if constant == "expression" else _Rounding.DOWN
    if isinstance(node, (exp.GT, exp.LTE)):
        return _Rounding.DOWN if constant == "expression" else _Rounding.UP
    return _Rounding.NONE


def _left_to_spark(node: exp.Expr, value: exp.Expr) -> exp.Expr:
    if isinstance(node, DateFormat):
        return exp.Anonymous(this="date_format", expressions=[value.copy(), node.args["pattern"].copy()])
    return exp.Anonymous(this="date_trunc", expressions=[exp.Literal.string(node.args["unit"].name), value.copy()])


def _text(node: exp.Expr) -> str:
    return str(node.this) if isinstance(node, exp.Literal) and node.is_string else ""


def _day_or_text(node: exp.Expr) -> str:
    inner = node.unnest()
    return _text(inner.this if isinstance(inner, exp.Cast) and inner.to.this is exp.DType.DATE else inner)


def _moment(text: str, kind: pa.DataType, zone: str) -> exp.Expr | None:
    """Return a text that Spark reads as a time as one of a type; None for other texts."""
    found = _MOMENT.fullmatch(text)
    try:
        if found is None or datetime.date.fromisoformat(found[1]).year < 1:
            return None
        written = f"{found[1]} {found[2] or '00:00:00'}"
        shown = datetime.datetime.fromisoformat(written)
    except ValueError:
        return None
    if kind == INSTANT and zone != UTC:
        found_instant = _instant(shown, zone)
        if found_instant is None:
            return None
        written = found_instant.isoformat(sep=" ", timespec="microseconds")
    literal = exp.Literal.string(f"{written}Z" if kind == INSTANT else written)
    return exp.cast(literal, exp.DType.TIMESTAMPTZ if kind == INSTANT else exp.DType.TIMESTAMPNTZ)


def _instant(shown: datetime.datetime, zone: str) -> datetime.datetime | None:
    """Return when the clocks of a zone show a time, at UTC; None where that is not certain.

    A day that begins when the clocks skip midnight begins at one instant as a day and at another as the text of a time.
    """
    rules = zones.known(zone)
    if rules is None:
        return None
    local_time = np.array([(shown - _EPOCH) // _MICROSECOND], np.int64)
    found = rules.instant(local_time)
    if not rules.has(found).all() or not np.array_equal(rules.local(found), local_time):
        return None
    return _EPOCH + int(found[0]) * _MICROSECOND
