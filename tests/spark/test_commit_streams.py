"""Random statements on tables with and without the change feed, side by side: the same changes, row by row; Spark's own feed is the oracle.

IMP_WIDE=1 makes 500 commits. A failing stream says its number and what it did.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from imp_driver.delta.tables import DeltaTables
from imp_driver.reasons import DeltaSource
from tests.seeds import WIDE, of_today
from tests.unit.delta.signed import Rows, as_multiset

COMMITS = 125 if WIDE else 7
KINDS = {
    "files": "delta.enableDeletionVectors = false",
    "vectors": "delta.enableDeletionVectors = true",
    "mapped": "delta.enableDeletionVectors = true, delta.columnMapping.mode = 'name'",
    "by identifier": "delta.enableDeletionVectors = false, delta.columnMapping.mode = 'id'",
}
_TYPES = "id INT, p INT, s STRING, x DOUBLE, m DECIMAL(12, 2), d DATE"
COLUMNS = ("id", "p", "s", "x", "m", "d")
_ROW = (
    "CAST(id AS INT) AS id, CAST(id % 3 AS INT) AS p, if(id % 5 = 0, NULL, concat('t', id % 4)) AS s, if(id % 7 = 0, -0.0D, id / 4D) AS x, "
    "CAST(id % 6 AS DECIMAL(12, 2)) AS m, DATE'2024-01-01' + CAST(id % 9 AS INT) AS d"
)


def statement(chance: random.Random) -> str:
    """Return a statement that changes few rows, many, all or none."""
    low = chance.randrange(40)
    rows = f"(SELECT {_ROW} FROM range({low}, {low + chance.choice([1, 3, 12])}))"
    merge = "MERGE INTO {t} t USING " + rows + " u ON t.id = u.id "
    return chance.choice(
        [
            f"INSERT INTO {{t}} SELECT * FROM {rows}",
            f"DELETE FROM {{t}} WHERE id BETWEEN {low} AND {low + chance.choice([0, 2, 9])}",
            f"UPDATE {{t}} SET s = 'u', x = x + 1 WHERE id % 8 = {chance.randrange(8)}",
            f"UPDATE {{t}} SET p = 2 WHERE id = {low}",
            merge + "WHEN MATCHED AND u.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET m = 99 WHEN NOT MATCHED THEN INSERT *",
            f"INSERT INTO {{t}} REPLACE WHERE p = 1 SELECT * FROM {rows} WHERE p = 1",
            f"INSERT OVERWRITE {{t}} SELECT * FROM {{t}} WHERE id % 5 <> {chance.randrange(5)}",
            f"DELETE FROM {{t}} WHERE p = {chance.randrange(4)}",
            "OPTIMIZE {t}",
        ]
    )


def signed(tables: DeltaTables, folder: Path, after: int, up_to: int) -> tuple[DeltaSource, Rows]:
    plan = tables.plan(str(folder), tables.snapshot(str(folder)).table_id, after, up_to)
    found = tables.read(plan, COLUMNS)
    return plan.source, net(as_multiset(found.rows, found.weights.tolist()))


def net(rows: Rows) -> Rows:
    return type(rows)({row: count for row, count in rows.items() if count})


def by_spark(spark: Any, folder: Path, after: int, up_to: int) -> Rows:
    """Return what the change feed of the engine says."""
    if after == up_to:
        return as_multiset(pa.table({}))
    names = ", ".join(COLUMNS)
    text = f"SELECT {names}, if(_change_type IN ('insert', 'update_postimage'), 1, -1) AS weight FROM table_changes_by_path"
    rows = spark.sql(f"{text}('{folder}', {after + 1}, {up_to})").toArrow()
    return net(as_multiset(rows.drop_columns(["weight"]), rows.column("weight").to_pylist()))


@pytest.mark.parametrize("kind", of_today(KINDS))
def test_changes_are_those_of_the_change_feed(kind: str, spark: Any, tmp_path: Path) -> None:
    chance, tables = random.Random(f"commits {kind}"), DeltaTables()
    partitioned = "PARTITIONED BY (p) " if kind in ("files", "mapped") else ""
    folders = {feed: tmp_path / f"t {feed}" for feed in (False, True)}
    for feed, folder in folders.items():
        properties = f"{KINDS[kind]}, delta.enableChangeDataFeed = {str(feed).lower()}"
        spark.sql(f"CREATE TABLE delta.`{folder}` ({_TYPES}) USING DELTA {partitioned}TBLPROPERTIES ({properties})").collect()
        spark.sql(f"INSERT INTO delta.`{folder}` SELECT {_ROW} FROM range(40)").collect()
    done: list[str] = []
    sources: set[DeltaSource] = set()
    while len(done) < COMMITS:
        done.append(statement(chance))
        before = {feed: tables.snapshot(str(folder)).version for feed, folder in folders.items()}
        for folder in folders.values():
            spark.sql(done[-1].format(t=f"delta.`{folder}`")).collect()
        after = {feed: tables.snapshot(str(folder)).version for feed, folder in folders.items()}
        source, found = signed(tables, folders[False], before[False], after[False])
        sources.add(source)
        assert found == by_spark(spark, folders[True], before[True], after[True]), (kind, done, source)
        assert found == signed(tables, folders[True], before[True], after[True])[1], (kind, done)
    # All at once is the sum of the steps.
    newest = {feed: tables.snapshot(str(folder)).version for feed, folder in folders.items()}
    assert signed(tables, folders[False], 1, newest[False])[1] == by_spark(spark, folders[True], 1, newest[True]), (kind, done)
    assert DeltaSource.CHANGED_FILES in sources
