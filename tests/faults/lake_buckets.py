"""States in buckets as tables of delta-rs: what Spark's workers do, one bucket after the other, with real commits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError

from imp_driver.errors import OperationalError
from imp_driver.values.buckets import BUCKET, BUCKET_ROW, BUCKET_STATE, BUCKET_SUMMARY, BucketKernel
from tests.soundness.buckets import bucket_of, numbers_of, one_table


@dataclass(slots=True)
class LakeBuckets:
    """A BucketEngine over folders."""

    query: Callable[[str], pa.Table]

    def build(self, target: str, query: str, kernel: BucketKernel) -> tuple[int, pa.Table]:
        groups = self.query(query)
        rows = one_table([kernel.built(bucket_of(groups, number)) for number in numbers_of(groups)])
        write_deltalake(target, rows, mode="error")
        return int(DeltaTable(target).version()), rows.select(BUCKET_SUMMARY.names)

    def step(self, target: str, version: int, delta: pa.Table, kernel: BucketKernel) -> tuple[int, pa.Table]:
        before, touched = self._read(target, version), numbers_of(delta)
        rows = one_table([kernel.stepped(bucket_of(before, number), bucket_of(delta, number)) for number in touched])
        write_deltalake(target, rows, mode="overwrite", predicate=f"{BUCKET} IN ({', '.join(map(str, touched))})")
        return int(DeltaTable(target).version()), rows.select(BUCKET_SUMMARY.names)

    def ask(self, target: str, version: int, kernel: BucketKernel) -> pa.Table:
        table = self._read(target, version)
        return pa.concat_tables([BUCKET_SUMMARY.empty_table(), *(kernel.asked(bucket_of(table, number)) for number in numbers_of(table))])

    def summary(self, target: str, version: int) -> pa.Table:
        return self._read(target, version).select(BUCKET_SUMMARY.names)

    def fetch(self, target: str, version: int, number: int) -> pa.Table:
        return bucket_of(self._read(target, version), number).select(BUCKET_STATE.names)

    @staticmethod
    def _read(target: str, version: int) -> pa.Table:
        try:
            return DeltaTable(target, version=version).to_pyarrow_table().cast(BUCKET_ROW)
        except (DeltaError, OSError) as error:
            raise OperationalError(f"The state at {target} cannot be read: {error}") from error
