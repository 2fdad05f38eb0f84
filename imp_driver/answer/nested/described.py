"""A merge whose conditions compare sums of finer groups -> a description of it that is followed by descents (dataflow/nested).

Only what is exact in whole numbers and decimals that Spark does not round on its way; all else is evaluated at each reading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import itemgetter

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.columns import value_of
from imp_driver.answer.nested.exact_columns import NotDescribed, Relation, Tokens, single
from imp_driver.answer.nested.linear import Linear, linear
from imp_driver.answer.nested.partial import Partial, Partials
from imp_driver.dataflow.nested.description import Comparison, Condition, Constant, Correlation, Inner, Measure, Selection, Side
from imp_driver.plan.attributes import column_named, identifiers, plain_identifier
from imp_driver.plan.below import unfold
from imp_driver.plan.conjunctive import equality
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nested import decided_by
from imp_driver.plan.nodes import Aggregate, Merge, Plan, Scalar
from imp_driver.values.aggregates import AccumulatorKind, ValueForm
from imp_driver.values.codes import one_array
from imp_driver.values.decimal_types import summed_type
from imp_driver.values.widening import common_type

_COMPARISONS: dict[type[exp.Expr], Comparison] = {
    exp.LT: Comparison.LESS,
    exp.LTE: Comparison.AT_MOST,
    exp.GT: Comparison.GREATER,
    exp.GTE: Comparison.AT_LEAST,
    exp.EQ: Comparison.EQUAL,
    exp.NEQ: Comparison.UNEQUAL,
}
_SUMS = (AccumulatorKind.SUM_INTEGER, AccumulatorKind.SUM_LONG, AccumulatorKind.SUM_DECIMAL)
COUNTS = (AccumulatorKind.COUNT_ROWS, AccumulatorKind.COUNT)
_MOST_DIGITS = 38
_MOST_SUM = 2.0**63 * 0.99


@dataclass(slots=True, eq=False)
class Described:
    """What is followed, with the rows of its relations at this reading."""

    selection: Selection
    relations: dict[str, Relation]


@dataclass(slots=True, eq=False)
class _Level:
    """One aggregate: its groups, and what is decided about them.

    Attributes:
        key: what correlations of its subqueries compare with, as SQL, and the type of it.
        partition: the column that they equate.
    """

    name: str
    relation: Relation
    where: Sequence[exp.Expr]
    scalars: Mapping[str, Scalar]
    key: tuple[str, pa.DataType, int] | None = None
    partition: tuple[str, int] | None = None


@dataclass(slots=True, eq=False)
class Describer:
    """Describes merges; ``tokens`` are the numbers of the values of groups and of partitions, kept from one reading to the next."""

    rows_of: Callable[[Plan], pa.Table]
    partials: Partials
    tokens: tuple[Tokens, Tokens]
    relations: dict[str, Relation] = field(default_factory=dict)

    def described(self, merge: Merge) -> Described:
        """Raises NotDescribed, NotEvaluable."""
        level = self._level(merge)
        values = tuple(itemgetter(self._argument(level.relation, each)) for each in merge.functions)
        group = None
        if merge.keys:
            if len(merge.keys) > 1 or plain_identifier(merge.keys[0]) is None:
                raise NotDescribed("groups by more than one column")
            group = itemgetter(level.relation.add_tokens(value_of(level.relation.table, merge.keys[0]), self.tokens[0]))
        conditions = tuple(self._condition(each, level) for each in level.where)
        selection = Selection(
            level.name,
            values,
            conditions,
            key=None if level.key is None else itemgetter(level.key[2]),
            partition=None if level.partition is None else itemgetter(level.partition[1]),
            group=group,
        )
        return Described(selection, self.relations)

    def _level(self, merge: Merge) -> _Level:
        decided = decided_by(merge)
        plan = decided.rows
        if not isinstance(plan, Aggregate) or not plan.is_finer:
            raise NotDescribed("rows that are no finer groups")
        table = self.rows_of(plan)
        names = self.partials[plan.name].names
        if names is None:
            raise NotDescribed("groups that have no lasting numbers")
        relation = self.relations[plan.name] = Relation(table, names)
        return _Level(plan.name, relation, decided.where, decided.scalars)

    def _argument(self, relation: Relation, function: exp.Expr) -> int:
        """Add what finer groups hold of an aggregate. Raises NotDescribed where not every sum of some of them is known exactly."""
        name = plain_identifier(function)
        partial = None if name is None else self.partials.get(name)
        if name is None or partial is None:
            raise NotDescribed("an aggregate of keys, or with a condition")
        specification = partial.specification
        if specification.kind in COUNTS:
            return relation.add_numbers(one_array(relation.table.column(name)))
        if specification.kind not in _SUMS or specification.form is not ValueForm.TOTAL or not _fits(partial):
            raise NotDescribed(f"{specification.kind.value}, {specification.form.value}")
        return relation.add_numbers(one_array(relation.table.column(name)))

    def _condition(self, conjunct: exp.Expr, level: _Level, around: _Level | None = None) -> Condition:
        """Return a condition of the rows of a level, and of the row ``around`` these, which is the outermost one."""
        node = conjunct.unnest()
        if type(node) not in _COMPARISONS:
            raise NotDescribed("a condition that is no comparison")
        (left, one), (right, other) = (self._side(each, level, around) for each in (node.this, node.expression))
        kind = common_type([one, other])
        if kind is None or not (pa.types.is_signed_integer(kind) or pa.types.is_decimal(kind)) or not _are_kept(kind, (one, other)):
            raise NotDescribed("a comparison that Spark rounds for")
        return Condition(left, _COMPARISONS[type(node)], right)

    def _side(self, expression: exp.Expr, level: _Level, around: _Level | None) -> tuple[Side, pa.DataType]:
        """Return one side of a condition, and Spark's type of it."""
        read = identifiers(expression)
        own = {name: self._scalar(each, level) for name, each in level.scalars.items() if name in read}
        if around is not None:
            theirs = {name: self._scalar(each, around) for name, each in around.scalars.items() if name in read}
            own |= {name: (_of_outermost(inner), kind) for name, (inner, kind) in theirs.items()}
        found = linear(expression, {name: kind for name, (_, kind) in own.items()})
        if found.name is None:
            return Constant(found.factor), found.kind
        return _times(own[found.name][0], found), found.kind

    def _scalar(self, scalar: Scalar, level: _Level) -> tuple[Inner, pa.DataType]:
        if not free_identifiers(scalar.subquery):
            return self._fixed(scalar)
        below = unfold(scalar.subquery)
        merge = below.source
        if not isinstance(merge, Merge) or merge.keys or below.where:
            raise NotDescribed("a subquery of another form")
        functions = dict(zip((each.identifier for each in merge.function_attributes), merge.functions, strict=True))
        (expression,) = below.over_source(tuple(column_named(each.identifier) for each in scalar.subquery.output))
        types = {}
        for name in identifiers(expression):
            partial = self.partials.get(plain_identifier(functions[name]) or "") if name in functions else None
            types[name] = None if partial is None else _type(partial)
        found = linear(expression, types)
        if found.name is None:
            raise NotDescribed("a subquery of no aggregate")
        return _times(self._inner(merge, functions[found.name], level), found), found.kind

    def _fixed(self, scalar: Scalar) -> tuple[Inner, pa.DataType]:
        """Return a value that is the same for all rows, as the sum of the one row that has it."""
        rows = self.rows_of(scalar.subquery)
        if len(rows.column_names) != 1:
            raise NotDescribed("a sum of doubles")
        relation = single(rows.column(0))
        relation.add_numbers(one_array(relation.table.column(0)))
        self.relations[scalar.value.identifier] = relation
        kind = rows.schema.types[0]
        return Inner(scalar.value.identifier, Measure.SUM, itemgetter(0), Fraction(1, 10 ** _scale(kind))), kind

    def _inner(self, merge: Merge, function: exp.Expr, around: _Level) -> Inner:
        level = self._level(merge)
        partial = self.partials.get(plain_identifier(function) or "")
        argument = self._argument(level.relation, function)
        assert partial is not None
        own = {*level.relation.table.column_names, *level.scalars}
        both = level.scalars.keys() | around.scalars.keys()
        within = [each for each in level.where if identifiers(each) <= own]
        across = [each for each in level.where if each not in within and identifiers(each) <= both]
        outside = [each for each in level.where if each not in within and each not in across]
        if len(within) + len(across) > 1:
            raise NotDescribed("several conditions on the rows of a subquery")
        correlation = partition = None
        for each in outside:
            pair = equality(each)
            if pair is not None and partition is None:
                partition = self._partition(pair, level, around)
            elif pair is None and correlation is None:
                correlation = self._correlation(each, level, around)
            else:
                raise NotDescribed("several comparisons with the row around")
        condition = next((self._condition(each, level, None if within else around) for each in (*within, *across)), None)
        # Subqueries of the rows of this level see those of one partition only where it is that of the row around.
        if level.partition is not None and (partition is None or level.partition[0] != partition[0]):
            raise NotDescribed("an equality with the rows of a subquery that are of all partitions")
        scale = _scale(_type(partial))
        return Inner(
            level.name,
            Measure.SUM,
            itemgetter(argument),
            Fraction(1, 10**scale),
            correlation,
            None if partition is None else itemgetter(partition[1]),
            condition,
            partial.specification.kind in COUNTS,
        )

    def _partition(self, pair: tuple[str, str], level: _Level, around: _Level) -> tuple[str, int]:
        """Return the column of a level that equals one of the row around, and its place."""
        own = set(level.relation.table.column_names)
        inner, outer = pair if pair[0] in own else pair[::-1]
        tables = level.relation.table, around.relation.table
        if inner not in own or outer not in tables[1].column_names:
            raise NotDescribed("an equality with a name from further out")
        arrays = [one_array(table.column(name)) for table, name in zip(tables, (inner, outer), strict=True)]
        if arrays[0].type != arrays[1].type or pa.types.is_floating(arrays[0].type):
            raise NotDescribed("an equality of different types")
        if around.partition is None:
            around.partition = outer, around.relation.add_tokens(arrays[1], self.tokens[1])
        if around.partition[0] != outer:
            raise NotDescribed("equalities of several columns")
        return inner, level.relation.add_tokens(arrays[0], self.tokens[1])

    def _correlation(self, conjunct: exp.Expr, level: _Level, around: _Level) -> Correlation:
        node = conjunct.unnest()
        comparison = _COMPARISONS.get(type(node))
        if comparison is None or comparison in (Comparison.EQUAL, Comparison.UNEQUAL):
            raise NotDescribed("a comparison with the row around of another form")
        own, theirs = set(level.relation.table.column_names), set(around.relation.table.column_names)
        inner, outer = node.this, node.expression
        if not identifiers(inner) <= own:
            inner, outer, comparison = outer, inner, comparison.mirrored
        if not (identifiers(inner) <= own and identifiers(inner) and identifiers(outer) <= theirs):
            raise NotDescribed("a comparison with a name from further out")
        own_key, their_key = value_of(level.relation.table, inner), value_of(around.relation.table, outer)
        kind = own_key.type if own_key.type == their_key.type else common_type([own_key.type, their_key.type])
        if kind is None or not (pa.types.is_signed_integer(kind) or own_key.type == their_key.type):
            raise NotDescribed("keys of different types")
        if around.key is None:
            around.key = outer.sql(), kind, around.relation.add_codes(their_key.cast(kind))
        if around.key[:2] != (outer.sql(), kind):
            raise NotDescribed("subqueries that compare with different keys")
        if level.key is None:
            level.key = inner.sql(), kind, level.relation.add_codes(own_key.cast(kind))
        if level.key[:2] != (inner.sql(), kind):
            raise NotDescribed("keys that are compared in several ways")
        return Correlation(itemgetter(level.key[2]), comparison)


