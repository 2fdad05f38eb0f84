"""What a maintained aggregate holds of each of the groups that stand below others, from which these are merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Accumulator, Parts, Values
from imp_driver.dataflow.aggregate.framed import Runs, framed, is_framed
from imp_driver.dataflow.aggregate.load import loaded
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.plan.nodes import Aggregate
from imp_driver.values.aggregates import OF_MULTISETS, AggregateSpecification
from imp_driver.values.codes import IntegerArray

PLACE = "place of "
"""Begins the name of the column that has, in rows made of finer groups, the number of each; after it comes the name of their copies."""


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """One aggregate of the rows of a table of groups.

    Attributes:
        held: all that is held of it, of groups as they were; ``rows`` of each of these.
        slots: those of them that the table is of, in the order of ``starts``: row i has those from ``starts[i]`` to ``starts[i + 1]``.
        names: a number for each row, which its group keeps while it is there; None where it has none.
    """

    specification: AggregateSpecification
    held: Accumulator
    rows: IntegerArray
    slots: IntegerArray
    starts: IntegerArray
    names: IntegerArray | None = None

    @classmethod
    def of(
        cls,
        specification: AggregateSpecification,
        held: Accumulator,
        rows: IntegerArray,
        slots: IntegerArray,
        numbers: RollUp | None,
        names: IntegerArray | None = None,
    ) -> Partial:
        """Take what is held of some slots, which fall into the rows that ``numbers`` gives; None where each is a row."""
        if numbers is None:
            return cls(specification, held, rows, slots, np.arange(len(slots) + 1), names)
        # Numpy sorts narrow numbers by their digits.
        order = np.argsort(numbers.numbers.astype(np.uint16) if numbers.count <= 1 << 16 else numbers.numbers, kind="stable")
        starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(numbers.sizes)))
        # The slot that came first names a group for as long as it is there.
        firsts = None if names is None else names[order][starts[:-1]]
        return cls(specification, held, rows, slots[order], starts, firsts)

    def merged(self, places: IntegerArray, groups: RollUp) -> Values:
        """Return the aggregate of groups that some rows of the table fall into, of which one may be given several times."""
        sizes = self.starts[places + 1] - self.starts[places]
        numbers, slots = np.repeat(groups.numbers, sizes), self._slots_of(places, sizes)
        held, rows = self.held, self.rows[slots]
        if self.specification.kind in OF_MULTISETS:
            # Which values a group has is told for each group once.
            once, inverse = np.unique(slots, return_inverse=True)
            parts = {name: part.take(pa.array(inverse)) for name, part in held.parts(once, self.rows[once]).items()}
            held, slots = loaded(self.specification, parts, rows), np.arange(len(slots))
        return held.rolled_up(rows, slots, RollUp(numbers, groups.count))

    def parts(self, places: IntegerArray, groups: RollUp) -> tuple[Parts, RollUp]:
        """Return what is held of the groups that some rows of the table have, and which group each of these falls into."""
        sizes = self.starts[places + 1] - self.starts[places]
        slots = self._slots_of(places, sizes)
        return self.held.parts(slots, self.rows[slots]), RollUp(np.repeat(groups.numbers, sizes), groups.count)

    def _slots_of(self, places: IntegerArray, sizes: IntegerArray) -> IntegerArray:
        offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        found: IntegerArray = self.slots[np.repeat(self.starts[places], sizes) + offsets]
        return found

    def framed(self, places: IntegerArray, runs: Runs) -> Values | None:
        """Return the aggregate of runs of rows, which are given in order; None where these are to be merged one by one."""
        if not is_framed(self.specification, runs):
            return None
        sizes = self.starts[places + 1] - self.starts[places]
        if np.all(sizes == 1):
            slots = self.slots[self.starts[places]]
        else:
            # What falls into a row stands side by side in the order of the rows.
            slots, runs = self._slots_of(places, sizes), runs.widened(sizes)
        rows = self.rows[slots]
        return framed(self.specification, self.held.parts(slots, rows), rows, runs)


Partials: TypeAlias = Mapping[str, Partial]
"""By the identifier of the attribute that an aggregate is."""


def with_places(rows: pa.Table, aggregate: Aggregate) -> pa.Table:
    """Number the rows of groups that others are merged from."""
    return rows.append_column(PLACE + aggregate.function_attributes[-1].identifier, pa.array(np.arange(rows.num_rows)))
