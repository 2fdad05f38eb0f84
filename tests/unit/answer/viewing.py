"""A world whose catalog has recursive views, as other clients see them and as the driver reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from imp_driver.middleware import Middleware
from imp_driver.plan.recursive_form import unrolled_text
from imp_driver.ports import Relation, RelationKind, View, ViewColumn
from imp_driver.values.option_kinds import Policy
from imp_driver.values.options import Options
from imp_driver.values.view_policy import ViewPolicy
from tests.soundness.engine import in_duckdb
from tests.unit.answer.test_answers import Asked, World

_NAMESPACE = ("spark_catalog", "default")
_TYPES = {pa.int32(): "integer", pa.int64(): "long", pa.string(): "string"}


@dataclass(slots=True)
class Viewing(Asked):
    """A session that finds permanent views by their last name."""

    views: dict[str, View] = field(default_factory=dict)

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        view = self.views.get(name[-1].lower())
        if view is not None:
            return Relation(RelationKind.VIEW, (name[-1].lower(),), None, view)
        return Asked.resolve(self, name)


class Viewed(World):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.viewing = Viewing(self.warehouse)
        self.path = Middleware(self.viewing, self.warehouse, self.sketches, Options(**{"policy": Policy.INCREMENTAL, **options}))

    def view(self, name: str, query: str, *, has_provenance: bool = False) -> None:
        """Have a recursive view in the catalog."""
        shown = unrolled_text(query)
        schema = self.warehouse.query(shown).schema
        self.warehouse.connection.execute(f"CREATE OR REPLACE VIEW {name} AS {in_duckdb(shown)}")
        columns = tuple(ViewColumn(each.name, each.name, _TYPES[each.type]) for each in schema)
        self.viewing.views[name] = View(
            query, _NAMESPACE, columns, is_ansi=True, policy=ViewPolicy.AUTO, is_recursive=True, has_provenance=has_provenance
        )
