"""The driver's own recursive relations in the form that the workload measures them in: the one place that knows their classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchmarks.recursion.maintained import Copies, Maintained, Row, whole
from benchmarks.recursion.sensors import Field
from imp_driver.dataflow.recursion.dictionaries import NotVectorised
from imp_driver.dataflow.recursion.levels import Levels, RowChanges
from imp_driver.dataflow.recursion.rules import Place, Rule, copied
from imp_driver.dataflow.recursion.selection import Selection
from imp_driver.dataflow.recursion.vectors import VectorLevels

BASE, VIEW, NEAR, MAINS = range(4)
"""Numbers of relations; the last two do not change."""

REACHABLE = (
    Rule(VIEW, (BASE,), (2,), (), copied((0, 1))),
    Rule(VIEW, (BASE, VIEW), (2, 2), ((Place(0, 1), Place(1, 0)),), copied((0, 3))),
)
"""reachable(x, y) :- link(x, y). reachable(x, y) :- link(x, z), reachable(z, y)."""
REGIONS = (
    Rule(VIEW, (MAINS, BASE), (2, 1), ((Place(0, 1), Place(1, 0)),), copied((0, 1))),
    Rule(
        VIEW,
        (VIEW, BASE, NEAR),
        (2, 1, 2),
        ((Place(0, 1), Place(1, 0)), (Place(0, 1), Place(2, 0))),
        copied((0, 4)),
    ),
)
"""active(r, x) :- main(r, x), triggered(x). active(r, y) :- active(r, x), triggered(x), near(x, y)."""

PATHS = (
    Rule(VIEW, (BASE,), (3,), (), copied((0, 1, 2))),
    Rule(
        VIEW,
        (BASE, VIEW),
        (3, 3),
        ((Place(0, 1), Place(1, 0)),),
        lambda bodies: [(body[0], body[4], whole(body[2]) + whole(body[5])) for body in bodies],
    ),
)
"""path(x, y, c) :- link(x, y, c). path(x, y, c0 + c1) :- link(x, z, c0), path(z, y, c1); of each pair those of the least cost."""


class Ours:
    """A recursive relation of the driver, in the form that it chooses, over one base relation that changes and others that do not."""

    def __init__(self, rules: Sequence[Rule], fixed: Mapping[int, Iterable[Row]], selection: Selection | None = None) -> None:
        self._copies = Copies()
        self._levels = _levels(rules, selection)
        self._levels.apply({relation: RowChanges((), list(rows)) for relation, rows in fixed.items()})

    @property
    def touched(self) -> int:
        return self._levels.touched

    def load(self, rows: Iterable[Row]) -> None:
        self.apply((), list(rows))

    def apply(self, deleted: Sequence[Row], inserted: Sequence[Row]) -> None:
        gone, new = self._copies.net(deleted, inserted)
        self._levels.apply({BASE: RowChanges(gone, new)})

    def rows(self) -> Iterable[Row]:
        return (tuple(map(whole, row)) for row in self._levels.rows(VIEW))


def _levels(rules: Sequence[Rule], selection: Selection | None) -> Levels | VectorLevels:
    if selection is not None:
        return Levels(rules, selections={VIEW: selection})
    try:
        return VectorLevels(rules)
    except NotVectorised:
        return Levels(rules)


def reachable() -> Maintained:
    """Return ``reachable`` over rows of links."""
    return Ours(REACHABLE, {})


def regions(sensors: Field) -> Maintained:
    """Return ``activeRegion`` over rows of ``istriggered``."""
    near = [(one, two) for one, others in sensors.near().items() for two in others]
    return Ours(REGIONS, {NEAR: near, MAINS: sensors.mains})


def shortest_paths() -> Maintained:
    """Return ``minCost`` over rows of links with costs."""
    return Ours(PATHS, {}, Selection((0, 1), 2))