def _times(inner: Inner, found: Linear) -> Inner:
    return replace(inner, factor=inner.factor * found.factor, is_zero_when_empty=inner.is_zero_when_empty or found.is_zero_when_empty)


def _of_outermost(inner: Inner) -> Inner:
    """Return an aggregate of the outermost row as a condition within a subquery reads it."""
    if inner.correlation is None:
        return inner
    return replace(inner, correlation=replace(inner.correlation, is_outermost=True))


def _type(partial: Partial) -> pa.DataType:
    argument = partial.specification.argument_type
    if argument is not None and partial.specification.kind is AccumulatorKind.SUM_DECIMAL:
        return summed_type(argument)
    return pa.int64()


def _scale(kind: pa.DataType) -> int:
    return int(kind.scale) if pa.types.is_decimal(kind) else 0


def _fits(partial: Partial) -> bool:
    """Say whether no sum of some of the values, in whatever order, is beyond Spark's type."""
    kind, argument, rows = partial.specification.kind, partial.specification.argument_type, partial.rows[partial.slots]
    if kind is AccumulatorKind.SUM_LONG:
        magnitudes = partial.held.parts(partial.slots, rows)["magnitude"]
        return float(magnitudes.to_numpy().sum()) < _MOST_SUM
    return argument is None or not pa.types.is_decimal(argument) or float(rows.sum()) * 10.0**argument.precision < 10.0**_MOST_DIGITS


def _are_kept(kind: pa.DataType, sides: Sequence[pa.DataType]) -> bool:
    """Say whether a common type has all digits of both sides."""
    if not pa.types.is_decimal(kind):
        return True
    digits = [each.precision - each.scale if pa.types.is_decimal(each) else 20 for each in sides]
    return max(digits) + max(map(_scale, sides)) <= _MOST_DIGITS
