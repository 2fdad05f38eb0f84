"""What resolving one query needs and counts: the tables it may read, identifiers and occurrences given out."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from imp_driver.delta.contract import SchemaColumn
from imp_driver.plan.kinds import kind_of, kind_of_type
from imp_driver.plan.nodes import Attribute


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A base table. ``name`` identifies it: two references to one table have equal names, whatever the query calls it."""

    name: tuple[str, ...]
    schema: tuple[SchemaColumn, ...]


class Tables(Protocol):
    """Says what the names of a query stand for."""

    def find(self, name: tuple[str, ...]) -> TableDefinition:
        """Return the table of a name as written. Raises Refused: it is none that can be sketched."""


@dataclass(frozen=True, slots=True, eq=False)
class CommonTable:
    """A CTE: its query, its column names if it gives any, and the CTEs that it sees itself."""

    query: exp.Expr
    columns: tuple[str, ...]
    visible: Mapping[str, CommonTable]


@dataclass(slots=True)
class Context:
    """Counters of one resolution; mutable."""

    tables: Tables
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    occurrences: itertools.count[int] = field(default_factory=itertools.count)

    def attribute(self, name: str, type_name: str | None = None, nullable: bool = True, kind: str | None = None) -> Attribute:
        """Make an attribute with an identifier of its own; its kind is that of its type where that is known."""
        return Attribute(f"{name or 'value'}#{next(self.numbers)}", name, type_name, nullable, kind_of_type(type_name) or kind)

    def computed(self, name: str, expression: exp.Expr, source: Iterable[Attribute]) -> Attribute:
        """Make the attribute of an expression over ``source``; a plain column keeps its type."""
        known = {attribute.identifier: attribute for attribute in source}
        inner = expression.unnest()
        same = known.get(inner.name) if isinstance(inner, exp.Column) else None
        if same is not None:
            return self.attribute(name, same.type_name, same.nullable, same.kind)
        kinds = {identifier: attribute.kind for identifier, attribute in known.items()}
        return self.attribute(name, kind=kind_of(expression, kinds))
