"""Deletion vectors: reference in, positions of deleted rows of one data file out.

Format of Delta's protocol: a 64-bit Roaring bitmap, in a file of the table's folder, at an absolute path, or inline in the log in Z85 text.
"""

from __future__ import annotations

import base64
import uuid
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap64

from imp_driver.delta.commits import VectorReference
from imp_driver.delta.store import TableStore, data_path

Positions = npt.NDArray[np.int64]

_MAGIC = 1681511377
_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_BASE85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_BASE85 = bytes.maketrans(_Z85, _BASE85)
_UUID_CHARACTERS = 20
_LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True, eq=False)
class Deleted:
    """``count`` rows of a data file that are marked deleted: their positions, or where these are stored."""

    count: int
    where: BitMap64 | VectorReference

    @classmethod
    def at(cls, positions: Positions) -> Deleted:
        return cls(len(positions), BitMap64(positions))

    @classmethod
    def stored(cls, reference: VectorReference) -> Deleted:
        return cls(reference.cardinality, reference)

    def positions(self, store: TableStore) -> Positions:
        """Return the positions in ascending order. Raises OSError and ValueError as ``read_positions`` does."""
        if isinstance(self.where, VectorReference):
            return read_positions(store, self.where)
        return np.fromiter(self.where, np.int64, self.count)


def read_positions(store: TableStore, reference: VectorReference | None) -> Positions:
    """Return the deleted positions in ascending order; empty without a vector.

    Raises:
        OSError: the file of the vector cannot be read.
        ValueError: the bytes are not a deletion vector.
    """
    if reference is None:
        return np.empty(0, np.int64)
    content = decode_z85(reference.text) if reference.storage == "i" else _read_stored(store, reference)
    if int.from_bytes(content[:4], "little") != _MAGIC:
        raise ValueError(f"The deletion vector {reference.text} has an unknown format.")
    bitmap = BitMap64.deserialize(content[4:])
    if len(bitmap) != reference.cardinality:
        raise ValueError(f"The deletion vector {reference.text} holds {len(bitmap)} positions, the log says {reference.cardinality}.")
    return np.fromiter(bitmap, np.int64, len(bitmap))


def _read_stored(store: TableStore, reference: VectorReference) -> bytes:
    path = vector_path(reference)
    offset = reference.offset or 0
    with store.open(path) as stream:
        stream.seek(offset)
        length = int.from_bytes(stream.read(_LENGTH_BYTES), "big")
        return bytes(stream.read(length))


def vector_path(reference: VectorReference) -> str:
    """Return where a stored vector lies: relative to the table's folder, or absolute. Raises ValueError when it is on another store."""
    if reference.storage == "p":
        path = data_path(reference.text)
        if path is None:
            raise ValueError(f"The deletion vector {reference.text} lies on another store.")
        return path
    prefix, name = reference.text[:-_UUID_CHARACTERS], reference.text[-_UUID_CHARACTERS:]
    file_name = f"deletion_vector_{uuid.UUID(bytes=decode_z85(name))}.bin"
    return f"{prefix}/{file_name}" if prefix else file_name


def decode_z85(text: str) -> bytes:
    """Decode ZeroMQ's Base85 alphabet. Raises ValueError."""
    return base64.b85decode(text.encode("ascii").translate(_TO_BASE85))
