"""What a worker of the engine does with one bucket: the groups of some ranges, held and changed by the operators that the driver uses.

In and out: tables as they cross the seam ``values.buckets.BucketEngine``. Source: design of incremental views, section 5, tier 2.
Invariant: the buckets' states together are the state that ``GroupState`` would be of all groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.capture.capture import column, parts_of
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.bounds.condition import evaluate
from imp_driver.persist.encoding import checksum_of, decoded_state, encoded_state, stream_of
from imp_driver.persist.record import StoreDamaged
from imp_driver.sketch.key_cut import KeyCut
from imp_driver.sketch.merge import passing_groups
from imp_driver.values.aggregates import AggregateSpecification, ProjectedRows
from imp_driver.values.buckets import BUCKET, BUCKET_ROW, BUCKET_SUMMARY
from imp_driver.values.codes import IntegerArray
from imp_driver.values.expressions import Expression
from imp_driver.values.ranges import RangePartition


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """A BucketKernel over groups.

    Attributes:
        sketch_key: which group key the partition is over.
        condition: on groups, whose fragments are counted; None when every group passes.
        empty: a state without groups, for buckets that have none yet.
    """

    specifications: tuple[AggregateSpecification, ...]
    key_types: tuple[pa.DataType, ...]
    sketch_key: int
    partition: RangePartition
    condition: Expression | None
    empty: bytes

    def built(self, groups: pa.Table) -> pa.Table:
        """Return the row of a bucket from its captured groups."""
        number = groups.column(BUCKET)[0].as_py()
        try:
            state = captured(groups, self.specifications, self.key_types)
            return self._row(number, state, encoded_state(state.snapshot()))
        except StateCorrupt as error:
            return _problem(number, str(error))

    def stepped(self, before: pa.Table, delta: pa.Table) -> pa.Table:
        """Return the row of a bucket after its signed rows; ``before`` has no row where there was no such group."""
        number = delta.column(BUCKET)[0].as_py()
        try:
            state = self._state(before)
            for data in delta.column("data"):
                state.apply(_decoded(data.as_buffer(), len(self.key_types), len(self.specifications)))
            return self._row(number, state, encoded_state(state.snapshot()))
        except (StateCorrupt, StoreDamaged) as error:
            return _problem(number, str(error))

    def asked(self, before: pa.Table) -> pa.Table:
        """Return the summary of a bucket as it is."""
        number = before.column(BUCKET)[0].as_py()
        try:
            # The groups stay as they are, so they are not written as bytes again.
            row = self._row(number, self._state(before), b"")
        except (StateCorrupt, StoreDamaged) as error:
            row = _problem(number, str(error))
        return row.select(BUCKET_SUMMARY.names)

    def columns(self, before: pa.Table) -> dict[str, pa.Array]:
        """Return the groups of a bucket as ``GroupState.snapshot`` does. Raises StoreDamaged."""
        data = before.column("data")[0].as_py() if len(before) else self.empty
        if len(before) and before.column("checksum")[0].as_py() != checksum_of(data):
            raise StoreDamaged("a bucket of a state is damaged: its checksum differs")
        return decoded_state(data)

    def _state(self, before: pa.Table) -> GroupState:
        return GroupState.restore(self.columns(before), self.specifications, self.key_types)

    def _row(self, number: int, state: GroupState, data: bytes) -> pa.Table:
        may_pass = True if self.condition is None else evaluate(self.condition, state).broadcast(len(state.rows)).may_be_true
        cut = KeyCut(state, self.sketch_key, self.partition, "")
        passing = passing_groups(state.alive & may_pass, cut.fragment, self.partition.fragments)
        return _table(number, data, state.groups, state.inexact_groups, _bytes(cut.fragment_rows()), _bytes(passing), None)


def captured(groups: pa.Table, specifications: tuple[AggregateSpecification, ...], key_types: Sequence[pa.DataType]) -> GroupState:
    """Return the state of captured groups, without further queries. Raises StateCorrupt."""
    keys = tuple(column(groups, f"key_{place}").cast(key_type) for place, key_type in enumerate(key_types))
    parts = parts_of(groups, specifications)
    return GroupState.capture(keys, column(groups, "row_count"), parts, specifications, key_types)


def delta_of(rows: ProjectedRows, numbers: IntegerArray) -> pa.Table:
    """Return signed rows as one row per bucket; ``numbers`` is the bucket of each. As bytes, since Spark's types hold less than Arrow's."""
    table = _encodable(rows)
    every = np.unique(numbers)
    data = [stream_of(table.take(np.flatnonzero(numbers == number))) for number in every.tolist()]
    return pa.table({BUCKET: pa.array(every, pa.int32()), "data": pa.array(data, pa.binary())})


def united(every: Sequence[ProjectedRows]) -> ProjectedRows:
    """Return the signed rows of several tables' shares as those of one."""
    first = every[0]
    keys = tuple(pa.concat_arrays([each.keys[place] for each in every]) for place in range(len(first.keys)))
    arguments = tuple(
        None if argument is None else pa.concat_arrays([each.arguments[place] for each in every])
        for place, argument in enumerate(first.arguments)
    )
    return ProjectedRows(keys, arguments, np.concatenate([each.weights for each in every]))


def _encodable(rows: ProjectedRows) -> pa.Table:
    columns = {f"key_{place}": key for place, key in enumerate(rows.keys)}
    columns |= {f"argument_{place}": argument for place, argument in enumerate(rows.arguments) if argument is not None}
    return pa.table(columns | {"weight": pa.array(rows.weights, pa.int64())})


def _decoded(data: pa.Buffer, keys: int, arguments: int) -> ProjectedRows:
    table = pa.ipc.open_stream(data).read_all()
    names = set(table.column_names)
    return ProjectedRows(
        tuple(column(table, f"key_{place}") for place in range(keys)),
        tuple(column(table, f"argument_{place}") if f"argument_{place}" in names else None for place in range(arguments)),
        column(table, "weight").to_numpy(zero_copy_only=False),
    )


def _bytes(numbers: IntegerArray) -> bytes:
    return np.ascontiguousarray(numbers, dtype="<i8").tobytes()


def _problem(number: int, text: str) -> pa.Table:
    return _table(number, b"", 0, 0, b"", b"", text)


def _table(number: int, data: bytes, groups: int, inexact: int, rows: bytes, passing: bytes, problem: str | None) -> pa.Table:
    values = (number, data, checksum_of(data), groups, inexact, rows, passing, problem)
    return pa.table([[value] for value in values], schema=BUCKET_ROW)
