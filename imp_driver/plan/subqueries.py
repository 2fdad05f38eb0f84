"""Conditions -> filters, semi-joins and scalar values: what a subquery in WHERE, HAVING or the SELECT list is in the plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from imp_driver.plan.attributes import by_identifier, identifiers, plain_identifier, reference, replaced
from imp_driver.plan.conjunctive import equality
from imp_driver.plan.context import Context
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nodes import Aggregate, Attribute, Filter, Plan, Project, Scalar, SemiJoin
from imp_driver.plan.scalars import are_alike, is_one_row
from imp_driver.plan.scope import Scope
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


@dataclass(frozen=True, slots=True)
class Rows:
    """FROM and WHERE of a subquery, with its SELECT list and the conditions that read the query around it."""

    plan: Plan
    items: tuple[exp.Expr, ...]
    correlated: tuple[exp.Expr, ...]


class Queries(Protocol):
    """How a subquery is resolved: whole, or only its rows when it has neither groups nor LIMIT."""

    def whole(self, node: exp.Expr, outer: Scope) -> Plan: ...

    def rows(self, node: exp.Expr, outer: Scope) -> Rows | None:
        """Return None when the subquery is more than FROM and WHERE."""


Resolve = Callable[[exp.Column], exp.Expr]


@dataclass(slots=True)
class Conditions:
    """Adds conditions to a plan; ``resolve`` gives the meaning of a name here, ``scope`` is what subqueries see around them."""

    plan: Plan
    context: Context
    resolve: Resolve
    scope: Scope
    queries: Queries
    scalars: dict[str, Attribute] = field(default_factory=dict)
    """Columns that the plan has for scalar subqueries, by their texts."""

    def add(self, conjuncts: Sequence[exp.Expr]) -> Plan:
        """Return the plan with every conjunct applied.

        Raises:
            Refused: a subquery stands where no rule covers it.
        """
        memberships = [each for each in conjuncts if self._is_membership(each)]
        others = [each for each in conjuncts if not self._is_membership(each)]
        # Plain conditions first: what they equate is then known where subqueries are computed.
        for with_subquery in (False, True):
            resolved = tuple(
                self.with_scalars(each, is_condition=True) for each in others if (each.find(exp.Query) is not None) is with_subquery
            )
            if resolved:
                self.plan = Filter(self.plan, resolved)
        for conjunct in memberships:
            self._membership(conjunct)
        return self.plan

    @staticmethod
    def _is_membership(conjunct: exp.Expr) -> bool:
        inner = conjunct.this.unnest() if isinstance(conjunct, exp.Not) else conjunct
        return isinstance(inner, exp.Exists) or (isinstance(inner, exp.In) and inner.args.get("query") is not None)

    def _membership(self, conjunct: exp.Expr) -> None:
        anti = isinstance(conjunct, exp.Not)
        inner = conjunct.this.unnest() if anti else conjunct
        if isinstance(inner, exp.Exists):
            self._exists(inner.this, anti)
        else:
            self._in(inner, anti)

    def _exists(self, node: exp.Expr, anti: bool) -> None:
        rows = self.queries.rows(node, self.scope)
        if rows is None:
            self.plan = SemiJoin(self.plan, self._uncorrelated(node), (), anti)
            return
        self.plan = SemiJoin(self.plan, rows.plan, self._lifted(rows), anti)

    def _in(self, node: exp.Expr, anti: bool) -> None:
        left = node.this.unnest()
        values = [self.with_scalars(each) for each in (left.expressions if isinstance(left, exp.Tuple) else [left])]
        query = node.args["query"]
        rows = self.queries.rows(query, self.scope)
        if rows is None:
            right = self._uncorrelated(query, comparison="<> in the place of NOT IN" if anti else "= in the place of IN")
            partners: list[exp.Expr] = [reference(attribute) for attribute in right.output]
            correlated: tuple[exp.Expr, ...] = ()
        else:
            right, partners, correlated = rows.plan, list(rows.items), self._lifted(rows)
        if len(partners) != len(values):
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, "IN with another number of columns")
        if anti and correlated:
            raise Refused(Reason.CORRELATED_SUBQUERY, "NOT IN")
        self._check_unpadded(values, partners, right)
        if anti:
            self._check_no_doubles((*values, *partners), right)
        equal = tuple(exp.EQ(this=_operand(one), expression=_operand(other)) for one, other in zip(values, partners, strict=True))
        self.plan = SemiJoin(self.plan, right, (*equal, *correlated), anti, null_aware=anti)

    def _uncorrelated(self, node: exp.Expr, comparison: str = "") -> Plan:
        """Return the plan of a subquery. Raises Refused where it reads the row around it.

        Args:
            comparison: what would do in the place of a membership if the subquery has one value.
        """
        plan = self.queries.whole(node, self.scope)
        if free_identifiers(plan):
            is_value = bool(comparison) and is_one_row(plan) and len(plan.output) == 1
            instead = f"an aggregate that has one value for each row around it: write {comparison}"
            raise Refused(Reason.CORRELATED_SUBQUERY, instead if is_value else "below groups, DISTINCT or LIMIT")
        return plan

    def _lifted(self, rows: Rows) -> tuple[exp.Expr, ...]:
        known = by_identifier((*self.plan.output, *rows.plan.output))
        for conjunct in rows.correlated:
            if not identifiers(conjunct) <= known.keys():
                raise Refused(Reason.CORRELATED_SUBQUERY, "a name from further out, or no group key")
        return rows.correlated

    def with_scalars(self, expression: exp.Expr, *, is_condition: bool = False) -> exp.Expr:
        """Resolve an expression; each scalar subquery in it becomes a column that the plan adds.

        Args:
            is_condition: rows are kept where it is true, so that FALSE and unknown are the same.

        Raises:
            Refused: a subquery stands where no rule covers it.
        """

        def extract(node: exp.Expr) -> exp.Expr:
            if isinstance(node, (exp.Any, exp.All)):
                raise Refused(Reason.SUBQUERY, "ANY or ALL")
            if isinstance(node, exp.Exists):
                return _as_resolved(self._exists_value(node))
            if isinstance(node, exp.In) and node.args.get("query") is not None:
                return _as_resolved(self._in_value(node, is_condition=is_condition))
            return _as_resolved(reference(self._scalar_once(node))) if isinstance(node, exp.Query) else node

        extracted = expression.transform(extract)
        return replaced(extracted, self._resolve_unless_done)

    def _exists_value(self, node: exp.Exists) -> exp.Expr:
        """Return EXISTS as a value: whether the subquery has rows."""
        rows = self.queries.rows(node.this, self.scope)
        found = self._uncorrelated(node.this) if rows is None else rows.plan
        return _is_positive(self._count(found, () if rows is None else self._checked(self._lifted(rows), found)))

    def _in_value(self, node: exp.In, *, is_condition: bool) -> exp.Expr:
        """Return whether IN is true. Raises Refused where it matters that it may be unknown: as a value Spark makes FALSE of that."""
        operand, query = self.with_scalars(node.this), node.args["query"]
        rows = self.queries.rows(query, self.scope)
        is_plain = not isinstance(node.this.unnest(), exp.Tuple) and (rows is None or not rows.correlated)
        if not is_plain or not _is_asked_for_truth(node, is_condition=is_condition):
            raise Refused(Reason.SUBQUERY, "IN as a value, below NOT, of several columns, or that reads the row around it, beside OR")
        found = self._uncorrelated(query, comparison="= in the place of IN") if rows is None else rows.plan
        partners = [reference(attribute) for attribute in found.output] if rows is None else list(rows.items)
        if len(partners) != 1:
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, "IN with another number of columns")
        self._check_alike(operand, partners[0], found)
        equal = exp.EQ(this=_operand(partners[0]), expression=_operand(operand))
        return _is_positive(self._count(found, self._checked((equal,), found)))

    def _check_unpadded(self, values: Sequence[exp.Expr], partners: Sequence[exp.Expr], found: Plan) -> None:
        """Raise Refused where an equality pads a CHAR column to the length of what it is compared with, which IN does not."""
        known = by_identifier((*self.plan.output, *found.output))
        for pair in zip(values, partners, strict=True):
            names = {each.type_name or "" for node in pair for name in identifiers(node) if (each := known.get(name)) is not None}
            if len(names) > 1 and any(name.startswith("char(") for name in names):
                raise Refused(Reason.SUBQUERY, "IN of a CHAR column and values of another length or type")

    def _check_no_doubles(self, nodes: Sequence[exp.Expr], found: Plan) -> None:
        """Raise Refused for NOT IN over floating numbers: Spark's join for it may tell zeros of both signs apart."""
        known = by_identifier((*self.plan.output, *found.output))
        if any(known[name].type_name in ("double", "float") for node in nodes for name in identifiers(node) if name in known):
            raise Refused(Reason.SUBQUERY, "NOT IN over DOUBLE, for which Spark may tell zeros of both signs apart")

    def _check_alike(self, operand: exp.Expr, partner: exp.Expr, found: Plan) -> None:
        """Raise Refused where IN may convert its sides otherwise than an equality does."""
        known = by_identifier((*self.plan.output, *found.output))
        one, other = (known.get(plain_identifier(each) or "") for each in (operand, partner))
        if one is None or other is None or not are_alike(one, other):
            raise Refused(
                Reason.SUBQUERY, "IN of columns of different types, or of what is no column, inside OR, NOT or another expression"
            )

    def _checked(self, conditions: tuple[exp.Expr, ...], found: Plan) -> tuple[exp.Expr, ...]:
        """Return the conditions on a subquery's rows by the row around it. Raises Refused for those that Spark counts no rows by."""
        own = by_identifier(found.output)
        for each in conditions:
            pair = equality(each)
            if pair is None or (pair[0] in own) is (pair[1] in own):
                raise Refused(Reason.SUBQUERY, "inside OR, NOT or another expression, by more than an equality of columns")
        return conditions

    def _count(self, found: Plan, conditions: tuple[exp.Expr, ...]) -> exp.Expr:
        """Add the number of a subquery's rows; return its column."""
        function = exp.Count(this=exp.Star())
        number, value = (self.context.attribute(name, "long", nullable=False) for name in ("count", "scalar"))
        groups = Aggregate(Filter(found, conditions) if conditions else found, (), (), (number,), (function,))
        subquery = Project(groups, (self.context.attribute("count", "long", nullable=False),), (reference(number),))
        return reference(self._with_value(subquery, value))

    def _with_value(self, subquery: Plan, value: Attribute) -> Attribute:
        """Add the value of a subquery to every row. Raises Refused where it reads a name from further out than the row around it."""
        known = by_identifier(self.plan.output)
        read = sorted(free_identifiers(subquery))
        if not known.keys() >= set(read):
            raise Refused(Reason.CORRELATED_SUBQUERY, "a name from further out, or no group key")
        self.plan = Scalar(self.plan, subquery, value, tuple(known[each] for each in read))
        return value

    def _resolve_unless_done(self, column: exp.Column) -> exp.Expr:
        if column.table == _RESOLVED:
            return exp.Column(this=column.this.copy())
        return self.resolve(column)

    def know(self, node: exp.Expr, output: Sequence[Attribute]) -> None:
        """Take a scalar subquery for a column that the plan has already. Raises Refused where it has several columns."""
        _check_one(output)
        self.scalars[node.sql(dialect="spark")] = output[0]

    def _scalar_once(self, node: exp.Expr) -> Attribute:
        text = node.sql(dialect="spark")
        if text not in self.scalars:
            self.scalars[text] = self._scalar(node)
        return self.scalars[text]

    def _scalar(self, node: exp.Expr) -> Attribute:
        subquery = self.queries.whole(node, self.scope)
        _check_one(subquery.output)
        return self._with_value(subquery, self.context.attribute("scalar", kind=subquery.output[0].kind))


