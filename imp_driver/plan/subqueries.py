"""Conditions -> filters, semi-joins and scalar values: what a subquery in WHERE, HAVING or the SELECT list is in the plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from imp_driver.plan.attributes import by_identifier, identifiers, reference, replaced
from imp_driver.plan.context import Context
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nodes import Attribute, Filter, Plan, Scalar, SemiJoin
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
            resolved = tuple(self.with_scalars(each) for each in others if (each.find(exp.Query) is not None) is with_subquery)
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
            right = self._uncorrelated(query)
            partners: list[exp.Expr] = [reference(attribute) for attribute in right.output]
            correlated: tuple[exp.Expr, ...] = ()
        else:
            right, partners, correlated = rows.plan, list(rows.items), self._lifted(rows)
        if len(partners) != len(values):
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, "IN with another number of columns")
        if anti and correlated:
            raise Refused(Reason.CORRELATED_SUBQUERY, "NOT IN")
        equal = tuple(exp.EQ(this=_operand(one), expression=_operand(other)) for one, other in zip(values, partners, strict=True))
        self.plan = SemiJoin(self.plan, right, (*equal, *correlated), anti, null_aware=anti)

    def _uncorrelated(self, node: exp.Expr) -> Plan:
        plan = self.queries.whole(node, self.scope)
        if free_identifiers(plan):
            raise Refused(Reason.CORRELATED_SUBQUERY, "below groups, DISTINCT or LIMIT")
        return plan

    def _lifted(self, rows: Rows) -> tuple[exp.Expr, ...]:
        known = by_identifier((*self.plan.output, *rows.plan.output))
        for conjunct in rows.correlated:
            if not identifiers(conjunct) <= known.keys():
                raise Refused(Reason.CORRELATED_SUBQUERY, "a name from further out, or no group key")
        return rows.correlated

    def with_scalars(self, expression: exp.Expr) -> exp.Expr:
        """Resolve an expression; each scalar subquery in it becomes a column that the plan adds.

        Raises:
            Refused: a subquery stands where no rule covers it.
        """

        def extract(node: exp.Expr) -> exp.Expr:
            if isinstance(node, (exp.Exists, exp.Any, exp.All)) or (isinstance(node, exp.In) and node.args.get("query") is not None):
                raise Refused(Reason.SUBQUERY, "inside OR, NOT or another expression")
            if isinstance(node, exp.Query):
                column = reference(self._scalar_once(node))
                column.set("table", exp.to_identifier(_RESOLVED))
                return column
            return node

        extracted = expression.transform(extract)
        return replaced(extracted, self._resolve_unless_done)

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
        value = self.context.attribute("scalar", kind=subquery.output[0].kind)
        known = by_identifier(self.plan.output)
        read = sorted(free_identifiers(subquery))
        if not known.keys() >= set(read):
            raise Refused(Reason.CORRELATED_SUBQUERY, "a name from further out, or no group key")
        self.plan = Scalar(self.plan, subquery, value, tuple(known[each] for each in read))
        return value


_RESOLVED = "#resolved"


def _check_one(output: Sequence[Attribute]) -> None:
    if len(output) != 1:
        raise Refused(Reason.SUBQUERY, "a scalar subquery with several columns")


def _operand(expression: exp.Expr) -> exp.Expr:
    return exp.Paren(this=expression) if isinstance(expression, (exp.Binary, exp.Not)) else expression
