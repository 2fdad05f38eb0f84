"""Scalar subqueries that read the row around them, above groups: the value for each row, from the groups that correlate with it.

Each different row asks one question of the inner groups. Equalities tell which of these it is about, inequalities of one inner expression
(or of several that grow together) which run of them in order: all questions are answered by running sums (the prefix descent of the RPAI
paper, section 2.2, for all thresholds at once). Other conditions are looked at for each pair, as the paper's general algorithm does (4.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.columns import expression_over, value_of
from imp_driver.answer.join import MOST_PAIRS, joined
from imp_driver.answer.nested.merged import merged_value, places_of, with_exact
from imp_driver.answer.nested.partial import Partials
from imp_driver.answer.nested.runs import OrderedRuns, ordered_runs
from imp_driver.answer.rounding import check_decided, rounded_in, spread_of_expression, with_spreads
from imp_driver.dataflow.aggregate.accumulator import Values
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.evaluate import truth
from imp_driver.dataflow.ranks import first_of_each, numbered
from imp_driver.plan.attributes import column_named, identifiers, plain_identifier
from imp_driver.plan.below import unfold
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nodes import Filter, Join, JoinKind, Merge, OneRow, Plan, Scalar
from imp_driver.values.codes import BooleanArray, FloatArray, one_array

MOST_PAIRS_OF_ALL = 10 * MOST_PAIRS
"""Pairs of a question and a group that are looked at one by one; beyond these Spark computes the query."""
_NUMBER = "number of the question"


@dataclass(frozen=True, slots=True, eq=False)
class _Inner:
    """The groups that are asked about, and the questions, each with what it reads.

    Attributes:
        between: conditions that read both.
        late: filters and subqueries that read both, in the order in which they come, without what is below them.
    """

    rows: pa.Table
    questions: pa.Table
    between: tuple[exp.Expr, ...] = ()
    late: tuple[Filter | Scalar, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Correlated:
    """Evaluates correlated subqueries.

    Attributes:
        rows_of: gives the rows of plans that read nothing around them.
        with_scalar: adds the value of any scalar subquery to rows.
        filtered: gives the rows that pass conditions.
    """

    rows_of: Callable[[Plan], pa.Table]
    with_scalar: Callable[[Scalar, pa.Table], pa.Table]
    filtered: Callable[[pa.Table, Sequence[exp.Expr]], pa.Table]
    partials: Partials = field(default_factory=dict)

    def with_value(self, plan: Scalar, rows: pa.Table) -> pa.Table:
        """Add the value of a subquery to rows. Raises NotEvaluable."""
        read = sorted(free_identifiers(plan.subquery))
        if not set(read) <= set(rows.column_names):
            raise NotEvaluable("a subquery that reads a name from further out")
        if set(read) & rounded_in(rows):
            raise NotEvaluable("a subquery that reads a sum of doubles around it")
        columns = [one_array(rows.column(name)) for name in read]
        numbers = numbered(columns, rows.num_rows)
        value, spread = self._values(plan, pa.table(columns, names=read).take(pa.array(first_of_each(numbers))))
        rows = rows.append_column(plan.value.identifier, value.take(pa.array(numbers)))
        return rows if spread is None else with_spreads(rows, {plan.value.identifier: spread[numbers]})

    def _values(self, plan: Scalar, questions: pa.Table) -> tuple[pa.Array, FloatArray | None]:
        """Return the value of a subquery for each question."""
        below = unfold(plan.subquery)
        merge = below.source
        if not isinstance(merge, Merge) or merge.keys:
            raise NotEvaluable("a subquery that reads the row around it, and is more than aggregates without GROUP BY")
        (expression,) = below.over_source(tuple(column_named(each.identifier) for each in plan.subquery.output))
        rows = self._aggregates(merge, questions)
        if not below.where:
            return value_of(rows, expression), spread_of_expression(rows, expression)
        # Where HAVING leaves no row the value is NULL.
        rows = self.filtered(rows.append_column(_NUMBER, pa.array(np.arange(rows.num_rows))), below.where)
        places = np.full(questions.num_rows, -1, dtype=np.int64)
        places[rows.column(_NUMBER).to_numpy()] = np.arange(rows.num_rows)
        value = value_of(rows, expression).take(pa.array(places, mask=places < 0))
        spread = spread_of_expression(rows, expression)
        return value, None if spread is None else np.append(spread, 0.0)[places]

    def _aggregates(self, merge: Merge, questions: pa.Table) -> pa.Table:
        """Return the questions with the aggregates of the groups that each is about."""
        inner = self._inner(merge.child, questions)
        runs = None if inner.late else self._runs(inner)
        found = {function: None if runs is None else self._framed(merge, function, inner.rows, runs) for function in merge.functions}
        missing = [function for function, values in found.items() if values is None]
        found.update(zip(missing, self._paired(merge, missing, inner), strict=True) if missing else ())
        named = zip(merge.function_attributes, merge.functions, strict=True)
        return with_exact(inner.questions, [(attribute, _given(found[function])) for attribute, function in named])

    def _inner(self, plan: Plan, questions: pa.Table) -> _Inner:
        """Evaluate what reads groups alone, and what reads questions alone."""
        if not isinstance(plan, (Filter, Scalar)):
            return _Inner(self.rows_of(plan), questions)
        inner = self._inner(plan.child, questions)
        own, asked = set(inner.rows.column_names), set(inner.questions.column_names)
        if isinstance(plan, Scalar):
            read = free_identifiers(plan.subquery)
            if read <= own:
                return _Inner(self.with_scalar(plan, inner.rows), inner.questions, inner.between, inner.late)
            if read <= asked:
                return _Inner(inner.rows, self.with_scalar(plan, inner.questions), inner.between, inner.late)
            return _Inner(inner.rows, inner.questions, inner.between, (*inner.late, plan))
        alone = tuple(each for each in plan.conjuncts if identifiers(each) <= own)
        both = tuple(each for each in plan.conjuncts if each not in alone and identifiers(each) <= own | asked)
        late = tuple(each for each in plan.conjuncts if each not in alone and each not in both)
        rows = self.filtered(inner.rows, alone) if alone else inner.rows
        steps = (Filter(OneRow(), late),) if late else ()
        return _Inner(rows, inner.questions, (*inner.between, *both), (*inner.late, *steps))

    def _runs(self, inner: _Inner) -> OrderedRuns | None:
        asked = set(inner.questions.column_names)
        of_questions = tuple(each for each in inner.between if identifiers(each) <= asked)
        others = tuple(each for each in inner.between if each not in of_questions)
        is_asked: BooleanArray = np.ones(inner.questions.num_rows, dtype=bool)
        for each in of_questions:
            check_decided(inner.questions, each)
            found = truth(inner.questions, expression_over(inner.questions, each))
            is_asked &= found.fill_null(False).to_numpy(zero_copy_only=False)
        return ordered_runs(others, inner.rows, inner.questions, is_asked)

    def _framed(self, merge: Merge, function: exp.Expr, rows: pa.Table, runs: OrderedRuns) -> Values | None:
        """Return an aggregate of the run of each question; None where pairs are to be looked at."""
        name = plain_identifier(function)
        return None if name is None else self.partials[name].framed(places_of(merge, rows)[runs.places], runs.runs)

    def _paired(self, merge: Merge, functions: Sequence[exp.Expr], inner: _Inner) -> Iterator[Values]:
        """Yield aggregates of the groups that meet each question."""
        rows, questions = inner.rows, inner.questions
        if rows.num_rows * questions.num_rows > MOST_PAIRS_OF_ALL:
            raise NotEvaluable(f"{questions.num_rows} rows and {rows.num_rows} groups that are compared one by one")
        size = max(1, MOST_PAIRS // max(1, rows.num_rows))
        numbered_ones = questions.append_column(_NUMBER, pa.array(np.arange(questions.num_rows)))
        pairs = pa.concat_tables(
            self._pairs(numbered_ones.slice(start, size), inner) for start in range(0, max(1, questions.num_rows), size)
        )
        groups = RollUp(pairs.column(_NUMBER).to_numpy(), questions.num_rows)
        return (merged_value(merge, function, pairs, self.partials, groups) for function in functions)

    def _pairs(self, questions: pa.Table, inner: _Inner) -> pa.Table:
        rounded = rounded_in(questions) | rounded_in(inner.rows)
        # What is decided by a sum of doubles is looked at once more.
        plain = tuple(each for each in inner.between if not identifiers(each) & rounded)
        pairs = joined(Join(JoinKind.INNER, OneRow(), OneRow(), plain), questions, inner.rows)
        others = tuple(each for each in inner.between if each not in plain)
        pairs = self.filtered(pairs, others) if others else pairs
        for step in inner.late:
            pairs = self.with_scalar(step, pairs) if isinstance(step, Scalar) else self.filtered(pairs, step.conjuncts)
        return pairs


def _given(values: Values | None) -> Values:
    assert values is not None
    return values
