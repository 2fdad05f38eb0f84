"""Rows of the groups of a query -> its own rows: every operator that stands above the groups, one after the other.

In: a plan with values for its markers, and for some of its aggregations their rows. Columns are named by attributes. Out: the rows in the
plan's order, or NotEvaluable where Spark's own rows cannot be had with certainty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.combine import combined, distinct, stacked
from imp_driver.answer.join import joined, semijoined
from imp_driver.answer.order import SortKey, in_order, ties_at
from imp_driver.answer.regroup import regrouped
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.dataflow.expression.select import select
from imp_driver.plan.convert import constant, row_expression
from imp_driver.plan.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    OrderKey,
    Plan,
    Project,
    Scalar,
    SemiJoin,
    SetOperation,
    Sort,
    TopK,
    UnionAll,
)
from imp_driver.values.codes import one_array
from imp_driver.values.expressions import And, Expression


class Finish:
    """Computes the rows of plans; ``groups`` has those of aggregations by the identifier of the first attribute of their output."""

    def __init__(self, groups: Mapping[str, pa.Table]) -> None:
        self._groups = groups

    def answer(self, plan: Plan, *, may_tie: bool = True) -> pa.Table:
        """Return the rows of a whole query. Raises NotEvaluable.

        Args:
            may_tie: where the last LIMIT leaves open which rows, any that the query may have will do.
        """
        match plan:
            case TopK():
                return self._top(plan, may_tie=may_tie)
            case Project() if isinstance(plan.child, (TopK, Sort)):
                return _projected(plan, self.answer(plan.child, may_tie=may_tie))
            case _:
                return self.rows(plan)

    def rows(self, plan: Plan) -> pa.Table:
        """Return the rows of a part of a query. Raises NotEvaluable."""
        match plan:
            case Aggregate():
                known = self._groups.get(plan.output[0].identifier) if plan.output else None
                return regrouped(plan, self.rows(plan.child)) if known is None else known
            case Filter():
                return _filtered(self.rows(plan.child), plan.conjuncts)
            case Project():
                return _projected(plan, self.rows(plan.child))
            case Join():
                return joined(plan, self.rows(plan.left), self.rows(plan.right))
            case SemiJoin():
                return semijoined(plan, self.rows(plan.left), self.rows(plan.right))
            case Scalar():
                return self._with_scalar(plan)
            case UnionAll():
                return stacked([self.rows(branch) for branch in plan.branches], plan.output)
            case SetOperation():
                return combined(plan, self.rows(plan.left), self.rows(plan.right))
            case Distinct():
                return distinct(self.rows(plan.child))
            case TopK():
                return self._top(plan, may_tie=False)
            case Sort():
                rows = self.rows(plan.child)
                return in_order(rows, _sort_keys(rows, plan.order))
            case _:
                raise NotEvaluable(f"{type(plan).__name__.lower()} above groups")

    def _top(self, plan: TopK, *, may_tie: bool) -> pa.Table:
        rows = self.rows(plan.child)
        keys = _sort_keys(rows, plan.order)
        skipped = 0 if plan.offset is None else _number(plan.offset)
        count = _number(plan.limit)
        if not may_tie and any(ties_at(rows, keys, place) for place in (skipped, skipped + count)):
            raise NotEvaluable("rows tie where a LIMIT ends")
        return in_order(rows, keys).slice(skipped, count)

    def _with_scalar(self, plan: Scalar) -> pa.Table:
        if plan.correlated:
            raise NotEvaluable("a subquery that reads the row around it")
        rows, found = self.rows(plan.child), self.rows(plan.subquery)
        if found.num_rows > 1:
            raise NotEvaluable("a scalar subquery of more than one row")
        kind = found.schema.types[0]
        value = one_array(found.column(0))[0] if found.num_rows else pa.scalar(None, kind)
        return rows.append_column(plan.value.identifier, pa.repeat(value, rows.num_rows))


def _types(rows: pa.Table) -> dict[str, pa.DataType | None]:
    return {field.name: field.type for field in rows.schema}


def _filtered(rows: pa.Table, conjuncts: Sequence[exp.Expr]) -> pa.Table:
    conditions: list[Expression] = [row_expression(conjunct, _types(rows)) for conjunct in conjuncts]
    return rows.filter(pa.array(select(rows, And(tuple(conditions)))))


def _projected(plan: Project, rows: pa.Table) -> pa.Table:
    arrays = [computed(rows, row_expression(expression, _types(rows))) for expression in plan.expressions]
    return pa.table(arrays, names=[attribute.identifier for attribute in plan.output])


def _sort_keys(rows: pa.Table, order: Sequence[OrderKey]) -> list[SortKey]:
    return [SortKey(computed(rows, row_expression(key.expression, _types(rows))), key.descending, key.nulls_first) for key in order]


def _number(part: exp.Expr) -> int:
    value = constant(part)
    if value is None or not isinstance(value.value, int) or isinstance(value.value, bool) or value.value < 0:
        raise NotEvaluable("LIMIT is not a whole number")
    return value.value
