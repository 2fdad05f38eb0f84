"""Columns of groups, moved on to where the groups are after a step, with other values for those that it touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.aggregate.accumulator import Values
from imp_driver.values.codes import BooleanArray, FloatArray, IntegerArray

NumbersT = TypeVar("NumbersT", IntegerArray, FloatArray, BooleanArray)


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Attributes:
    changed: places of the groups with new values, ascending.
    origins: for each place that of its group before, or, counted on from there, in the new values; None where no group came or went.
    """

    changed: IntegerArray
    origins: IntegerArray | None

    @classmethod
    def between(cls, before: IntegerArray, after: IntegerArray, touched: IntegerArray) -> Places:
        """Compare the slots of living groups before and after a step, all ascending."""
        living = touched[_are_in(touched, after)]
        changed = np.searchsorted(after, living)
        if len(before) == len(after) and np.array_equal(before, after):
            return cls(changed, None)
        # An untouched group was there before.
        place_of = np.zeros(int(max(before.max(initial=-1), after.max(initial=-1))) + 1, np.int64)
        place_of[before] = np.arange(len(before))
        origins = place_of[after]
        origins[changed] = len(before) + np.arange(len(changed))
        return cls(changed, origins)

    def moved(self, column: pa.Array, new: pa.Array) -> pa.Array:
        """Return a column of the groups before as one of those after."""
        if self.origins is not None:
            return pa.concat_arrays([column, new]).take(pa.array(self.origins))
        if not len(self.changed):
            return column
        mask = np.zeros(len(column), dtype=bool)
        mask[self.changed] = True
        return pc.replace_with_mask(column, pa.array(mask), new)

    def moved_numbers(self, column: NumbersT, new: NumbersT) -> NumbersT:
        """Return ``moved`` of numbers."""
        if self.origins is not None:
            return np.concatenate([column, new])[self.origins]
        moved = column.copy()
        moved[self.changed] = new
        return moved

    def moved_values(self, column: Values, new: Values) -> Values:
        """Return ``moved`` of an aggregate."""
        spread = None
        if column.spread is not None or new.spread is not None:
            spread = self.moved_numbers(_spread(column), _spread(new))
        return Values(self.moved(column.array, new.array), self.moved_numbers(column.exact, new.exact), spread)


def _spread(values: Values) -> FloatArray:
    return np.zeros(len(values.exact)) if values.spread is None else values.spread


def _are_in(some: IntegerArray, every: IntegerArray) -> BooleanArray:
    """Say which of some numbers are among others, all ascending."""
    places = np.searchsorted(every, some)
    found: BooleanArray = places < len(every)
    found[found] = every[places[found]] == some[found]
    return found
