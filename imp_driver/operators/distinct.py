"""DISTINCT below other operators: a row appears with its first copy and goes with its last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.delta.contract import SignedRows
from imp_driver.operators import regrouped
from imp_driver.operators.bag import consolidated
from imp_driver.operators.relation import Relation, Tables


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    child: Relation

    @property
    def schema(self) -> pa.Schema:
        return self.child.schema

    def changed(self, tables: Tables) -> SignedRows:
        return regrouped.changed(tables, self.child, self.schema.names, _once, self.schema)

    def matching(self, tables: Tables, key: str, values: pa.Array, *, is_new: bool) -> SignedRows:
        return _once(consolidated(self.child.matching(tables, key, values, is_new=is_new)))


def _once(bag: SignedRows) -> SignedRows:
    return SignedRows(bag.rows, np.ones(len(bag.weights), dtype=np.int64))
