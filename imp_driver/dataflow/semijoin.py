"""Semi-join and anti-join: left rows with a partner, or without one. EXISTS, IN and NOT EXISTS; not NOT IN, for which NULL is a partner."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dataflow.operator import Tables
from imp_driver.dataflow.partners import Partnered
from imp_driver.dataflow.zset import filtered, negated
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True, eq=False)
class SemiJoin:
    inputs: Partnered
    anti: bool

    @property
    def schema(self) -> pa.Schema:
        return self.inputs.left.schema

    def changed(self, tables: Tables) -> ZSet:
        return self.inputs.changed(tables, self._of, self._follow, self.schema)

    def _follow(self, tables: Tables, right: ZSet) -> ZSet:
        gained = self.inputs.concerned(tables, right, by_existence=True).gained()
        return negated(gained) if self.anti else gained

    def matching(self, tables: Tables, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        left = self.inputs.left.matching(tables, key, values, is_new=is_new)
        return self._of(left, self.inputs.of_keys(tables, left, is_new=is_new))

    def _of(self, left: ZSet, right: ZSet) -> ZSet:
        partners = self.inputs.partners(left, right)
        return filtered(left, (partners == 0) if self.anti else (partners != 0))
