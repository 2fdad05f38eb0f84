"""States in buckets without an engine's workers: tables in memory, kernels run one bucket after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.ports import BUCKET, BUCKET_ROW, BUCKET_SUMMARY, BucketKernel


@dataclass(slots=True)
class MemoryBuckets:
    """A BucketEngine; version n of a table is its n-th entry. ``stepped`` are the numbers of buckets of each step."""

    query: Callable[[str], pa.Table]
    tables: dict[str, list[pa.Table]] = field(default_factory=dict)
    stepped: list[list[int]] = field(default_factory=list)
    asked: int = 0

    def build(self, target: str, query: str, kernel: BucketKernel) -> tuple[int, pa.Table]:
        groups = self.query(query)
        rows = _one([kernel.built(_of(groups, number)) for number in _numbers(groups)])
        self.tables[target] = [rows]
        return 0, rows.select(BUCKET_SUMMARY.names)

    def step(self, target: str, version: int, delta: pa.Table, kernel: BucketKernel) -> tuple[int, pa.Table]:
        before, touched = self.tables[target][version], _numbers(delta)
        self.stepped.append(touched)
        rows = _one([kernel.stepped(_of(before, number), _of(delta, number)) for number in touched])
        rest = before.filter(pc.invert(pc.is_in(before.column(BUCKET), pa.array(touched, pa.int32()))))
        self.tables[target].append(pa.concat_tables([rest, rows]))
        return len(self.tables[target]) - 1, rows.select(BUCKET_SUMMARY.names)

    def ask(self, target: str, version: int, kernel: BucketKernel) -> pa.Table:
        self.asked += 1
        table = self.tables[target][version]
        return pa.concat_tables([BUCKET_SUMMARY.empty_table(), *(kernel.asked(_of(table, number)) for number in _numbers(table))])


def _numbers(table: pa.Table) -> list[int]:
    return sorted(set(table.column(BUCKET).to_pylist()))


def _of(table: pa.Table, number: int) -> pa.Table:
    return table.filter(pc.equal(table.column(BUCKET), number))


def _one(rows: list[pa.Table]) -> pa.Table:
    return pa.concat_tables([BUCKET_ROW.empty_table(), *rows])
