"""Aggregates over tables that nothing joins: of each table by itself, put together above.

``SELECT SUM(a.price - b.price) FROM bids b, asks a WHERE c(a) AND d(b)`` is ``SUM(a.price) * COUNT(b.price) - COUNT(a.price) *
SUM(b.price)`` of the rows of each that pass (the queries PSP and MST of the RPAI paper, section 4.3: each condition is about one relation):
no pair of rows is ever made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import pyarrow as pa
from sqlglot import exp

from imp_driver.plan.attributes import by_identifier, identifiers, reference, substituted
from imp_driver.plan.conjunctive import inner_inputs
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nested import Rows, rows_below
from imp_driver.plan.nodes import Aggregate, Attribute, Filter, Join, JoinKind, Plan, Project, Scalar, children
from imp_driver.plan.overflow import adds_exactly, guarded, others, product_of
from imp_driver.plan.rebuild import with_inputs
from imp_driver.plan.types import infer
from imp_driver.values.decimal_types import MOST_DIGITS, summed_type
from imp_driver.values.types import arrow_type

_MOST_SCALE = 6
"""Digits after the point that a product of decimals of 38 digits keeps in Spark."""
_LONG = 64
_KEPT = (exp.Min, exp.Max)
"""Functions that are the same however often a row meets others."""


def with_products(plan: Plan) -> Plan:
    """Return a plan in which tables that no condition joins are aggregated each by itself."""
    plan = with_inputs(plan, tuple(map(with_products, children(plan))))
    return (_apart(plan) or plan) if isinstance(plan, Aggregate) else plan


@dataclass(slots=True, eq=False)
class _Side:
    """Some of the tables, and the aggregates that are asked of their rows."""

    inputs: tuple[Plan, ...]
    keys: dict[str, tuple[Attribute, exp.Expr]] = field(default_factory=dict)
    functions: dict[str, tuple[Attribute, exp.Expr]] = field(default_factory=dict)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(attribute.identifier for each in self.inputs for attribute in each.output)

    def asked(self, function: exp.Expr) -> exp.Expr:
        """Return what stands for an aggregate of these rows."""
        made = Attribute(f"side_{min(self.columns)}_{len(self.functions)}", function.key)
        return reference(self.functions.setdefault(function.sql(), (made, function))[0])

    @property
    def rows(self) -> exp.Expr:
        return self.asked(exp.Count(this=exp.Star()))


def _apart(plan: Aggregate) -> Plan | None:
    below = rows_below(plan.child)
    inputs = inner_inputs(below.source)
    if len(inputs) == 1 or free_identifiers(plan):
        return None
    reads = _Reads(below)
    sides = _sides(inputs, [reads.of(each) for each in below.where] + [reads.of_scalar(each) for each in below.scalars])
    if len(sides) == 1:
        return None
    keys, functions = ([substituted(each, below.values) for each in every] for every in (plan.keys, plan.functions))
    found_keys = [_key(attribute, key, sides) for attribute, key in zip(plan.key_attributes, keys, strict=True)]
    types = {each.identifier: arrow_type(each.type_name or "") for each in below.source.output}
    found = [_function(each, sides, types) for each in functions]
    if None in found_keys or None in found:
        return None
    counts = [each.rows for each in sides]
    groups = [_grouped(each, below, reads) for each in sides]
    joined: Plan = reduce(lambda left, right: Join(JoinKind.INNER, left, right, ()), groups)
    if plan.keys:
        # Tables without a group have one row, also where nothing of them is left.
        joined = Filter(joined, tuple(exp.GT(this=each, expression=exp.Literal.number(0)) for each in counts))
    return Project(joined, plan.output, tuple(each for each in (*found_keys, *found) if each is not None))


class _Reads:
    """Which columns of the tables expressions read, also by way of subqueries."""

    def __init__(self, below: Rows) -> None:
        self._scalars = {each.value.identifier: each for each in below.scalars}

    def of(self, expression: exp.Expr) -> frozenset[str]:
        return self._followed(identifiers(expression))

    def of_scalar(self, scalar: Scalar) -> frozenset[str]:
        return self._followed(free_identifiers(scalar.subquery))

    def _followed(self, names: frozenset[str]) -> frozenset[str]:
        values = names & self._scalars.keys()
        return (names - values).union(*(self.of_scalar(self._scalars[each]) for each in values))

    def needed(self, conjuncts: Iterable[exp.Expr]) -> frozenset[str]:
        """Return the values of subqueries that conditions read, also those that these subqueries read."""
        found: set[str] = set()
        waiting = [name for each in conjuncts for name in identifiers(each) & self._scalars.keys()]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += free_identifiers(self._scalars[name].subquery) & self._scalars.keys()
        return frozenset(found)


def _sides(inputs: Sequence[Plan], reads: Iterable[frozenset[str]]) -> list[_Side]:
    """Put tables together that something reads together."""
    found = [_Side((each,)) for each in inputs]
    for names in reads:
        together = [each for each in found if each.columns & names]
        if len(together) > 1:
            merged = _Side(tuple(one for each in together for one in each.inputs))
            found = [merged if each is together[0] else each for each in found if each is together[0] or each not in together]
    return found


def _grouped(side: _Side, below: Rows, reads: _Reads) -> Plan:
    """Return the groups of the rows of some tables. Conditions that read none of them stand on each side: no row passes where they fail."""
    rows: Plan = reduce(lambda left, right: Join(JoinKind.INNER, left, right, ()), side.inputs)
    where = tuple(each for each in below.where if reads.of(each) <= side.columns)
    needed = reads.needed(where)
    plain = tuple(each for each in where if not reads.needed((each,)))
    rows = Filter(rows, plain) if plain else rows
    for each in below.scalars:
        if each.value.identifier in needed:
            known = by_identifier(rows.output)
            read = sorted(free_identifiers(each.subquery) & known.keys())
            rows = replace(each, child=rows, correlated=tuple(known[name] for name in read))
    decided = tuple(each for each in where if each not in plain)
    rows = Filter(rows, decided) if decided else rows
    return Aggregate(
        rows,
        tuple(attribute for attribute, _ in side.keys.values()),
        tuple(key for _, key in side.keys.values()),
        tuple(attribute for attribute, _ in side.functions.values()),
        tuple(function for _, function in side.functions.values()),
    )


def _key(attribute: Attribute, key: exp.Expr, sides: Sequence[_Side]) -> exp.Expr | None:
    side = _side_of(key, sides)
    if side is None:
        return None
    made = replace(attribute, identifier=f"side_{attribute.identifier}")
    side.keys[made.identifier] = (made, key)
    return reference(made)


def _side_of(expression: exp.Expr, sides: Sequence[_Side]) -> _Side | None:
    """Return the tables that an expression reads, the first ones where it reads nothing; None where these are not together."""
    names = identifiers(expression)
    return next((each for each in sides if names <= each.columns), None)


def _function(function: exp.Expr, sides: Sequence[_Side], types: Mapping[str, pa.DataType | None]) -> exp.Expr | None:
    """Return an aggregate of all pairs from those of each side."""
    if isinstance(function, exp.Count) and isinstance(function.this, (exp.Star, exp.Literal)) and not function.expressions:
        return product_of(each.rows for each in sides)
    argument = function.this if isinstance(function, (exp.Sum, exp.Count, *_KEPT)) and not function.expressions else None
    if not isinstance(argument, exp.Expr) or isinstance(argument, exp.Distinct):
        return None
    side = _side_of(argument, sides)
    if isinstance(function, exp.Sum):
        return _sum(argument, sides, types)
    if side is None:
        return None
    others = [each.rows for each in sides if each is not side]
    if isinstance(function, exp.Count):
        return product_of([side.asked(function), *others])
    return _where_all_are_positive(others, side.asked(function))


def _sum(argument: exp.Expr, sides: Sequence[_Side], types: Mapping[str, pa.DataType | None]) -> exp.Expr | None:
    """Return the sum of an expression that adds up what it reads of each side, where Spark adds without rounding."""
    kind = infer(argument, dict(types))
    kinds = list(_kinds_of_additions(argument, sides, dict(types)))
    if kind is None or not (pa.types.is_decimal(kind) or pa.types.is_signed_integer(kind) or pa.types.is_float64(kind)):
        return None
    if None in kinds or (pa.types.is_decimal(kind) and kind.scale > _MOST_SCALE):
        return None
    terms: dict[int, exp.Expr] = {}
    signs: dict[int, int] = {}
    for sign, term in _terms(argument, 1, sides):
        side = _side_of(term, sides)
        place = -1 if side is None else sides.index(side)
        if place < 0 or place in terms:
            # Two terms of one side would be added in a type of their own.
            return None
        terms[place], signs[place] = exp.Paren(this=term.copy()), sign
    counts = [each.asked(exp.Count(this=terms[place].copy())) if place in terms else each.rows for place, each in enumerate(sides)]
    sums: list[exp.Expr] = []
    for place, term in terms.items():
        own = sides[place].asked(exp.Sum(this=term.copy()))
        if pa.types.is_decimal(kind):
            own = _decimal(own, pa.decimal128(MOST_DIGITS, kind.scale))
        product = product_of([own, *others(counts, place)])
        sums.append(exp.Neg(this=product) if signs[place] < 0 else product)
    total: exp.Expr = reduce(lambda one, other: exp.Add(this=one, expression=other), sums)
    if pa.types.is_decimal(kind):
        total = _decimal(exp.Paren(this=total), summed_type(kind))
    widths = [int(each.bit_width) for each in kinds if each is not None and pa.types.is_signed_integer(each)]
    return _where_all_are_positive(counts, guarded(total, kind, sides, terms, counts, min(widths, default=_LONG)))


def _kinds_of_additions(expression: exp.Expr, sides: Sequence[_Side], types: dict[str, pa.DataType | None]) -> Iterable[pa.DataType | None]:
    """Yield the type of each addition of what is read of several sides, None where Spark may round it."""
    inner = expression.unnest()
    if _side_of(inner, sides) is not None:
        return
    operands = (inner.left, inner.right) if isinstance(inner, (exp.Add, exp.Sub)) else (inner.this,) if isinstance(inner, exp.Neg) else ()
    kind, own = infer(inner, types), [infer(each, types) for each in operands]
    yield kind if operands and kind is not None and all(each is not None and adds_exactly(kind, each) for each in own) else None
    for each in operands:
        yield from _kinds_of_additions(each, sides, types)


def _decimal(value: exp.Expr, kind: pa.Decimal128Type) -> exp.Expr:
    return exp.cast(value, exp.DataType.build(f"DECIMAL({kind.precision}, {kind.scale})", dialect="spark"))


def _terms(expression: exp.Expr, sign: int, sides: Sequence[_Side]) -> Iterable[tuple[int, exp.Expr]]:
    """Yield what is added, or taken away, of each side: whole, as long as it reads one side alone."""
    inner = expression.unnest()
    if _side_of(inner, sides) is not None or not isinstance(inner, (exp.Add, exp.Sub, exp.Neg)):
        yield sign, inner
    elif isinstance(inner, exp.Neg):
        yield from _terms(inner.this, -sign, sides)
    else:
        yield from _terms(inner.left, sign, sides)
        yield from _terms(inner.right, sign if isinstance(inner, exp.Add) else -sign, sides)


def _where_all_are_positive(counts: Iterable[exp.Expr], value: exp.Expr) -> exp.Expr:
    """Return a value, NULL where there are no rows to make pairs of."""
    conditions = [exp.GT(this=each.copy(), expression=exp.Literal.number(0)) for each in counts]
    return exp.Case(ifs=[exp.If(this=exp.and_(*conditions), true=value)])
