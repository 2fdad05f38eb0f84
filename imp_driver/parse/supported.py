"""The one list of functions whose result depends on their arguments alone; any other is refused with a stable code.

Source: sketch-safety rules "operators" and "implementation checklist": reject at once what has no rule.
"""

from __future__ import annotations

from sqlglot import exp

from imp_driver.reasons import Reason


class Refused(Exception):
    """The statement is not sketched. Never reaches the application: the query runs unchanged and the report says why."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason.name)
        self.reason = reason
        self.detail = detail


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
    exp.Year,
    exp.Month,
    exp.Day,
    exp.Quarter,
    exp.DayOfMonth,
    exp.DayOfWeek,
    exp.DayOfYear,
    exp.WeekOfYear,
    exp.Extract,
    exp.DateTrunc,
    exp.TimestampTrunc,
    exp.DateAdd,
    exp.DateSub,
    exp.DateDiff,
    exp.TsOrDsAdd,
    exp.TsOrDsDiff,
    exp.TsOrDsToDate,
    exp.And,
    exp.Or,
    exp.Xor,
)
"""Functions whose result depends on their arguments alone (and on settings that are part of the template's key)."""

_SPECIAL_INSTANTS = {"now", "today", "tomorrow", "yesterday", "epoch"}


def check_function(node: exp.Func) -> None:
    """Raise Refused unless a function is known to depend on its arguments alone."""
    if isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)):
        name = str(node.this).lower()
        raise Refused(Reason.NON_DETERMINISTIC if name in _NON_DETERMINISTIC_NAMES else Reason.UNKNOWN_FUNCTION, name)
    if isinstance(node, _NON_DETERMINISTIC):
        raise Refused(Reason.NON_DETERMINISTIC, node.sql_name().lower())
    if not isinstance(node, DETERMINISTIC):
        raise Refused(Reason.UNKNOWN_FUNCTION, node.sql_name().lower())
    if (
        isinstance(node, (exp.Cast, exp.TryCast))
        and isinstance(node.this, exp.Literal)
        and str(node.this.this).lower() in _SPECIAL_INSTANTS
    ):
        raise Refused(Reason.NON_DETERMINISTIC, str(node.this.this))
