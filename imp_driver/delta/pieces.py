"""Commits in, pieces of data files out: what is read for the rows that they change, and how many rows these are.

With the change feed each commit tells its own rows. Without it a file counts once for all commits of a step: what it was before them and
what it is after them, so that what came and went between is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from imp_driver.delta.commits import Commit, DataFile, deleted_rows
from imp_driver.delta.files import Piece


def pieces_of(commits: Sequence[Commit], *, has_feed: bool) -> tuple[Piece, ...]:
    """Return pieces whose signed rows are the change; a row may be among them with both signs."""
    if has_feed:
        return tuple(piece for commit in commits for piece in _fed(commit))
    return tuple(_between(commits))


def changing(files: Iterable[DataFile]) -> list[DataFile]:
    """Return the files of actions that say of themselves that they change rows."""
    return [file for file in files if file.data_change]


def rows_to_read(commits: Sequence[Commit], pieces: Sequence[Piece], *, has_feed: bool) -> int | None:
    """Return the signed rows of the pieces; None where the log does not say."""
    if has_feed:
        return _sum(_told(commit) if commit.changed else _rows_of(_between([commit])) for commit in commits)
    return _rows_of(pieces)


def rows_changed(commits: Sequence[Commit]) -> int | None:
    """Return how many signed rows changed, by the writers' own count where files were written anew; None where nothing tells."""
    return _sum(_fewer(_told(commit), _rows_of(_between([commit]))) for commit in commits)


def _fed(commit: Commit) -> Iterator[Piece]:
    if commit.changed:
        yield from (Piece(file, 0) for file in commit.changed)
    else:
        yield from _between([commit])


def _between(commits: Iterable[Commit]) -> Iterator[Piece]:
    """Compare files as they were before some commits with what they are after them."""
    before: dict[str, DataFile | None] = {}
    after: dict[str, DataFile | None] = {}
    for commit in commits:
        for file in changing(commit.removed):
            before.setdefault(file.path, file)
            after[file.path] = None
        for file in changing(commit.added):
            before.setdefault(file.path, None)
            after[file.path] = file
    for path, now in after.items():
        earlier = before[path]
        if earlier is None:
            if now is not None:
                yield Piece(now, 1)
        elif now is None:
            yield Piece(earlier, -1)
        elif earlier.vector != now.vector:
            yield Piece(now, 0, compares=True, earlier=earlier.vector)


def _told(commit: Commit) -> int | None:
    """Return the rows of a commit by its metrics: an updated row is there twice."""
    counted = {name.replace("_", "").lower(): value for name, value in commit.metrics.items()}
    single = ("numdeletedrows", "numtargetrowsinserted", "numtargetrowsdeleted")
    double = ("numupdatedrows", "numtargetrowsupdated")
    rows = sum(counted.get(name, 0) for name in single) + 2 * sum(counted.get(name, 0) for name in double)
    return rows or None


def _rows_of(pieces: Iterable[Piece]) -> int | None:
    return _sum(_piece_rows(piece) for piece in pieces)


def _piece_rows(piece: Piece) -> int | None:
    if piece.compares:
        return abs(deleted_rows(piece.file) - (piece.earlier.cardinality if piece.earlier else 0))
    return piece.file.live_rows


def _fewer(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _sum(numbers: Iterable[int | None]) -> int | None:
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total
