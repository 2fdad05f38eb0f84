"""A source of changes in which some tables have one version more, which nobody has written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.reasons import DeltaSource, RecaptureReason
from imp_driver.values.tables import ChangePlan, ChangeSource, ChangesUnavailable, TableSnapshot, ZSet
from imp_driver.what_if.hypothesis import Supposed

_BEYOND = 1 << 40
"""No table comes to have so many versions; where the engine is asked for one nevertheless, it refuses."""


def written_version(version: int) -> int:
    """Return the version that somebody has written, of one that may be supposed to follow it."""
    return version % _BEYOND


class SupposedSource:
    """Stands for one hypothesis; ``tables`` are those that it changes, by location."""

    def __init__(self, source: ChangeSource, tables: Mapping[str, Supposed]) -> None:
        self._source = source
        self._tables = tables
        self._signed = {location: each.signed() for location, each in tables.items()}

    def is_changed(self, location: str) -> bool:
        return location in self._tables

    def snapshot(self, location: str) -> TableSnapshot:
        supposed = self._tables.get(location)
        if supposed is None:
            return self._source.snapshot(location)
        rows, growth = supposed.snapshot.row_count, int(self._signed[location].weights.sum())
        version = supposed.snapshot.version + _BEYOND
        return replace(supposed.snapshot, version=version, row_count=None if rows is None else rows + growth)

    def snapshot_at(self, location: str, version: int) -> TableSnapshot:
        return self._source.snapshot_at(location, version)

    def version_at(self, location: str, moment: float) -> int:
        return self._source.version_at(location, moment)

    def plan(self, location: str, table_id: str, from_version: int, to_version: int) -> ChangePlan:
        """Raises ChangesUnavailable from any version but that which was changed."""
        supposed = self._tables.get(location)
        if supposed is None:
            return self._source.plan(location, table_id, from_version, to_version)
        if from_version != supposed.snapshot.version or table_id != supposed.snapshot.table_id:
            raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, "the table has changed since the change was supposed")
        return ChangePlan(location, from_version, to_version, DeltaSource.SUPPOSED, len(self._signed[location].weights))

    def read(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet:
        signed = self._signed.get(plan.location)
        return self._source.read(plan, columns) if signed is None else ZSet(signed.rows.select(columns), signed.weights)

    def rows_with(self, snapshot: TableSnapshot, columns: tuple[str, ...], key: str, values: pa.Array) -> ZSet | None:
        supposed, signed = self._tables.get(snapshot.location), self._signed.get(snapshot.location)
        if supposed is None or signed is None:
            return self._source.rows_with(snapshot, columns, key, values)
        found = self._source.rows_with(supposed.snapshot, columns, key, values)
        if found is None:
            return None
        wanted = pc.is_in(signed.rows.column(key), value_set=values.drop_null().cast(signed.rows.column(key).type)).combine_chunks()
        rows = signed.rows.filter(wanted).select(columns)
        weights = signed.weights[wanted.to_numpy(zero_copy_only=False).astype(bool)]
        return ZSet(pa.concat_tables([found.rows, rows.cast(found.rows.schema)]), np.concatenate([found.weights, weights]))

    def commit_digest(self, location: str, version: int) -> str | None:
        return None if location in self._tables else self._source.commit_digest(location, version)

    def commit_metrics(self, location: str, version: int) -> dict[str, int]:
        return self._source.commit_metrics(location, version)
