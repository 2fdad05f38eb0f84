"""The value that Delta gave an identity column: read from the rows of the INSERT's own commit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import imp_driver
from imp_driver.changes import Changes
from imp_driver.parse.statement import parse
from imp_driver.ports import Outcome, Relation, RelationKind, TableDefinition
from imp_driver.reasons import DeltaSource, RecaptureReason
from imp_driver.snapshot.versions import ReadTransaction
from imp_driver.values.execution import Execution
from imp_driver.values.tables import ChangePlan, ChangesUnavailable, SchemaColumn, TableSnapshot, ZSet
from tests.unit.dbapi.fakes import REPORT, FakePipeline, FakeStream
from tests.unit.maintain.test_lazy import NoFiles

IDENTITY = {"delta.identity.start": 1, "delta.identity.step": 1}
INSERT = "INSERT INTO t (a) VALUES (1)"


class FakeSession:
    """Makes version 5 of the table ``t``, whatever it is to execute."""

    def __init__(self, metadata: dict[str, Any]) -> None:
        fields = [{"name": "a", "type": "integer", "metadata": {}}, {"name": "id", "type": "long", "metadata": metadata}]
        self.schema = json.dumps({"fields": fields})

    def resolve(self, name: tuple[str, ...]) -> Relation:
        return Relation(RelationKind.DELTA_TABLE, ("spark_catalog", "default", "t"), "/t")

    def definition(self, name: tuple[str, ...]) -> TableDefinition:
        return TableDefinition(self.schema, (), {}, None, None)

    def execute(self, execution: Execution) -> FakeStream:
        return FakeStream(pa.schema([]), [])

    def last_commit_version(self) -> int:
        return 5


class FakeSource:
    """``rows`` are pairs of an identifier and a weight; None where they cannot be had. Other writers have committed version 6."""

    def __init__(self, rows: Sequence[tuple[int, int]] | None, count: int, relation: str | None) -> None:
        self.rows, self.count, self.relation = rows, count, relation
        self.version = 4
        self.planned: list[tuple[int, int]] = []

    def snapshot(self, location: str) -> TableSnapshot:
        found = TableSnapshot(location, "t", self.version, (SchemaColumn("id", "long", False),), None, NoFiles())
        self.version = 6
        return found

    def commit_metrics(self, location: str, version: int) -> dict[str, int]:
        return {"numOutputRows": self.count}

    def plan(self, location: str, table_id: str, from_version: int, to_version: int) -> ChangePlan:
        self.planned.append((from_version, to_version))
        if self.rows is None:
            raise ChangesUnavailable(RecaptureReason.HISTORY_GONE, "gone")
        return ChangePlan(location, from_version, to_version, DeltaSource.CHANGED_FILES, len(self.rows), self.relation)

    def read(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet:
        assert columns == ("id",)
        rows = self.rows or ()
        return ZSet(
            pa.table({"id": pa.array([value for value, _ in rows], pa.int64())}), np.array([weight for _, weight in rows], np.int64)
        )


def run(
    rows: Sequence[tuple[int, int]] | None,
    *,
    text: str = INSERT,
    count: int = 1,
    metadata: dict[str, Any] = IDENTITY,
    relation: str | None = None,
) -> tuple[Outcome, FakeSource]:
    session: Any = FakeSession(metadata)
    source: Any = FakeSource(rows, count, relation)
    changes = Changes(session, source, ReadTransaction(source), lambda: None)
    return changes.run(parse(text), Execution(text)), source


def test_the_value_is_that_of_the_commit_and_is_read_when_it_is_asked_for() -> None:
    outcome, source = run([(41, 1)])
    assert source.planned == []
    assert outcome.generated is not None
    assert outcome.generated() == 41
    assert source.planned == [(4, 5)]


def test_rows_that_an_overwrite_took_away_are_none_of_its_own() -> None:
    outcome, _ = run([(7, -1), (8, 1), (9, -1)])
    assert outcome.generated is not None
    assert outcome.generated() == 8


@pytest.mark.parametrize(
    "options",
    [{"rows": None}, {"rows": [(1, 1), (2, 1)]}, {"rows": [(1, 1)], "metadata": {}}, {"rows": [(1, 1)], "relation": "(SELECT 1)"}],
)
def test_where_it_is_not_known(options: dict[str, Any]) -> None:
    outcome, _ = run(**options)
    assert outcome.generated is not None
    assert outcome.generated() is None


@pytest.mark.parametrize("options", [{"count": 2}, {"text": "MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED THEN INSERT *"}])
def test_other_changes_have_none(options: dict[str, Any]) -> None:
    assert run([(1, 1)], **options)[0].generated is None


def test_lastrowid_of_a_cursor() -> None:
    class Pipeline(FakePipeline):
        def run(self, execution: Execution) -> Outcome:
            return Outcome(None, 1, REPORT, (lambda: 41) if execution.text == INSERT else None)

    with imp_driver.Connection(Pipeline()) as connection:
        cursor = connection.cursor()
        assert cursor.lastrowid is None
        cursor.execute(INSERT)
        assert cursor.lastrowid == 41
        cursor.execute("DELETE FROM t")
        assert cursor.lastrowid is None
        cursor.executemany(INSERT, [(), ()])
        assert cursor.lastrowid is None
