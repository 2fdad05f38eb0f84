"""Which pieces of data files are read."""

from __future__ import annotations

import pytest

from imp_driver.delta.files import Piece, PieceReader


def counted_reads(monkeypatch: pytest.MonkeyPatch) -> list[Piece]:
    """Return a list that every piece joins when it is read."""
    read = PieceReader.read
    pieces: list[Piece] = []

    def counted(self: PieceReader, piece: Piece) -> object:
        pieces.append(piece)
        return read(self, piece)

    monkeypatch.setattr(PieceReader, "read", counted)
    return pieces
