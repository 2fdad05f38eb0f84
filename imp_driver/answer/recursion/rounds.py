"""The rows of a recursive relation from nothing: those of its bases, then round by round what its steps make of those before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from imp_driver.answer.combine import distinct, stacked
from imp_driver.answer.recursion.column_types import told_types
from imp_driver.answer.rounding import rounded_in
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.ranks import first_of_each, in_turn, numbered
from imp_driver.dataflow.recursion.levels import MOST_LEVELS, MOST_ROWS
from imp_driver.plan.nodes import Attribute, Fixpoint, Plan, Recursive
from imp_driver.plan.recursion import as_begun, open_recurrences
from imp_driver.reasons import Reason
from imp_driver.values.codes import as_grouped, one_array
from imp_driver.values.refusal import Refused
from imp_driver.values.types import sql_name

RowsOf: TypeAlias = Callable[[Plan], pa.Table]


class EndlessRecursion(Refused):
    """It has not ended after as many rounds as anyone follows."""


class TooLarge(Refused):
    """It has more rows than are kept in process."""


def by_rounds(plan: Fixpoint, rows: RowsOf, recurrences: dict[str, pa.Table]) -> pa.Table:
    """Return all rows of a recursive relation.

    Args:
        rows: gives those of any part of the plan; those of the relations themselves as ``recurrences`` has them, by first attributes.

    Raises:
        NotEvaluable: Spark alone knows a value.
        Refused: there are too many.
    """
    total: dict[int, pa.Table] = {}
    for each, first in as_begun(plan):
        _name_all(first, total, recurrences)
        total[each.number] = distinct(_together(each.output, [rows(base) for base in each.bases or (first,)]))
    added, rounds = dict(total), 0
    while any(table.num_rows for table in added.values()):
        rounds += 1
        # Each round is made of the rows before it, by all relations alike.
        added = {each.number: _added(each, total, added, rows, recurrences) for each in plan.relations}
        total = {number: pa.concat_tables([table, added[number]]) for number, table in total.items()}
        count = sum(table.num_rows for table in total.values())
        if count > MOST_ROWS or rounds >= MOST_LEVELS:
            kind = EndlessRecursion if rounds >= MOST_LEVELS else TooLarge
            raise kind(Reason.RECURSION, endless(f"it has not ended after {rounds} rounds and {count} rows"))
    return total[plan.relations[0].number]


def endless(what: str) -> str:
    return f"{what}; what counts or adds up along a cycle never ends: bound it in the step, or ask for MIN or MAX of it alone"


def _name_all(branch: Plan, total: dict[int, pa.Table], recurrences: dict[str, pa.Table]) -> None:
    """Have a branch read all rows of the relations that it reads."""
    for each in open_recurrences(branch):
        recurrences[each.output[0].identifier] = _named(total[each.number], each.output)


def _added(
    relation: Recursive, total: dict[int, pa.Table], added: dict[int, pa.Table], rows: RowsOf, recurrences: dict[str, pa.Table]
) -> pa.Table:
    known = total[relation.number]
    found = [table for step in relation.steps for table in _stepped(step, total, added, rows, recurrences)]
    both = _together(relation.output, [known, *found])
    if both.schema.types != known.schema.types:
        raise NotEvaluable(told_types(relation.output, list(map(sql_name, known.schema.types)), list(map(sql_name, both.schema.types))))
    return _new(both, known.num_rows)


def _stepped(
    step: Plan, total: dict[int, pa.Table], added: dict[int, pa.Table], rows: RowsOf, recurrences: dict[str, pa.Table]
) -> list[pa.Table]:
    """Return what a step makes of rows that one of its readings of a relation has for the first time, the others having all of them."""
    made = []
    for first in open_recurrences(step):
        _name_all(step, total, recurrences)
        recurrences[first.output[0].identifier] = _named(added[first.number], first.output)
        if added[first.number].num_rows:
            made.append(rows(step))
    return made


def _named(rows: pa.Table, output: Sequence[Attribute]) -> pa.Table:
    return rows.rename_columns([attribute.identifier for attribute in output])


def _together(output: Sequence[Attribute], tables: Sequence[pa.Table]) -> pa.Table:
    if any(map(rounded_in, tables)):
        raise NotEvaluable("rows of a recursion told apart by a sum of doubles")
    both = stacked(tables, output)
    # Equal values are one row of a UNION, which has the value that groups have.
    return pa.table([as_grouped(one_array(column)) for column in both.columns], names=both.column_names)


def _new(both: pa.Table, known: int) -> pa.Table:
    """Return, each once, the rows behind the first ``known`` ones that are not among these."""
    numbers = numbered([one_array(column) for column in both.columns], both.num_rows)
    is_known = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=np.bool_)
    is_known[numbers[:known]] = True
    places = known + np.flatnonzero(~is_known[numbers[known:]])
    return both.take(pa.array(places[first_of_each(in_turn(numbers[places]))]))
