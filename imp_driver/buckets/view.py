"""The groups of a state in buckets at one version of its table, which are read in this process one bucket at a time."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import pyarrow as pa

from imp_driver.buckets.kernel import Kernel
from imp_driver.buckets.state import BucketedState
from imp_driver.values.buckets import BucketEngine
from imp_driver.values.codes import IntegerArray
from imp_driver.values.ranges import RangePartition


@dataclass(frozen=True, slots=True, eq=False)
class BucketView:
    """What steps leave as it is; ``changed`` is that of the state when this was made."""

    engine: BucketEngine
    target: str
    version: int
    kernel: Kernel
    coarse: RangePartition
    changed: IntegerArray

    @classmethod
    def of(cls, state: BucketedState, engine: BucketEngine) -> BucketView:
        """Take a state as it is; the caller holds its relation."""
        return cls(engine, state.target, state.version, state.kernel, state.coarse, state.changed.copy())

    def columns(self, number: int) -> dict[str, pa.Array]:
        """Return the groups of a bucket as ``GroupState.snapshot`` does. Raises Error, StoreDamaged."""
        return self.kernel.columns(self.engine.fetch(self.target, self.version, number))

    def name(self, number: int) -> Hashable:
        """Return the same only for the same groups."""
        return self.target, number, int(self.changed[number])

    @property
    def name_of_all(self) -> Hashable:
        """The same only where every bucket has the same groups."""
        return self.target, self.changed.tobytes()
