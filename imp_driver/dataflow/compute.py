"""Selection and projection of the rows of another operator (IMP paper sections 5.2.2 and 5.2.3): linear, row by row."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dataflow.expression.project import project
from imp_driver.dataflow.expression.select import selected
from imp_driver.dataflow.operator import NotFound, Operator, Tables
from imp_driver.values.expressions import Column, Expression
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True, eq=False)
class Compute:
    """``expressions`` are those of the schema's columns; no ``condition`` keeps every row."""

    child: Operator
    condition: Expression | None
    expressions: tuple[Expression, ...]
    schema: pa.Schema

    def of(self, zset: ZSet) -> ZSet:
        """Return what the rows become. Raises NotEvaluable."""
        zset = selected(zset, self.condition)
        arrays = project(zset.rows, zip(self.expressions, self.schema.types, strict=True))
        return ZSet(pa.table(list(arrays), schema=self.schema), zset.weights)

    def changed(self, tables: Tables) -> ZSet:
        return self.of(self.child.changed(tables))

    def matching(self, tables: Tables, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        expression = self.expressions[self.schema.get_field_index(key)]
        if not isinstance(expression, Column):
            raise NotFound
        return self.of(self.child.matching(tables, expression.name, values, is_new=is_new))
