"""Rows of the groups of a query -> its own rows: every operator that stands above the groups, one after the other.

In: a plan with values for its markers, and for some of its aggregations their rows. Columns are named by attributes. Out: the rows in the
plan's order, or NotEvaluable where Spark's own rows cannot be had with certainty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.columns import expression_over, value_of
from imp_driver.answer.combine import combined, distinct, stacked
from imp_driver.answer.inner import InnerRows
from imp_driver.answer.join import joined, semijoined
from imp_driver.answer.nested.correlated import Correlated
from imp_driver.answer.nested.followed import FollowedMerges
from imp_driver.answer.nested.merged import merged
from imp_driver.answer.nested.partial import Partials
from imp_driver.answer.order import first_places, in_order, ties_at
from imp_driver.answer.recursion.recursions import Recursions
from imp_driver.answer.regroup import finer, regrouped
from imp_driver.answer.rounding import (
    check_decided,
    check_order,
    check_unread,
    rounded_in,
    spread_of,
    spread_of_expression,
    with_spreads,
    without_spreads,
)
from imp_driver.answer.windows import windowed
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.evaluate import truth
from imp_driver.dataflow.sort_keys import SortKey
from imp_driver.plan.conjunctive import with_equalities
from imp_driver.plan.convert import whole_number
from imp_driver.plan.early import early
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Fixpoint,
    Join,
    Merge,
    OneRow,
    OrderKey,
    Plan,
    Project,
    Recurrence,
    Scalar,
    SemiJoin,
    SetOperation,
    Sort,
    TopK,
    UnionAll,
    Window,
)
from imp_driver.values.codes import one_array
from imp_driver.values.expressions import And, Expression


class Finish:
    """Computes the rows of plans; ``groups`` has those of aggregations by the identifier of the first attribute of their output.

    ``may_round`` says that sums of doubles may be the correctly rounded ones; ``inner`` has what other queries have computed,
    ``recursions`` the recursive relations that are followed from one reading to the next, ``partials`` what is held of groups from which
    others are merged, ``merges`` those that are followed too, and ``known`` the rows of some, by the identifiers of their ``copies``.
    """

    def __init__(
        self,
        groups: Mapping[str, pa.Table],
        *,
        may_round: bool = True,
        inner: InnerRows | None = None,
        recursions: Recursions | None = None,
        partials: Partials | None = None,
        merges: FollowedMerges | None = None,
        known: Mapping[str, pa.Table] | None = None,
    ) -> None:
        self._groups = groups
        self._partials = dict(partials or {})
        self._merges = FollowedMerges() if merges is None else merges
        self._known = known or {}
        self._correlated = Correlated(self.rows, self._with_scalar, _filtered, self._partials)
        self._inner = inner
        self._recursions = Recursions() if recursions is None else recursions
        self._recurrences: dict[str, pa.Table] = {}
        self._may_round = may_round

    def answer(self, plan: Plan, *, may_tie: bool = True) -> pa.Table:
        """Return the rows of a whole query. Raises NotEvaluable.

        Args:
            may_tie: where the last LIMIT leaves open which rows, any that the query may have will do.
        """
        rows = self._last(plan, may_tie=may_tie)
        return without_spreads(rows if self._may_round else _unrounded(rows, "the option floats leaves to Spark"))

    def _last(self, plan: Plan, *, may_tie: bool) -> pa.Table:
        match plan:
            case TopK():
                return self._top(plan, may_tie=may_tie)
            case Project() if isinstance(plan.child, (TopK, Sort)):
                return _projected(plan, self._last(plan.child, may_tie=may_tie))
            case _:
                return self.rows(plan)

    def rows(self, plan: Plan) -> pa.Table:
        """Return the rows of a part of a query. Raises NotEvaluable."""
        match plan:
            case Aggregate():
                known = self._groups.get(plan.name) if plan.output else None
                return self._regrouped(plan) if known is None else known
            case Merge() if plan.copies.identifier in self._known:
                return self._known[plan.copies.identifier]
            case Merge():
                return self._merges.rows(plan, self.rows, self._partials, lambda: merged(plan, self.rows(plan.child), self._partials))
            case Filter():
                return _filtered(self.rows(with_equalities(plan.child, plan.conjuncts)), plan.conjuncts)
            case Project():
                return _projected(plan, self.rows(plan.child))
            case Join():
                return joined(plan, *self._both(plan))
            case SemiJoin():
                sooner = early(plan)
                return semijoined(plan, *self._both(plan)) if sooner is plan else self.rows(sooner)
            case Scalar():
                return self._with_scalar(plan, self.rows(plan.child))
            case UnionAll():
                return _stacked(plan, [self.rows(branch) for branch in plan.branches])
            case SetOperation():
                return combined(plan, *(_unrounded(self.rows(each), "rows told apart by") for each in (plan.left, plan.right)))
            case Distinct():
                return distinct(_unrounded(self.rows(plan.child), "rows told apart by"))
            case Fixpoint():
                return self._recursions.rows(plan, self.rows, self._recurrences)
            case OneRow():
                return pa.table([pa.nulls(1)], names=["one_row"])
            case Recurrence():
                return self._recurrences[plan.output[0].identifier]
            case Window():
                return windowed(plan, self.rows(plan.child))
            case TopK():
                return self._top(plan, may_tie=False)
            case Sort():
                rows = self.rows(plan.child)
                return in_order(rows, _sort_keys(rows, plan.order))
            case _:
                raise NotEvaluable(f"{type(plan).__name__.lower()} above groups")

    def filtered(self, rows: pa.Table, conjuncts: Sequence[exp.Expr]) -> pa.Table:
        """Return the rows for which every condition is true. Raises NotEvaluable."""
        return _filtered(rows, conjuncts)

    def ordered(self, plan: Sort | TopK, rows: pa.Table) -> pa.Table:
        """Return rows in an order, the first ones where it has a LIMIT. Raises NotEvaluable."""
        return self._first(plan, rows, may_tie=True) if isinstance(plan, TopK) else in_order(rows, _sort_keys(rows, plan.order))

    def _regrouped(self, plan: Aggregate) -> pa.Table:
        if plan.is_finer:
            rows, partials = finer(plan, self.rows(plan.child))
            self._partials.update(partials)
            return rows
        known = None if self._inner is None else self._inner.find(plan)
        if known is not None:
            return known
        rows = regrouped(plan, self.rows(plan.child))
        if self._inner is not None:
            self._inner.keep(plan, rows)
        return rows

    def _both(self, plan: Join | SemiJoin) -> tuple[pa.Table, pa.Table]:
        left, right = self.rows(plan.left), self.rows(plan.right)
        for rows in (left, right):
            check_unread(rows, plan.conjuncts, "a join by")
        return left, right

    def _top(self, plan: TopK, *, may_tie: bool) -> pa.Table:
        return self._first(plan, self.rows(plan.child), may_tie=may_tie)

    def _first(self, plan: TopK, rows: pa.Table, *, may_tie: bool) -> pa.Table:
        keys = _sort_keys(rows, plan.order)
        skipped, count = bounds_of(plan)
        if not may_tie and any(ties_at(rows, keys, place) for place in (skipped, skipped + count)):
            raise NotEvaluable("rows tie where a LIMIT ends")
        places = first_places(rows, keys, skipped + count + 1)
        check_order(rows, [key.expression for key in plan.order], places, (skipped, skipped + count))
        return rows.take(pa.array(places[skipped : skipped + count]))

    def _with_scalar(self, plan: Scalar, rows: pa.Table) -> pa.Table:
        if free_identifiers(plan.subquery):
            return self._correlated.with_value(plan, rows)
        found = self.rows(plan.subquery)
        if found.num_rows > 1:
            raise NotEvaluable("a scalar subquery of more than one row")
        kind = found.schema.types[0]
        value = one_array(found.column(0))[0] if found.num_rows else pa.scalar(None, kind)
        rows = rows.append_column(plan.value.identifier, pa.repeat(value, rows.num_rows))
        name = plan.subquery.output[0].identifier
        if found.num_rows and name in rounded_in(found):
            return with_spreads(rows, {plan.value.identifier: np.full(rows.num_rows, spread_of(found, name)[0])})
        return rows


def _filtered(rows: pa.Table, conjuncts: Sequence[exp.Expr]) -> pa.Table:
    for conjunct in conjuncts:
        check_decided(rows, conjunct)
    conditions: list[Expression] = [expression_over(rows, conjunct) for conjunct in conjuncts]
    return rows.filter(truth(rows, And(tuple(conditions))))


def _projected(plan: Project, rows: pa.Table) -> pa.Table:
    arrays = [value_of(rows, expression) for expression in plan.expressions]
    spreads = {
        attribute.identifier: spread
        for attribute, expression in zip(plan.output, plan.expressions, strict=True)
        if (spread := spread_of_expression(rows, expression)) is not None
    }
    return with_spreads(pa.table(arrays, names=[attribute.identifier for attribute in plan.output]), spreads)


def _stacked(plan: UnionAll, branches: Sequence[pa.Table]) -> pa.Table:
    spreads = {}
    for place, attribute in enumerate(plan.output):
        if any(branch.column_names[place] in rounded_in(branch) for branch in branches):
            spreads[attribute.identifier] = np.concatenate([spread_of(branch, branch.column_names[place]) for branch in branches])
    return with_spreads(stacked(branches, plan.output), spreads)


def _unrounded(rows: pa.Table, what: str) -> pa.Table:
    if rounded_in(rows):
        raise NotEvaluable(f"{what} a sum of doubles")
    return rows


def _sort_keys(rows: pa.Table, order: Sequence[OrderKey]) -> list[SortKey]:
    return [SortKey(value_of(rows, key.expression), key.descending, key.nulls_first) for key in order]


def bounds_of(plan: TopK) -> tuple[int, int]:
    """Return how many rows are skipped and how many are taken then. Raises NotEvaluable where one is no whole number."""
    return 0 if plan.offset is None else _number(plan.offset), _number(plan.limit)


def _number(part: exp.Expr) -> int:
    value = whole_number(part)
    if value is None or value < 0:
        raise NotEvaluable("LIMIT is not a whole number")
    return value
