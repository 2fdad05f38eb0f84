"""Left rows and their partners on the right: what semi-joins and outer joins share.

When right rows change, only left rows with their keys can be concerned: these and all right rows with the same keys decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.arrangement import Arrangement
from imp_driver.dataflow.expression.select import selected
from imp_driver.dataflow.operator import Inputs, NotFound, Operator
from imp_driver.dataflow.zset import empty, filtered, negated, summed
from imp_driver.values.codes import IntegerArray, one_array
from imp_driver.values.expressions import Expression
from imp_driver.values.tables import ZSet

Evaluate: TypeAlias = Callable[[ZSet, ZSet], ZSet]
Follow: TypeAlias = Callable[[Inputs, ZSet], ZSet]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Rows of both sides that meet; ``place`` is that of the left row, ``copies`` the weight of the right one."""

    rows: pa.Table
    place: IntegerArray
    copies: IntegerArray


@dataclass(frozen=True, slots=True, eq=False)
class Concerned:
    """Old left rows, and for each how many partners it had and has."""

    left: ZSet
    had: IntegerArray
    has: IntegerArray

    def gained(self) -> ZSet:
        """Return the rows that found their first partner, and with the opposite weight those that lost their last."""
        gained = (self.has != 0).astype(np.int64) - (self.had != 0)
        return filtered(ZSet(self.left.rows, self.left.weights * gained), gained != 0)


@dataclass(frozen=True, slots=True, eq=False)
class Partnered:
    """A left and a right row meet where the columns of ``pair``, one of each, are equal and ``condition``, over both, is TRUE.

    Without a pair the condition alone decides, over all rows of both, so that these must be kept.
    """

    left: Operator
    right: Operator
    pair: tuple[str, str] | None
    condition: Expression | None

    @property
    def exchanged(self) -> Partnered:
        """The same with the sides exchanged."""
        return Partnered(self.right, self.left, None if self.pair is None else self.pair[::-1], self.condition)

    def pairs(self, left: ZSet, right: ZSet) -> Pairs:
        """Raises TooManyRows or NotEvaluable."""
        count = len(left.weights)
        numbered = ZSet(left.rows.append_column(_PLACE, pa.array(np.arange(count))), np.ones(count, dtype=np.int64))
        found = selected(Arrangement(right).joined(numbered, [] if self.pair is None else [self.pair]), self.condition)
        return Pairs(found.rows.drop_columns([_PLACE]), found.rows.column(_PLACE).to_numpy(), found.weights)

    def partners(self, left: ZSet, right: ZSet) -> IntegerArray:
        """Return how many right rows each left row meets. Raises NotFound when the right rows cannot be those of one version."""
        if self.condition is None:
            found = self._copies(right, left, 0)
        else:
            pairs = self.pairs(left, right)
            found = np.zeros(len(left.weights), dtype=np.int64)
            np.add.at(found, pairs.place, pairs.copies)
        if np.any(found < 0):
            raise NotFound
        return found

    def _copies(self, right: ZSet, rows: ZSet, place: int) -> IntegerArray:
        """Return how many right rows have the key of each of some rows, by the column at a place of the pair."""
        if self.pair is None:
            return np.full(len(rows.weights), right.weights.sum(), dtype=np.int64)
        return Arrangement(right).copies(self.pair[1], rows.rows.column(self.pair[place]))

    def step(self, inputs: Inputs, evaluate: Evaluate, follow: Follow, schema: pa.Schema) -> ZSet:
        """Return the change of an operator: changed left rows meet the new right ones, changed right rows the old left ones.

        Args:
            evaluate: left rows and all right rows with their keys -> rows of the operator.
            follow: changed right rows -> change of the operator over the old left rows.
        """
        left, right = self.left.step(inputs), self.right.step(inputs)
        terms = []
        if len(left.weights):
            terms.append(evaluate(left, self.of_keys(inputs, left, is_new=True)))
        if len(right.weights):
            terms.append(follow(inputs, right))
        return summed(terms, schema)

    def of_keys(self, inputs: Inputs, left: ZSet, *, is_new: bool) -> ZSet:
        """Return all right rows that have a key of the left rows."""
        return self.exchanged.met_by(inputs, left, is_new=is_new)

    def met_by(self, inputs: Inputs, right: ZSet, *, is_new: bool) -> ZSet:
        """Return all left rows that have a key of the right rows."""
        return _matching(self.left, inputs, self.pair, right, is_new=is_new)

    def concerned(self, inputs: Inputs, change: ZSet, *, by_existence: bool) -> Concerned:
        """Return the left rows that a change of the right concerns; ``by_existence``: those that find a first partner or lose the last."""
        after = _matching(self.right, inputs, None if self.pair is None else (self.pair[1], self.pair[1]), change, is_new=True)
        before = summed([after, negated(change)], self.right.schema)
        if by_existence and self.condition is None:
            change = self._found_or_lost(change, before, after)
        left = self.met_by(inputs, change, is_new=False) if len(change.weights) else empty(self.left.schema)
        return Concerned(left, self.partners(left, before), self.partners(left, after))

    def _found_or_lost(self, change: ZSet, before: ZSet, after: ZSet) -> ZSet:
        """Return the changed right rows of whose keys there was none or is none."""
        had, has = (self._copies(each, change, 1) != 0 for each in (before, after))
        return filtered(change, had != has)


def _matching(operator: Operator, inputs: Inputs, pair: tuple[str, str] | None, rows: ZSet, *, is_new: bool) -> ZSet:
    """Return all rows of an operator whose first column of a pair has a value of the second one of other rows; without a pair all."""
    if pair is None:
        return operator.every(inputs, is_new=is_new)
    own, key = pair
    values = pc.unique(one_array(rows.rows.column(key)))
    try:
        return operator.rows(inputs, own, values, is_new=is_new)
    except NotFound:
        # A column that finds no rows, as that of an aggregate does not, among all of them.
        return Arrangement(operator.every(inputs, is_new=is_new)).rows(own, values)


_PLACE = "#place"
