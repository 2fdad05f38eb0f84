"""Copies of tables in the order of what questions seek in them: made once the questions have taken as long as a copy does.

Source: design of incremental views, section 5, tier 2 (state by the join key, of which a change touches few parts). That a copy is made
when as much was spent without it costs at most twice what the best choice would.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from imp_driver.answer.recursion.derivation_texts import DerivationForm, columns_read
from imp_driver.answer.recursion.sorted_tables import SortedTable
from imp_driver.answer.recursion.sought import is_told_apart, orders_of
from imp_driver.ports import KeptRows, Session
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified, quoted_name
from imp_driver.values.tables import TableSnapshot, at_version

LEAST_ROWS, MOST_ROWS = 1_000_000, 50_000_000
"""Of a table: fewer rows are read about as quickly as a copy of them is, and copies of more would take the place of others."""
SECONDS_PER_ROW = 1.5e-6
"""What it takes to copy a row in a new order, measured with 10 million rows of two numbers on two cores."""


@dataclass(frozen=True, slots=True, eq=False)
class Sorting:
    """Copies tables; ``tables`` are at the versions that the copies are to be of, ``names`` new ones."""

    session: Session
    kept: KeptRows
    execution: Execution
    tables: Mapping[tuple[str, ...], TableSnapshot]
    names: Iterator[str]

    def worth(self, forms: Sequence[DerivationForm], seconds: float) -> dict[tuple[str, ...], tuple[str, ...]]:
        """Return the orders in which tables are worth a copy after questions that have taken some seconds; nothing where none is yet."""
        columns = _columns(forms)
        orders = {name: order for name, order in orders_of(forms).items() if name in columns and self._is_large(name)}
        cost = sum((self.tables[name].row_count or 0) * len(order) for name, order in orders.items()) * SECONDS_PER_ROW
        return orders if seconds >= cost else {}

    def copied(
        self, forms: Sequence[DerivationForm], orders: Mapping[tuple[str, ...], tuple[str, ...]]
    ) -> dict[tuple[str, ...], SortedTable]:
        """Return copies of tables. Raises an Error of this driver; nothing is kept then."""
        made: list[str] = []
        columns = _columns(forms)
        try:
            return {name: self._copied(name, columns[name], order, made) for name, order in orders.items()}
        except BaseException:
            for each in made:
                self.kept.drop(each)
            raise

    def _is_large(self, name: tuple[str, ...]) -> bool:
        return LEAST_ROWS <= (self.tables[name].row_count or 0) <= MOST_ROWS

    def _copied(self, name: tuple[str, ...], columns: Sequence[str], order: Sequence[str], made: list[str]) -> SortedTable:
        snapshot = self.tables[name]
        query = f"SELECT {', '.join(map(quoted_name, columns))} FROM {at_version(qualified(name), snapshot.version)}"
        copies = {}
        for column in order:
            copies[column] = next(self.names)
            self.kept.sort(copies[column], query, column)
            made.append(copies[column])
        schema: pa.Schema = self.session.read(f"SELECT * FROM {made[-1]} LIMIT 0", self.execution).schema
        return SortedTable(schema, copies, (snapshot.row_count or 0) * len(order))


def _columns(forms: Sequence[DerivationForm]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that rules read of tables, without the tables of which values may be equal and not the same."""
    every = columns_read(forms)
    return {name: tuple(columns) for name, columns in every.items() if columns and all(map(is_told_apart, columns.values()))}