_RESOLVED = "#resolved"


def _as_resolved(expression: exp.Expr) -> exp.Expr:
    """Mark the columns of an expression as those of the plan, which are not to be looked up again."""
    for column in expression.find_all(exp.Column):
        column.set("table", exp.to_identifier(_RESOLVED))
    return expression


def _is_asked_for_truth(node: exp.Expr, *, is_condition: bool) -> bool:
    """Say whether FALSE instead of unknown makes no difference: only AND and OR stand between it and what asks whether it is true."""
    child, parent = node, node.parent
    while isinstance(parent, (exp.Paren, exp.And, exp.Or)):
        child, parent = parent, parent.parent
    if isinstance(parent, exp.If):
        case = parent.parent
        return parent.this is child and not (isinstance(case, exp.Case) and case.this is not None)
    return is_condition if parent is None else isinstance(parent, (exp.Where, exp.CountIf))


def _is_positive(count: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.GT(this=count, expression=exp.Literal.number(0)))


def _check_one(output: Sequence[Attribute]) -> None:
    if len(output) != 1:
        raise Refused(Reason.SUBQUERY, "a scalar subquery with several columns")


def _operand(expression: exp.Expr) -> exp.Expr:
    return exp.Paren(this=expression) if isinstance(expression, (exp.Binary, exp.Not)) else expression
