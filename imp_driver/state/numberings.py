"""Which coarser groups the groups of a relation fall into, by some of their keys: told once, and carried over steps.

To tell it takes longer than to add up what the groups hold, and it is the same for every condition on the groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.ranks import first_of_each, numbered
from imp_driver.state.places import Places
from imp_driver.values.codes import IntegerArray, plain

CoarserKeys: TypeAlias = tuple[int, ...]
"""The places of the finer keys that coarser groups have."""
_FEWER = 4
"""Of so many finer groups a coarser one has at least one: else its key is looked up as quickly as all are numbered anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbering:
    """``numbers`` says of each finer group which of ``count`` coarser ones it falls into; ``keys`` are those of the coarser ones.

    After a step a coarser group may have no finer ones.
    """

    numbers: IntegerArray
    count: int
    keys: tuple[pa.Array, ...]

    @classmethod
    def of(cls, keys: Sequence[pa.Array], count: int) -> Numbering:
        """Number the groups of equal keys in the order in which they come. Raises NotEvaluable."""
        numbers = numbered(keys, count)
        first = pa.array(first_of_each(numbers))
        return cls(numbers, len(first), tuple(key.take(first) for key in keys))

    @property
    def whole(self) -> tuple[RollUp, tuple[pa.Array, ...]]:
        """All coarser groups, and their keys."""
        return RollUp(self.numbers, self.count), self.keys

    def of_some(self, places: IntegerArray) -> tuple[RollUp, tuple[pa.Array, ...]]:
        """Return the coarser groups that some finer ones fall into, and the keys of these."""
        numbers = self.numbers if len(places) == len(self.numbers) else self.numbers[places]
        is_there = np.zeros(self.count, dtype=bool)
        is_there[numbers] = True
        if is_there.all():
            return RollUp(numbers, self.count), self.keys
        anew = np.cumsum(is_there) - 1
        return RollUp(anew[numbers], int(anew[-1]) + 1), tuple(key.filter(pa.array(is_there)) for key in self.keys)

    def moved(self, places: Places, new: Sequence[pa.Array], before: Sequence[pa.Array]) -> Numbering | None:
        """Return the numbering after a step; None where it is as quickly made anew.

        Args:
            new: the keys of the groups that changed.
            before: the keys of all groups before the step.
        """
        changed = pa.array(places.changed)
        # Another group may be where one has gone.
        if places.origins is None and all(own.equals(plain(key.take(changed))) for own, key in zip(new, before, strict=True)):
            return self
        if self.count * _FEWER > len(self.numbers):
            return None
        every = [pa.concat_arrays([own, more]) for own, more in zip(self.keys, new, strict=True)]
        # Those that were there are other ones each, and keep their numbers.
        more = self.of(every, len(every[0]))
        return replace(more, numbers=places.moved_numbers(self.numbers, more.numbers[self.count :]))

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(self.numbers.nbytes) + sum(int(key.nbytes) for key in self.keys)
