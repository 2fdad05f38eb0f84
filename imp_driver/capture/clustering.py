"""Which safe attribute the table's files are clustered by, from file statistics alone.

Source: sketch-safety rules 3.4 and 4: a sketch on an attribute that no file is clustered by skips nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.safety.cuts import Cut
from imp_driver.values.tables import FileStatistics, TableSnapshot

FEW_FILES = 8
"""Tables of fewer files are cheap to capture and have nothing to compare."""
LARGEST_OVERLAP = 0.5
"""Above this share of files that hold an average value of the attribute, ranges skip next to nothing."""


def overlap(files: FileStatistics, column: str) -> float:
    """Return the mean share of files whose [minimum, maximum] holds the minimum of a file.

    1/files is perfect clustering. Of two files that overlap one holds the other's minimum, so files that all span the whole domain come to
    a half, and to 1 where all begin with one value.
    """
    lower, upper, _ = files.bounds(column)
    known = pc.and_(pc.is_valid(lower), pc.is_valid(upper))
    total = len(lower)
    lower, upper = _numbers(lower.filter(known)), _numbers(upper.filter(known))
    if total == 0 or len(lower) == 0:
        return 1.0
    starts, ends = np.sort(lower), np.sort(upper)
    holding = np.searchsorted(starts, lower, side="right") - np.searchsorted(ends, lower, side="left")
    unknown = total - len(lower)
    return float((holding.mean() + unknown) / total)


def cut_files(cuts: Iterable[Cut], snapshots: Mapping[tuple[str, ...], TableSnapshot]) -> tuple[tuple[FileStatistics, str], ...]:
    """Return the files of each cut occurrence with the column that they are cut on."""
    return tuple((snapshots[cut.scan.table].files, cut.attribute.name) for cut in cuts)


def overlap_of(cuts: Sequence[tuple[FileStatistics, str]]) -> float:
    """Return the mean overlap of the cut tables, weighted by their bytes; 0 where all are small."""
    if all(len(files.sizes) < FEW_FILES for files, _ in cuts):
        return 0.0
    weights = [max(1, int(files.sizes.sum())) for files, _ in cuts]
    return float(np.average([overlap(files, name) for files, name in cuts], weights=weights))


def may_save(cuts: Sequence[tuple[FileStatistics, str]], total: int) -> float:
    """Return the share of ``total`` bytes in files of the cut tables that an average value is not in; of no bytes all."""
    if total == 0:
        return 1.0
    saved = (int(files.sizes.sum()) * (1 - (overlap(files, name) if len(files.sizes) >= FEW_FILES else 0.0)) for files, name in cuts)
    return sum(saved) / total


def _numbers(values: pa.Array) -> npt.NDArray[Any]:
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    elif pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    elif pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    return np.asarray(values.to_numpy(zero_copy_only=False))
