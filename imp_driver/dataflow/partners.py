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
from imp_driver.dataflow.zset import filtered, negated, summed
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
    """A left and a right row meet where ``key`` equals ``own`` and ``condition``, over both, is TRUE."""

    left: Operator
    right: Operator
    key: str
    own: str
    condition: Expression | None

    def pairs(self, left: ZSet, right: ZSet) -> Pairs:
        """Raises TooManyRows or NotEvaluable."""
        count = len(left.weights)
        numbered = ZSet(left.rows.append_column(_PLACE, pa.array(np.arange(count))), np.ones(count, dtype=np.int64))
        found = selected(Arrangement(right).joined(numbered, [(self.key, self.own)]), self.condition)
        return Pairs(found.rows.drop_columns([_PLACE]), found.rows.column(_PLACE).to_numpy(), found.weights)

    def partners(self, left: ZSet, right: ZSet) -> IntegerArray:
        """Return how many right rows each left row meets. Raises NotFound when the right rows cannot be those of one version."""
        if self.condition is None:
            found = Arrangement(right).copies(self.own, left.rows.column(self.key))
        else:
            pairs = self.pairs(left, right)
            found = np.zeros(len(left.weights), dtype=np.int64)
            np.add.at(found, pairs.place, pairs.copies)
        if np.any(found < 0):
            raise NotFound
        return found

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
        return self.right.rows(inputs, self.own, pc.unique(one_array(left.rows.column(self.key))), is_new=is_new)

    def concerned(self, inputs: Inputs, change: ZSet, *, by_existence: bool) -> Concerned:
        """Return the left rows that a change of the right concerns; ``by_existence``: those that find a first partner or lose the last."""
        keys = pc.unique(one_array(change.rows.column(self.own)))
        after = self.right.rows(inputs, self.own, keys, is_new=True)
        before = summed([after, negated(change)], self.right.schema)
        if by_existence and self.condition is None:
            had, has = (Arrangement(each).copies(self.own, keys) != 0 for each in (before, after))
            keys = keys.filter(pa.array(had != has))
        left = self.left.rows(inputs, self.key, keys, is_new=False)
        return Concerned(left, self.partners(left, before), self.partners(left, after))


_PLACE = "#place"
