"""What a query is finished from once its groups are at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from imp_driver.answer.finish import Finish
from imp_driver.answer.inner import InnerRows
from imp_driver.answer.nested.followed import FollowedMerges
from imp_driver.answer.nested.partial import Partials
from imp_driver.answer.recursion.recursions import Recursions
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

    def finish(
        self,
        *,
        may_round: bool,
        inner: InnerRows | None = None,
        recursions: Recursions | None = None,
        merges: FollowedMerges | None = None,
    ) -> Finish:
        """Return what computes the rows of the plan, and of its parts, from these groups."""
        return Finish(
            self.rows,
            may_round=may_round,
            inner=inner,
            recursions=recursions,
            partials=self.partials,
            merges=merges,
            known=self.merges,
        )

    @property
    def partials(self) -> Partials:
        return {name: each for part in self.parts for name, each in part.partials.items()}
