"""Whether another safe key would read less than the one that was chosen, by the state that has just been captured.

Source: sketch-safety rules 4, estimated size of a sketch. The state has every key of every group, so the estimate needs no sample, which
would read as much as a capture does.
"""

from __future__ import annotations

import numpy as np

from imp_driver.capture.clustering import LARGEST_OVERLAP, cut_files, overlap_of
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.maintain.derive import retained_groups
from imp_driver.maintain.request import Request
from imp_driver.sketch.coverage import FileFragments, total_coverage
from imp_driver.values.codes import BooleanArray
from imp_driver.values.cuts import CutName
from imp_driver.values.ranges import equi_depth

WORTH_A_CHANGE = 0.75
"""Share of the bytes below which another key pays for cutting the groups by it."""


def better_key(request: Request, state: GroupState) -> CutName | None:
    """Return the safe key whose sketch of this query would read least, if that is clearly less than with the first that is cut by."""
    now = request.names[0].key
    if now is None or len(request.analysis.cuts) < 2:
        return None
    retained = retained_groups(state, request.block)
    read = {
        key: _bytes(request, key, state, retained)
        for key, cuts in request.analysis.cuts.items()
        if key == now or overlap_of(cut_files(cuts, request.snapshots)) <= LARGEST_OVERLAP
    }
    best = min(read, key=lambda key: read[key])
    return CutName(request.fragments, best) if read[best] < WORTH_A_CHANGE * read[now] else None


def _bytes(request: Request, key: int, state: GroupState, retained: BooleanArray) -> int:
    """Return the bytes of all files that the block would read, were the state cut on this key."""
    slots = np.flatnonzero(state.alive)
    values = state.key_values(key, slots)
    partition = equi_depth(values, state.rows[slots], request.fragments)
    kept = np.zeros(partition.fragments, dtype=bool)
    kept[partition.locate(values)[retained[slots]]] = True
    every = cut_files(request.analysis.cuts[key], request.snapshots)
    located = (FileFragments.locate(files, name, partition) for files, name in every)
    coverage = total_coverage(each.coverage(kept[:-1], bool(kept[-1])) for each in located)
    return request.bytes - coverage.bytes_total + coverage.bytes_kept
