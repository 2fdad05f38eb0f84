"""Vectors of table versions: what a maintained relation stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from imp_driver.values.tables import TableSnapshot


@dataclass(frozen=True, slots=True)
class TableState:
    """One table as a relation has seen it; ``rows`` of the whole table by its statistics, None when unknown."""

    table_id: str
    version: int
    rows: int | None


Vector = Mapping[str, TableState]
"""By location."""


def vector_of(snapshots: Iterable[TableSnapshot]) -> Vector:
    return {each.location: TableState(each.table_id, each.version, each.row_count) for each in snapshots}


def is_ahead(vector: Vector, snapshots: Iterable[TableSnapshot]) -> bool:
    """Say whether a vector is of the same tables as some snapshots, and beyond some of them."""
    pairs = [(vector.get(each.location), each) for each in snapshots]
    is_same = all(known is not None and known.table_id == each.table_id for known, each in pairs)
    return is_same and any(known is not None and known.version > each.version for known, each in pairs)
