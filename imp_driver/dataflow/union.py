"""UNION ALL (IMP paper section 5.2): the changes of all branches; column i of the output is column i of each branch."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dataflow.operator import Inputs, Operator
from imp_driver.dataflow.zset import summed
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """``columns`` has for each branch the names of its columns, in the order of the schema."""

    branches: tuple[Operator, ...]
    columns: tuple[tuple[str, ...], ...]
    schema: pa.Schema

    @property
    def name(self) -> str:
        return "union"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return self.branches

    def step(self, inputs: Inputs) -> ZSet:
        return self._summed([each.step(inputs) for each in self.branches])

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        place = self.schema.get_field_index(key)
        pairs = zip(self.branches, self.columns, strict=True)
        return self._summed([each.rows(inputs, names[place], values, is_new=is_new) for each, names in pairs])

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        return self._summed([each.every(inputs, is_new=is_new) for each in self.branches])

    def _summed(self, parts: list[ZSet]) -> ZSet:
        renamed = [
            ZSet(part.rows.select(names).rename_columns(self.schema.names), part.weights)
            for part, names in zip(parts, self.columns, strict=True)
        ]
        return summed(renamed, self.schema)
