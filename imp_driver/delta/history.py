"""The commits between two versions of a table, and how much of what they name may be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imp_driver.delta.commits import Commit
from imp_driver.delta.schema import TableMetadata
from imp_driver.delta.store import TableStore


@dataclass(frozen=True, slots=True)
class Limits:
    """What is read in process at most, and for Spark.

    Attributes:
        rows: of one step.
        bytes: of the files of one step, where the log does not say how many rows they have.
        files: that one relation for Spark may name.
    """

    rows: int = 2_000_000
    bytes: int = 256 << 20
    files: int = 500


@dataclass(frozen=True, slots=True)
class CommitRange:
    """The commits of (after, up_to] and the metadata before them."""

    location: str
    store: TableStore
    after: int
    up_to: int
    metadata: TableMetadata
    commits: Sequence[Commit]
    limits: Limits
