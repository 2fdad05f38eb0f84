"""Left rows and their partners on the right: what semi-joins and outer joins share.

When right rows change, only left rows with their keys can be concerned: these and all right rows with the same keys decide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.delta.contract import SignedRows
from imp_driver.operators.bag import negated, summed
from imp_driver.operators.relation import NotFound, Relation, Tables
from imp_driver.operators.select import select
from imp_driver.operators.side import Side
from imp_driver.parse.nodes import Expression
from imp_driver.sketch.codes import Codec, IntegerArray, one_array


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Rows of both sides that meet; ``place`` is that of the left row, ``copies`` the weight of the right one."""

    rows: pa.Table
    place: IntegerArray
    copies: IntegerArray


@dataclass(frozen=True, slots=True, eq=False)
class Concerned:
    """Old left rows, and for each how many partners it had and has."""

    left: SignedRows
    had: IntegerArray
    has: IntegerArray


@dataclass(frozen=True, slots=True, eq=False)
class Partnered:
    """A left and a right row meet where ``key`` equals ``own`` and ``condition``, over both, is TRUE."""

    left: Relation
    right: Relation
    key: str
    own: str
    condition: Expression | None

    def pairs(self, left: SignedRows, right: SignedRows) -> Pairs:
        """Raises TooManyRows or NotEvaluable."""
        count = len(left.weights)
        numbered = left.rows.append_column(_PLACE, pa.array(np.arange(count)))
        rows, copies = Side.of(right).joined(numbered, np.ones(count, dtype=np.int64), self.key, self.own)
        if self.condition is not None:
            mask = select(rows, self.condition)
            rows, copies = rows.filter(pa.array(mask)), copies[mask]
        return Pairs(rows.drop_columns([_PLACE]), rows.column(_PLACE).to_numpy(), copies)

    def partners(self, left: SignedRows, right: SignedRows) -> IntegerArray:
        """Return how many right rows each left row meets. Raises NotFound when the right rows cannot be those of one version."""
        if self.condition is None:
            found = _Copies.of(right, self.own).of_keys(left.rows.column(self.key))
        else:
            pairs = self.pairs(left, right)
            found = np.zeros(len(left.weights), dtype=np.int64)
            np.add.at(found, pairs.place, pairs.copies)
        if np.any(found < 0):
            raise NotFound
        return found

    def of_keys(self, tables: Tables, left: SignedRows, *, is_new: bool) -> SignedRows:
        """Return all right rows that have a key of the left rows."""
        return self.right.matching(tables, self.own, pc.unique(one_array(left.rows.column(self.key))), is_new=is_new)

    def concerned(self, tables: Tables, change: SignedRows, *, by_existence: bool) -> Concerned:
        """Return the left rows that a change of the right concerns; ``by_existence``: those that find a first partner or lose the last."""
        keys = pc.unique(one_array(change.rows.column(self.own)))
        after = self.right.matching(tables, self.own, keys, is_new=True)
        before = summed([after, negated(change)], self.right.schema)
        if by_existence and self.condition is None:
            had, has = (_Copies.of(each, self.own).of_keys(keys) != 0 for each in (before, after))
            keys = keys.filter(pa.array(had != has))
        left = self.left.matching(tables, self.key, keys, is_new=False)
        return Concerned(left, self.partners(left, before), self.partners(left, after))


@dataclass(frozen=True, slots=True, eq=False)
class _Copies:
    """How many rows have a key, by its code, ascending."""

    codes: npt.NDArray[np.generic]
    counts: IntegerArray

    @classmethod
    def of(cls, bag: SignedRows, key: str) -> _Copies:
        codes, nulls = Codec(bag.rows.schema.field(key).type).encode(bag.rows.column(key))
        distinct, place = np.unique(codes[~nulls], return_inverse=True)
        counts = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(counts, place, bag.weights[~nulls])
        return cls(distinct, counts)

    def of_keys(self, keys: pa.Array | pa.ChunkedArray) -> IntegerArray:
        codes, nulls = Codec(keys.type).encode(keys)
        place = np.searchsorted(self.codes, codes)
        found = np.zeros(len(codes), dtype=np.int64)
        inside = np.flatnonzero((place < len(self.codes)) & ~nulls)
        inside = inside[self.codes[place[inside]] == codes[inside]]
        found[inside] = self.counts[place[inside]]
        return found


_PLACE = "#place"
