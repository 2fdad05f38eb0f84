"""A catalog of one schema, for tests that need a query's analysis and no engine."""

from __future__ import annotations

from dataclasses import dataclass

from imp_driver.delta.contract import SchemaColumn
from imp_driver.parse.statement import parse
from imp_driver.plan.context import TableDefinition
from imp_driver.plan.nodes import Plan
from imp_driver.plan.resolve import resolve
from imp_driver.safety.analysis import Analysis, analyse


@dataclass(frozen=True, slots=True)
class OneSchema:
    """Every name is a table of this schema."""

    schema: tuple[SchemaColumn, ...]

    def find(self, name: tuple[str, ...]) -> TableDefinition:
        return TableDefinition(name, self.schema)


def plan_of(text: str, schema: tuple[SchemaColumn, ...]) -> Plan:
    tree = parse(text).tree
    assert tree is not None
    return resolve(tree, OneSchema(schema))


def analysis_of(text: str, schema: tuple[SchemaColumn, ...]) -> Analysis:
    """Return the analysis of a query's first block."""
    return analyse(plan_of(text, schema))[0]
