"""Which slots the last steps of a state have touched, for who keeps values of it from an earlier step on."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from imp_driver.values.codes import IntegerArray

MOST_STEPS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """What a state was like after so many steps; each state makes its own marks."""

    owner: TouchedSlots
    steps: int


@dataclass(slots=True, eq=False)
class TouchedSlots:
    """Mutable; changed by who holds the state."""

    _steps: int = 0
    _last: deque[IntegerArray] = field(default_factory=lambda: deque(maxlen=MOST_STEPS))

    def note(self, slots: IntegerArray) -> None:
        """Add a step."""
        self._steps += 1
        self._last.append(slots)

    @property
    def mark(self) -> Mark:
        """The state as it is now."""
        return Mark(self, self._steps)

    def since(self, mark: Mark) -> IntegerArray | None:
        """Return the slots that were touched after a mark, ascending; None for too many steps, or a mark of another state."""
        steps = self._steps - mark.steps
        if mark.owner is not self or steps > len(self._last):
            return None
        return np.unique(np.concatenate([np.zeros(0, np.int64), *list(self._last)[len(self._last) - steps :]]))
