"""Rows of a recursion, and by which rows of tables each of them is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from imp_driver.answer.recursion.convert import as_column
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.provenance.base_rows import Fact


@dataclass(frozen=True, slots=True)
class Base:
    """What a recursion is given: the names of the tables that it comes from, and those and the types of the columns that are read."""

    tables: str
    columns: tuple[str, ...]
    types: tuple[pa.DataType, ...]

    def shown(self, row: Row) -> str:
        """Return one row in words."""
        columns = zip(self.columns, row, self.types, strict=True)
        values = ", ".join(f"{name} = {as_column([value], kind)[0]}" for name, value, kind in columns)
        return f"{self.tables} ({values})" if self.tables else "a row without a table"


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """The rows of a recursion under the columns of its plan.

    Attributes:
        why: gives the minimal sets of given rows, with the numbers of their relations, of which those from ``first`` on are ``bases``.
    """

    rows: pa.Table
    why: Callable[[Row], Iterator[Sequence[Fact]]]
    first: int
    bases: Sequence[Base]

    def alternatives(self, row: Row) -> Iterator[tuple[str, ...]]:
        """Yield the sets of base rows by which a row is there, in words, smaller ones first; none can do without one of its rows."""
        for found in self.why(row):
            yield tuple(self.bases[relation - self.first].shown(own) for relation, own in found)
