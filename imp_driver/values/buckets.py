"""The seam between states in buckets and the engine that holds them: the tables that cross it, and what is done on either side."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

BUCKET = "bucket"
"""Column of captured groups, signed rows and states: the number of the bucket."""
BUCKET_ROW = pa.schema(
    [
        (BUCKET, pa.int32()),
        ("data", pa.binary()),
        ("checksum", pa.string()),
        ("groups", pa.int64()),
        ("inexact", pa.int64()),
        ("fragment_rows", pa.binary()),
        ("passing", pa.binary()),
        ("problem", pa.string()),
    ]
)
"""One bucket of a state: its groups as bytes, how many they are, how many of them a capture would know better, and, as little-endian
int64 per fragment, rows and groups that pass. With ``problem`` the rest has no meaning."""
BUCKET_SUMMARY = pa.schema([field for field in BUCKET_ROW if field.name not in ("data", "checksum")])
BUCKET_STATE = pa.schema([field for field in BUCKET_ROW if field.name in (BUCKET, "data", "checksum")])
"""What the groups of a bucket are read from."""


class BucketKernel(Protocol):
    """What is done with one bucket where its groups are. Values of it travel to the engine's workers."""

    def built(self, groups: pa.Table) -> pa.Table:
        """Return a BUCKET_ROW of captured groups."""

    def stepped(self, before: pa.Table, delta: pa.Table) -> pa.Table:
        """Return a BUCKET_ROW of a former one, or of none, and rows of bytes (BUCKET, ``data``)."""

    def asked(self, before: pa.Table) -> pa.Table:
        """Return the BUCKET_SUMMARY of a BUCKET_ROW."""


class BucketEngine(Protocol):
    """Holds states in tables of BUCKET_ROW and has its workers run kernels over them. All methods raise only errors of this driver."""

    def build(self, target: str, query: str, kernel: BucketKernel) -> tuple[int, pa.Table]:
        """Make the table at the folder ``target`` of a query's rows, which have BUCKET; return its version and BUCKET_SUMMARY rows."""

    def step(self, target: str, version: int, delta: pa.Table, kernel: BucketKernel) -> tuple[int, pa.Table]:
        """Replace the buckets that ``delta`` has rows for, from what they are at ``version``; return as ``build`` does, of those buckets.

        The new version is ``version + 1`` unless another process has changed the table too.
        """

    def ask(self, target: str, version: int, kernel: BucketKernel) -> pa.Table:
        """Return the BUCKET_SUMMARY rows of every bucket."""

    def summary(self, target: str, version: int) -> pa.Table:
        """Return the BUCKET_SUMMARY rows of every bucket as they were written: ``passing`` is of the condition of that time."""

    def fetch(self, target: str, version: int, number: int) -> pa.Table:
        """Return the BUCKET_STATE row of a bucket, none where it has no groups."""
