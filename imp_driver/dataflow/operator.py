"""What the operators below the groups are to each other: each gives the change of its rows, and its rows that have certain values.

Whatever an operator keeps or compares, its change follows from its inputs' changes and from the rows that these can meet (IMP paper section
5.2). So no operator holds a state of its own: tables do, or are looked up.
"""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from imp_driver.dataflow.arrangement import Arrangement
from imp_driver.values.tables import ZSet


class NotFound(Exception):
    """Rows that an operator needs cannot be had in process."""


class Tables(Protocol):
    """The tables below a block, between an old and a new version. Occurrences are by number, columns by identifier."""

    def changed(self, occurrence: int) -> ZSet:
        """Return the signed rows by which an occurrence changed, those that its own conditions leave."""

    def side(self, occurrence: int, key: str, values: pa.Array, *, is_new: bool) -> Arrangement:
        """Return rows of the new or old version that include all whose ``key`` is one of the values.

        Raises NotFound, or NotEvaluable where a condition cannot be decided in process.
        """


class Operator(Protocol):
    """One operator with its inputs. Rows are bags: a row of weight 2 is there twice, one of weight -1 takes a copy of itself back."""

    @property
    def schema(self) -> pa.Schema:
        """The columns that it gives, by identifier."""

    def changed(self, tables: Tables) -> ZSet:
        """Return new rows less old ones. Raises NotFound, NotEvaluable or TooManyRows."""

    def matching(self, tables: Tables, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        """Return the rows of one version whose ``key`` is one of the values, of which NULL matches nothing. Raises as ``changed``."""
