"""The contract of operators: each gives the change of its rows, and those of its rows that have certain values.

Whatever an operator keeps or compares, its change follows from its inputs' changes and from the rows that these can meet (IMP paper section
5.2). Most hold nothing: tables do, or are looked up. Where there is a state, it is one of ``Stateful``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import pyarrow as pa

from imp_driver.dataflow.arrangement import Arrangement
from imp_driver.values.aggregates import ProjectedRows
from imp_driver.values.codes import IntegerArray
from imp_driver.values.tables import ZSet


class NotFound(Exception):
    """Rows that an operator needs cannot be had in process."""


class Inputs(Protocol):
    """What a circuit reads, tables or other maintained relations, between an old and a new version.

    Occurrences are by number, as one relation may be read twice; columns are by identifier.
    """

    def change(self, occurrence: int) -> ZSet:
        """Return the signed rows by which an occurrence changed, those that its own conditions leave."""

    def arrangement(self, occurrence: int, key: str, values: pa.Array, *, is_new: bool) -> Arrangement:
        """Return rows of the new or old version that include all whose ``key`` is one of the values.

        Raises NotFound, or NotEvaluable where a condition cannot be decided in process.
        """

    def whole(self, occurrence: int, *, is_new: bool) -> Arrangement:
        """Return all rows of the new or old version. Raises NotFound where they are not kept."""


class Operator(Protocol):
    """One operator with its inputs. Rows are bags: a row of weight 2 is there twice, one of weight -1 takes a copy of itself back."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def schema(self) -> pa.Schema:
        """The columns that it gives, by identifier."""

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """The operators that it reads."""

    def step(self, inputs: Inputs) -> ZSet:
        """Return new rows less old ones. Raises NotFound, NotEvaluable or TooManyRows."""

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        """Return the rows of one version whose ``key`` is one of the values, of which NULL matches nothing. Raises as ``step``."""

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        """Return all rows of one version. Raises as ``step``, and NotFound where a table that it needs is not kept."""


class Stateful(Protocol):
    """An operator that holds its rows itself, at one version of its input."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def is_exact(self) -> bool:
        """Whether every value of its rows is known exactly, not only between bounds."""

    @property
    def memory(self) -> int:
        """Bytes, partly estimated."""

    def apply(self, delta: ProjectedRows) -> ZSet | None:
        """Apply signed rows, wholly or not at all, and return the new rows less the old ones; None where one is not known exactly."""

    def rows_at(self, slots: IntegerArray) -> ZSet | None:
        """Return some of the rows; None where one is not known exactly."""

    def snapshot(self) -> Mapping[str, pa.Array]:
        """Return all that is needed to have it again."""
