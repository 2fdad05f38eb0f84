"""Rows that a new deletion vector took from files or gave back to them, at their positions in columns that stay decoded.

Deletes here and there touch the same files again and again, and a whole column must be decoded for one row of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.delta.columns import FileColumns
from imp_driver.delta.files import Piece, changed_positions, partition_values
from imp_driver.delta.schema import StoredColumn

MOST_ROWS = 1_000_000
"""Of a file; a longer one has several row groups, of which only some are read then."""
_AT_ONCE = 16
"""Files whose columns are in memory together."""


def is_kept(piece: Piece) -> bool:
    """Say whether the columns of a piece's file are to be kept decoded."""
    return piece.compares and piece.file.rows is not None and piece.file.rows <= MOST_ROWS


def read_differences(
    columns_of: FileColumns, columns: Sequence[StoredColumn], pieces: Sequence[Piece]
) -> Iterator[tuple[pa.Table, npt.NDArray[np.int64]]]:
    """Yield rows and weights of each piece. Raises OSError, ValueError and Arrow's errors, as reading files does."""
    stored = [column for column in columns if not column.partition]
    schema = pa.schema([column.field for column in columns])
    for start in range(0, len(pieces), _AT_ONCE):
        some = pieces[start : start + _AT_ONCE]
        for piece, read in zip(some, columns_of.read(stored, [piece.file.path for piece in some]), strict=True):
            positions, weights = changed_positions(columns_of.store, piece)
            taken, folders = pa.array(positions), dict(piece.file.partition)
            arrays = [
                partition_values(column, folders.get(column.stored_name), len(positions))
                if column.partition
                else read[column].values.take(taken)
                for column in columns
            ]
            yield pa.table(arrays, schema=schema), weights
