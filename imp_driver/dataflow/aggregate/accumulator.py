"""What the group state asks of an accumulator, and what it hands to one: the signed rows of a delta, grouped.

Invariant: ``prepare`` computes and checks everything and changes nothing; the returned commit cannot fail. So a delta is applied to all
accumulators of a state or to none (IMP paper section 5.2.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import Interval
from imp_driver.values.codes import BooleanArray, FloatArray, IntegerArray

Commit: TypeAlias = Callable[[], None]
Parts: TypeAlias = dict[str, pa.Array]
Slots: TypeAlias = slice | IntegerArray


class StateCorrupt(Exception):
    """The delta contradicts the state: more was deleted than was there. The caller drops the state and captures again."""


def nothing() -> None:
    """The commit of an accumulator that a delta does not touch."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Values of one aggregate in Spark's type; those that are not ``exact``, but known between bounds only, mean nothing here.

    Exact means equal as Spark compares: 0.0 may stand for -0.0. With a ``spread``, how far Spark's own value may be from it, it means
    correctly rounded.
    """

    array: pa.Array
    exact: BooleanArray
    spread: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class GroupChange:
    """The signed rows of one delta, grouped.

    Attributes:
        slots: the touched groups, each once.
        inverse: per delta row, the position of its group in ``slots``.
        weights: per delta row.
        rows: per touched group, the sum of weights.
        remaining: per touched group, its rows after the delta; never negative.
        signs_only: whether every weight is +1 or -1.
    """

    slots: IntegerArray
    inverse: IntegerArray
    weights: IntegerArray
    rows: IntegerArray
    remaining: IntegerArray
    signs_only: bool

    def total(self, values: IntegerArray) -> IntegerArray:
        """Sum int64 values per touched group, modulo 2**64."""
        result = np.zeros(len(self.slots), dtype=np.int64)
        np.add.at(result, self.inverse, values)
        return result

    def float_total(self, values: FloatArray) -> FloatArray:
        """Sum doubles per touched group, one after the other."""
        result: FloatArray = np.bincount(self.inverse, weights=values, minlength=len(self.slots)).astype(np.float64, copy=False)
        return result

    def counted(self, argument: pa.Array) -> IntegerArray:
        """Sum the weights of non-NULL arguments per touched group."""
        if not argument.null_count:
            return self.rows
        return self.total(self.valid_weights(argument))

    def valid_weights(self, argument: pa.Array) -> IntegerArray:
        """Return the weights with 0 where the argument is NULL."""
        if not argument.null_count:
            return self.weights
        return np.where(argument.is_valid().to_numpy(zero_copy_only=False), self.weights, 0)


class Copy(Protocol):
    """What coarser groups follow from, of groups as they were: no step changes it."""

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        """Return what Spark would give for groups that some slots fall into, given the rows of these."""

    @property
    def memory(self) -> int:
        """Bytes."""


class Accumulator(Protocol):
    """State of one aggregate over all slots. An unused slot holds the state of no rows."""

    def grow(self, capacity: int) -> None:
        """Make room for ``capacity`` slots; harmless when there is enough."""

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        """Compute the state after a delta. Raises StateCorrupt."""

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        """Return the aggregate's value for some slots, given their rows."""

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        """Return what Spark would give for some slots, given their rows, of which each has some."""

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        """Return what Spark would give for groups that some slots fall into, given the rows of these."""

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        """Return the state of some slots as columns, which ``load`` takes back, given their rows."""

    @property
    def memory(self) -> int:
        """Bytes."""

    def inexact(self, rows: IntegerArray) -> int:
        """Count groups among slots 0.. whose value capturing again would make sharper, given their rows."""


def resized(array: IntegerArray, capacity: int) -> IntegerArray:
    """Return the int64 array with zeros appended up to ``capacity``."""
    result = np.zeros(capacity, dtype=np.int64)
    result[: len(array)] = array
    return result


def check_counts(counts: IntegerArray, remaining: IntegerArray, what: str) -> None:
    """Raise StateCorrupt when a count fell below zero or is more than the ``remaining`` that it is part of."""
    if np.any((counts < 0) | (counts > remaining)):
        raise StateCorrupt(f"a delta leaves a number of {what} in a group that cannot be; the state must be captured again")


def integers(part: pa.Array) -> IntegerArray:
    """Return a captured int64 column with 0 for NULL."""
    values: IntegerArray = _filled(part, 0).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return values.copy()


def floats(part: pa.Array) -> FloatArray:
    """Return a captured float64 column with 0 for NULL."""
    values: FloatArray = _filled(part, 0.0).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values.copy()


def _filled(part: pa.Array, value: float) -> pa.Array:
    return part.fill_null(value) if part.null_count else part
