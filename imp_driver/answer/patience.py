"""What was looked for in vain several times is looked for ever more rarely."""

from __future__ import annotations

from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.refusal import Grounds

_MOST_NAMES = 2_000
_TRIES = 4
_MOST_RESTS = 512


class Patience:
    """Counts tries by name, with why the last was in vain. Used by one connection."""

    def __init__(self, tries: int = _TRIES) -> None:
        """Take after how many tries in vain a name rests for the first time."""
        self._tries = tries
        self._vain: BoundedCache[str, tuple[int, int, Grounds]] = BoundedCache(_MOST_NAMES)

    def why_not(self, name: str) -> Grounds | None:
        """Return why a name is left alone this time; None where it is to be tried."""
        tries, rests, grounds = self._vain.get(name) or (0, 0, None)
        if not rests or grounds is None:
            return None
        self._vain[name] = tries, rests - 1, grounds
        return grounds

    def in_vain(self, name: str, grounds: Grounds) -> None:
        """Learn that a try was in vain."""
        tries = 1 + (self._vain.get(name) or (0,))[0]
        self._vain[name] = tries, min(2**tries, _MOST_RESTS) if tries >= self._tries else 0, grounds

    def succeeded(self, name: str) -> None:
        """Learn that a try has found something."""
        known = self._vain.get(name)
        if known is not None:
            self._vain[name] = 0, 0, known[2]
