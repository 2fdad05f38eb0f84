"""States beyond the memory budget on Spark: captured, changed and asked by Python workers, with answers compared in shadow mode."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.persist import folders
from imp_driver.reasons import Decision
from tests.spark.reports import report_of

MEMORY = 150_000
"""Bytes; the groups of the table need some 1.5 MB."""
SUMS = "SELECT g, sum(x) AS f, avg(d) AS m, min(s) AS l FROM {} GROUP BY g HAVING sum(x) > ?"
JOIN = "SELECT r.g, count(*) AS f FROM {} r JOIN bucket_side s ON r.g = s.k WHERE s.p > 2 GROUP BY r.g HAVING count(*) > ?"
_numbers = itertools.count(1)


@pytest.fixture
def table(engine: imp_driver.Connection) -> str:
    """5,000 groups of four to ten rows in 20 files."""
    name = f"bucketed_{next(_numbers)}"
    rows = (
        "SELECT CAST(id % 5000 AS INT) AS g, CAST(id % 7 AS INT) AS x, CAST(id % 100 AS DECIMAL(8, 2)) AS d, CAST(id AS STRING) AS s "
        "FROM range(35000) WHERE id < 20000 OR id % 5000 > 2500"
    )
    engine.execute(f"CREATE TABLE {name} AS SELECT /*+ REPARTITION_BY_RANGE(20, g) */ * FROM ({rows})").close()
    engine.execute("CREATE OR REPLACE TABLE bucket_side AS SELECT CAST(id AS INT) AS k, CAST(id % 5 AS INT) AS p FROM range(5000)").close()
    return name


@pytest.fixture
def small(warehouse: Path, tmp_path: Path) -> Iterator[imp_driver.Connection]:
    """A connection whose sketches have a store and a small budget of their own."""
    with imp_driver.connect(
        warehouse=str(warehouse), sketch="shadow", answers="off", memory=MEMORY, store=str(tmp_path / "store")
    ) as connection:
        yield connection


def ask(connection: imp_driver.Connection, text: str, value: int) -> tuple[Decision, str]:
    with connection.execute(text, [value]) as cursor:
        cursor.fetchall()
        report = report_of(cursor)
        return report.decision, f"{report.reason.name} {report.detail} {report.recapture_reason or ''}"


def shown(connection: imp_driver.Connection) -> list[dict[str, Any]]:
    with connection.execute("SHOW SKETCHES") as cursor:
        names = [name for name, *_ in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def test_a_large_state_is_captured_and_changed_in_buckets(small: imp_driver.Connection, table: str, tmp_path: Path) -> None:
    text = SUMS.format(table)
    assert ask(small, text, 25)[0] is Decision.CAPTURED
    for change in (
        f"INSERT INTO {table} VALUES (17, 100, 1.5, 'new'), (99999, 40, 2.5, NULL), (NULL, 30, 3.5, 'null')",
        f"UPDATE {table} SET x = 50, s = 'a' WHERE g BETWEEN 4000 AND 4003",
        f"DELETE FROM {table} WHERE g = 3000 OR s = '12'",
    ):
        small.execute(change).close()
        decision, detail = ask(small, text, 25)
        assert (decision, "in buckets" in detail) == (Decision.MAINTAINED, True)
    assert ask(small, text, 25)[0] is Decision.FRESH
    assert ask(small, text, 22)[0] is Decision.FRESH
    [row] = shown(small)
    assert row["lives_in"].startswith("buckets")
    assert (row["captures"], row["groups"], row["bytes"] < MEMORY) == (1, 5001, True)
    [folder] = (tmp_path / "store" / "buckets").iterdir()
    assert (folder / "_delta_log").is_dir()
    small.execute("DROP SKETCH ALL").close()
    assert list((tmp_path / "store" / "buckets").iterdir()) == []


def test_joins_and_files_of_former_versions(
    small: imp_driver.Connection, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "TRIM_EVERY", 3)
    # As users have it; without it Spark writes an empty file, which no version has, for each empty partition.
    small.execute("SET spark.sql.adaptive.enabled = true").close()
    text = JOIN.format(table)
    assert ask(small, text, 5)[0] is Decision.CAPTURED
    decisions = []
    for number in range(6):
        small.execute(f"INSERT INTO {table} SELECT {number * 250 + number % 2 * 3}, 1, 1, 's' FROM range(4)").close()
        if number % 3 == 2:
            small.execute(f"UPDATE bucket_side SET p = 4 WHERE k = {number * 250}").close()
        decisions.append(ask(small, text, 5))
    assert {decision for decision, _ in decisions} == {Decision.MAINTAINED}, decisions
    [folder] = (tmp_path / "store" / "buckets").iterdir()
    # Each step leaves the file of the touched bucket behind; they go from time to time.
    assert 1 <= len(list(folder.rglob("*.parquet"))) < 4 + 6


def test_values_of_all_types_come_through_the_workers(small: imp_driver.Connection, engine: imp_driver.Connection) -> None:
    small.execute("SET TIME ZONE 'America/Los_Angeles'").close()
    columns = (
        "timestampadd(MINUTE, CAST(id % 3000 AS INT), TIMESTAMP '2024-03-10 00:00:00Z') AS t, "
        "CAST(IF(id % 3000 < 300, 40, 1) AS DECIMAL(20, 3)) AS m, "
        "IF(id % 50 = 0, double('NaN'), id / 8) AS f, date_add(DATE '2024-01-01', CAST(id % 40 AS INT)) AS d, "
        "IF(id % 3 = 0, NULL, CONCAT('ä', id % 11)) AS s"
    )
    rows = f"SELECT /*+ REPARTITION_BY_RANGE(20, t) */ * FROM (SELECT {columns} FROM range(12000))"
    engine.execute(f"CREATE OR REPLACE TABLE bucketed_types AS {rows}").close()
    aggregates = "sum(m) AS a, avg(f) AS b, min(d) AS c, max(s) AS e, max(t) AS h, count(s) AS n"
    text = f"SELECT t, {aggregates} FROM bucketed_types GROUP BY t HAVING sum(m) > ? AND (min(d) < DATE '2024-01-20' OR max(s) IS NULL)"
    assert ask(small, text, 20)[0] is Decision.CAPTURED
    for change in (
        "INSERT INTO bucketed_types VALUES ('2024-03-10 10:30:00Z', 50.125, -0.0, DATE '2023-12-31', 'z'), (NULL, 99, 1, NULL, NULL)",
        "UPDATE bucketed_types SET m = 30, d = NULL, f = double('inf') WHERE t BETWEEN '2024-03-11 00:00:00Z' AND '2024-03-11 00:05:00Z'",
        "DELETE FROM bucketed_types WHERE s = 'ä3' AND t > TIMESTAMP '2024-03-11 20:00:00Z'",
    ):
        small.execute(change).close()
        found = ask(small, text, 20)
        assert found[0] is Decision.MAINTAINED, found
    assert ask(small, text, 24)[0] is Decision.FRESH


NESTED = (
    "SELECT s % 3 AS k, sum(x * d) AS f, avg(x) AS m, max(g) AS h FROM {0} o WHERE 0.75 * (SELECT sum(x) FROM {0}) < "
    "(SELECT sum(i.x) FROM {0} i WHERE i.g <= o.g) GROUP BY s % 3"
)


def test_nested_aggregates_are_merged_bucket_by_bucket(warehouse: Path, tmp_path: Path, engine: imp_driver.Connection) -> None:
    table, store = "bucketed_nested", str(tmp_path / "store")
    columns = "CAST(id % 1000 AS INT) AS g, CAST(id % 7 AS INT) AS x, CAST(id % 100 AS DECIMAL(8, 2)) AS d, CAST(id AS STRING) AS s"
    engine.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT {columns} FROM range(4000)").close()
    text = NESTED.format(table)
    changes = (
        f"INSERT INTO {table} VALUES (17, 100, 1.5, '1'), (99999, 40, 2.5, NULL), (NULL, 30, 3.5, '2')",
        f"UPDATE {table} SET x = 50 WHERE g BETWEEN 400 AND 403",
        f"DELETE FROM {table} WHERE g = 300 OR s = '12'",
    )
    details = []
    for part in (changes[:2], changes[2:]):
        # The second one goes on with the buckets of the first.
        with (
            imp_driver.connect(warehouse=str(warehouse), memory=MEMORY, store=store, policy="incremental") as connection,
            imp_driver.connect(warehouse=str(warehouse), sketch="off") as plain,
        ):
            for change in ("", *part):
                if change:
                    connection.execute(change).close()
                with connection.execute(text) as cursor:
                    rows = sorted(map(repr, cursor.fetchall()))
                    report = report_of(cursor)
                with plain.execute(text) as cursor:
                    assert rows == sorted(map(repr, cursor.fetchall()))
                details.append((report.served_by.name, any("buckets" in each.detail for each in (report, *report.also)), len(rows) > 2))
            with connection.execute(f"WHAT IF (DELETE FROM {table} WHERE g = 7) {text}") as cursor:
                cursor.fetchall()
                assert report_of(cursor).detail == "the groups are in buckets"
    assert details == [("STATE", True, True)] * 5


def test_a_view_beyond_memory_is_followed_in_buckets(warehouse: Path, tmp_path: Path, engine: imp_driver.Connection) -> None:
    columns = "CAST(id % 1000 AS INT) AS g, CAST(id % 7 AS INT) AS x, CAST(id % 100 AS DECIMAL(8, 2)) AS d, CAST(id AS STRING) AS s"
    engine.execute(f"CREATE OR REPLACE TABLE bucketed_viewed AS SELECT {columns} FROM range(4000)").close()
    text = NESTED.format("bucketed_viewed")
    with imp_driver.connect(warehouse=str(warehouse), memory=MEMORY, store=str(tmp_path / "store")) as connection:
        connection.execute(f"CREATE OR REPLACE INCREMENTAL VIEW bucketed_view POLICY STRICT AS {text}").close()
        connection.execute("UPDATE bucketed_viewed SET x = 50 WHERE g BETWEEN 400 AND 403").close()
        with connection.execute("SELECT * FROM bucketed_view") as cursor:
            rows = sorted(map(repr, cursor.fetchall()))
            report = report_of(cursor)
        connection.execute("DROP VIEW bucketed_view").close()
    with imp_driver.connect(warehouse=str(warehouse), sketch="off") as plain, plain.execute(text) as cursor:
        assert rows == sorted(map(repr, cursor.fetchall()))
    assert (report.decision, any("in buckets" in each.detail for each in (report, *report.also))) == (Decision.MAINTAINED, True)


def test_the_sessions_last_commit_stays_the_applications(small: imp_driver.Connection, table: str) -> None:
    small.execute(f"DELETE FROM {table} WHERE g = 1").close()
    setting = "SET spark.databricks.delta.lastCommitVersionInSession"
    before = small.execute(setting).fetchall()
    assert ask(small, SUMS.format(table), 25)[0] is Decision.CAPTURED
    small.execute(f"INSERT INTO {table} VALUES (2, 100, 1, 's')").close()
    assert ask(small, SUMS.format(table), 25)[0] is Decision.MAINTAINED
    [(_, version)] = small.execute(setting).fetchall()
    assert (int(before[0][1]), int(version)) == (1, 2)
    with small.execute(f"DELETE FROM {table} WHERE g = -1") as cursor:
        assert cursor.rowcount == 0
