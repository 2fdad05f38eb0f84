"""States in buckets without an engine's workers: tables in memory, kernels run one bucket after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.values.buckets import BUCKET, BUCKET_ROW, BUCKET_STATE, BUCKET_SUMMARY, BucketKernel


@dataclass(slots=True)
class MemoryBuckets:
    """A BucketEngine; version n of a table is its n-th entry. ``stepped`` are the numbers of buckets of each step."""

    query: Callable[[str], pa.Table]
    tables: dict[str, list[pa.Table]] = field(default_factory=dict)
    stepped: list[list[int]] = field(default_factory=list)
    asked: int = 0
    fetched: int = 0

    def build(self, target: str, query: str, kernel: BucketKernel) -> tuple[int, pa.Table]:
        groups = self.query(query)
        rows = one_table([kernel.built(bucket_of(groups, number)) for number in numbers_of(groups)])
        self.tables[target] = [rows]
        return 0, rows.select(BUCKET_SUMMARY.names)

    def step(self, target: str, version: int, delta: pa.Table, kernel: BucketKernel) -> tuple[int, pa.Table]:
        before, touched = self.tables[target][version], numbers_of(delta)
        self.stepped.append(touched)
        rows = one_table([kernel.stepped(bucket_of(before, number), bucket_of(delta, number)) for number in touched])
        rest = before.filter(pc.invert(pc.is_in(before.column(BUCKET), pa.array(touched, pa.int32()))))
        self.tables[target].append(pa.concat_tables([rest, rows]))
        return len(self.tables[target]) - 1, rows.select(BUCKET_SUMMARY.names)

    def ask(self, target: str, version: int, kernel: BucketKernel) -> pa.Table:
        self.asked += 1
        table = self.tables[target][version]
        return pa.concat_tables([BUCKET_SUMMARY.empty_table(), *(kernel.asked(bucket_of(table, number)) for number in numbers_of(table))])

    def summary(self, target: str, version: int) -> pa.Table:
        return self.tables[target][version].select(BUCKET_SUMMARY.names)

    def fetch(self, target: str, version: int, number: int) -> pa.Table:
        self.fetched += 1
        return bucket_of(self.tables[target][version], number).select(BUCKET_STATE.names)


def numbers_of(table: pa.Table) -> list[int]:
    """Return the buckets that have rows."""
    return sorted(set(table.column(BUCKET).to_pylist()))


def bucket_of(table: pa.Table, number: int) -> pa.Table:
    """Return the rows of one bucket."""
    return table.filter(pc.equal(table.column(BUCKET), number))


def one_table(rows: list[pa.Table]) -> pa.Table:
    """Return rows of buckets as one table, also where there are none."""
    return pa.concat_tables([BUCKET_ROW.empty_table(), *rows])
