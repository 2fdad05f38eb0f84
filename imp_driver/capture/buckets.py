"""Fragments of a column that is not a group key: ranges from file statistics, and SQL that numbers them.

Source: IMP paper section 5.1 (annotation of rows with fragments); sketch-safety rules 1.10: the comparisons are those of use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.parse.bounds import bound_sql
from imp_driver.values.codes import BooleanArray, Codec, one_array
from imp_driver.values.ranges import RangePartition, equi_depth
from imp_driver.values.tables import FileStatistics


@dataclass(frozen=True, slots=True)
class CutColumn:
    """A column of some query that is cut: its name, Delta's name of its type, one that arrow_type knows, and the ranges."""

    name: str
    type_name: str
    partition: RangePartition

    def located_sql(self, query: str, fragment: str, value: str) -> str:
        """Return the rows of ``query`` with one column more: the fragment of a value of this type, an INT.

        A binary search in as many nested queries as it takes comparisons: each compares with a bound of one level, taken from an array by
        the place found so far. Spark makes a constant of the array, so that its code grows with the levels and not with the bounds, as that
        of a tree of IFs does. Of 5 M rows and bounds that are new each time it took 2.4 s of work for 200 ranges and 4.2 s for 5,000, a
        tree 2.1 and 6.8 s; asked again with the same bounds 1.0 and 1.1 s, a tree 1.4 and 5.6 s (20,000 ranges: 2.0 and 20 s). The places
        are columns too, ``{fragment}_0`` and so on.

        Args:
            fragment: name of the new column.
            value: column of the query, quoted where it has to be.
        """
        place = "0"
        for number, level in enumerate(_levels([bound_sql(bound, self.type_name) for bound in self.partition.bounds])):
            bound = f"try_element_at(array({', '.join(level)}), {place} + 1)"
            query = f"SELECT *, 2 * {place} + IF({value} >= {bound}, 1, 0) AS {fragment}_{number} FROM ({query})"
            place = f"{fragment}_{number}"
        return f"SELECT *, IF({value} IS NULL, {self.partition.null_fragment}, {place}) AS {fragment} FROM ({query})"


def _levels(bounds: list[str]) -> list[list[str]]:
    """Return what each level of a binary search compares with, by place; a place beyond the end of a level has no bound and no range."""
    steps = [1 << level for level in reversed(range(len(bounds).bit_length()))]
    return [bounds[step - 1 :: 2 * step] for step in steps]


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
