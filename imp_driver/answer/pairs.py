"""What was worked out about two blocks, for when the same two are asked about again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from imp_driver.plan.bind import BoundBlock
from imp_driver.values.bounded_cache import BoundedCache

FoundT = TypeVar("FoundT")
_MOST = 500


class Pairs(Generic[FoundT]):
    """Blocks are told by what they are, not by what is in them. Safe to use from several threads."""

    def __init__(self) -> None:
        # Blocks are held, so that no other ones have their ``id``.
        self._known: BoundedCache[Hashable, tuple[BoundBlock, BoundBlock, FoundT]] = BoundedCache(_MOST)

    def get(self, asked: BoundBlock, finer: BoundBlock, make: Callable[[], FoundT], name: Hashable = None) -> FoundT:
        """Return what ``make`` makes of two blocks; ``name`` says what else that depends on."""
        key = id(asked), id(finer), name
        known = self._known.get(key)
        if known is None or known[0] is not asked or known[1] is not finer:
            known = self._known[key] = (asked, finer, make())
        return known[2]
