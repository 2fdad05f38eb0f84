"""Thresholds of the first rows of an order: learned in the background, used while enough rows pass, learned anew when too many do."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from imp_driver.answer.ahead import Ahead
from imp_driver.answer.lifting import FEW_GROUPS
from imp_driver.capture.instrument import first_sql
from imp_driver.errors import Error, raise_if_cancelled
from imp_driver.maintain.identity import state_key
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Means
from imp_driver.parse.literals import literal_node, typed_literal
from imp_driver.plan.nodes import OrderKey
from imp_driver.reasons import Reason
from imp_driver.state.thresholds import Threshold, Thresholds, rows_for
from imp_driver.values.codes import one_array
from imp_driver.values.refusal import Refused


@dataclass(frozen=True, slots=True, eq=False)
class First:
    """The first ``needed`` rows by ``key``, the ``place``-th key of a request about all rows."""

    request: Request
    key: OrderKey
    place: int
    needed: int

    @property
    def name(self) -> str:
        return f"{state_key(self.request)} {self.place} {self.key.descending} {self.key.nulls_first}"


class Tops:
    """Finds the thresholds of one connection's queries."""

    def __init__(self, thresholds: Thresholds, ahead: Ahead) -> None:
        self._thresholds = thresholds
        self._ahead = ahead

    def value(self, first: First) -> object:
        """Return what stands for the threshold; None where all rows are few, and kept without one.

        Raises Refused where it is not known: the first time nothing is done about it, then it is learned in the background.
        """
        if first.request.rows > FEW_GROUPS and self._thresholds.get(first.name) is None:
            if self._thresholds.is_first(first.name) or first.request.is_pinned or not self._learn(first):
                raise Refused(Reason.ROWS_WITHOUT_GROUPS, "they are kept once they are asked for again")
            raise Refused(Reason.ROWS_NEEDED)
        return self.known(first)

    def known(self, first: First) -> object:
        """Return what stands for the threshold; None where there is none yet, or none is needed."""
        known = self._thresholds.get(first.name)
        return None if known is None or first.request.rows <= FEW_GROUPS else known.value

    def check(self, first: First, rows: int) -> None:
        """Learn how many rows pass by now. Raises Refused where these are fewer than are needed: others may be among the first then."""
        known = self._thresholds.get(first.name)
        if rows < first.needed:
            self._thresholds.learn(first.name, None)
            raise Refused(Reason.ROWS_NEEDED, f"{rows} are left of the first ones")
        if known is not None and known.is_outgrown(rows):
            self._learn(first)

    def _learn(self, first: First) -> bool:
        def work(means: Means, tasks: int | None) -> None:
            rows = rows_for(first.needed)
            try:
                found = _value(replace(first.request, tasks=tasks), first, rows, means)
            except Error as error:
                raise_if_cancelled(error)
                self._thresholds.learn(first.name, Threshold(None, rows))
                raise
            self._thresholds.learn(first.name, Threshold(found, rows))

        return self._ahead.ask(f"threshold {first.name}", work)


def _value(request: Request, first: First, rows: int, means: Means) -> object:
    key = first.key
    text = first_sql(request.block, request.relation, first.place, rows, descending=key.descending, nulls_first=key.nulls_first)
    column = one_array(means.read(text).column(0))
    if not len(column) or not column[0].is_valid:
        return None
    is_written = pa.types.is_timestamp(column.type) or pa.types.is_string(column.type)
    return literal_node(column[0].as_py()) if is_written else typed_literal(column[0])
