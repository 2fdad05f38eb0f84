"""``f(..) OVER (..)`` -> the function as a value, and the expressions of the columns that it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.plan.convert import whole_number
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused
from imp_driver.values.windows import UP_TO_PEERS, WHOLE, Frame, FunctionKind, Number, OrderColumn, Running, Value, WindowFunction

_NUMBERS: Mapping[type[exp.Expr], Number] = {
    exp.RowNumber: Number.ROW_NUMBER,
    exp.Rank: Number.RANK,
    exp.DenseRank: Number.DENSE_RANK,
    exp.PercentRank: Number.PERCENT_RANK,
    exp.CumeDist: Number.CUME_DIST,
    exp.Ntile: Number.NTILE,
}
_VALUES: Mapping[type[exp.Expr], Value] = {
    exp.Lag: Value.LAG,
    exp.Lead: Value.LEAD,
    exp.FirstValue: Value.FIRST,
    exp.First: Value.FIRST,
    exp.LastValue: Value.LAST,
    exp.Last: Value.LAST,
    exp.NthValue: Value.NTH,
}
_RUNNING: Mapping[type[exp.Expr], Running] = {
    exp.Count: Running.COUNT,
    exp.Sum: Running.SUM,
    exp.Avg: Running.AVERAGE,
    exp.Min: Running.MINIMUM,
    exp.Max: Running.MAXIMUM,
}
_KNOWN = {"this", "partition_by", "order", "spec", "over"}


@dataclass(frozen=True, slots=True, eq=False)
class OverPartition:
    """An aggregate of all rows of a partition. ``columns`` are those of the partition, over the input's columns."""

    columns: Mapping[str, exp.Expr]
    aggregate: exp.Expr

    @property
    def partition(self) -> tuple[exp.Expr, ...]:
        return tuple(self.columns.values())


@dataclass(frozen=True, slots=True, eq=False)
class OverOrder:
    """A function of the rows of a partition in an order. ``columns`` are what it reads, ``keys`` its order, over the input's columns."""

    function: WindowFunction
    columns: Mapping[str, exp.Expr]
    partition: tuple[exp.Expr, ...]
    keys: tuple[exp.Expr, ...]

    @property
    def values(self) -> list[exp.Expr]:
        """What is read beside partition and order."""
        return [self.columns[name] for name in (self.function.argument, self.function.default) if name is not None]


def window_function(name: str, window: exp.Window) -> OverPartition | OverOrder:
    """Return a window function; the columns that it reads are called like ``name``. Raises Refused for one that is Spark's alone."""
    if any(value for each, value in window.args.items() if each not in _KNOWN):
        raise Refused(Reason.WINDOW_FUNCTION, "a window of a form that is not computed in process")
    partition: tuple[exp.Expr, ...] = tuple(window.args.get("partition_by") or ())
    order, spec = window.args.get("order"), window.args.get("spec")
    this: exp.Expr = window.this
    keys = tuple(order.expressions) if isinstance(order, exp.Order) else ()
    frame = (UP_TO_PEERS if keys else WHOLE) if spec is None else _frame(spec)
    if isinstance(this, (*_RUNNING, exp.Filter)) and frame.first is None and frame.last is None:
        return OverPartition(_partition_columns(name, partition), this)
    if not keys or not all(isinstance(key, exp.Ordered) and not key.args.get("with_fill") for key in keys):
        raise Refused(Reason.WINDOW_FUNCTION, "a window without an order")
    return _over_order(name, this, partition, keys, frame)


def _over_order(name: str, this: exp.Expr, partition: Sequence[exp.Expr], keys: Sequence[exp.Expr], frame: Frame) -> OverOrder:
    kind = _NUMBERS.get(type(this)) or _VALUES.get(type(this)) or _RUNNING.get(type(this))
    if kind is None:
        raise Refused(Reason.WINDOW_FUNCTION, f"{this.key} of a window")
    parts = _partition_columns(name, partition)
    ordered = {f"{name} order {place}": key.this for place, key in enumerate(keys)}
    columns = {**parts, **ordered}
    argument = default = None
    if not isinstance(kind, Number) and not isinstance(this.this, exp.Star):
        if this.args.get("expressions") or isinstance(this.this, exp.Distinct):
            raise Refused(Reason.WINDOW_FUNCTION, f"{this.key} of several or of different values in a window")
        argument = f"{name} argument"
        columns[argument] = this.this
    if this.args.get("default") is not None:
        default = f"{name} default"
        columns[default] = this.args["default"]
    own = tuple(
        OrderColumn(each, bool(key.args.get("desc")), bool(key.args.get("nulls_first"))) for each, key in zip(ordered, keys, strict=True)
    )
    function = WindowFunction(kind, tuple(parts), own, frame, argument, _number(this, kind), default)
    return OverOrder(function, columns, tuple(partition), tuple(key.this for key in keys))


def _partition_columns(name: str, partition: Sequence[exp.Expr]) -> dict[str, exp.Expr]:
    return {f"{name} partition {place}": each for place, each in enumerate(partition)}


def _number(this: exp.Expr, kind: FunctionKind) -> int:
    if kind is Number.NTILE:
        return _written(this.this, least=1)
    offset = this.args.get("offset")
    if kind is Value.NTH:
        return _written(offset, least=1)
    return 1 if offset is None else _written(offset)


def _written(node: exp.Expr | None, least: int | None = None) -> int:
    value = None if node is None else whole_number(node)
    if value is None or (least is not None and value < least):
        raise Refused(Reason.WINDOW_FUNCTION, "a number of a window that is not written down")
    return value


def _frame(spec: exp.Expr) -> Frame:
    if spec.args.get("exclude"):
        raise Refused(Reason.WINDOW_FUNCTION, "EXCLUDE in a window")
    return Frame(str(spec.args.get("kind")).upper() == "RANGE", _bound(spec, "start", "FOLLOWING"), _bound(spec, "end", "PRECEDING"))


def _bound(spec: exp.Expr, name: str, impossible: str) -> int | None:
    bound, side = spec.args.get(name), str(spec.args.get(f"{name}_side")).upper()
    if bound == "UNBOUNDED":
        if side == impossible:
            raise Refused(Reason.WINDOW_FUNCTION, "a frame of a window that ends before it begins")
        return None
    if bound is None or bound == "CURRENT ROW":
        return 0
    distance = _written(bound if isinstance(bound, exp.Expr) else None)
    return distance if side == "FOLLOWING" else -distance
