"""One occurrence of a table below a block: what the block reads of it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dataflow.expression.select import selected
from imp_driver.plan.nodes import Filter, Scan
from imp_driver.values.expressions import Expression
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """The columns that the block reads, by identifier (``schema``) and as the table has them, and the conditions on these alone."""

    scan: Scan
    schema: pa.Schema
    names: tuple[str, ...]
    conditions: tuple[Expression, ...]
    conditions_sql: Filter

    def rows(self, signed: ZSet) -> ZSet:
        """Return signed rows of the table as rows of this occurrence. Raises NotEvaluable."""
        rows = ZSet(signed.rows.select(self.names).rename_columns(self.schema.names).cast(self.schema), signed.weights)
        for condition in self.conditions:
            rows = selected(rows, condition)
        return rows
