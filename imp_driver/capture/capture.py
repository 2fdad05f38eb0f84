"""Captured columns -> the parts of accumulators, and what is to be known of them before."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.capture.instrument import captured_parts
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification
from imp_driver.values.float_grids import LIMIT


class StateTooLarge(Exception):
    """The groups do not fit the memory budget; each takes about ``group_bytes``."""

    def __init__(self, message: str, group_bytes: float) -> None:
        super().__init__(message)
        self.group_bytes = group_bytes


ROW_OVERHEAD = 64
"""Bytes per group that the state costs beside its captured values. Measured: none with one or two numbers as keys, 70 with six keys, 140
with a text that no other group has.
"""


def in_units(size: int) -> str:
    """Return bytes for people."""
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{-(-size // 1024)} KiB"


def check_size(captured: pa.Table, budget: int) -> None:
    """Raise StateTooLarge when the captured groups would not fit ``budget`` bytes."""
    needed = captured.nbytes + ROW_OVERHEAD * captured.num_rows
    if needed > budget:
        message = f"{captured.num_rows} groups need about {in_units(needed)} of {in_units(budget)}"
        raise StateTooLarge(message, needed / max(1, captured.num_rows))


def parts_of(captured: pa.Table, specifications: tuple[AggregateSpecification, ...]) -> dict[tuple[int, str], pa.Array]:
    """Return the captured parts of every aggregate by (index, part)."""
    parts: dict[tuple[int, str], pa.Array] = {}
    for index, specification in enumerate(specifications):
        for part in captured_parts(specification.kind, are_small=f"aggregate_{index}_small" not in captured.column_names):
            parts[index, part] = column(captured, f"aggregate_{index}_{part}")
        if specification.kind in (AccumulatorKind.SUM_FLOAT, AccumulatorKind.SUM_FLOAT_EXACT):
            parts[index, "nonfinite"] = _nonfinite(parts[index, "magnitude"], parts[index, "count"])
    return parts


def are_small(captured: pa.Table, specifications: tuple[AggregateSpecification, ...]) -> bool:
    """Say whether no double among the summed ones is large: the sum of absolute values is no less than any of them."""
    exact = (index for index, each in enumerate(specifications) if each.kind is AccumulatorKind.SUM_FLOAT_EXACT)
    magnitudes = (column(captured, f"aggregate_{index}_magnitude").fill_null(0.0) for index in exact)
    return all(pc.all(pc.less(each, LIMIT), min_count=0).as_py() for each in magnitudes)


def column(captured: pa.Table, name: str) -> pa.Array:
    combined = captured.column(name).combine_chunks()
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.chunks)


def _nonfinite(magnitude: pa.Array, count: pa.Array) -> pa.Array:
    """A sum of absolute values that is not finite tells of NaN or infinite arguments (or of an overflow), but not how many.

    All of them is the safe answer: the group's value stays unknown, and the group is kept, until its values are gone or captured again.
    """
    values = np.asarray(magnitude.to_numpy(zero_copy_only=False), dtype=np.float64)
    bad = ~np.isfinite(values) & np.asarray(magnitude.is_valid().to_numpy(zero_copy_only=False), dtype=bool)
    return pa.array(np.where(bad, count.to_numpy(zero_copy_only=False), 0), type=pa.int64())
