"""Decide whether a sketch pays, and with which runs of ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from imp_driver.maintain.request import CutSketch, Prepared, Request
from imp_driver.rewrite.gain import LEAST_GAIN, estimated_gain
from imp_driver.rewrite.ranges import capped_runs, range_condition, runs_mask
from imp_driver.safety.cuts import Cut
from imp_driver.sketch.coverage import Coverage, FileFragments, total_coverage
from imp_driver.sketch.sketch import Sketch


@dataclass(frozen=True, slots=True)
class Use:
    """How a sketch is used: its runs of ranges; ``is_filter`` is False when they would save too little, by the estimated ``gain``."""

    is_filter: bool
    ranges: tuple[tuple[int, int], ...]
    has_null: bool
    coverage: Coverage
    gain: float

    @property
    def runs(self) -> int:
        return len(self.ranges) + int(self.has_null) if self.is_filter else 0


@dataclass(frozen=True, slots=True)
class Part:
    """One block of a query with the sketch by one of its cuts, and how that is used. A block's sketches are used or not each for itself:

    where one is left out, all fragments of its occurrences are read, which is a superset of its sketch.
    """

    request: Request
    prepared: Prepared
    cut: CutSketch
    use: Use

    def condition(self, cut: Cut) -> str | None:
        """Return the condition on one cut occurrence; None when the filter is dropped."""
        if not self.use.is_filter:
            return None
        partition = self.cut.sketch.partition
        return range_condition(cut.attribute.name, cut.attribute.type_name or "", partition, self.use.ranges, self.use.has_null)


def gains(parts: Sequence[Part]) -> list[tuple[Prepared, float]]:
    """Return what each block's sketches save of the query's work: as much as the best of them."""
    found = {id(part.prepared): (part.prepared, 0.0) for part in parts}
    for part in parts:
        prepared, gain = found[id(part.prepared)]
        found[id(part.prepared)] = prepared, max(gain, part.use.gain if part.use.is_filter else gain)
    return list(found.values())


def conditions_of(parts: Sequence[Part], times_read: Mapping[int, int], maximum_runs: int) -> tuple[dict[int, str], tuple[Part, ...]]:
    """Return the condition of each place in the text that is cut, by ``id`` of the place, and the parts as they are used.

    Of nested blocks that cut the same occurrence one is used. A part is used on all of its occurrences or on none: its proof may rest on
    one common set for all of them (rules 1.7).
    """
    used: list[Part] = []
    taken: set[int] = set()
    for part in sorted(parts, key=lambda each: each.use.coverage.bytes_kept - each.use.coverage.bytes_total):
        occurrences = {cut.scan.occurrence for cut in part.cut.cuts}
        if part.use.is_filter and not occurrences & taken:
            used.append(part)
            taken |= occurrences
    while True:
        conditions = _conditions(used, times_read, maximum_runs)
        whole = [part for part in used if all(id(cut.scan.place) in conditions for cut in part.cut.cuts)]
        if len(whole) == len(used):
            break
        used = whole
    kept = {id(part) for part in used}
    return conditions, tuple(part if id(part) in kept else replace(part, use=replace(part.use, is_filter=False)) for part in parts)


def _conditions(parts: Sequence[Part], times_read: Mapping[int, int], maximum_runs: int) -> dict[int, str]:
    """Return the condition of each place.

    A place may be read several times (a WITH query), and its text is cut once: by all sketches together, when there is one for every
    reading, on one column. A set of values of that column that holds each sketch is a superset of each. Parts with several places are
    left out of this, since their places must keep one set.
    """
    found: dict[int, list[tuple[Part, Cut]]] = {}
    for part in parts:
        for cut in part.cut.cuts:
            found.setdefault(id(cut.scan.place), []).append((part, cut))
    conditions = {}
    for place, cuts in found.items():
        texts = {part.condition(cut) or "": part.use.runs for part, cut in cuts}
        have_one_place = all(len({id(each.scan.place) for each in part.cut.cuts}) == 1 for part, _ in cuts)
        may_be_joined = have_one_place and sum(texts.values()) <= maximum_runs and len({cut.attribute.name for _, cut in cuts}) == 1
        if len(cuts) == times_read[place] and (len(texts) == 1 or may_be_joined):
            conditions[place] = " OR ".join(f"({text})" for text in texts) if len(texts) > 1 else next(iter(texts))
    return conditions


def plan_use(
    sketch: Sketch,
    files: Sequence[FileFragments],
    rows: npt.NDArray[np.int64],
    maximum_runs: int,
    *,
    query_bytes: int = 0,
    own_share: float = 1.0,
) -> Use:
    """Choose the runs of a sketch.

    Args:
        files: of each cut table.
        rows: rows per fragment, the NULL fragment last.
        query_bytes: of the files of all tables that the query reads; 0 where these are the cut ones.
        own_share: of the bytes, that the query's own conditions leave without the sketch.
    """
    # Fewer ranges hold more rows but are compared faster.
    most = min(maximum_runs, len(sketch.fragments.runs()))
    uses = [_with_runs(sketch, files, rows, cap, query_bytes, own_share) for cap in sorted({max(1, most // part) for part in (1, 2, 4, 8)})]
    best = max(uses, key=lambda use: use.gain)
    # Of no rows at all nothing can be saved, and the empty filter says so in the plan.
    if rows.sum() > 0 and best.gain < LEAST_GAIN:
        coverage = replace(best.coverage, files_kept=best.coverage.files_total, bytes_kept=best.coverage.bytes_total)
        return Use(False, (), False, coverage, best.gain)
    return best


def _with_runs(
    sketch: Sketch, files: Sequence[FileFragments], rows: npt.NDArray[np.int64], most: int, query_bytes: int, own_share: float
) -> Use:
    fragments, has_null = sketch.partition.ranges, sketch.fragments.has_null
    runs = capped_runs(sketch.fragments, most, rows[:fragments])
    mask = runs_mask(runs, fragments)
    coverage = total_coverage(each.coverage(mask, has_null) for each in files)
    kept = int(rows[:fragments][mask].sum()) + (int(rows[fragments]) if has_null else 0)
    gain = estimated_gain(coverage, kept / max(1, int(rows.sum())), len(runs) + int(has_null), query_bytes, own_share)
    return Use(True, runs, has_null, coverage, gain)
