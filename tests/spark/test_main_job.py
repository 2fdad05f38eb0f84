"""The main job as a user meets it: every answer is compared with the plain one by shadow mode, every decision is asserted."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

import imp_driver
from imp_driver.delta.tables import DeltaTables
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason
from imp_driver.spark.local import open_session
from imp_driver.values.options import Options

_numbers = itertools.count()


@pytest.fixture
def connection(warehouse: Path) -> Iterator[imp_driver.Connection]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="off") as connection:
        yield connection


@pytest.fixture
def cursor(connection: imp_driver.Connection) -> imp_driver.Cursor:
    return connection.cursor()


@pytest.fixture
def table(cursor: imp_driver.Cursor) -> str:
    """Ten groups of ten rows: g, x = 10 * g + 0..9, in one file per two groups."""
    name = f"main_job_{next(_numbers)}"
    cursor.execute(
        f"CREATE TABLE {name} USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE(5, g) */ CAST(id DIV 10 AS INT) AS g, id AS x, "
        "CAST(id AS DOUBLE) / 2 AS y, CAST(id AS DECIMAL(10, 2)) AS z, concat('s', id % 3) AS s FROM range(100)"
    )
    return name


def _decision(cursor: imp_driver.Cursor) -> Decision:
    report = cursor.sketch_report
    assert report is not None
    return report.decision


def _reason(cursor: imp_driver.Cursor) -> Reason:
    report = cursor.sketch_report
    assert report is not None
    return report.reason


def test_captured_then_fresh_then_maintained(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT g, sum(x) FROM {table} GROUP BY g HAVING avg(y) > ?"
    assert sorted(cursor.execute(query, (44,)).fetchall()) == [(9, 945)]
    report = cursor.sketch_report
    assert report is not None
    assert (report.decision, report.reason, report.attribute) == (Decision.CAPTURED, Reason.FILTERED, "g")
    assert report.files_kept == 1
    assert report.files_total == 5
    assert report.fragments_kept == 1
    assert sorted(cursor.execute(query, (39,)).fetchall()) == [(8, 845), (9, 945)]
    assert _decision(cursor) is Decision.FRESH
    cursor.execute(f"INSERT INTO {table} VALUES (1, 7, 5000.0, 1, 'new')")
    assert cursor.rowcount == 1
    assert sorted(cursor.execute(query, (44,)).fetchall()) == [(1, 152), (9, 945)]
    report = cursor.sketch_report
    assert report is not None
    assert (report.decision, report.delta_source, report.delta_rows) == (Decision.MAINTAINED, DeltaSource.CHANGE_FEED, 1)
    assert report.runs_used == 2
    assert report.versions == {report.table: report.version}


def test_updates_deletes_and_merges_are_maintained(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT g, count(*), min(x), max(z) FROM {table} GROUP BY g HAVING max(y) > 40 OR min(x) < 10 OR count(*) > 12"
    cursor.execute(query)
    changes = [
        f"UPDATE {table} SET y = 100 WHERE x BETWEEN 33 AND 34",
        f"UPDATE {table} SET g = 5 WHERE g = 4",
        f"DELETE FROM {table} WHERE x < 15",
        f"MERGE INTO {table} t USING (SELECT 3 AS g, 30 AS x) s ON t.g = s.g AND t.x = s.x WHEN MATCHED THEN DELETE "
        "WHEN NOT MATCHED THEN INSERT (g, x) VALUES (s.g, s.x)",
        f"INSERT INTO {table} SELECT 77, id, 99, 1, 'far' FROM range(3)",
        f"DELETE FROM {table} WHERE g = 77",
    ]
    for change in changes:
        cursor.execute(change)
        assert cursor.rowcount > 0
        cursor.execute(query).fetchall()
        assert _decision(cursor) is Decision.MAINTAINED, change


def test_changes_by_another_writer_are_noticed(cursor: imp_driver.Cursor, table: str, warehouse: Path) -> None:
    query = f"SELECT g, count(*) FROM {table} GROUP BY g HAVING count(*) > 10"
    assert cursor.execute(query).fetchall() == []
    with imp_driver.connect(warehouse=str(warehouse), sketch="off") as other:
        other.execute(f"INSERT INTO {table} VALUES (2, 1, 1, 1, 'other')")
    assert cursor.execute(query).fetchall() == [(2, 11)]
    assert _decision(cursor) is Decision.MAINTAINED


def test_top_k_with_offset_and_ties(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT g, sum(x) AS total FROM {table} WHERE s <> 's1' GROUP BY g ORDER BY total DESC, g LIMIT 2 OFFSET 1"
    plain = cursor.execute(query).fetchall()
    assert [row[0] for row in plain] == [8, 6]
    assert _decision(cursor) is Decision.CAPTURED
    cursor.execute(f"UPDATE {table} SET x = 0 WHERE g = 8")
    assert [row[0] for row in cursor.execute(query).fetchall()] == [6, 7]
    assert _decision(cursor) is Decision.MAINTAINED


def test_derived_tables(cursor: imp_driver.Cursor, table: str) -> None:
    query = (
        f"SELECT count(*), max(total) FROM (SELECT k, sum(v) AS total FROM (SELECT g AS k, x * 2 AS v, y FROM {table} WHERE y >= 3) inside "
        "GROUP BY k HAVING avg(v) > 150) outside WHERE total < 1800"
    )
    assert cursor.execute(query).fetchall() == [(1, 1690)]
    assert _decision(cursor) is Decision.CAPTURED
    cursor.execute(f"DELETE FROM {table} WHERE x = 85")
    assert cursor.execute(query).fetchall() == [(1, 1520)]
    assert _decision(cursor) is Decision.MAINTAINED


@pytest.mark.parametrize("mode", ["off", "lazy"])
def test_modes(warehouse: Path, table: str, mode: str) -> None:
    with imp_driver.connect(warehouse=str(warehouse), sketch=mode, answers="off") as connection:
        cursor = connection.execute(f"SELECT g FROM {table} GROUP BY g HAVING avg(x) > 90")
        assert cursor.fetchall() == [(9,)]
        assert _reason(cursor) is (Reason.SKETCH_OFF if mode == "off" else Reason.FILTERED)


def test_null_keys_null_values_duplicates_and_special_floats(cursor: imp_driver.Cursor) -> None:
    name = f"main_job_{next(_numbers)}"
    cursor.execute(f"CREATE TABLE {name} (k DOUBLE, v DOUBLE, n INT) USING DELTA")
    query = f"SELECT k, count(*), count(n), max(v) FROM {name} GROUP BY k HAVING count(*) > 1 AND NOT (sum(v) < 3) OR k IS NULL"
    assert cursor.execute(query).fetchall() == []
    rows = "(NULL, 1, NULL), (NULL, 1, NULL), (double('NaN'), 5, 1), (double('NaN'), 5, 1), (-0.0, 2, 2), (0.0, 2, 2), "
    rows += "(1, double('NaN'), 3), (1, 1, NULL), (2, double('inf'), 3), (2, double('-inf'), 3)"
    cursor.execute(f"INSERT INTO {name} VALUES {rows}")
    assert cursor.rowcount == 10
    assert len(cursor.execute(query).fetchall()) == 5
    assert _decision(cursor) is Decision.MAINTAINED
    cursor.execute(f"DELETE FROM {name} WHERE isnan(k) OR v = 1")
    cursor.execute(query).fetchall()
    cursor.execute(f"INSERT INTO {name} VALUES (NULL, 1, 1), (1, 2, 1), (1e300, 7, 7), (1e300, 7, 7)")
    cursor.execute(query).fetchall()
    assert _decision(cursor) is Decision.MAINTAINED


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("DATE", [datetime.date(1969, 12, 31), datetime.date(2024, 2, 29), datetime.date(9999, 12, 31)]),
        (
            "TIMESTAMP",
            [datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, datetime.UTC), datetime.datetime(2024, 3, 31, 1, 30, tzinfo=datetime.UTC)],
        ),
        ("TIMESTAMP_NTZ", [datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), datetime.datetime(2024, 3, 31, 1, 30)]),
        ("DECIMAL(38, 10)", [Decimal("-1234567890123456789012345678.0123456789"), Decimal("0.0000000001"), Decimal(7)]),
        ("STRING", ["", "é'\\`\n", "z", "𝔷", "ﬀ"]),
        ("BIGINT", [-(2**63), 2**53 + 1, 2**63 - 1]),
        ("TINYINT", [-128, 0, 127]),
        ("FLOAT", [-1.5, 0.1, 3e38]),
    ],
)
def test_key_types(cursor: imp_driver.Cursor, kind: str, values: list[object]) -> None:
    name = f"main_job_{next(_numbers)}"
    cursor.execute(f"CREATE TABLE {name} (`odd key` {kind}, v INT) USING DELTA TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    cursor.executemany(f"INSERT INTO {name} VALUES (CAST(? AS {kind}), ?)", [(value, place) for place, value in enumerate(values)])
    query = f"SELECT `odd key`, sum(v) FROM {name} GROUP BY `odd key` HAVING sum(v) = ?"
    for place, value in enumerate(values):
        row = cursor.execute(query, (place,)).fetchone()
        assert row is not None
        assert row[1] == place
        if kind != "FLOAT":
            assert row[0] == value
        assert _reason(cursor) is Reason.FILTERED
    cursor.executemany(f"INSERT INTO {name} VALUES (CAST(? AS {kind}), ?)", [(value, 100) for value in values])
    assert len(cursor.execute(query, (101,)).fetchall()) == 1
    assert _decision(cursor) is Decision.MAINTAINED


def test_empty_commits_need_no_rows(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT g FROM {table} GROUP BY g HAVING sum(x) > 800"
    cursor.execute(query)
    cursor.execute(f"OPTIMIZE {table}")
    cursor.execute(query)
    report = cursor.sketch_report
    assert report is not None
    assert (report.decision, report.delta_source, report.delta_rows) == (Decision.MAINTAINED, DeltaSource.NONE, 0)


def test_recreated_table_is_captured_again(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT g FROM {table} GROUP BY g HAVING sum(x) > 800"
    assert len(cursor.execute(query).fetchall()) == 2
    cursor.execute(f"DROP TABLE {table}")
    with pytest.raises(imp_driver.ProgrammingError):
        cursor.execute(query)
    cursor.execute(f"CREATE TABLE {table} (g INT, x BIGINT) USING DELTA")
    assert cursor.execute(query).fetchall() == []
    cursor.execute(f"INSERT INTO {table} VALUES (1, 900), (2, 1)")
    assert cursor.execute(query).fetchall() == [(1,)]


def test_restore_is_captured_again(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT g FROM {table} GROUP BY g HAVING sum(x) > 800"
    cursor.execute(query)
    cursor.execute(f"DELETE FROM {table} WHERE g > 5")
    assert cursor.execute(query).fetchall() == []
    cursor.execute(f"RESTORE TABLE {table} TO VERSION AS OF 0")
    assert len(cursor.execute(query).fetchall()) == 2
    report = cursor.sketch_report
    assert report is not None
    assert (report.decision, report.recapture_reason) == (Decision.RECAPTURED, RecaptureReason.RESTORED)


def test_renamed_column(cursor: imp_driver.Cursor, table: str) -> None:
    cursor.execute(f"SELECT g FROM {table} GROUP BY g HAVING sum(x) > 800")
    cursor.execute(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    cursor.execute(f"ALTER TABLE {table} RENAME COLUMN x TO w")
    with pytest.raises(imp_driver.ProgrammingError):
        cursor.execute(f"SELECT g FROM {table} GROUP BY g HAVING sum(x) > 800")
    assert len(cursor.execute(f"SELECT g FROM {table} GROUP BY g HAVING sum(w) > 800").fetchall()) == 2


def test_table_without_change_feed(cursor: imp_driver.Cursor) -> None:
    name = f"main_job_{next(_numbers)}"
    cursor.execute(
        f"CREATE TABLE {name} USING DELTA TBLPROPERTIES (delta.enableChangeDataFeed = false) "
        "AS SELECT id DIV 10 AS g, id AS x FROM range(100)"
    )
    query = f"SELECT g, count(*) FROM {name} GROUP BY g HAVING sum(x) > 800"
    cursor.execute(query)
    for change in (f"INSERT INTO {name} VALUES (3, 1000)", f"DELETE FROM {name} WHERE x = 99", f"UPDATE {name} SET x = 900 WHERE x = 5"):
        cursor.execute(change)
        cursor.execute(query).fetchall()
        report = cursor.sketch_report
        assert report is not None
        assert report.decision is Decision.MAINTAINED
        assert report.delta_source in (DeltaSource.ADDED_FILES, DeltaSource.CHANGED_FILES)


def test_conditions_only_spark_can_evaluate(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT g, sum(x) FROM {table} WHERE upper(s) LIKE 'S%' AND x % 2 = 0 GROUP BY g HAVING sum(CAST(x AS DOUBLE)) > 400"
    cursor.execute(query)
    cursor.execute(f"INSERT INTO {table} VALUES (1, 1000, 1, 1, 's1'), (1, 1001, 1, 1, 's1'), (2, 1000, 1, 1, 'no')")
    assert 1 in [row[0] for row in cursor.execute(query).fetchall()]
    assert _decision(cursor) is Decision.MAINTAINED


def test_filter_is_dropped_when_it_skips_nothing(cursor: imp_driver.Cursor, table: str) -> None:
    cursor.execute(f"SELECT g FROM {table} GROUP BY g HAVING sum(x) >= 0")
    report = cursor.sketch_report
    assert report is not None
    assert (report.reason, report.runs_used) == (Reason.COVERS_ALMOST_ALL, 0)


def test_other_row_conditions_wait_until_asked_again(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT g FROM {table} WHERE x > ? GROUP BY g HAVING sum(x) > 800"
    decisions = []
    for constant in (1, 2, 3, 2, 2):
        cursor.execute(query, (constant,))
        decisions.append(_decision(cursor))
    assert decisions == [Decision.CAPTURED, Decision.NOT_USED, Decision.NOT_USED, Decision.CAPTURED, Decision.FRESH]


@pytest.mark.parametrize(
    ("change", "is_another_template"),
    [
        ("SET TIME ZONE 'Asia/Tokyo'", True),
        ("SET spark.sql.legacy.sizeOfNull = true", True),
        ("SET spark.sql.shuffle.partitions = 3", False),
    ],
)
def test_settings_are_part_of_the_template(cursor: imp_driver.Cursor, table: str, change: str, is_another_template: bool) -> None:
    query = f"SELECT g FROM {table} GROUP BY g HAVING sum(x) > 800"
    cursor.execute(query)
    first = cursor.sketch_report
    cursor.execute(change)
    cursor.execute(query)
    second = cursor.sketch_report
    assert first is not None
    assert second is not None
    assert (first.template != second.template) == is_another_template


def test_temporary_view_that_shadows_a_table(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT g FROM {table} GROUP BY g HAVING sum(x) > 800"
    cursor.execute(query)
    cursor.execute(f"CREATE TEMPORARY VIEW {table} AS SELECT 42 AS g, 5000 AS x")
    assert cursor.execute(query).fetchall() == [(42,)]
    assert _reason(cursor) is Reason.TEMPORARY_VIEW


def test_sketch_commands(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT g FROM {table} GROUP BY g HAVING sum(x) > 800"
    cursor.execute(query)
    report = cursor.sketch_report
    assert report is not None
    cursor.execute("SHOW SKETCHES")
    assert cursor.description is not None
    names = [column[0] for column in cursor.description]
    shown = {row[0]: dict(zip(names, row, strict=True)) for row in cursor.fetchall()}
    assert shown[report.sketch_id]["groups"] == 10
    lines = [row[0] for row in cursor.execute(f"EXPLAIN SKETCH {query}").fetchall()]
    assert any(str(report.sketch_id) in line for line in lines)
    assert any("ALIGNED" in line for line in lines)
    cursor.execute(f"DROP SKETCH {report.sketch_id}")
    cursor.execute("SHOW SKETCHES")
    assert report.sketch_id not in [row[0] for row in cursor.fetchall()]
    with pytest.raises(imp_driver.ProgrammingError, match="SHOW STATES"):
        cursor.execute(f"DROP SKETCH {report.sketch_id}")
    cursor.execute(query)
    assert _decision(cursor) is Decision.CAPTURED
    with pytest.raises(imp_driver.ProgrammingError, match="nowhere"):
        cursor.execute("EXPLAIN SKETCH SELECT nowhere FROM range(3)")
    refused = cursor.execute("EXPLAIN SKETCH SELECT 1").fetchall()
    assert any(Reason.NO_AGGREGATION.name in row[0] for row in refused)


def test_a_name_that_is_both_alias_and_column_means_the_column_inside_an_aggregate_of_having(cursor: imp_driver.Cursor, table: str) -> None:
    assert cursor.execute(f"SELECT g, count(*) AS x FROM {table} GROUP BY g HAVING sum(x) > 900").fetchall() == [(9, 10)]
    assert _reason(cursor) is Reason.FILTERED


def test_rows_are_not_changed_by_rewriting(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT {table}.g, avg({table}.y), count(*), sum(x * 2) FROM {table} GROUP BY {table}.g HAVING count(*) = 10 AND avg(z) >= 90"
    cursor.execute(query)
    assert _reason(cursor) is Reason.FILTERED
    assert cursor.description is not None
    assert [column[0] for column in cursor.description] == ["g", "avg(y)", "count(1)", "sum((x * 2))"]


def test_a_column_of_nulls_only(cursor: imp_driver.Cursor) -> None:
    name = f"main_job_{next(_numbers)}"
    cursor.execute(f"CREATE TABLE {name} AS SELECT CAST(NULL AS INT) AS k, CAST(NULL AS DOUBLE) AS v, id FROM range(5)")
    for condition, count in (("max(v) IS NULL", 1), ("sum(v) > 0", 0), ("count(v) = 0 AND count(*) = 5", 1), ("k IS NULL", 1)):
        assert len(cursor.execute(f"SELECT k, max(v), sum(id) FROM {name} GROUP BY k HAVING {condition}").fetchall()) == count
    cursor.execute(f"INSERT INTO {name} VALUES (NULL, 1.5, 7), (3, NULL, 8)")
    assert cursor.execute(f"SELECT k, max(v), sum(id) FROM {name} GROUP BY k HAVING sum(v) > 0").fetchall() == [(None, 1.5, 17)]
    assert _decision(cursor) is Decision.MAINTAINED


def test_vacuumed_history_is_captured_again(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT g FROM {table} GROUP BY g HAVING sum(x) > 800"
    cursor.execute(query)
    cursor.execute(f"DELETE FROM {table} WHERE x = 99")
    cursor.execute(f"DELETE FROM {table} WHERE x = 89")
    cursor.execute("SET spark.databricks.delta.retentionDurationCheck.enabled = false")
    cursor.execute(f"VACUUM {table} RETAIN 0 HOURS")
    assert cursor.execute(query).fetchall() == [(9,)]
    report = cursor.sketch_report
    assert report is not None
    assert (report.decision, report.recapture_reason) == (Decision.RECAPTURED, RecaptureReason.HISTORY_GONE)


def test_a_query_of_another_version_has_the_sketch_and_the_rows_of_that_version(cursor: imp_driver.Cursor, table: str) -> None:
    query = "SELECT g FROM {} GROUP BY g HAVING sum(x) > 800"
    cursor.execute(query.format(table))
    cursor.execute(f"DELETE FROM {table} WHERE g = 9")
    assert sorted(cursor.execute(query.format(f"{table} VERSION AS OF 0")).fetchall()) == [(8,), (9,)]
    assert cursor.sketch_report is not None
    assert (cursor.sketch_report.decision, cursor.sketch_report.version) == (Decision.FRESH, 0)
    assert cursor.execute(query.format(table)).fetchall() == [(8,)]


def test_two_connections_maintain_one_state(warehouse: Path, table: str) -> None:
    query = f"SELECT g, count(*) FROM {table} GROUP BY g HAVING count(*) > 10"
    with imp_driver.connect(warehouse=str(warehouse)) as one, imp_driver.connect(warehouse=str(warehouse)) as other:
        seen = []
        for number in range(4):
            writer, reader = (one, other) if number % 2 else (other, one)
            writer.execute(f"INSERT INTO {table} VALUES ({number}, 1, 1, 1, 'x')")
            for connection in (reader, writer):
                cursor = connection.execute(query)
                assert sorted(row[0] for row in cursor.fetchall()) == list(range(number + 1))
                seen.append(_decision(cursor))
    assert seen == [Decision.CAPTURED, *[Decision.FRESH, Decision.MAINTAINED] * 3, Decision.FRESH]


def test_a_failed_capture_is_tried_again_when_the_table_has_changed(cursor: imp_driver.Cursor) -> None:
    name = f"main_job_{next(_numbers)}"
    cursor.execute(f"CREATE TABLE {name} AS SELECT id DIV 5 AS g, IF(id = 3, 9223372036854775807, id) AS x FROM range(10)")
    query = f"SELECT g FROM {name} WHERE g >= 0 GROUP BY g HAVING sum(x) > 30 OR g = 1"
    for _ in range(2):
        with pytest.raises(imp_driver.DataError, match="overflow"):
            cursor.execute(query)
    cursor.execute("SHOW SKETCHES")
    assert any("ARITHMETIC_OVERFLOW" in str(row) for row in cursor.fetchall())
    cursor.execute(f"DELETE FROM {name} WHERE x > 100")
    assert cursor.execute(query).fetchall() == [(1,)]
    assert _decision(cursor) is Decision.CAPTURED


def test_state_beyond_its_budget_is_not_kept(warehouse: Path, engine: imp_driver.Connection) -> None:
    source = DeltaTables()
    options = Options(warehouse=str(warehouse), memory=10_000)
    middleware = Middleware(open_session(options), source, Sketches(Relations(source, options.memory)), options)
    with imp_driver.Connection(middleware) as connection:
        name = f"main_job_{next(_numbers)}"
        connection.execute(f"CREATE TABLE {name} AS SELECT id AS g, id AS x FROM range(1000)")
        for _ in range(2):
            cursor = connection.execute(f"SELECT g FROM {name} GROUP BY g HAVING sum(x) > 998")
            assert cursor.fetchall() == [(999,)]
            assert _reason(cursor) is Reason.STATE_TOO_LARGE


def test_shallow_buffers_run_dry_and_are_captured_deep(cursor: imp_driver.Cursor, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imp_driver.maintain.capture.FEW_ROWS", 0)
    query = f"SELECT g, min(x), max(y) FROM {table} GROUP BY g HAVING min(x) > 60 OR max(y) < 12 OR max(s) IS NULL"
    assert len(cursor.execute(query).fetchall()) == 5
    cursor.execute(f"INSERT INTO {table} VALUES (9, -5, 1, 1, 's'), (55, NULL, NULL, NULL, NULL)")
    assert len(cursor.execute(query).fetchall()) == 5
    assert _decision(cursor) is Decision.MAINTAINED
    decisions = []
    for place in (70, 71, 72, 73):
        cursor.execute(f"DELETE FROM {table} WHERE x = {place}")
        cursor.execute(query).fetchall()
        report = cursor.sketch_report
        assert report is not None
        decisions.append((report.decision, report.recapture_reason))
    assert decisions == [(Decision.RECAPTURED, RecaptureReason.INEXACT_STATE), *[(Decision.MAINTAINED, None)] * 3]
