"""Groups with the cuts that are attached to them, changed together: one state serves sketches on several columns and tables.

Source: IMP paper sections 4.1 and 5.1 (example 5.1). Invariant: a delta is applied to the groups and to every cut, or to none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit
from imp_driver.dataflow.aggregate.group import ChangedGroups, GroupState
from imp_driver.sketch.cells import CapturedCells, CellCut
from imp_driver.sketch.key_cut import KeyCut
from imp_driver.values.aggregates import AggregateSpecification, ProjectedRows
from imp_driver.values.cuts import AttachedCut, CutName
from imp_driver.values.ranges import RangePartition

Cut: TypeAlias = KeyCut | CellCut


class CutGroups:
    """Used under the lock of its relation; ``cuts`` is read without it."""

    def __init__(self, state: GroupState, cuts: Mapping[CutName, Cut] | None = None) -> None:
        self.state = state
        self._cuts: dict[CutName, Cut] = dict(cuts or {})

    @property
    def cuts(self) -> Mapping[CutName, Cut]:
        return self._cuts

    @property
    def attached(self) -> tuple[AttachedCut, ...]:
        return tuple(AttachedCut(name, cut.partition, cut.attribute) for name, cut in self._cuts.items())

    def attach(self, name: CutName, cut: Cut) -> None:
        """Keep a cut of the groups as they are now up to date from here on."""
        self._cuts = {**self._cuts, name: cut}

    def detach(self, name: CutName) -> None:
        """Follow a cut no longer; harmless where there is none."""
        self._cuts = {each: cut for each, cut in self._cuts.items() if each != name}

    def apply(self, delta: ProjectedRows) -> None:
        """Apply signed rows.

        Raises StateCorrupt, or ValueError when the delta lacks the fragments that a cut needs, and then nothing has changed.
        """
        changed = self.state.prepare(delta)
        if changed is None:
            return
        commits = [_prepared(name, cut, changed, delta) for name, cut in self._cuts.items()]
        changed.commit()
        for commit in commits:
            commit()

    @property
    def memory(self) -> int:
        """Bytes, partly estimated."""
        return self.state.memory + sum(cut.memory for cut in self._cuts.values())

    def snapshot(self) -> dict[str, pa.Array]:
        """Return the columns of the groups, and of the i-th cut its cells in columns of another length: ``cell_i_group`` and so on."""
        slots = np.flatnonzero(self.state.alive)
        columns = self.state.snapshot()
        for place, cut in enumerate(self._cuts.values()):
            if isinstance(cut, CellCut):
                cells = cut.snapshot(slots)
                parts = {"group": cells.group, "fragment": cells.fragment, "rows": cells.rows}
                columns |= {f"cell_{place}_{part}": pa.array(values) for part, values in parts.items()}
        return columns

    @classmethod
    def restore(
        cls,
        columns: Mapping[str, pa.Array],
        specifications: tuple[AggregateSpecification, ...],
        key_types: Sequence[pa.DataType],
        cuts: Sequence[tuple[CutName, RangePartition, str]],
    ) -> CutGroups:
        """Invert ``snapshot``, of cuts in the same order with what people call them. Raises StateCorrupt as the captures do."""
        state = GroupState.restore(columns, specifications, key_types)
        found: dict[CutName, Cut] = {}
        for place, (name, partition, attribute) in enumerate(cuts):
            if name.key is not None:
                found[name] = KeyCut(state, name.key, partition, attribute)
            else:
                cells = CapturedCells.of(*(columns[f"cell_{place}_{part}"] for part in ("group", "fragment", "rows")))
                found[name] = CellCut.capture(cells, state.rows, partition, attribute)
        return cls(state, found)


def _prepared(name: CutName, cut: Cut, changed: ChangedGroups, delta: ProjectedRows) -> Commit:
    if isinstance(cut, KeyCut):
        return cut.prepare(changed)
    fragments, change = delta.fragments.get(name), changed.change
    if fragments is None or len(fragments) != len(delta.weights):
        raise ValueError("a delta must bring the fragment of each row for every cut on a column that is no group key")
    return cut.prepare(change.slots[change.inverse], fragments, change.weights)
