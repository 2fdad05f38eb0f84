"""Signed rows that one relation read are there for the next one that takes the same step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.delta.classify import FilePlan
from imp_driver.delta.files import Piece
from imp_driver.delta.schema import StoredColumn
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.tables import ChangesUnavailable, ZSet

_MOST_STEPS = 16
MOST_BYTES = 8 << 20
"""Of the rows of one step; larger ones are read by each relation."""
SMALL_BYTES = 1 << 20
"""Of files that are read with all columns that were asked for lately: to open each takes as long as to read some more columns."""
_MOST_TABLES = 1_000
Weights = npt.NDArray[np.int64]
Read: TypeAlias = Callable[[Sequence[StoredColumn]], tuple[pa.Table, Weights]]


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    pieces: tuple[Piece, ...]
    columns: Mapping[StoredColumn, pa.ChunkedArray]
    weights: Weights


class SharedChanges:
    """Thread-safe. The columns of the latest steps that were read: of a table, from a version to a later one."""

    def __init__(self) -> None:
        self._steps: BoundedCache[tuple[str, int, int], _Step] = BoundedCache(_MOST_STEPS)
        self._asked: BoundedCache[str, Mapping[StoredColumn, None]] = BoundedCache(_MOST_TABLES)

    def rows(
        self,
        plan: FilePlan,
        table_id: str,
        columns: Sequence[StoredColumn],
        read: Read,
        possible: Sequence[StoredColumn] = (),
    ) -> ZSet:
        """Return some columns of a plan's rows. Raises what ``read`` raises.

        Args:
            possible: the columns that the files may have.
            read: gives the rows always in the same order when one of the columns is stored in files, unless files are compared.
        """
        key = (table_id, plan.from_version, plan.to_version)
        known = self._steps.get(key)
        if known is None or known.pieces != plan.pieces:
            known = None
        missing = [column for column in columns if known is None or column not in known.columns]
        if missing and known is not None and plan.compares_files:
            # Which rows are the same in both versions, and so are not among these, depends on the columns.
            missing, known = list(dict.fromkeys((*known.columns, *columns))), None
        if known is not None and not missing:
            return ZSet(_table(columns, known.columns), known.weights)
        if all(column.partition for column in missing):
            return ZSet(*read(columns))
        every = dict({} if known is None else known.columns)
        are_read, (rows, weights) = self._read(plan, table_id, missing, read, possible, every)
        if rows.nbytes + sum(column.nbytes for column in every.values()) > MOST_BYTES:
            return ZSet(_table(columns, every | dict(zip(are_read, rows.columns, strict=True))), weights)
        every |= dict(zip(are_read, rows.combine_chunks().columns, strict=True))
        self._steps[key] = _Step(plan.pieces, every, weights)
        return ZSet(_table(columns, every), weights)

    def _read(
        self,
        plan: FilePlan,
        table_id: str,
        missing: Sequence[StoredColumn],
        read: Read,
        possible: Sequence[StoredColumn],
        known: Collection[StoredColumn],
    ) -> tuple[Sequence[StoredColumn], tuple[pa.Table, Weights]]:
        """Read columns that are missing, of small files with those that other relations are likely to ask for; return which."""
        asked = self._asked.get(table_id) or {}
        self._asked[table_id] = {each: None for each in possible if each in asked or each in missing}
        is_small = not plan.compares_files and sum(SMALL_BYTES if each.compares else each.file.size for each in plan.pieces) < SMALL_BYTES
        more = [each for each in possible if each in asked and each not in known and each not in missing] if is_small else []
        if more:
            with suppress(ChangesUnavailable):
                every = [*missing, *more]
                return every, read(every)
        return missing, read(missing)


def _table(columns: Sequence[StoredColumn], found: Mapping[StoredColumn, pa.ChunkedArray]) -> pa.Table:
    return pa.table([found[column] for column in columns], schema=pa.schema([column.field for column in columns]))
