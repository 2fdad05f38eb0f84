"""A catalog of one schema, for tests that need a query's analysis and no engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from imp_driver.parse.statement import parse
from imp_driver.plan.context import Definition, TableDefinition, ViewDefinition
from imp_driver.plan.nodes import Plan
from imp_driver.plan.resolve import resolve
from imp_driver.ports import View, ViewColumn
from imp_driver.safety.analysis import Analysis, analyse
from imp_driver.values.tables import SchemaColumn


@dataclass(frozen=True, slots=True)
class OneSchema:
    """Every name is a table of this schema."""

    schema: tuple[SchemaColumn, ...]

    def find(self, name: tuple[str, ...]) -> TableDefinition:
        return TableDefinition(name, self.schema)


@dataclass(frozen=True, slots=True)
class Views:
    """Names are relative to catalog ``c`` and schema ``s``, in any case; what is no view of these is a table of one schema."""

    schema: tuple[SchemaColumn, ...]
    views: Mapping[tuple[str, ...], View]

    def find(self, name: tuple[str, ...]) -> Definition:
        full = ("c", "s", *(part.lower() for part in name))[-3:] if len(name) == 1 else ("c", *(part.lower() for part in name))[-3:]
        return ViewDefinition(full, self.views[full]) if full in self.views else TableDefinition(full, self.schema)


def view_of(text: str, *columns: str, schema: str = "s", is_ansi: bool = True, problem: str = "") -> View:
    """Return a view; each column is given as ``source name type``."""
    return View(text, ("c", schema), tuple(ViewColumn(*column.split()) for column in columns), is_ansi, problem)


def plan_of(text: str, schema: tuple[SchemaColumn, ...]) -> Plan:
    tree = parse(text).tree
    assert tree is not None
    return resolve(tree, OneSchema(schema))


def analysis_of(text: str, schema: tuple[SchemaColumn, ...]) -> Analysis:
    """Return the analysis of a query's first block."""
    return analyse(plan_of(text, schema))[0]
