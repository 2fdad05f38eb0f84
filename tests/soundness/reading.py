"""A slow reading of a query's text over tiny tables: rows of FROM one after the other, each nested query for each row around it, once for
rows that are alike in what it reads of them.

It knows neither the driver's plans nor its resolver, so that names from further out than one level, which these refuse, are read as well.
Whole numbers and decimals are exact, doubles and averages are floats, as in both engines; all columns are written with their tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from operator import add, eq, ge, gt, le, lt, mul, ne, sub
from typing import Any, TypeAlias

import sqlglot
from sqlglot import exp

Row: TypeAlias = Mapping[str, Any]
"""Values by ``alias.column``."""
Tables: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
Scope: TypeAlias = list[Row]
"""The rows that an expression is of: one, or those of a group."""


def read(text: str, tables: Tables) -> list[tuple[Any, ...]]:
    """Return the rows of a query; decimals of the tables are fractions, dates are dates."""
    tree = sqlglot.parse_one(text, read="spark")
    return [tuple(row.values()) for row in _Reading(tables).rows(tree, {})]


class _Reading:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._known: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        self._relations: dict[int, list[Row]] = {}
        self._read: dict[int, tuple[str, ...]] = {}

    def nested(self, select: exp.Expr, outer: Row) -> list[dict[str, Any]]:
        """Return the rows of a nested SELECT."""
        names = self._read.get(id(select))
        if names is None:
            names = self._read[id(select)] = tuple({f"{each.table}.{each.name}" for each in select.find_all(exp.Column)})
        # What it reads of its own tables is not in the row around it.
        key = (id(select), *(outer.get(name) for name in names))
        if key not in self._known:
            self._known[key] = self.rows(select, outer)
        return self._known[key]

    def rows(self, select: exp.Expr, outer: Row) -> list[dict[str, Any]]:
        """Return the rows of a SELECT, by the names of its columns."""
        found = [row for row in self._source(select, outer) if self._passes(select.args.get("where"), row, [row])]
        group = select.args.get("group")
        if group is not None:
            groups: dict[tuple[Any, ...], Scope] = {}
            for row in found:
                groups.setdefault(tuple(self.value(key, row, [row]) for key in group.expressions), []).append(row)
            units: list[tuple[Row, Scope]] = [({**outer, **rows[0]}, rows) for rows in groups.values()]
        elif any(_aggregates(each) for each in (*select.expressions, select.args.get("having") or exp.Null())):
            units = [({**outer, **found[0]} if found else outer, found)]
        else:
            units = [(row, [row]) for row in found]
        units = [(row, scope) for row, scope in units if self._passes(select.args.get("having"), row, scope)]
        rows = [{_name(each, place): self.value(each, row, scope) for place, each in enumerate(select.expressions)} for row, scope in units]
        return [dict(each) for each in dict.fromkeys(tuple(row.items()) for row in rows)] if select.args.get("distinct") else rows

    def _source(self, select: exp.Expr, outer: Row) -> Iterable[Row]:
        """Yield the rows of FROM, each with what is around it."""
        found: list[Row] = [{**outer, **row} for row in self._relation(select.args["from_"].this)]
        for join in select.args.get("joins") or ():
            found = list(self._joined(join, found, self._relation(join.this)))
        return found

    def _joined(self, join: exp.Expr, left: Iterable[Row], right: Sequence[Row]) -> Iterator[Row]:
        condition = join.args.get("on")
        nulls = dict.fromkeys((f"{join.this.alias_or_name}.{column}" for column in self._columns(join.this)), None)
        for one in left:
            rows: list[Row] = [{**one, **other} for other in right]
            passed = [row for row in rows if condition is None or self.value(condition, row, [row]) is True]
            yield from passed or ([{**one, **nulls}] if join.args.get("side") == "LEFT" else [])

    def _relation(self, node: exp.Expr) -> list[Row]:
        """Return the rows of a table or of a sub-select, which reads nothing around it."""
        if id(node) not in self._relations:
            rows = self.rows(node.this, {}) if isinstance(node, exp.Subquery) else self._tables[node.name]
            self._relations[id(node)] = [{f"{node.alias_or_name}.{column}": value for column, value in row.items()} for row in rows]
        return self._relations[id(node)]

    def _columns(self, node: exp.Expr) -> Iterable[str]:
        assert isinstance(node, exp.Table), "only tables stand on the right of LEFT JOIN"
        return ("id", "g", "x", "a", "m", "w", "d")

    def _passes(self, clause: exp.Expr | None, row: Row, scope: Scope) -> bool:
        return clause is None or self.value(clause.this, row, scope) is True

    def value(self, node: exp.Expr, row: Row, scope: Scope) -> Any:
        """Compute an expression of a row and of the rows of its group."""

        def of(inner: exp.Expr) -> Any:
            return self.value(inner, row, scope)

        match node:
            case exp.Alias() | exp.Paren():
                return of(node.this)
            case exp.Subquery():
                return self._scalar(node.this, row)
            case exp.Column():
                return row[f"{node.table}.{node.name}"]
            case exp.Literal():
                return int(node.name) if node.name.isdecimal() else Fraction(node.name)
            case exp.Neg():
                return _lifted(lambda inner: -inner, of(node.this))
            case exp.Not():
                return _lifted(lambda inner: not inner, of(node.this))
            case exp.And() | exp.Or():
                return _logical(of(node.left), of(node.right), decisive=isinstance(node, exp.Or))
            case exp.Is():
                return of(node.this) is None
            case exp.NullSafeEQ():
                return of(node.left) == of(node.right)
            case exp.Exists():
                return bool(self.nested(node.this, row))
            case exp.In():
                return _in(of(node.this), self._members(node, row, scope))
            case exp.Between():
                inner = of(node.this)
                return _logical(_lifted(ge, inner, of(node.args["low"])), _lifted(le, inner, of(node.args["high"])), decisive=False)
            case exp.Coalesce():
                return next((found for each in (node.this, *node.expressions) if (found := of(each)) is not None), None)
            case exp.Abs():
                return _lifted(abs, of(node.this))
            case exp.Case():
                chosen = next((branch.args["true"] for branch in node.args["ifs"] if of(branch.this) is True), node.args.get("default"))
                return None if chosen is None else of(chosen)
            case exp.Filter():
                return self._aggregate(node.this, [each for each in scope if self._passes(node.expression, each, [each])])
            case exp.AggFunc():
                return self._aggregate(node, scope)
            case exp.Div():
                return _lifted(lambda one, other: float(one) / float(other), of(node.left), of(node.right))
            case exp.Binary():
                return _lifted(_OPERATIONS[type(node)], of(node.left), of(node.right))
            case _:
                raise NotImplementedError(node.sql())

    def _scalar(self, select: exp.Expr, row: Row) -> Any:
        rows = self.nested(select, row)
        assert len(rows) <= 1, "a scalar subquery with several rows"
        return next(iter(rows[0].values())) if rows else None

    def _members(self, node: exp.In, row: Row, scope: Scope) -> list[Any]:
        query = node.args.get("query")
        if query is None:
            return [self.value(each, row, scope) for each in node.expressions]
        return [next(iter(each.values())) for each in self.nested(query.this, row)]

    def _aggregate(self, node: exp.Expr, scope: Scope) -> Any:
        argument = node.this
        if isinstance(argument, exp.Star):
            return len(scope)
        is_distinct = isinstance(argument, exp.Distinct)
        inner = argument.expressions[0] if is_distinct else argument
        values = [found for row in scope if (found := self.value(inner, row, [row])) is not None]
        if is_distinct:
            values = list(dict.fromkeys(values))
        if isinstance(node, exp.Count):
            return len(values)
        if not values:
            return None
        match node:
            case exp.Sum():
                return sum(values)
            case exp.Avg():
                return float(sum(values)) / len(values)
            case exp.Min():
                return min(values)
            case exp.Max():
                return max(values)
        raise NotImplementedError(node.sql())


def bag(rows: Iterable[Sequence[Any]]) -> Counter[tuple[Any, ...]]:
    """Return rows with their copies; numbers of all types compare by value, to nine places."""
    return Counter(tuple(_plain(value) for value in row) for row in rows)


def _plain(value: Any) -> Any:
    return value if value is None or hasattr(value, "year") else round(float(value), 9) + 0.0


def _name(node: exp.Expr, place: int) -> str:
    return node.alias_or_name or f"column {place}"


def _aggregates(node: exp.Expr) -> bool:
    """Say whether an aggregate function of this block stands in an expression, and not only in a query nested in it."""
    return any(isinstance(each, exp.AggFunc) for each in node.walk(prune=lambda inner: isinstance(inner, (exp.Subquery, exp.Select))))


def _logical(one: bool | None, other: bool | None, *, decisive: bool) -> bool | None:
    if one is decisive or other is decisive:
        return decisive
    return None if one is None or other is None else not decisive


def _in(one: Any, members: list[Any]) -> bool | None:
    if not members:
        return False
    if one is None:
        return None
    return True if one in [each for each in members if each is not None] else None if None in members else False


def _lifted(operation: Callable[..., Any], *values: Any) -> Any:
    """Apply an operation where no value is NULL; beside a double all numbers are doubles."""
    if any(value is None for value in values):
        return None
    is_double = any(isinstance(value, float) for value in values)
    return operation(*(float(value) if is_double and isinstance(value, Fraction) else value for value in values))


_OPERATIONS: Mapping[type[exp.Expr], Callable[[Any, Any], Any]] = {
    exp.Add: add,
    exp.Sub: sub,
    exp.Mul: mul,
    exp.EQ: eq,
    exp.NEQ: ne,
    exp.LT: lt,
    exp.LTE: le,
    exp.GT: gt,
    exp.GTE: ge,
}
