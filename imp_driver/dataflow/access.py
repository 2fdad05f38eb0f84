"""Access to one occurrence of a table (IMP paper section 5.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dataflow.arrangement import Arrangement
from imp_driver.dataflow.operator import Inputs, Operator
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    occurrence: int
    schema: pa.Schema

    @property
    def name(self) -> str:
        return "table"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return ()

    def step(self, inputs: Inputs) -> ZSet:
        return inputs.change(self.occurrence)

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        return inputs.arrangement(self.occurrence, key, values, is_new=is_new).rows(key, values)

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        return inputs.whole(self.occurrence, is_new=is_new).every()


def arranged(relation: Operator, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> Arrangement:
    """Return rows that include all whose ``key`` is one of the values, ready to be joined; a kept table with the index it has."""
    if isinstance(relation, Access):
        return inputs.arrangement(relation.occurrence, key, values, is_new=is_new)
    return Arrangement(relation.rows(inputs, key, values, is_new=is_new))
