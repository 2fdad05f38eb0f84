"""Which conditions of blocks of one shape have had different constants: candidates for keys of their state, and how fine these must be."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from imp_driver.values.bounded_cache import BoundedCache

_MOST_SHAPES = 10_000
_MOST_BESIDE = 3
"""Times that constants are asked for which lie within a granule that is held, until it is made finer."""
Grains: TypeAlias = Mapping[str, int]
"""By column of dates, the coarsest granule that conditions leave whole, as its place from coarse to fine."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the blocks of a shape were asked with so far.

    Attributes:
        places: of the conditions whose constants were others before.
        grains: for these conditions.
        is_beside: the constants that were just noted lie within those granules, and may stay the only ones.
        is_new: nothing of the shape was seen before.
    """

    shape: str
    places: frozenset[int]
    grains: Grains
    is_beside: bool = False
    is_new: bool = False


@dataclass(slots=True, eq=False)
class _Shape:
    """``held`` are the granules of the state that was captured for the shape, ``beside`` counts constants within them."""

    conditions: tuple[str, ...]
    grains: list[Grains]
    varying: set[int] = field(default_factory=set)
    held: Grains | None = None
    beside: int = 0


class SeenConstants:
    """Remembers the conditions of each shape. Safe to use from several threads."""

    def __init__(self) -> None:
        self._seen: BoundedCache[str, _Shape] = BoundedCache(_MOST_SHAPES)
        self._lock = threading.Lock()

    def note(self, shape: str, conditions: tuple[str, ...], grains: Sequence[Grains]) -> Seen:
        """Note the conditions that a block is asked with, as texts in its order, and the granules that each leaves whole."""
        with self._lock:
            known = self._seen.get(shape)
            if known is None or len(known.conditions) != len(conditions):
                self._seen[shape] = _Shape(conditions, list(grains))
                return Seen(shape, frozenset(), {}, is_new=True)
            known.varying |= {place for place, (one, other) in enumerate(zip(known.conditions, conditions, strict=True)) if one != other}
            known.grains = [_finest(each) for each in zip(known.grains, grains, strict=True)]
            places = frozenset(known.varying)
            wanted = _finest(known.grains[place] for place in places)
            if known.held is None or known.held.keys() != wanted.keys():
                return Seen(shape, places, wanted)
            is_beside = any(fine > known.held[name] for name, fine in _finest(grains[place] for place in places).items())
            known.beside += is_beside
            if known.beside < _MOST_BESIDE:
                return Seen(shape, places, known.held, is_beside)
            known.held, known.beside = None, 0
            return Seen(shape, places, wanted)

    def hold(self, seen: Seen) -> None:
        """Learn that a state with such granules is captured for a shape."""
        with self._lock:
            known = self._seen.get(seen.shape)
            if known is not None:
                known.held = seen.grains


def _finest(every: Iterable[Grains]) -> dict[str, int]:
    found: dict[str, int] = {}
    for grains in every:
        for name, fine in grains.items():
            found[name] = max(fine, found.get(name, 0))
    return found
