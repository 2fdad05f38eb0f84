"""The one list of functions whose result depends on their arguments alone; any other is refused with a stable code.

Source: sketch-safety rules "operators" and "implementation checklist": reject at once what has no rule.
"""

from __future__ import annotations

import re

from sqlglot import exp

from imp_driver.parse.dialect import DateFormat, OrderedPercentile, SparkText
from imp_driver.reasons import Reason
from imp_driver.values.date_patterns import is_known
from imp_driver.values.refusal import Refused

_NON_DETERMINISTIC: tuple[type[exp.Expr], ...] = (
    exp.Rand,
    exp.Randn,
    exp.Uuid,
    exp.CurrentDate,
    exp.CurrentTime,
    exp.CurrentTimestamp,
    exp.CurrentDatetime,
    exp.CurrentUser,
    exp.First,
    exp.FirstValue,
    exp.Last,
    exp.LastValue,
    exp.AnyValue,
    exp.ArrayAgg,
    exp.ArrayUniqueAgg,
    exp.GroupConcat,
    exp.ApproxQuantile,
    exp.Mode,
)

_NON_DETERMINISTIC_NAMES = {
    "now",
    "rand",
    "randn",
    "random",
    "uuid",
    "shuffle",
    "sample",
    "monotonically_increasing_id",
    "spark_partition_id",
    "input_file_name",
    "input_file_block_start",
    "input_file_block_length",
    "current_user",
    "user",
    "session_user",
    "current_database",
    "current_schema",
    "current_catalog",
    "current_timezone",
    "curdate",
    "localtimestamp",
    "unix_timestamp",
    "version",
    "percentile_approx",
    "approx_percentile",
    "collect_list",
    "collect_set",
    "histogram_numeric",
    "some_value",
}

DETERMINISTIC: tuple[type[exp.Expr], ...] = (
    exp.Sum,
    exp.Count,
    exp.CountIf,
    exp.Avg,
    exp.Min,
    exp.Max,
    exp.Stddev,
    exp.StddevPop,
    exp.StddevSamp,
    exp.Variance,
    exp.VariancePop,
    exp.Median,
    exp.Quantile,
    exp.ApproxDistinct,
    exp.LogicalAnd,
    exp.LogicalOr,
    exp.BitwiseAndAgg,
    exp.BitwiseOrAgg,
    exp.BitwiseXorAgg,
    OrderedPercentile,
    DateFormat,
    exp.Abs,
    exp.Ceil,
    exp.Floor,
    exp.Round,
    exp.Sign,
    exp.Sqrt,
    exp.Exp,
    exp.Ln,
    exp.Log,
    exp.Pow,
    exp.SafeAdd,
    exp.SafeDivide,
    exp.SafeMultiply,
    exp.SafeSubtract,
    exp.Coalesce,
    exp.Nullif,
    exp.If,
    exp.Case,
    exp.Greatest,
    exp.Least,
    exp.Cast,
    exp.TryCast,
    exp.Upper,
    exp.Lower,
    exp.Length,
    exp.Concat,
    exp.Substring,
    exp.Trim,
    exp.Left,
    exp.Right,
    exp.StartsWith,
    exp.EndsWith,
    exp.MD5,
    exp.SHA,
    exp.SHA2,
    exp.Replace,
    exp.Initcap,
    exp.Pad,
    exp.Reverse,
    exp.Repeat,
    exp.ConcatWs,
    exp.StrPosition,
    exp.RegexpReplace,
    exp.RegexpExtract,
    exp.AddMonths,
    exp.LastDay,
    exp.MonthsBetween,
    exp.Year,
    exp.Month,
    exp.Day,
    exp.Quarter,
    exp.DayOfMonth,
    exp.DayOfWeek,
    exp.DayOfYear,
    exp.WeekOfYear,
    exp.Hour,
    exp.Minute,
    exp.Second,
    exp.Extract,
    exp.DateTrunc,
    exp.TimestampTrunc,
    exp.UnixMicros,
    exp.DateAdd,
    exp.DateSub,
    exp.DateDiff,
    exp.TsOrDsAdd,
    exp.TsOrDsDiff,
    exp.TsOrDsToDate,
    exp.AddMonths,
    exp.LastDay,
    exp.Contains,
    exp.Negative,
    exp.IsNan,
    exp.Nvl2,
    exp.Pad,
    exp.Replace,
    exp.And,
    exp.Or,
    exp.Xor,
)
"""Functions whose result depends on their arguments alone (and on settings that are part of the template's key)."""

