"""The one list of what a statement may contain to be sketched; everything else is refused with a stable code and runs unchanged.

Source: sketch-safety rules "operators" and "implementation checklist": reject at once what has no rule.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from imp_driver.reasons import Reason


class Refused(Exception):
    """The statement is not sketched. Never reaches the application: the query runs unchanged and the report says why."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason.name)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """A chain of SELECTs over one table, outermost first; ``scan`` is the table reference of the innermost."""

    selects: tuple[exp.Select, ...]
    scan: exp.Table


_REFUSED_NODES: tuple[tuple[type[exp.Expr], Reason], ...] = (
    (exp.With, Reason.COMMON_TABLE_EXPRESSION),
    (exp.SetOperation, Reason.SET_OPERATION),
    (exp.Window, Reason.WINDOW_FUNCTION),
    (exp.Qualify, Reason.WINDOW_FUNCTION),
    (exp.TableSample, Reason.SAMPLE),
    (exp.Version, Reason.TIME_TRAVEL),
    (exp.Join, Reason.SEVERAL_TABLES),
    (exp.Lateral, Reason.TABLE_FUNCTION),
    (exp.Values, Reason.TABLE_FUNCTION),
    (exp.Unnest, Reason.TABLE_FUNCTION),
    (exp.Pivot, Reason.UNSUPPORTED_EXPRESSION),
    (exp.Exists, Reason.SUBQUERY),
    (exp.Cluster, Reason.UNSUPPORTED_EXPRESSION),
    (exp.Distribute, Reason.UNSUPPORTED_EXPRESSION),
    (exp.Sort, Reason.UNSUPPORTED_EXPRESSION),
    (exp.QueryTransform, Reason.UNSUPPORTED_EXPRESSION),
    (exp.Into, Reason.UNSUPPORTED_EXPRESSION),
    (exp.Rollup, Reason.GROUPING_SETS),
    (exp.Cube, Reason.GROUPING_SETS),
    (exp.GroupingSets, Reason.GROUPING_SETS),
    (exp.Lambda, Reason.UNSUPPORTED_EXPRESSION),
)

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


def read_levels(tree: exp.Expr) -> Levels:
    """Check a parsed query against the list and return its chain of SELECTs over one table.

    Raises:
        Refused: the query holds something that is not sketched.
    """
    for node in tree.walk():
        _check_node(node)
    selects: list[exp.Select] = []
    current: exp.Expr = tree.unnest()
    while True:
        if not isinstance(current, exp.Select):
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, current.key)
        selects.append(current)
        source = current.args.get("from_")
        if source is None:
            raise Refused(Reason.NO_AGGREGATION, "the query reads no table")
        place = source.this
        if isinstance(place, exp.Table):
            return Levels(tuple(selects), _checked_scan(place))
        if not isinstance(place, exp.Subquery):
            raise Refused(Reason.TABLE_FUNCTION, place.key)
        _refuse_column_aliases(place)
        current = place.unnest()


def _checked_scan(table: exp.Table) -> exp.Table:
    if not isinstance(table.this, exp.Identifier):
        raise Refused(Reason.TABLE_FUNCTION, table.sql(dialect="spark"))
    for name in ("when", "changes", "only", "partition", "ordinality", "rows_from", "format", "pattern"):
        if table.args.get(name):
            raise Refused(Reason.TIME_TRAVEL if name in ("when", "changes") else Reason.UNSUPPORTED_EXPRESSION, name)
    _refuse_column_aliases(table)
    return table


def _refuse_column_aliases(source: exp.Expr) -> None:
    alias = source.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "column aliases after a table alias")


def _check_node(node: exp.Expr) -> None:
    for kind, reason in _REFUSED_NODES:
        if isinstance(node, kind):
            raise Refused(reason, node.key)
    if isinstance(node, exp.Query) and not _is_chained(node):
        raise Refused(Reason.SUBQUERY)
    if isinstance(node, exp.Func):
        check_function(node)
    if isinstance(node, exp.Column) and (node.args.get("db") or node.name.lower() == "_metadata" or node.table.lower() == "_metadata"):
        raise Refused(Reason.QUALIFIED_COLUMN, node.sql(dialect="spark"))
    if isinstance(node, exp.Dot):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "a field of a nested column")


def _is_chained(node: exp.Query) -> bool:
    """A SELECT may stand at the root, or alone in FROM; anything else is a subquery in an expression."""
    if node.parent is None:
        return True
    if isinstance(node, exp.Subquery):
        return isinstance(node.parent, (exp.From, exp.Subquery))
    return isinstance(node.parent, exp.Subquery)


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
