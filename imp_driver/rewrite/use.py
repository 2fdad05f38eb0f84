"""Decide whether a sketch pays, and with which runs of ranges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from imp_driver.delta.coverage import Coverage, FileFragments
from imp_driver.maintain.sketches import Prepared, Request
from imp_driver.rewrite.ranges import capped_runs, range_condition, runs_mask
from imp_driver.sketch.sketch import Sketch

LARGEST_SHARE = 0.75
"""Above this share of rows, with no file skipped, a filter costs more than it saves (sketch-safety rules 3.4)."""


@dataclass(frozen=True, slots=True)
class Use:
    """How a sketch is used; ``condition`` is None when the filter is dropped because it would skip next to nothing."""

    condition: str | None
    runs: int
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Part:
    """One block of a query with its sketch and how it is used."""

    request: Request
    prepared: Prepared
    use: Use


def plan_use(sketch: Sketch, type_name: str, files: FileFragments, rows: npt.NDArray[np.int64], maximum_runs: int) -> Use:
    """Choose the runs of a sketch. ``rows`` are rows per fragment, the NULL fragment last."""
    fragments = sketch.partition.ranges
    runs = capped_runs(sketch.fragments, maximum_runs, rows[:fragments])
    mask = runs_mask(runs, fragments)
    has_null = sketch.fragments.has_null
    coverage = files.coverage(mask, has_null)
    kept = int(rows[:fragments][mask].sum()) + (int(rows[fragments]) if has_null else 0)
    total = int(rows.sum())
    skips_files = coverage.bytes_kept <= LARGEST_SHARE * coverage.bytes_total
    skips_rows = total > 0 and kept <= LARGEST_SHARE * total
    if total > 0 and not skips_files and not skips_rows:
        return Use(None, 0, Coverage(coverage.files_total, coverage.files_total, coverage.bytes_total, coverage.bytes_total))
    condition = range_condition(sketch.attribute, type_name, sketch.partition, runs, has_null)
    return Use(condition, len(runs) + int(has_null), coverage)
