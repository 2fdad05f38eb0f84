"""Groups of groups below a query, computed once for all queries over the same views at the same versions.

Views in layers have these in common: each upper one has the groups of those below it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

import pyarrow as pa

from imp_driver.answer.rounding import renamed
from imp_driver.plan.nodes import Aggregate, Plan, every, scans
from imp_driver.plan.signature import signature
from imp_driver.snapshot.reading import Reading
from imp_driver.values.bounded_cache import BoundedCache

MOST_BYTES = 1 << 20
"""Of the rows of one operator that are kept."""
Known: TypeAlias = BoundedCache[Hashable, tuple[tuple[str, ...], pa.Table]]


class InnerRows:
    """What is known of the operators of a query without markers."""

    def __init__(self, known: Known, reading: Reading, plan: Plan) -> None:
        """Take the plan that is answered from, the same object each time (Reading.with_values)."""
        self._known = known
        self._reading = reading
        signatures = reading.text.signatures.get(id(plan))
        if signatures is None:
            signatures = {id(each): signature(each) for each in every(plan) if isinstance(each, Aggregate)}
            reading.text.signatures[id(plan)] = signatures
        self._signatures = signatures

    def find(self, plan: Aggregate) -> pa.Table | None:
        """Return the rows of an operator, under its own attributes."""
        key = self._key(plan)
        found = None if key is None else self._known.get(key)
        if found is None:
            return None
        before, rows = found
        return renamed(rows, dict(zip(before, (each.identifier for each in plan.output), strict=True)))

    def keep(self, plan: Aggregate, rows: pa.Table) -> None:
        """Keep the rows of an operator, where they are few."""
        key = self._key(plan)
        if key is not None and rows.nbytes <= MOST_BYTES:
            self._known[key] = tuple(each.identifier for each in plan.output), rows

    def _key(self, plan: Aggregate) -> Hashable | None:
        """Return what names the rows of an operator; None for one that was made only now."""
        found = self._signatures.get(id(plan))
        if found is None:
            return None
        snapshots = sorted((self._reading.tables[scan.table].snapshot for scan in scans(plan)), key=lambda each: each.location)
        return found, self._reading.settings, tuple((each.location, each.table_id, each.version) for each in snapshots)
