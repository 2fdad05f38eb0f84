"""Left rows and their partners on the right: what semi-joins and outer joins share.

When right rows change, only left rows with their keys can be concerned; for these the operator is evaluated with the partners from before
and from after, and the difference is its change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.delta.contract import SignedRows
from imp_driver.operators.bag import negated, summed
from imp_driver.operators.relation import NotFound, Relation, Tables
from imp_driver.operators.select import select
from imp_driver.operators.side import Side
from imp_driver.parse.nodes import Expression
from imp_driver.sketch.codes import IntegerArray, one_array

Evaluate: TypeAlias = Callable[[SignedRows, SignedRows], SignedRows]
"""(left rows, all right rows with their keys) -> rows of the operator."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Rows of both sides that meet; ``place`` is that of the left row, ``copies`` the weight of the right one.

    ``partners`` has the number of right rows that each left row meets.
    """

    rows: pa.Table
    place: IntegerArray
    copies: IntegerArray
    partners: IntegerArray


@dataclass(frozen=True, slots=True, eq=False)
class Partnered:
    """A left and a right row meet where ``key`` equals ``own`` and ``condition``, over both, is TRUE."""

    left: Relation
    right: Relation
    key: str
    own: str
    condition: Expression | None

    def pairs(self, left: SignedRows, right: SignedRows) -> Pairs:
        """Raises TooManyRows, NotEvaluable, or NotFound when the right rows cannot be those of one version."""
        count = len(left.weights)
        numbered = left.rows.append_column(_PLACE, pa.array(np.arange(count)))
        rows, copies = Side.of(right).joined(numbered, np.ones(count, dtype=np.int64), self.key, self.own)
        if self.condition is not None:
            mask = select(rows, self.condition)
            rows, copies = rows.filter(pa.array(mask)), copies[mask]
        place = rows.column(_PLACE).to_numpy()
        partners = np.zeros(count, dtype=np.int64)
        np.add.at(partners, place, copies)
        if np.any(partners < 0):
            raise NotFound
        return Pairs(rows.drop_columns([_PLACE]), place, copies, partners)

    def changed(self, tables: Tables, evaluate: Evaluate, schema: pa.Schema) -> SignedRows:
        left, right = self.left.changed(tables), self.right.changed(tables)
        terms = []
        if len(left.weights):
            terms.append(evaluate(left, self.partners(tables, left, is_new=True)))
        if len(right.weights):
            keys = pc.unique(one_array(right.rows.column(self.own)))
            concerned = self.left.matching(tables, self.key, keys, is_new=False)
            after = self.right.matching(tables, self.own, keys, is_new=True)
            before = summed([after, negated(right)], self.right.schema)
            terms += [evaluate(concerned, after), negated(evaluate(concerned, before))]
        return summed(terms, schema)

    def partners(self, tables: Tables, left: SignedRows, *, is_new: bool) -> SignedRows:
        """Return all right rows that have a key of the left rows."""
        return self.right.matching(tables, self.own, pc.unique(one_array(left.rows.column(self.key))), is_new=is_new)


_PLACE = "#place"
