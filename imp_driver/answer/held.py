"""What a query is finished from once its groups are at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from imp_driver.answer.nested.partial import Partials
from imp_driver.answer.summary import Groups
from imp_driver.plan.nodes import Plan
from imp_driver.snapshot.text import Grouped


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What a query is finished from.

    Attributes:
        grouped: the query, as these groups serve it.
        plan: the same with values for its markers.
        rows: those of its aggregations, by the identifier of the first attribute of each.
        parts: the groups that they come from, those of its constants included.
        merges: rows of merges of groups that are in buckets, by the identifiers of their ``copies``.
    """

    grouped: Grouped
    plan: Plan
    rows: Mapping[str, pa.Table]
    parts: tuple[Groups, ...]
    merges: Mapping[str, pa.Table] = field(default_factory=dict)

    @property
    def partials(self) -> Partials:
        return {name: each for part in self.parts for name, each in part.partials.items()}
