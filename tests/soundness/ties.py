"""Whether a top-k of the attack ends between rows that tie: the driver's own operator, over values that the interpreter computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imp_driver.dataflow.bounds.interval import Family, Interval
from imp_driver.dataflow.bounds.topk import undecided_boundary
from imp_driver.dataflow.bounds.truth import Truth
from imp_driver.plan.nodes import TopK
from imp_driver.values.aggregates import OrderKey
from imp_driver.values.codes import BooleanArray
from imp_driver.values.expressions import AggregateReference
from tests.soundness.interpret import evaluate
from tests.soundness.tables import Database
from tests.soundness.values import Value, value

_YES, _NO = np.ones(1, dtype=bool), np.zeros(1, dtype=bool)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows as the operator sees groups: ``columns`` has the value of each order key for each row."""

    columns: tuple[tuple[Value, ...], ...]
    size: int

    @property
    def alive(self) -> BooleanArray:
        return np.ones(self.size, dtype=bool)

    def key_interval(self, index: int) -> Interval:
        raise AssertionError("rows have no group keys")

    def aggregate_interval(self, index: int) -> Interval:
        column = self.columns[index]
        values = np.array([0.0 if each is None else float(each) for each in column])
        nulls = np.array([each is None for each in column], dtype=bool)
        return Interval(Family.NUMBER, values, values, nulls, ~nulls)


def ends_decided(top: TopK, database: Database) -> bool:
    """Say whether the rows of a top-k are the same however ties are broken."""
    rows = [each.row for each in evaluate(top.child, database)]
    columns = tuple(tuple(value(key.expression, row) for row in rows) for key in top.order)
    order = [OrderKey(AggregateReference(place), key.descending, key.nulls_first) for place, key in enumerate(top.order)]
    offset = 0 if top.offset is None else int(str(top.offset.this))
    limit = offset + int(str(top.limit.this))
    return undecided_boundary(Rows(columns, len(rows)), Truth(_YES, _NO, _NO), order, (offset, limit)) is None
