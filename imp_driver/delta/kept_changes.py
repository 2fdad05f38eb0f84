"""Changes read from columns that stay decoded: small files, and rows that a new deletion vector took from files or gave back to them.

Each state of a table reads the same small files of a commit, and deletes here and there touch the same data files again and again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.delta.cancelled import without_copies
from imp_driver.delta.classify import FilePlan
from imp_driver.delta.columns import FileColumns
from imp_driver.delta.file_cache import KeptColumn
from imp_driver.delta.files import CHANGE_TYPE, INSERTIONS, Piece, PieceReader, changed_positions, partition_values
from imp_driver.delta.schema import StoredColumn
from imp_driver.reasons import RecaptureReason
from imp_driver.values.tables import ChangesUnavailable, SchemaColumn

MOST_ROWS = 1_000_000
"""Of a file of which some rows are read; a longer one has several row groups, of which only some are read then."""
MOST_BYTES = 4 << 20
"""Of a file that is read whole; the columns of larger ones would drive others out."""
_QUICK_BYTES = 256 << 10
"""Of files that are read one after the other in some milliseconds."""
_AT_ONCE = 16
"""Files whose columns are in memory together."""
_CHANGE_TYPE = StoredColumn(SchemaColumn(CHANGE_TYPE, "string", False), CHANGE_TYPE, pa.string(), False)


def read_pieces(columns_of: FileColumns, columns: Sequence[StoredColumn], plan: FilePlan) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Return rows and weights of a plan's pieces, of which there are some.

    They are always in the same order where a column is stored in the files, except with ``compares_files``: rows that are the same in
    these columns are left out then.

    Raises:
        ChangesUnavailable: a file is gone or cannot be read.
    """
    # Without a stored column a file's rows would have no number.
    may_be_kept = not all(column.partition for column in columns)
    kept, others = (tuple(piece for piece in plan.pieces if (may_be_kept and is_kept(piece)) is wish) for wish in (True, False))
    reader = PieceReader(columns_of.store, columns)
    try:
        parts = [reader.read(piece) for piece in others]
        parts += read_kept(columns_of, columns, kept)
        rows = pa.concat_tables([table for table, _ in parts])
    except FileNotFoundError as error:
        detail = f"A changed file of {plan.location} is gone; it was probably vacuumed."
        raise ChangesUnavailable(RecaptureReason.HISTORY_GONE, detail) from error
    except (OSError, ValueError, LookupError, pa.ArrowException) as error:
        raise ChangesUnavailable(RecaptureReason.CHANGES_UNREADABLE, f"A changed file of {plan.location} cannot be read.") from error
    weights = np.concatenate([weights for _, weights in parts])
    return without_copies(rows, weights) if plan.compares_files else (rows, weights)


def is_kept(piece: Piece) -> bool:
    """Say whether the columns of a piece's file are to be kept decoded."""
    if piece.compares:
        return piece.file.rows is not None and piece.file.rows <= MOST_ROWS
    return piece.file.vector is None and piece.file.size <= MOST_BYTES


def read_kept(
    columns_of: FileColumns, columns: Sequence[StoredColumn], pieces: Sequence[Piece]
) -> Iterator[tuple[pa.Table, npt.NDArray[np.int64]]]:
    """Yield rows and weights of each piece; some column is stored in the files.

    Raises OSError, ValueError and Arrow's errors, as reading files does.
    """
    stored = [column for column in columns if not column.partition]
    schema = pa.schema([column.field for column in columns])
    feed, others = ([piece for piece in pieces if _is_feed(piece) is wish] for wish in (True, False))
    for some in (feed, others):
        wanted = [*stored, _CHANGE_TYPE] if some is feed else stored
        for start in range(0, len(some), _AT_ONCE):
            files = some[start : start + _AT_ONCE]
            are_small = sum(piece.file.size for piece in files) <= _QUICK_BYTES
            for piece, read in zip(files, columns_of.read(wanted, [piece.file.path for piece in files], are_small=are_small), strict=True):
                positions, weights = _signed(columns_of, piece, read)
                folders = dict(piece.file.partition)
                arrays = [
                    partition_values(column, folders.get(column.stored_name), len(weights))
                    if column.partition
                    else read[column].values
                    if positions is None
                    else read[column].take(positions)
                    for column in columns
                ]
                yield pa.table(arrays, schema=schema), weights


def _is_feed(piece: Piece) -> bool:
    return not piece.compares and piece.weight == 0


def _signed(
    columns_of: FileColumns, piece: Piece, read: Mapping[StoredColumn, KeptColumn]
) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64]]:
    """Return the positions of a piece's rows, None for all of the file's, and their weights."""
    if piece.compares:
        return changed_positions(columns_of.store, piece)
    if _is_feed(piece):
        inserted = pc.is_in(read[_CHANGE_TYPE].values, value_set=INSERTIONS).to_numpy(zero_copy_only=False)
        return None, np.where(inserted, 1, -1).astype(np.int64)
    return None, np.full(len(next(iter(read.values())).stored), piece.weight, np.int64)
