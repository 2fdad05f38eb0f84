"""Fragments of a column that is not a group key: ranges from file statistics, and SQL that numbers them.

Source: IMP paper section 5.1 (annotation of rows with fragments); sketch-safety rules 1.10: the comparisons are those of use.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.parse.bounds import bound_sql
from imp_driver.values.codes import BooleanArray, Codec, one_array
from imp_driver.values.ranges import RangePartition, equi_depth
from imp_driver.values.tables import FileStatistics


def bucket_sql(column: str, type_name: str, partition: RangePartition) -> str:
    """Return SQL for the fragment of a column's value, an INT, by as many comparisons as a binary search takes.

    Args:
        column: quoted name.
        type_name: Delta's name of its type, one that arrow_type knows.
    """
    bounds = [bound_sql(bound, type_name) for bound in partition.bounds]
    return f"IF({column} IS NULL, {partition.null_fragment}, {_search_sql(column, bounds, 0, partition.ranges - 1)})"


def _search_sql(column: str, bounds: list[str], first: int, last: int) -> str:
    """Return SQL that decides between the ranges first..last; range i starts at bounds[i - 1]."""
    if first == last:
        return str(first)
    middle = (first + last + 1) // 2
    below = _search_sql(column, bounds, first, middle - 1)
    above = _search_sql(column, bounds, middle, last)
    return f"IF({column} < {bounds[middle - 1]}, {below}, {above})"


def file_partition(files: FileStatistics, column: str, data_type: pa.DataType, fragments: int) -> RangePartition | None:
    """Return at most ``fragments`` ranges of about equal numbers of rows that start where files start; None where there is but one.

    Where there are ranges to spare they start at the maxima of files as well, which tells overlapping files apart. Any bounds are sound,
    so statistics may be truncated or missing. Raises ValueError when ``fragments`` is less than 1.
    """
    lower, upper, _ = files.bounds(column)
    try:
        minima, maxima = one_array(lower).cast(data_type), one_array(upper).cast(data_type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    ends = pa.concat_arrays([minima, maxima.filter(pa.array(_below_top(maxima)))])
    if _distinct(ends) <= fragments:
        partition = equi_depth(ends, np.ones(len(ends), dtype=np.int64), fragments)
    else:
        weights = files.sizes if np.any(files.rows < 0) else files.rows
        partition = equi_depth(minima, weights, fragments)
    return partition if partition.ranges > 1 else None


def _below_top(values: pa.Array) -> BooleanArray:
    """Say which values are not the greatest: nothing lies above that one."""
    codes, nulls = Codec(values.type).encode(values)
    if np.all(nulls):
        return np.zeros(len(codes), dtype=bool)
    return np.asarray((codes < codes[~nulls].max()).astype(bool) & ~nulls)


def _distinct(values: pa.Array) -> int:
    codes, nulls = Codec(values.type).encode(values)
    return len(np.unique(codes[~nulls]))
