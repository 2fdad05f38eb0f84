"""Left outer join: pairs, and left rows without a partner once with NULL on the right."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.delta.contract import SignedRows
from imp_driver.operators.bag import filtered, summed
from imp_driver.operators.partnered import Partnered
from imp_driver.operators.relation import Tables
from imp_driver.sketch.codes import one_array


@dataclass(frozen=True, slots=True, eq=False)
class LeftJoin:
    inputs: Partnered

    @property
    def schema(self) -> pa.Schema:
        fields = [*self.inputs.left.schema, *(field.with_nullable(True) for field in self.inputs.right.schema)]
        return pa.schema(fields)

    def changed(self, tables: Tables) -> SignedRows:
        return self.inputs.changed(tables, self._of, self.schema)

    def matching(self, tables: Tables, key: str, values: pa.Array, *, is_new: bool) -> SignedRows:
        if key in self.inputs.left.schema.names:
            left = self.inputs.left.matching(tables, key, values, is_new=is_new)
            return self._of(left, self.inputs.partners(tables, left, is_new=is_new))
        # A row whose right column has a value is a pair.
        right = self.inputs.right.matching(tables, key, values, is_new=is_new)
        keys = one_array(right.rows.column(self.inputs.own))
        return self._pairs(self.inputs.left.matching(tables, self.inputs.key, keys, is_new=is_new), right)[0]

    def _pairs(self, left: SignedRows, right: SignedRows) -> tuple[SignedRows, SignedRows]:
        """Return the pairs, and the left rows that are in none."""
        pairs = self.inputs.pairs(left, right)
        return SignedRows(pairs.rows, left.weights[pairs.place] * pairs.copies), filtered(left, pairs.partners == 0)

    def _of(self, left: SignedRows, right: SignedRows) -> SignedRows:
        pairs, alone = self._pairs(left, right)
        rows = alone.rows
        for field in self.inputs.right.schema:
            rows = rows.append_column(field.name, pa.nulls(len(alone.weights), field.type))
        return summed([pairs, SignedRows(rows, alone.weights)], self.schema)
