"""Access to one occurrence of a table (IMP paper section 5.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dataflow.arrangement import Arrangement
from imp_driver.dataflow.operator import Operator, Tables
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    occurrence: int
    schema: pa.Schema

    def changed(self, tables: Tables) -> ZSet:
        return tables.changed(self.occurrence)

    def matching(self, tables: Tables, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        return self.side(tables, key, values, is_new=is_new).matching(key, values)

    def side(self, tables: Tables, key: str, values: pa.Array, *, is_new: bool) -> Arrangement:
        return tables.side(self.occurrence, key, values, is_new=is_new)


def partners(relation: Operator, tables: Tables, key: str, values: pa.Array, *, is_new: bool) -> Arrangement:
    """Return rows that include all whose ``key`` is one of the values, ready to be joined; a kept table with the index it has."""
    if isinstance(relation, Access):
        return relation.side(tables, key, values, is_new=is_new)
    return Arrangement.of(relation.matching(tables, key, values, is_new=is_new))
