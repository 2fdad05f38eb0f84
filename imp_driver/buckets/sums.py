"""What the groups of ranges add up to: one group for all that differ in the key of the ranges alone.

In and out: columns as of ``GroupState.snapshot``. Source: block sums (RPAI paper, section 2.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import compute

from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification
from imp_driver.values.codes import one_array

Columns: TypeAlias = Mapping[str, pa.Array]

ADDITIVE = frozenset(
    {
        AccumulatorKind.COUNT_ROWS,
        AccumulatorKind.COUNT,
        AccumulatorKind.SUM_INTEGER,
        AccumulatorKind.SUM_LONG,
        AccumulatorKind.AVERAGE_INTEGER,
        AccumulatorKind.SUM_DECIMAL,
    }
)
"""Kinds whose parts are added up; ``sum`` of integers wraps as they do where they are changed, and its magnitude tells."""
EXTREMES = frozenset({AccumulatorKind.MINIMUM, AccumulatorKind.MAXIMUM})
_MOST_DIGITS = 38
_SAFE = 0.99
"""Of the largest sum: what is added up to see whether there is room is rounded."""


class NotAdditive(Exception):
    """Groups that do not add up to one."""


def check_additive(specifications: Sequence[AggregateSpecification], key_types: Sequence[pa.DataType], key: int) -> None:
    """Raise NotAdditive where groups with these aggregates do not add up, or other keys are not told apart as here."""
    for each in specifications:
        if each.kind not in ADDITIVE:
            raise NotAdditive(f"{each.kind.value} of ranges is not what adds up")
    for place, kind in enumerate(key_types):
        if place != key and pa.types.is_floating(kind):
            raise NotAdditive("another key is a double")


def added_up(every: Sequence[Columns], key: int) -> dict[str, pa.Array]:
    """Return the sums of groups by their keys without the ``key``-th one, which the result has not.

    Of what does not add up they have nothing, as if all arguments were NULL. Raises NotAdditive.
    """
    first = every[0]
    names = [name for name in first if name != f"key_{key}"]
    table = pa.concat_tables([pa.table({name: each[name] for name in names}) for each in every])
    keys = [name for name in names if name.startswith("key_")]
    nothing = {name.rsplit("_", 1)[0] for name in names if pa.types.is_list(first[name].type)}
    parts = [name for name in names if name not in keys and name.rsplit("_", 1)[0] not in nothing]
    if not len(table):
        # Without other keys the sum of nothing would be a group.
        return {name: first[name] for name in names}
    for name in parts:
        _check_room(table, name, f"{name.rsplit('_', 1)[0]}_count")
    found = table.group_by(keys).aggregate([(name, "sum") for name in parts])
    sums = {name: one_array(found.column(name if name in keys else f"{name}_sum")).cast(first[name].type) for name in (*keys, *parts)}
    return {name: sums[name] if name in sums else _nothing(first[name].type, len(found)) for name in names}


def _nothing(kind: pa.DataType, count: int) -> pa.Array:
    return pa.nulls(count, kind) if pa.types.is_list(kind) else pa.repeat(pa.scalar(0, kind), count)


def rolled_up(parts: Columns, groups: RollUp) -> dict[str, pa.Array]:
    """Return parts of one aggregate of finer groups, and their rows, added up for each of the coarser ones. Raises NotAdditive."""
    table = pa.table({"group": groups.numbers, **parts})
    for name in parts:
        _check_room(table, name, "count")
    found = table.group_by("group", use_threads=False).aggregate([(name, "sum") for name in parts])
    places = np.full(groups.count, -1, dtype=np.int64)
    places[found.column("group").to_numpy()] = np.arange(len(found))
    rows = pa.array(places, mask=places < 0)
    sums = {name: one_array(found.column(f"{name}_sum")).take(rows).cast(part.type) for name, part in parts.items()}
    return {name: compute.fill_null(each, 0) if name in ("count", "rows") else each for name, each in sums.items()}


def extremes_of(columns: Columns, key: int) -> tuple[pa.Scalar, pa.Scalar]:
    """Return the least and the greatest key of some groups; NULL of none."""
    found = compute.min_max(columns[f"key_{key}"])
    return found["min"], found["max"]


def with_key(sums: Columns, key: int, value: pa.Scalar, like: Columns) -> dict[str, pa.Array]:
    """Return sums as groups that all have one key, in the order of other columns."""
    count = len(sums["rows"])
    return {name: pa.repeat(value, count).cast(each.type) if name == f"key_{key}" else sums[name] for name, each in like.items()}


def together(every: Sequence[Columns]) -> dict[str, pa.Array]:
    """Return groups of several ranges as those of one."""
    return {name: pa.concat_arrays([each[name] for each in every]) for name in every[0]}


def _check_room(table: pa.Table, name: str, count: str) -> None:
    """Raise NotAdditive where a sum of decimals has no room for all groups, or had none before."""
    column = table.column(name)
    if not pa.types.is_decimal(column.type):
        return
    if compute.any(compute.and_(compute.is_null(column), compute.greater(table.column(count), 0))).as_py():
        raise NotAdditive("a sum of decimals that has overflowed")
    total = compute.sum(compute.abs(compute.cast(column, pa.float64()))).as_py() or 0.0
    if total >= _SAFE * 10.0 ** (_MOST_DIGITS - column.type.scale):
        raise NotAdditive("a sum of decimals without room")