RANKS: tuple[type[exp.Expr], ...] = (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist)
"""Functions of windows that give rows which tie one value."""
POSITIONS: tuple[type[exp.Expr], ...] = (
    exp.RowNumber,
    exp.Ntile,
    exp.Lag,
    exp.Lead,
    exp.First,
    exp.FirstValue,
    exp.Last,
    exp.LastValue,
    exp.NthValue,
)
"""Functions of windows that depend on the place of a row, also among rows that tie."""

SPECIAL_INSTANTS = ("epoch", "now", "today", "tomorrow", "yesterday")
_SPECIAL_INSTANT = re.compile(rf"\s*({'|'.join(SPECIAL_INSTANTS)})\b", re.IGNORECASE)
"""What Spark reads as the current day or instant wherever a constant text becomes a date or a timestamp, a comparison included."""
_OF_TEXT: tuple[type[exp.Expr], ...] = (
    exp.Concat,
    exp.DPipe,
    exp.Upper,
    exp.Lower,
    exp.Substring,
    exp.Trim,
    exp.Left,
    exp.Right,
    exp.Replace,
    exp.Initcap,
    exp.Pad,
    exp.Reverse,
    exp.Repeat,
    exp.ConcatWs,
    exp.RegexpReplace,
    exp.RegexpExtract,
    exp.Coalesce,
    exp.Nullif,
    exp.If,
    exp.Case,
    exp.Greatest,
    exp.Least,
    exp.Nvl2,
    exp.Pad,
    exp.Replace,
)
"""Functions that can make any text out of constants."""


def check_text(text: str) -> None:
    """Raise Refused when a constant text may stand for the current day or instant."""
    if _SPECIAL_INSTANT.match(text):
        raise Refused(Reason.NON_DETERMINISTIC, repr(text))


def check_constants(node: exp.Expr) -> None:
    """Raise Refused when a node is, or may compute, a constant text for the current day or instant."""
    if isinstance(node, exp.Literal) and node.is_string:
        check_text(str(node.this))
    if isinstance(node, exp.Lower) and isinstance(node.this, (exp.Literal, exp.Placeholder)):
        # What it makes is such a text only where its constant is one.
        return
    if _may_be_any_text(node) and node.find(exp.Column, exp.AggFunc) is None and any(_is_text(each) for each in node.walk()):
        raise Refused(Reason.NON_DETERMINISTIC, f"{node.sql(dialect='spark')}, a text computed from constants alone")


def _may_be_any_text(node: exp.Expr) -> bool:
    return isinstance(node, _OF_TEXT) or (isinstance(node, DateFormat) and not is_known(node.args["pattern"].name))


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Placeholder) or (isinstance(node, exp.Literal) and node.is_string)


DETERMINISTIC_NAMES = frozenset({"date_part", "datepart", "weekday", "pmod", "bround", "isnull", "isnotnull", "nullifzero", "zeroifnull"})
"""The same, of those that the parser has no node for."""


def check_function(node: exp.Func) -> None:
    """Raise Refused unless a function is known to depend on its arguments alone."""
    if isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)):
        name = str(node.this).lower()
        if name in DETERMINISTIC_NAMES:
            return
        raise Refused(Reason.NON_DETERMINISTIC if name in _NON_DETERMINISTIC_NAMES else Reason.UNKNOWN_FUNCTION, name)
    if isinstance(node, _NON_DETERMINISTIC):
        raise Refused(Reason.NON_DETERMINISTIC, _written(node))
    if not isinstance(node, DETERMINISTIC):
        raise Refused(Reason.UNKNOWN_FUNCTION, _written(node))


def _written(node: exp.Func) -> str:
    """Return the name of a function in Spark's SQL, which is not always the parser's; nothing of what it is of."""
    name = str(node.sql(dialect=SparkText)).partition("(")[0]
    return (name if _NAME.fullmatch(name) else node.sql_name()).lower()


_NAME = re.compile(r"\w+")
"""What is written as an operator has none before a bracket."""
