"""Functions and casts of the parser's tree -> those that are computed in process, by the names of ``values/function_types.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.dialect import AtUtc, DateFormat, InZone, TruncatedInZone
from imp_driver.parse.moment import interval_of
from imp_driver.plan.constants import constant, decimal_type
from imp_driver.values.alike_patterns import groups_of
from imp_driver.values.date_patterns import is_known
from imp_driver.values.expressions import Arithmetic, Case, Cast, Constant, DatePart, Expression, Function, IsNull, Not
from imp_driver.values.function_types import ALIKE_PATTERNS
from imp_driver.values.types import LENGTHS, LOCAL

Convert: TypeAlias = Callable[[exp.Expr], Expression]

_UNARY: Mapping[type[exp.Expr], str] = {
    exp.Upper: "upper",
    exp.Lower: "lower",
    exp.Length: "length",
    exp.Abs: "abs",
    exp.Sign: "sign",
    exp.Negative: "negative",
    exp.LastDay: "last_day",
    exp.UnixMicros: "unix_micros",
}
_TESTS: Mapping[type[exp.Expr], str] = {exp.StartsWith: "startswith", exp.EndsWith: "endswith", exp.Contains: "contains"}
_PARTS: Mapping[type[exp.Expr], str] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfWeek: "dayofweek",
    exp.DayOfYear: "dayofyear",
    exp.WeekOfYear: "weekofyear",
    exp.Hour: "hour",
    exp.Minute: "minute",
    exp.Second: "second",
}
_FIELDS = {
    **{name: name for name in ("year", "quarter", "month", "day", "dayofweek", "hour", "minute")},
    "week": "weekofyear",
    "dow": "dayofweek",
    "doy": "dayofyear",
}
"""Fields of EXTRACT and date_part by their full names; of the second it is a decimal."""
_UNITS = {
    **dict.fromkeys(("year", "yyyy", "yy"), "year"),
    "quarter": "quarter",
    **dict.fromkeys(("month", "mm", "mon"), "month"),
    "week": "week",
}
"""Of trunc; Spark gives NULL for any other text."""
_TIME_UNITS = {**_UNITS, **dict.fromkeys(("day", "dd"), "day"), **{unit: unit for unit in ("hour", "minute", "second")}}
"""Of date_trunc, the same."""
_MONTHS = {"month": 1, "year": 12}
_CASTS: Mapping[exp.DType, pa.DataType] = {
    exp.DType.TINYINT: pa.int8(),
    exp.DType.SMALLINT: pa.int16(),
    exp.DType.INT: pa.int32(),
    exp.DType.BIGINT: pa.int64(),
    exp.DType.FLOAT: pa.float32(),
    exp.DType.DOUBLE: pa.float64(),
    exp.DType.TEXT: pa.string(),
    exp.DType.BOOLEAN: pa.bool_(),
    exp.DType.DATE: pa.date32(),
    exp.DType.TIMESTAMPNTZ: LOCAL,
}


def function_of(node: exp.Expr, convert: Convert) -> Expression | None:
    """Return a function over converted operands, None for one that is not computed in process."""
    if type(node) in _UNARY:
        return None if _others(node, "this") else Function(_UNARY[type(node)], (convert(node.this),))
    if type(node) in _PARTS:
        return DatePart(_PARTS[type(node)], convert(node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this))
    if type(node) in _TESTS:
        pattern = _text(node.expression)
        return None if pattern is None else Function(_TESTS[type(node)], (convert(node.this),), (pattern,))
    if isinstance(node, exp.Anonymous):
        return _by_name(str(node.this).lower(), node.expressions, convert)
    return _of_text(node, convert) or _of_numbers(node, convert) or _of_dates(node, convert)


def _others(node: exp.Expr, *known: str) -> bool:
    """Say whether a node has arguments beside those that are known."""
    return any(value not in (None, False, []) for name, value in node.args.items() if name not in known)


def _integer(node: exp.Expr | None) -> int | None:
    found = None if node is None else constant(node)
    value = None if found is None else found.value
    return value if isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31 else None


def _text(node: exp.Expr | None) -> str | None:
    found = None if node is None else constant(node)
    return found.value if found is not None and isinstance(found.value, str) else None


def _of_text(node: exp.Expr, convert: Convert) -> Expression | None:
    match node:
        case exp.Substring():
            start, length = _integer(node.args.get("start")), _integer(node.args.get("length"))
            is_known = start is not None and (length is not None or node.args.get("length") is None)
            return Function("substring", (convert(node.this),), (start, length)) if is_known else None
        case exp.Left() | exp.Right():
            length = _integer(node.expression)
            arguments = (1, length) if isinstance(node, exp.Left) else (length,)
            return (
                None
                if length is None
                else Function("substring" if isinstance(node, exp.Left) else "right", (convert(node.this),), arguments)
            )
        case exp.Concat() if type(node) is exp.Concat:
            return Function("concat", tuple(map(convert, node.expressions))) if node.expressions else None
        case exp.DPipe():
            return Function("concat", (convert(node.left), convert(node.right)))
        case exp.Trim():
            return _trim(node, convert)
        case exp.Replace():
            search = _text(node.expression)
            replacement = _text(node.args["replacement"]) if node.args.get("replacement") is not None else ""
            return None if search is None or replacement is None else Function("replace", (convert(node.this),), (search, replacement))
        case exp.RegexpReplace():
            pattern = None if _others(node, "this", "expression", "replacement", "single_replace") else _text(node.expression)
            is_known = pattern in ALIKE_PATTERNS and _text(node.args.get("replacement")) == ""
            return Function("removed", (convert(node.this),), (pattern,)) if is_known else None
        case exp.RegexpExtract():
            return _extracted(node, convert)
        case exp.Pad():
            length, pad = _integer(node.expression), _text(node.args["fill_pattern"]) if node.args.get("fill_pattern") is not None else " "
            if length is None or pad is None or len(pad) != 1:
                return None
            return Function("lpad" if node.args.get("is_left") else "rpad", (convert(node.this),), (length, pad))
        case _:
            return None


def _extracted(node: exp.RegexpExtract, convert: Convert) -> Expression | None:
    pattern, group = _text(node.expression), 1 if node.args.get("group") is None else _integer(node.args["group"])
    groups = None if pattern is None or _others(node, "this", "expression", "group", "null_if_pos_overflow") else groups_of(pattern)
    is_known = groups is not None and group is not None and 0 <= group <= groups
    return Function("extracted", (convert(node.this),), (pattern, group)) if is_known else None


def _tried(node: exp.Cast, convert: Convert) -> Expression | None:
    if node.to.this is not exp.DType.DECIMAL:
        return Function("try_cast", (convert(node.this),), (_TRIED[node.to.this],))
    kind = decimal_type(node.to)
    return None if kind is None else Function("try_cast", (convert(node.this),), ("decimal", kind.precision, kind.scale))


_TRIED: Mapping[exp.DType, str] = {
    exp.DType.DOUBLE: "double",
    exp.DType.FLOAT: "float",
    exp.DType.BIGINT: "bigint",
    exp.DType.BOOLEAN: "boolean",
    exp.DType.DATE: "date",
    exp.DType.TIMESTAMP: "timestamp",
    exp.DType.TIMESTAMPTZ: "timestamp",
    exp.DType.TIMESTAMPLTZ: "timestamp",
    exp.DType.TIMESTAMPNTZ: "timestamp_ntz",
}


def _trim(node: exp.Trim, convert: Convert) -> Expression | None:
    characters = " " if node.expression is None else _text(node.expression)
    names = {"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}
    name = names.get(str(node.args.get("position") or "").upper())
    return Function(name, (convert(node.this),), (characters,)) if name and characters and not node.args.get("collation") else None


def _of_numbers(node: exp.Expr, convert: Convert) -> Expression | None:
    match node:
        case exp.Round():
            return _rounded("round", node.this, node.args.get("decimals"), convert) if not _others(node, "this", "decimals") else None
        case exp.Floor() | exp.Ceil():
            return None if _others(node, "this") else Function(node.key, (convert(node.this),))
        case exp.SafeDivide():
            return convert(_unless_zero(node.expression, exp.Div(this=_bracketed(node.this), expression=_bracketed(node.expression))))
        case exp.SafeAdd() | exp.SafeSubtract() | exp.SafeMultiply():
            # An overflow is not computed in process, so NULL is Spark's to give.
            return convert(_SAFE[type(node)](this=_bracketed(node.this), expression=_bracketed(node.expression)))
        case exp.IntDiv():
            return Function("div", (convert(node.left), convert(node.right)))
        case exp.Greatest() | exp.Least():
            return Function(node.key, (convert(node.this), *map(convert, node.expressions))) if node.expressions else None
        case exp.Nvl2():
            return Case(((Not(IsNull(convert(node.this))), convert(node.args["true"])),), convert(node.args["false"]))
        case AtUtc():
            return Function("local" if node.to.this is exp.DType.TIMESTAMPNTZ else "instant", (convert(node.this),))
        case InZone():
            return Function("shown", (convert(node.this),), (str(node.args["zone"].name),))
        case exp.Cast() if node.args.get("safe") and node.to.this in (exp.DType.DECIMAL, *_TRIED):
            return None if node.args.get("format") else _tried(node, convert)
        case exp.IsNan():
            return Function("isnan", (convert(node.this),))
        case exp.Cast() if not node.args.get("format") and not _others(node.to, "this", "expressions", "nested"):
            kind = decimal_type(node.to) if node.to.this is exp.DType.DECIMAL else _CASTS.get(node.to.this)
            return None if kind is None else Cast(convert(node.this), kind)
        case _:
            return None


_SAFE: Mapping[type[exp.Expr], type[exp.Binary]] = {exp.SafeAdd: exp.Add, exp.SafeSubtract: exp.Sub, exp.SafeMultiply: exp.Mul}


def _bracketed(node: exp.Expr) -> exp.Paren:
    return exp.Paren(this=node.copy())


def _unless_zero(value: exp.Expr, otherwise: exp.Expr) -> exp.Case:
    """Return NULL where a value is 0."""
    is_zero = exp.EQ(this=_bracketed(value), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=is_zero, true=exp.Null())], default=otherwise)


def _rounded(name: str, value: exp.Expr, places: exp.Expr | None, convert: Convert) -> Expression | None:
    count = 0 if places is None else _integer(places)
    return Function(name, (convert(value),), (count,)) if count is not None and abs(count) <= 38 else None


def _of_dates(node: exp.Expr, convert: Convert) -> Expression | None:
    match node:
        case exp.Extract():
            return _field(str(node.this.name), node.expression, convert)
        case exp.Add() | exp.Sub() if isinstance(node.right, exp.Interval):
            return _later(node.left, node.right, -1 if isinstance(node, exp.Sub) else 1, convert)
        case exp.Add() if isinstance(node.left, exp.Interval):
            return _later(node.right, node.left, 1, convert)
        case exp.TsOrDsAdd() if str(node.args.get("unit") or "").upper() == "DAY":
            days, sign = node.expression, 1
            if isinstance(days, exp.Mul) and days.right == exp.Neg(this=exp.Literal.number(1)):
                # How date_sub is read.
                days, sign = days.left, -1
            moved = convert(days)
            return Arithmetic("+" if sign > 0 else "-", convert(node.this), moved)
        case exp.AddMonths():
            months = _integer(node.expression)
            return None if months is None else Function("add_months", (convert(node.this),), (months,))
        case exp.DateDiff() if node.args.get("unit") is None:
            return Function(
                "datediff",
                tuple(convert(each.this if isinstance(each, exp.TsOrDsToDate) else each) for each in (node.this, node.expression)),
            )
        case exp.DateTrunc():
            unit = _UNITS.get(str(node.args["unit"].name).lower())
            return None if unit is None else Function("trunc", (convert(node.this),), (unit,))
        case exp.TimestampTrunc() if not _others(node, "this", "unit"):
            unit = _TIME_UNITS.get(str(node.args["unit"].name).lower())
            return None if unit is None else Function("date_trunc", (convert(node.this),), (unit,))
        case TruncatedInZone():
            unit = _TIME_UNITS.get(str(node.args["unit"].name).lower())
            return None if unit is None else Function("trunc_in_zone", (convert(node.this),), (unit, str(node.args["zone"].name)))
        case DateFormat():
            pattern = _text(node.args["pattern"]) or ""
            return Function("date_format", (convert(node.this),), (pattern,)) if is_known(pattern) else None
        case exp.TsOrDsToDate() if not node.args.get("format"):
            return Cast(convert(node.this), pa.date32())
        case _:
            return None


def _field(name: str, value: exp.Expr, convert: Convert) -> Expression | None:
    if name.lower() in ("dayofweek_iso", "dow_iso"):
        return Arithmetic("+", DatePart("weekday", convert(value)), Constant(1))
    part = _FIELDS.get(name.lower())
    return None if part is None else DatePart(part, convert(value))


def _later(value: exp.Expr, interval: exp.Interval, sign: int, convert: Convert) -> Expression | None:
    """Return a date some days or months later, or a time without zone; other intervals make a time of a date."""
    count, unit = interval_of(interval) or (0, "")
    if unit in _MONTHS:
        return Function("add_months", (convert(value),), (sign * count * _MONTHS[unit],))
    return Function("later", (convert(value),), (sign * count, unit)) if unit in LENGTHS else None


def _by_name(name: str, operands: list[exp.Expr], convert: Convert) -> Expression | None:
    match (name, operands):
        case ("weekday", [value]):
            return DatePart("weekday", convert(value))
        case ("pmod", [left, right]):
            return Function("pmod", (convert(left), convert(right)))
        case ("bround", [value, *places]) if len(places) < 2:
            return _rounded("bround", value, places[0] if places else None, convert)
        case ("nullifzero", [value]):
            return convert(_unless_zero(value, _bracketed(value)))
        case ("zeroifnull", [value]):
            return convert(exp.Coalesce(this=_bracketed(value), expressions=[exp.Literal.number(0)]))
        case ("isnull", [value]):
            return IsNull(convert(value))
        case ("isnotnull", [value]):
            return Not(IsNull(convert(value)))
        case ("date_part" | "datepart", [field, value]):
            name = _text(field) or ""
            return _field(name, value, convert)
        case _:
            return None
