"""Selection and projection of the rows of another operator (IMP paper sections 5.2.2 and 5.2.3): linear, row by row."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dataflow.expression.project import project
from imp_driver.dataflow.expression.select import selected
from imp_driver.dataflow.operator import Inputs, NotFound, Operator
from imp_driver.values.expressions import Column, Expression
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True, eq=False)
class Compute:
    """``expressions`` are those of the schema's columns; no ``condition`` keeps every row."""

    child: Operator
    condition: Expression | None
    expressions: tuple[Expression, ...]
    schema: pa.Schema

    @property
    def name(self) -> str:
        return "selection and projection"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.child,)

    def of(self, zset: ZSet) -> ZSet:
        """Return what the rows become. Raises NotEvaluable."""
        zset = selected(zset, self.condition)
        arrays = project(zset.rows, zip(self.expressions, self.schema.types, strict=True))
        return ZSet(pa.table(list(arrays), schema=self.schema), zset.weights)

    def step(self, inputs: Inputs) -> ZSet:
        return self.of(self.child.step(inputs))

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        expression = self.expressions[self.schema.get_field_index(key)]
        if not isinstance(expression, Column):
            raise NotFound
        return self.of(self.child.rows(inputs, expression.name, values, is_new=is_new))

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        return self.of(self.child.every(inputs, is_new=is_new))
