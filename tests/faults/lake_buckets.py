"""States in buckets as tables of delta-rs: what Spark's workers do, one bucket after the other, with real commits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError

from imp_driver.errors import OperationalError
from imp_driver.ports import BUCKET, BUCKET_ROW, BUCKET_SUMMARY, BucketKernel


@dataclass(slots=True)
class LakeBuckets:
    """A BucketEngine over folders."""

    query: Callable[[str], pa.Table]

    def build(self, target: str, query: str, kernel: BucketKernel) -> tuple[int, pa.Table]:
        groups = self.query(query)
        rows = _one([kernel.built(_of(groups, number)) for number in _numbers(groups)])
        write_deltalake(target, rows, mode="error")
        return int(DeltaTable(target).version()), rows.select(BUCKET_SUMMARY.names)

    def step(self, target: str, version: int, delta: pa.Table, kernel: BucketKernel) -> tuple[int, pa.Table]:
        before, touched = self._read(target, version), _numbers(delta)
        rows = _one([kernel.stepped(_of(before, number), _of(delta, number)) for number in touched])
        write_deltalake(target, rows, mode="overwrite", predicate=f"{BUCKET} IN ({', '.join(map(str, touched))})")
        return int(DeltaTable(target).version()), rows.select(BUCKET_SUMMARY.names)

    def ask(self, target: str, version: int, kernel: BucketKernel) -> pa.Table:
        table = self._read(target, version)
        return pa.concat_tables([BUCKET_SUMMARY.empty_table(), *(kernel.asked(_of(table, number)) for number in _numbers(table))])

    @staticmethod
    def _read(target: str, version: int) -> pa.Table:
        try:
            return DeltaTable(target, version=version).to_pyarrow_table().cast(BUCKET_ROW)
        except (DeltaError, OSError) as error:
            raise OperationalError(f"The state at {target} cannot be read: {error}") from error


def _numbers(table: pa.Table) -> list[int]:
    return sorted(set(table.column(BUCKET).to_pylist()))


def _of(table: pa.Table, number: int) -> pa.Table:
    return table.filter(pc.equal(table.column(BUCKET), number))


def _one(rows: list[pa.Table]) -> pa.Table:
    return pa.concat_tables([BUCKET_ROW.empty_table(), *rows])
