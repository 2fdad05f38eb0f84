"""States in buckets whose tables are on this machine's disks: few buckets are read and changed here, without a job of the engine.

A step of the engine takes seconds, however little changes; here it takes as long as to read, change and write the touched buckets.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError
from pyarrow import compute, dataset

from imp_driver.values.buckets import BUCKET, BUCKET_ROW, BUCKET_STATE, BUCKET_SUMMARY, BucketEngine, BucketKernel

MOST_TOUCHED = 8
"""Buckets of a step that is made here."""
MOST_BYTES = 64 << 20
"""Of the groups of these buckets together."""
_FAILURES = (DeltaError, OSError, pa.ArrowException, ValueError, NotImplementedError)


class _NotHere(Exception):
    """The engine is to do it."""


class NearBuckets:
    """A BucketEngine that leaves to ``engine`` what it does not do itself."""

    def __init__(self, engine: BucketEngine) -> None:
        self._engine = engine

    def build(self, target: str, query: str, kernel: BucketKernel) -> tuple[int, pa.Table]:
        """Have the engine make the table: the query is its own."""
        return self._engine.build(target, query, kernel)

    def step(self, target: str, version: int, delta: pa.Table, kernel: BucketKernel) -> tuple[int, pa.Table]:
        """Replace few buckets in one commit; the engine replaces many, or large ones."""
        numbers = delta.column(BUCKET).unique().to_pylist()
        try:
            if len(numbers) > MOST_TOUCHED:
                raise _NotHere
            rows = pa.concat_tables(list(self._stepped(target, version, delta, numbers, kernel)))
            write_deltalake(target, rows, mode="overwrite", predicate=f"{BUCKET} IN ({', '.join(map(str, numbers))})")
            return int(DeltaTable(target).version()), rows.select(BUCKET_SUMMARY.names)
        except (_NotHere, *_FAILURES):
            # Where the commit was made all the same, the engine's own one tells by its version.
            return self._engine.step(target, version, delta, kernel)

    def _stepped(self, target: str, version: int, delta: pa.Table, numbers: list[int], kernel: BucketKernel) -> Iterator[pa.Table]:
        size = 0
        for number in numbers:
            before = _read(target, version, number)
            size += before.nbytes
            if size > MOST_BYTES:
                raise _NotHere
            yield kernel.stepped(before, delta.filter(compute.equal(delta.column(BUCKET), number))).cast(BUCKET_ROW)

    def ask(self, target: str, version: int, kernel: BucketKernel) -> pa.Table:
        """Have the engine look at all buckets side by side."""
        return self._engine.ask(target, version, kernel)

    def summary(self, target: str, version: int) -> pa.Table:
        """Read what the rows say beside their groups."""
        try:
            return _opened(target, version).to_table(columns=BUCKET_SUMMARY.names).cast(BUCKET_SUMMARY)
        except (_NotHere, *_FAILURES):
            return self._engine.summary(target, version)

    def fetch(self, target: str, version: int, number: int) -> pa.Table:
        """Read one row from the files that may have it."""
        try:
            return _read(target, version, number)
        except (_NotHere, *_FAILURES):
            return self._engine.fetch(target, version, number)


def _opened(target: str, version: int) -> dataset.Dataset:
    if "://" in target or not Path(target, "_delta_log").is_dir():
        raise _NotHere
    return DeltaTable(target, version=version).to_pyarrow_dataset()


def _read(target: str, version: int, number: int) -> pa.Table:
    rows = _opened(target, version)
    return rows.to_table(columns=BUCKET_STATE.names, filter=dataset.field(BUCKET) == number).cast(BUCKET_STATE)
