"""Groups of an aggregation that are in buckets, where others are merged from them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from imp_driver.answer.groups import partials_of, rows_of
from imp_driver.answer.matching import Match, OverKeys
from imp_driver.answer.nested.partial import Partials, with_places
from imp_driver.buckets.sums import Columns
from imp_driver.buckets.view import BucketView
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.nodes import Aggregate
from imp_driver.state.group_columns import ColumnCache
from imp_driver.values.aggregates import AggregateSpecification


@dataclass(frozen=True, slots=True, eq=False)
class InBuckets:
    """The groups of ``aggregate``, which ``block`` asks for; they follow from those of ``view`` as ``found`` says."""

    view: BucketView
    found: Match
    block: BoundBlock
    aggregate: Aggregate

    def read(self, columns: Columns) -> tuple[pa.Table, Partials]:
        """Return groups of the view as rows, and what is held of each. Raises Refused, NotEvaluable, StateCorrupt."""
        kernel = self.view.kernel
        groups = ColumnCache().of(GroupState.restore(columns, kernel.specifications, kernel.key_types), {})
        rows = with_places(rows_of(groups, self.found, self.block, self.aggregate), self.aggregate)
        return rows, partials_of(groups, self.found, self.block, self.aggregate)

    @property
    def read_specifications(self) -> list[AggregateSpecification]:
        """Of the aggregates of the view that are read."""
        places = [each.place for each in self.found.aggregates if not isinstance(each, OverKeys)]
        errors = [each.errors for each in self.found.aggregates if not isinstance(each, OverKeys) and each.errors is not None]
        return [self.view.kernel.specifications[place] for place in (*places, *errors)]

    @property
    def place(self) -> int:
        """Which key of the aggregation the buckets are ranges of; -1 where it is none."""
        key = self.view.kernel.sketch_key
        return next((place for place, each in enumerate(self.found.keys) if isinstance(each, int) and each == key), -1)
