"""EXPLAIN WHY: for each row of a query over a recursion the sets of base rows by which it is there, one by one as they are read.

Source: absorption provenance, sections 4 to 6 of the paper on recursive views, which stops before such queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa

from imp_driver.answer.columns import value_of
from imp_driver.answer.held import Held
from imp_driver.answer.recursion.convert import as_rows
from imp_driver.answer.recursion.recursions import Recursions
from imp_driver.answer.recursion.traced import Traced
from imp_driver.plan.nodes import Aggregate, Filter, Fixpoint, Plan, Project, Sort, TopK
from imp_driver.plan.traceable import extremes, traceable


@dataclass(frozen=True, slots=True)
class Support:
    """One base row of one set by which a row is there; ``row`` and ``alternative`` are counted from 1."""

    row: int
    values: str
    alternative: int
    base: str


class Why:
    """The rows of one query, with what they are there by."""

    def __init__(self, held: Held, recursions: Recursions, *, may_round: bool) -> None:
        """Raises NotEvaluable and Refused, also where the query does more than to filter and compute rows of one recursion."""
        traceable(held.plan)
        self._finish = held.finish(may_round=may_round, recursions=recursions)
        self._recursions = recursions
        self._rows, self._traced, own = self._read(held.plan)
        self._shown = [(attribute.name, self._rows.column(attribute.identifier)) for attribute in held.plan.output]
        self._own = self._rows.select(own)

    def supports(self, most: int) -> Iterator[tuple[Support, ...]]:
        """Yield one set after the other, ``most`` of each row."""
        for number, row in enumerate(as_rows(self._own.columns)):
            values = ", ".join(f"{name} = {column[number]}" for name, column in self._shown)
            for place, found in enumerate(islice(self._traced.alternatives(row), most)):
                yield tuple(Support(number + 1, values, place + 1, base) for base in found)

    def _read(self, plan: Plan) -> tuple[pa.Table, Traced, Sequence[str]]:
        """Return rows that have, beside the columns of a traceable plan, those of the recursion below it, and the names of these."""
        match plan:
            case Filter():
                rows, traced, own = self._read(plan.child)
                return self._finish.filtered(rows, plan.conjuncts), traced, own
            case Project():
                rows, traced, own = self._read(plan.child)
                for attribute, expression in zip(plan.output, plan.expressions, strict=True):
                    if attribute.identifier not in rows.column_names:
                        rows = rows.append_column(attribute.identifier, value_of(rows, expression))
                return rows, traced, own
            case Sort() | TopK():
                rows, traced, own = self._read(plan.child)
                return self._finish.ordered(plan, rows), traced, own
            case Aggregate():
                best = extremes(plan)
                return self._finish.rows(plan), self._recursions.traced(best.fixpoint, self._finish.rows), best.names
        assert isinstance(plan, Fixpoint)
        traced = self._recursions.traced(plan, self._finish.rows)
        names = [each.identifier for each in plan.output]
        return traced.rows.rename_columns(names), traced, names
