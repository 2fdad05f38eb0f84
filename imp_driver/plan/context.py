"""What resolving one query needs and counts: the tables it may read, identifiers and occurrences given out."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from sqlglot import exp

from imp_driver.parse.statement import table_name
from imp_driver.plan.kinds import kind_of, kind_of_type
from imp_driver.plan.nodes import Attribute, Plan
from imp_driver.plan.scope import Scope
from imp_driver.plan.view_reference import ViewReference
from imp_driver.ports import View
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A base table. ``name`` identifies it: two references to one table have equal names, whatever the query calls it."""

    name: tuple[str, ...]
    schema: tuple[SchemaColumn, ...]


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    """A view. ``name`` is its full name."""

    name: tuple[str, ...]
    view: View


Definition: TypeAlias = TableDefinition | ViewDefinition


class Tables(Protocol):
    """Says what the names of a query stand for."""

    def find(self, name: tuple[str, ...]) -> Definition:
        """Return the table or view of a name as written. Raises Refused: it is none that can be sketched."""


@dataclass(frozen=True, slots=True, eq=False)
class CommonTable:
    """A CTE: its query, its column names if it gives any, and the CTEs that it sees itself.

    Attributes:
        component: if it is recursive, those that read it and that it reads, itself the first; else nothing.
        recurrence: inside of that, its number and its columns.
    """

    query: exp.Expr
    columns: tuple[str, ...]
    visible: Mapping[str, CommonTable]
    component: tuple[exp.CTE, ...] = ()
    recurrence: tuple[int, tuple[Attribute, ...]] | None = None


Visible: TypeAlias = Mapping[str, CommonTable]


class ResolveQuery(Protocol):
    """Resolves a query; ``inside`` is the context of another text, where it stands in one."""

    def __call__(self, node: exp.Expr, visible: Visible, outer: Scope | None, inside: Context | None = None) -> Plan: ...


@dataclass(slots=True)
class Context:
    """Counters of one resolution; mutable.

    Attributes:
        views: the views whose text is being resolved, the outermost first.
        recursions: in how many recursive common tables what is being resolved stands.
        made: why rows of no table that stand in none of these (SELECT without FROM, VALUES) are read beside a recursion alone.
        asked: what recursive views ask of the moment of the query (``parse/moment.py``).
        unfolded: each view reference met so far by the identity of its place; a CTE that is read twice meets one again.
    """

    tables: Tables
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    occurrences: itertools.count[int] = field(default_factory=itertools.count)
    views: tuple[ViewReference, ...] = ()
    unfolded: dict[int, ViewReference] = field(default_factory=dict)
    recursions: int = 0
    asked: set[str] = field(default_factory=set)
    made: list[Reason] = field(default_factory=list)

    def find(self, table: exp.Table) -> Definition:
        """Return what a reference stands for in the text that is being resolved. Raises Refused: nothing that can be sketched."""
        name = table_name(table)
        if not self.views:
            return self.tables.find(name)
        around = self.views[-1]
        if len(name) == 2 and name[0].lower() == around.view.namespace[0].lower():
            raise Refused(Reason.AMBIGUOUS_NAME, f"{'.'.join(name)}: a catalog without a schema")
        found = self.tables.find((*around.view.namespace, *name) if len(name) == 1 else name)
        around.names.append((table, found.name))
        return found

    def note_made(self, reason: Reason) -> None:
        """Note rows of no table that are being resolved."""
        if not self.recursions:
            self.made.append(reason)

    def column(self, column: SchemaColumn, occurrence: int) -> Attribute:
        """Make the attribute of a table's column. Its identifier is the same whichever other columns the tables have."""
        name, type_name = column.name, column.type_name
        return Attribute(f"{name}#t{occurrence}", name, type_name, column.nullable, kind_of_type(type_name))

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
