"""Selection and projection of the rows of another operator (IMP paper sections 5.2.2 and 5.2.3): linear, row by row."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.delta.contract import SignedRows
from imp_driver.operators.project import project
from imp_driver.operators.relation import NotFound, Relation, Tables
from imp_driver.operators.select import selected
from imp_driver.parse.nodes import Column, Expression


@dataclass(frozen=True, slots=True, eq=False)
class Compute:
    """``expressions`` are those of the schema's columns; no ``condition`` keeps every row."""

    child: Relation
    condition: Expression | None
    expressions: tuple[Expression, ...]
    schema: pa.Schema

    def of(self, bag: SignedRows) -> SignedRows:
        """Return what the rows become. Raises NotEvaluable."""
        bag = selected(bag, self.condition)
        arrays = project(bag.rows, zip(self.expressions, self.schema.types, strict=True))
        return SignedRows(pa.table(list(arrays), schema=self.schema), bag.weights)

    def changed(self, tables: Tables) -> SignedRows:
        return self.of(self.child.changed(tables))

    def matching(self, tables: Tables, key: str, values: pa.Array, *, is_new: bool) -> SignedRows:
        expression = self.expressions[self.schema.get_field_index(key)]
        if not isinstance(expression, Column):
            raise NotFound
        return self.of(self.child.matching(tables, expression.name, values, is_new=is_new))
