"""Fragments -> few runs of ranges -> condition on the sketched attribute.

Source: sketch-safety rules 1.10 and 3.3: half-open runs with open ends, NULL apart, each disjunct a plain ``column op literal``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from imp_driver.parse.bounds import bound_sql
from imp_driver.values.fragments import FragmentSet, fill_gaps
from imp_driver.values.quoting import quoted_name
from imp_driver.values.ranges import RangePartition


def range_condition(column: str, type_name: str, partition: RangePartition, runs: tuple[tuple[int, int], ...], has_null: bool) -> str:
    """Render runs of fragments as a condition; no run and no NULL is FALSE, never "no condition" (rules 1.9)."""
    name = quoted_name(column)
    terms = [_run_sql(name, type_name, *partition.interval(first, last)) for first, last in runs]
    if has_null:
        terms.append(f"{name} IS NULL")
    return " OR ".join(terms) if terms else "FALSE"


def _run_sql(name: str, type_name: str, lower: object, upper: object) -> str:
    parts = []
    if lower is not None:
        parts.append(f"{name} >= {bound_sql(lower, type_name)}")
    if upper is not None:
        parts.append(f"{name} < {bound_sql(upper, type_name)}")
    return f"({' AND '.join(parts)})" if parts else f"({name} IS NOT NULL)"


def runs_mask(runs: tuple[tuple[int, int], ...], fragments: int) -> npt.NDArray[np.bool_]:
    """Return which non-NULL fragments the runs hold."""
    mask = np.zeros(fragments, dtype=bool)
    for first, last in runs:
        mask[first : last + 1] = True
    return mask


def capped_runs(fragments: FragmentSet, maximum: int, rows: npt.NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """Return at most ``maximum`` runs; the gaps with the fewest rows are filled, which is sound because a sketch may be larger."""
    return tuple(fill_gaps(fragments.runs(), maximum, rows))
