"""A slow, obvious reading of plans over tiny tables: rows with their provenance, by the definitions and by nothing else.

It is the oracle's own eye: it shares the resolved plan with the driver, and neither its calculus nor its operators.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from imp_driver.plan import nodes
from imp_driver.plan.nodes import Plan
from tests.soundness.values import Row, Value, value

Origin: TypeAlias = frozenset[tuple[int, int]]
"""(occurrence, row number) of every base row that a result row comes from."""
Tables: TypeAlias = Mapping[str, Sequence[Mapping[str, Value]]]
Cut: TypeAlias = Callable[[int, Mapping[str, Value]], bool]
"""Whether a row of an occurrence is retained."""


@dataclass(frozen=True, slots=True)
class Annotated:
    row: Row
    origin: Origin


def keep_all(occurrence: int, row: Mapping[str, Value]) -> bool:
    return True


def bag(plan: Plan, rows: Iterable[Annotated]) -> Counter[tuple[Value, ...]]:
    """Return the output rows as a bag."""
    return Counter(tuple(each.row[attribute.identifier] for attribute in plan.output) for each in rows)


def evaluate(plan: Plan, tables: Tables, cut: Cut = keep_all, outer: Row | None = None) -> list[Annotated]:
    """Return the rows of a plan; ``outer`` has the row around a correlated subquery."""
    outer = outer or {}

    def run(child: Plan) -> list[Annotated]:
        return evaluate(child, tables, cut, outer)

    match plan:
        case nodes.Scan():
            return _scan(plan, tables, cut)
        case nodes.Filter():
            return [each for each in run(plan.child) if _all_true(plan.conjuncts, {**outer, **each.row})]
        case nodes.Project():
            return [Annotated(_computed(plan.output, plan.expressions, each.row), each.origin) for each in run(plan.child)]
        case nodes.Join():
            return _join(plan, run(plan.left), run(plan.right))
        case nodes.SemiJoin():
            return _semijoin(plan, run(plan.left), run(plan.right), outer)
        case nodes.Scalar():
            return [_with_scalar(plan, each, tables, cut, outer) for each in run(plan.child)]
        case nodes.UnionAll():
            return [_moved(plan.output, branch.output, each) for branch in plan.branches for each in run(branch)]
        case nodes.SetOperation():
            return _set_operation(plan, run(plan.left), run(plan.right))
        case nodes.Distinct():
            return _distinct(plan.output, run(plan.child))
        case nodes.Aggregate():
            return _aggregate(plan, run(plan.child))
        case nodes.TopK():
            return _top(plan, run(plan.child))
        case nodes.Sort():
            return sorted(run(plan.child), key=functools.cmp_to_key(functools.partial(_compared, plan.order)))
        case nodes.OneRow() | nodes.Recurrence() | nodes.Fixpoint():
            raise NotImplementedError("a recursion")
        case nodes.Merge():
            raise NotImplementedError("groups that are merged from finer ones")
        case nodes.Window():
            return _window(plan, run(plan.child))


def _scan(plan: nodes.Scan, tables: Tables, cut: Cut) -> list[Annotated]:
    rows = tables[plan.table[-1]]
    return [
        Annotated({attribute.identifier: row[attribute.name] for attribute in plan.output}, frozenset({(plan.occurrence, number)}))
        for number, row in enumerate(rows)
        if cut(plan.occurrence, row)
    ]


def _all_true(conjuncts: Iterable[exp.Expr], row: Row) -> bool:
    return all(value(conjunct, row) is True for conjunct in conjuncts)


def _computed(output: Sequence[nodes.Attribute], expressions: Sequence[exp.Expr], row: Row) -> Row:
    return {attribute.identifier: value(expression, row) for attribute, expression in zip(output, expressions, strict=True)}


def _join(plan: nodes.Join, left: list[Annotated], right: list[Annotated]) -> list[Annotated]:
    found = []
    matched_right: set[int] = set()
    for one in left:
        matched = False
        for place, other in enumerate(right):
            row = {**one.row, **other.row}
            if _all_true(plan.conjuncts, row):
                matched = True
                matched_right.add(place)
                found.append(Annotated(row, one.origin | other.origin))
        if not matched and plan.kind is not nodes.JoinKind.INNER:
            found.append(Annotated({**one.row, **dict.fromkeys(_names(plan.right), None)}, one.origin))
    if plan.kind is nodes.JoinKind.FULL:
        nulls: Row = dict.fromkeys(_names(plan.left), None)
        found += [Annotated({**nulls, **other.row}, other.origin) for place, other in enumerate(right) if place not in matched_right]
    return found


def _names(plan: Plan) -> list[str]:
    return [attribute.identifier for attribute in plan.output]


def _semijoin(plan: nodes.SemiJoin, left: list[Annotated], right: list[Annotated], outer: Row) -> list[Annotated]:
    found = []
    for one in left:
        truths = [(_conjunction(plan.conjuncts, {**outer, **one.row, **other.row}), other) for other in right]
        witnesses = [other for truth, other in truths if truth is True]
        if plan.anti:
            if not witnesses and not (plan.null_aware and any(truth is None for truth, _ in truths)):
                found.append(one)
        elif witnesses:
            found.append(Annotated(one.row, one.origin.union(*(other.origin for other in witnesses))))
    return found


def _conjunction(conjuncts: Iterable[exp.Expr], row: Row) -> bool | None:
    values = [value(conjunct, row) for conjunct in conjuncts]
    return False if any(each is False for each in values) else None if any(each is None for each in values) else True


def _with_scalar(plan: nodes.Scalar, each: Annotated, tables: Tables, cut: Cut, outer: Row) -> Annotated:
    rows = evaluate(plan.subquery, tables, cut, {**outer, **each.row})
    assert len(rows) <= 1, "a scalar subquery with several rows"
    found = rows[0].row[plan.subquery.output[0].identifier] if rows else None
    return Annotated({**each.row, plan.value.identifier: found}, each.origin)


def _moved(output: Sequence[nodes.Attribute], source: Sequence[nodes.Attribute], each: Annotated) -> Annotated:
    return Annotated({to.identifier: each.row[of.identifier] for to, of in zip(output, source, strict=True)}, each.origin)


def _grouped(names: Sequence[str], rows: Iterable[Annotated]) -> dict[tuple[Value, ...], list[Annotated]]:
    groups: dict[tuple[Value, ...], list[Annotated]] = {}
    for each in rows:
        groups.setdefault(tuple(each.row[name] for name in names), []).append(each)
    return groups


def _origin(rows: Iterable[Annotated]) -> Origin:
    return frozenset().union(*(each.origin for each in rows))


def _distinct(output: Sequence[nodes.Attribute], rows: list[Annotated]) -> list[Annotated]:
    names = [attribute.identifier for attribute in output]
    return [Annotated(dict(zip(names, key, strict=True)), _origin(group)) for key, group in _grouped(names, rows).items()]


def _set_operation(plan: nodes.SetOperation, left: list[Annotated], right: list[Annotated]) -> list[Annotated]:
    names = [attribute.identifier for attribute in plan.output]
    lefts = _grouped(names, [_moved(plan.output, plan.left.output, each) for each in left])
    rights = _grouped(names, [_moved(plan.output, plan.right.output, each) for each in right])
    found = []
    for key, copies in lefts.items():
        others = rights.get(key, [])
        is_except = plan.kind is nodes.SetKind.EXCEPT
        if plan.distinct:
            count = int(bool(others) != is_except)
        else:
            count = max(len(copies) - len(others), 0) if is_except else min(len(copies), len(others))
        origin = _origin(copies) if is_except else _origin([*copies, *others])
        found += [Annotated(dict(zip(names, key, strict=True)), origin)] * count
    return found


def _aggregate(plan: nodes.Aggregate, rows: list[Annotated]) -> list[Annotated]:
    groups: dict[tuple[Value, ...], list[Annotated]] = {} if plan.keys else {(): []}
    for each in rows:
        groups.setdefault(tuple(value(key, each.row) for key in plan.keys), []).append(each)
    found = []
    for key, group in groups.items():
        row = dict(zip((attribute.identifier for attribute in plan.key_attributes), key, strict=True))
        for attribute, function in zip(plan.function_attributes, plan.functions, strict=True):
            row[attribute.identifier] = aggregate(function, [each.row for each in group])
        found.append(Annotated(row, _origin(group)))
    return found


def aggregate(function: exp.Expr, rows: list[Row]) -> Value:
    """Compute one aggregate function over the rows of a group."""
    if isinstance(function, exp.Filter):
        return aggregate(function.this, [row for row in rows if value(function.expression.this, row) is True])
    argument = function.this
    if isinstance(function, exp.Count) and isinstance(argument, (exp.Star, exp.Literal)):
        return len(rows)
    is_distinct = isinstance(argument, exp.Distinct)
    inner = argument.expressions[0] if is_distinct else argument
    values = [found for row in rows if (found := value(inner, row)) is not None]
    if is_distinct:
        values = list(dict.fromkeys(values))
    if isinstance(function, exp.Count):
        return len(values)
    if not values:
        return None
    if isinstance(function, exp.Sum):
        return sum(values)
    if isinstance(function, exp.Avg):
        return Fraction(sum(values)) / len(values)
    if isinstance(function, (exp.Min, exp.Max)):
        return (min if isinstance(function, exp.Min) else max)(values)
    raise NotImplementedError(function.sql())


def _top(plan: nodes.TopK, rows: list[Annotated]) -> list[Annotated]:
    limit = int(str(plan.limit.this))
    offset = int(str(plan.offset.this)) if plan.offset is not None else 0
    ordered = sorted(rows, key=functools.cmp_to_key(functools.partial(_compared, plan.order)))
    skipped = _origin(ordered[:offset])
    return [Annotated(each.row, each.origin | skipped) for each in ordered[offset : offset + limit]]


def _compared(order: Iterable[nodes.OrderKey], one: Annotated, other: Annotated) -> int:
    for key in order:
        left, right = value(key.expression, one.row), value(key.expression, other.row)
        if left == right:
            continue
        if left is None or right is None:
            return -1 if (left is None) == key.nulls_first else 1
        return -1 if (left < right) != key.descending else 1
    return 0


def _window(plan: nodes.Window, rows: list[Annotated]) -> list[Annotated]:
    found = [dict(each.row) for each in rows]
    origins = [each.origin for each in rows]
    for attribute, function in zip(plan.added, plan.functions, strict=True):
        partitions: dict[tuple[Value, ...], list[int]] = {}
        for place, each in enumerate(rows):
            partitions.setdefault(tuple(value(key, each.row) for key in function.args.get("partition_by") or ()), []).append(place)
        for places in partitions.values():
            if isinstance(function.this, (exp.RowNumber, exp.Rank, exp.DenseRank)):
                for place, rank in _ranks(function, rows, places):
                    found[place][attribute.identifier] = rank
                continue
            total = aggregate(function.this, [rows[place].row for place in places])
            origin = _origin(rows[place] for place in places)
            for place in places:
                found[place][attribute.identifier] = total
                origins[place] |= origin
    return [Annotated(row, origin) for row, origin in zip(found, origins, strict=True)]


def _ranks(function: exp.Window, rows: list[Annotated], places: list[int]) -> Iterable[tuple[int, int]]:
    """Yield place and rank of each row of a partition. Its provenance is the row itself: the rows before it have ranks of their own."""
    written: list[exp.Expr] = function.args["order"].expressions
    keys = [nodes.OrderKey(key.this, bool(key.args.get("desc")), bool(key.args.get("nulls_first"))) for key in written]
    key_of = functools.cmp_to_key(functools.partial(_compared, keys))
    ordered = sorted(places, key=lambda place: key_of(rows[place]))
    rank = dense = 0
    for number, place in enumerate(ordered, 1):
        if number == 1 or _compared(keys, rows[ordered[number - 2]], rows[place]) != 0:
            rank, dense = number, dense + 1
        yield place, number if isinstance(function.this, exp.RowNumber) else rank if isinstance(function.this, exp.Rank) else dense
