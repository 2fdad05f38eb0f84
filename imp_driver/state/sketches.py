"""The newest sketches of a maintained relation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from imp_driver.sketch.coverage import FileFragments
from imp_driver.sketch.merge import Merge
from imp_driver.sketch.sketch import Sketch
from imp_driver.snapshot.vector import Vector
from imp_driver.values.codes import IntegerArray
from imp_driver.values.ranges import RangePartition

KEPT = 4
"""Sketches of former versions or constants; they are small."""


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """The sketch for one set of constants above the groups, and the relation's rows per fragment, the NULL fragment last.

    ``merged`` changes along with the groups; None where the sketch is derived from all of them each time.
    """

    vector: Vector
    constants: str
    sketch: Sketch
    rows: IntegerArray
    merged: Merge | None = None
    memory: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory", int(self.rows.nbytes) + self.sketch.fragments.memory)


class SketchCache:
    """Used under the lock of its relation; ``every`` is read without it."""

    def __init__(self) -> None:
        self._newest: Derived | None = None
        self._older: tuple[Derived, ...] = ()
        self._files: tuple[RangePartition, Vector, str, tuple[FileFragments, ...]] | None = None

    @property
    def newest(self) -> Derived | None:
        """The one that the changes of the relation go on from."""
        return self._newest

    @property
    def every(self) -> tuple[Derived, ...]:
        """All that are kept, the newest last."""
        return (*self._older, *(() if self._newest is None else (self._newest,)))

    def find(self, vector: Vector, constants: str) -> Derived | None:
        """Return the sketch of exactly these versions and constants."""
        return next((each for each in reversed(self.every) if each.constants == constants and each.vector == vector), None)

    def add(self, derived: Derived) -> Derived:
        """Keep a sketch as the newest one, and return it."""
        self.put_aside()
        self._newest = derived
        return derived

    def put_aside(self) -> None:
        """Make the newest sketch one of the older ones; there is no newest one then."""
        if self._newest is not None:
            self._older = (*self._older, replace(self._newest, merged=None))[-KEPT:]
            self._newest = None

    def files(self, derived: Derived, template: str, locate: Callable[[], Iterable[FileFragments]]) -> tuple[FileFragments, ...]:
        """Return the fragments of each file that a template's sketch cuts; located anew for other versions and ranges only."""
        known, partition = self._files, derived.sketch.partition
        if known is None or known[0] is not partition or known[1:3] != (derived.vector, template):
            known = self._files = (partition, derived.vector, template, tuple(locate()))
        return known[3]

    def clear(self) -> None:
        self._newest, self._older, self._files = None, (), None

    @property
    def memory(self) -> int:
        """Bytes."""
        merged = None if self._newest is None else self._newest.merged
        return sum(each.memory for each in self.every) + (0 if merged is None else merged.memory)
