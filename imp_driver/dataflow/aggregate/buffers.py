"""Merge a delta into sorted buffers of smallest values, all groups at once.

Invariant: see extrema.py. Deletions are taken out before insertions are merged, which is right because the delta was consolidated: no value
of a group is both deleted and inserted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.values.codes import BooleanArray, CodeArray, IntegerArray


@dataclass(frozen=True, slots=True)
class Changes:
    """Net changes sorted by buffer row, then value; every pair once, no weight 0."""

    rows: IntegerArray
    values: CodeArray
    weights: IntegerArray


def consolidated(groups: IntegerArray, codes: CodeArray, weights: IntegerArray) -> tuple[IntegerArray, CodeArray, IntegerArray]:
    """Add up the weights of equal (group, code) pairs and drop zeros; sorted by group, then code."""
    if not len(groups):
        return groups, codes, weights
    if codes.dtype == object:
        order = np.argsort(codes, kind="stable")
        order = order[np.argsort(groups[order], kind="stable")]
    else:
        order = np.lexsort((codes, groups))
    groups, codes, weights = groups[order], codes[order], weights[order]
    fresh = np.ones(len(groups), dtype=bool)
    fresh[1:] = (groups[1:] != groups[:-1]) | (codes[1:] != codes[:-1]).astype(bool)
    starts = np.flatnonzero(fresh)
    totals = np.add.reduceat(weights, starts)
    kept = totals != 0
    return groups[starts][kept], codes[starts][kept], totals[kept]


def changed_buffers(
    buffers: CodeArray, sizes: IntegerArray, bounds: CodeArray, incomplete: BooleanArray, changes: Changes, top: Any
) -> tuple[CodeArray, IntegerArray, CodeArray]:
    """Return new (buffers, sizes, bounds). Raises StateCorrupt when a value is deleted that cannot have been there.

    Args:
        buffers: one row per changed group, ascending, padded with ``top``; a copy that may be written.
        incomplete: groups with unbuffered values, for which alone ``bounds`` means something.
    """
    sizes = sizes.copy()
    deleted = changes.weights < 0
    if deleted.any():
        rows, values, copies = _spread(changes.rows[deleted], changes.values[deleted], -changes.weights[deleted])
        _delete(buffers, sizes, bounds, incomplete, rows, values, copies, top)
        buffers.sort(axis=1)
    inserted = ~deleted
    if not inserted.any():
        return buffers, sizes, bounds
    return _insert(buffers, sizes, bounds, Changes(changes.rows[inserted], changes.values[inserted], changes.weights[inserted]), top)


def _spread(rows: IntegerArray, values: CodeArray, weights: IntegerArray) -> tuple[IntegerArray, CodeArray, IntegerArray]:
    """Repeat each entry ``weights`` times; the third result numbers the copies from 0."""
    copies = np.arange(weights.sum()) - np.repeat(np.cumsum(weights) - weights, weights)
    return np.repeat(rows, weights), np.repeat(values, weights), copies


def _delete(
    buffers: CodeArray,
    sizes: IntegerArray,
    bounds: CodeArray,
    incomplete: BooleanArray,
    rows: IntegerArray,
    values: CodeArray,
    copies: IntegerArray,
    top: Any,
) -> None:
    places = (buffers[rows] < values[:, None]).astype(bool).sum(axis=1) + copies
    inside = places < sizes[rows]
    found = inside & (buffers[rows, np.where(inside, places, 0)] == values).astype(bool)
    # A value equal to the bound may have copies beyond the buffer, which are only counted.
    if not np.all(found | (incomplete[rows] & (values == bounds[rows]).astype(bool))):
        raise StateCorrupt("a delta deleted a value that a min/max buffer does not hold; the state must be captured again")
    buffers[rows[found], places[found]] = top
    sizes -= np.bincount(rows[found], minlength=len(sizes))


def _insert(
    buffers: CodeArray, sizes: IntegerArray, bounds: CodeArray, changes: Changes, top: Any
) -> tuple[CodeArray, IntegerArray, CodeArray]:
    width = buffers.shape[1]
    total = np.zeros(len(sizes), dtype=np.int64)
    np.add.at(total, changes.rows, changes.weights)
    rows, values, _ = _spread(changes.rows, changes.values, np.minimum(changes.weights, width))
    counts = np.bincount(rows, minlength=len(sizes))
    ranks = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = ranks < width
    additions = np.full((len(sizes), int(ranks[kept].max()) + 1), top, dtype=buffers.dtype)
    additions[rows[kept], ranks[kept]] = values[kept]
    merged = np.concatenate((buffers, additions), axis=1)
    merged.sort(axis=1)
    merged = np.ascontiguousarray(merged[:, :width])
    overfull = sizes + total > width
    # Everything that did not fit, and everything unbuffered before, is at or above the last value kept.
    new_bounds = np.where(overfull, merged[:, width - 1], bounds)
    return merged, np.minimum(sizes + total, width), new_bounds
