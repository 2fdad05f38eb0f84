"""One embedded session through the public surface: isolation, parameters, errors, streaming, cancelling."""

from __future__ import annotations

import datetime
import itertools
import sys
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from sqlglot import exp

import imp_driver
from imp_driver.capture.instrument import at_versions
from imp_driver.parse.literals import rendered
from imp_driver.plan.nodes import Scan
from imp_driver.spark import local
from imp_driver.spark.frames import frame_of
from imp_driver.spark.packages import COORDINATES, pyspark_jars
from imp_driver.values.options import Options
from tests import jvm


@pytest.fixture
def connection(warehouse: Path, engine: imp_driver.Connection) -> Iterator[imp_driver.Connection]:
    with imp_driver.connect(warehouse=str(warehouse)) as connection:
        yield connection


def test_connections_share_nothing_but_the_jvm(connection: imp_driver.Connection, warehouse: Path) -> None:
    with imp_driver.connect(warehouse=str(warehouse)) as other:
        connection.execute("CREATE TEMPORARY VIEW only_here AS SELECT 1 AS x")
        connection.execute("CREATE SCHEMA IF NOT EXISTS elsewhere")
        connection.execute("USE elsewhere")
        connection.execute("SET spark.sql.ansi.enabled = false")
        with pytest.raises(imp_driver.ProgrammingError):
            other.execute("SELECT * FROM only_here")
        assert other.execute("SELECT current_schema()").fetchall() == [("default",)]
        assert connection.execute("SELECT 1/0").fetchall() == [(None,)]
        with pytest.raises(imp_driver.DataError):
            other.execute("SELECT 1/0")


@pytest.mark.parametrize(
    ("value", "type_name"),
    [
        (1, "int"),
        (2**31, "bigint"),
        (1.5, "double"),
        (float("inf"), "double"),
        (Decimal("12.340"), "decimal(5,3)"),
        ("it's `\\ \n 'quoted' é𝔷", "string"),
        (b"\x00\xff", "binary"),
        (True, "boolean"),
        (datetime.date(1582, 10, 4), "date"),
        (datetime.datetime(2024, 3, 31, 1, 30, 0, 123456), "timestamp_ntz"),
        (datetime.datetime(2024, 3, 31, 1, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=5))), "timestamp"),
        ([1, 2], "array<int>"),
        ([1, None], "array<int>"),
        ({"a": 1}, "map<string,int>"),
        ({"a": [{1: None}]}, "map<string,array<map<int,void>>>"),
        (None, "void"),
    ],
)
def test_parameters_keep_value_and_type(connection: imp_driver.Connection, value: Any, type_name: str) -> None:
    for text, parameters in (("SELECT ?, typeof(?)", (value, value)), ("SELECT :v, typeof(:v)", {"v": value})):
        row = connection.execute(text, parameters).fetchone()
        assert row is not None
        assert row == (value, type_name)
    literal = connection.execute(f"SELECT {rendered(value)}, typeof({rendered(value)})").fetchone()
    assert literal == (value, type_name)


def test_dictionaries_are_written_as_maps_one_by_one_and_in_a_batch(connection: imp_driver.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("CREATE OR REPLACE TABLE of_maps (a INT, m MAP<STRING, INT>)")
    cursor.execute("INSERT INTO of_maps VALUES (?, ?)", (1, {"x": 1, "y": None}))
    cursor.executemany("INSERT INTO of_maps VALUES (?, ?)", [(2, {"z": 3}), (3, {}), (4, None)])
    rows = [(1, {"x": 1, "y": None}), (2, {"z": 3}), (3, {}), (4, None)]
    assert cursor.execute("SELECT * FROM of_maps ORDER BY a").fetchall() == rows
    with pytest.raises(imp_driver.NotSupportedError, match="no Arrow form"):
        cursor.execute("SELECT map()")


@pytest.mark.parametrize(("mapping", "is_recorded"), [("'delta.columnMapping.mode' = 'name'", "false"), ("'a' = 'b'", "true")])
def test_a_table_of_a_query_records_its_changes_where_delta_lets_it(
    connection: imp_driver.Connection, mapping: str, is_recorded: str
) -> None:
    connection.execute(f"CREATE OR REPLACE TABLE of_a_query TBLPROPERTIES ({mapping}) AS SELECT 1 AS a")
    properties: dict[Any, Any] = dict(connection.execute("SHOW TBLPROPERTIES of_a_query").fetchall())
    assert properties["delta.enableChangeDataFeed"] == is_recorded
    connection.execute("DROP TABLE of_a_query")


def test_workaround_for_parameters_is_still_needed(spark: SparkSession) -> None:
    """When this fails, the setting in imp_driver/spark/local.py and literals.bind_text are no longer needed."""
    session = spark.newSession()
    session.conf.set("spark.sql.legacy.parameterSubstitution.constantsOnly", "false")
    with pytest.raises(PySparkException, match="UNBOUND_SQL_PARAMETER"):
        session.sql("SELECT ?", args=[1]).collect()


@pytest.mark.parametrize("count", [1, 4, 5, 6, 12, 40])
def test_values_come_in_the_order_of_their_markers(connection: imp_driver.Connection, count: int) -> None:
    values = list(range(100, 100 + count))
    row = connection.execute(f"SELECT {', '.join(['?'] * count)}", values).fetchone()
    assert row == tuple(values)


def test_many_markers_stand_wherever_few_do(connection: imp_driver.Connection) -> None:
    text = (
        "SELECT CASE WHEN id>?THEN ?ELSE -? END, array(id, ?)[?], CAST(? AS STRING) || '?' -- ?\n"
        "FROM (SELECT id FROM range(100) WHERE id BETWEEN ?AND ? AND id NOT IN (?,?) UNION (SELECT ? LIMIT ?)) ORDER BY id LIMIT ?OFFSET ?"
    )
    values = (21, 77, 7, 5, 1, 1.5, 20, 25, 23, 24, 99, 1, 3, 1)
    assert connection.execute(text, values).fetchall() == [(-7, 5, "1.5?"), (77, 5, "1.5?"), (77, 5, "1.5?")]
    connection.execute("CREATE TABLE many_markers (a INT, b STRING, c DOUBLE, d DATE, e INT, f INT)")
    row = (1, "b", 2.5, datetime.date(2024, 1, 2), 5, 6)
    connection.execute("INSERT INTO many_markers VALUES (?, ?, ?, ?, ?, ?)", row)
    connection.execute("UPDATE many_markers SET a = ?, b = ?, e = ?, f = ? WHERE a = ? AND e = ?", (10, "B", 50, 60, 1, 5))
    assert connection.execute("SELECT * FROM many_markers").fetchall() == [(10, "B", 2.5, datetime.date(2024, 1, 2), 50, 60)]
    connection.execute("DROP TABLE many_markers")


def test_naming_of_many_markers_is_still_needed(spark: SparkSession) -> None:
    """When this fails, _MOST_IN_ORDER in imp_driver/spark/session.py is no longer needed."""
    assert list(spark.sql("SELECT ?, ?, ?, ?, ?", args=[0, 1, 2, 3, 4]).collect()[0]) != [0, 1, 2, 3, 4]


@pytest.mark.parametrize("sizes", [(6,), (0, 6), (0, 0, 6), (2, 0, 0, 4), (3, 3, 0)])
def test_rows_behind_an_empty_chunk_are_rows(spark: SparkSession, sizes: tuple[int, ...]) -> None:
    ends = list(itertools.accumulate(sizes))
    rows = pa.table({"x": pa.chunked_array([pa.array(range(end - size, end), pa.int64()) for size, end in zip(sizes, ends, strict=True)])})
    assert sorted(row.x for row in frame_of(spark, rows).collect()) == list(range(6))


def test_values_are_rows(connection: imp_driver.Connection) -> None:
    assert connection.execute("VALUES (1, 'a'), (?, ?) ORDER BY 1 DESC", (2, "b")).fetchall() == [(2, "b"), (1, "a")]


def test_a_change_of_another_format_may_come_first(warehouse: Path) -> None:
    with imp_driver.connect(warehouse=str(warehouse), sketch="lazy", answers="off") as fresh:
        fresh.execute("CREATE TABLE other_format (a INT) USING PARQUET")
        fresh.execute("INSERT INTO other_format VALUES (1)")
        assert fresh.execute("SELECT * FROM other_format").fetchall() == [(1,)]
        fresh.execute("DROP TABLE other_format")


def test_pins_fit_together() -> None:
    spark_version, scala_version = COORDINATES[0].artifact.removeprefix("delta-spark_").split("_")
    assert version("pyspark").startswith(f"{spark_version}.")
    assert list(Path(pyspark_jars()).glob(f"spark-sql_{scala_version}-*.jar"))


@pytest.mark.parametrize(
    ("text", "kind", "error_class", "position"),
    [
        ("SELEC 1", "ProgrammingError", "PARSE_SYNTAX_ERROR", (1, 1)),
        ("SELECT\n nope FROM range(1)", "ProgrammingError", "UNRESOLVED_COLUMN.WITH_SUGGESTION", (2, 2)),
        ("SELECT * FROM no_such_table", "ProgrammingError", "TABLE_OR_VIEW_NOT_FOUND", (1, 15)),
        ("SELECT CAST('x' AS INT)", "DataError", "CAST_INVALID_INPUT", (1, 8)),
        ("SELECT 1/0", "DataError", "DIVIDE_BY_ZERO", (1, 8)),
        ("SELECT sum(x) FROM (SELECT CAST(9223372036854775807 AS BIGINT) x FROM range(2))", "DataError", "ARITHMETIC_OVERFLOW", None),
        ("SELECT ?", "ProgrammingError", "UNBOUND_SQL_PARAMETER", (1, 8)),
    ],
)
def test_errors_keep_class_state_and_position(
    connection: imp_driver.Connection, text: str, kind: str, error_class: str, position: tuple[int, int] | None
) -> None:
    with pytest.raises(imp_driver.Error) as caught:
        connection.execute(text)
    error = caught.value
    assert type(error).__name__ == kind
    assert error.error_class is not None
    assert error.error_class.startswith(error_class)
    assert error.sqlstate is not None
    assert len(error.sqlstate) == 5
    if position is not None:
        assert error.position is not None
        assert (error.position.line, error.position.column) == position
    assert "\tat " not in str(error)
    assert "Relation " not in str(error)


def test_constraints_are_integrity_errors(connection: imp_driver.Connection) -> None:
    connection.execute("CREATE OR REPLACE TABLE guarded (a INT NOT NULL, b INT) USING DELTA")
    connection.execute("ALTER TABLE guarded ADD CONSTRAINT positive CHECK (b > 0)")
    for values in ("(NULL, 1)", "(1, -1)"):
        with pytest.raises(imp_driver.IntegrityError):
            connection.execute(f"INSERT INTO guarded VALUES {values}")


def test_description_is_exact_before_the_first_fetch(connection: imp_driver.Connection) -> None:
    cursor = connection.execute("SELECT 1.500 AS d, 'x' AS s, CAST(NULL AS INT) AS n WHERE false")
    assert cursor.description == [
        ("d", "decimal(4,3)", None, None, 4, 3, False),
        ("s", "string", None, None, None, None, False),
        ("n", "int", None, None, None, None, True),
    ]
    assert cursor.fetchall() == []
    assert cursor.execute("SELECT 1 AS a WHERE false").fetch_arrow_table().schema == pa.schema([("a", pa.int32())])


def test_rows_are_streamed_and_a_stream_can_be_dropped(connection: imp_driver.Connection) -> None:
    cursor = connection.execute("SELECT id, repeat('x', 100) FROM range(0, 3000000, 1, 30)")
    assert cursor.fetchone() == (0, "x" * 100)
    assert [row[0] for row in cursor.fetchmany(5)] == [1, 2, 3, 4, 5]
    cursor.close()
    cursor = connection.execute("SELECT id FROM range(0, 1000, 1, 10)")
    assert cursor.fetchone() == (0,)
    assert sorted(cursor.fetch_arrow_table().column("id").to_pylist()) == list(range(1, 1000))


def test_cancel_from_another_thread(connection: imp_driver.Connection, spark: SparkSession) -> None:
    cursor = connection.cursor()
    caught: list[BaseException] = []

    def run() -> None:
        try:
            cursor.execute("SELECT count(*) FROM range(1000000000000) WHERE hash(id) = 7")
        except imp_driver.Error as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive() and not spark.sparkContext.statusTracker().getActiveJobsIds():
        time.sleep(0.01)
    cursor.cancel()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert isinstance(caught[0], imp_driver.OperationalError)
    assert caught[0].error_class == "OPERATION_CANCELLED"
    assert cursor.execute("SELECT 1").fetchall() == [(1,)]
    cursor.cancel()


def test_tables_are_read_by_no_more_tasks_than_are_asked_for(connection: imp_driver.Connection) -> None:
    connection.execute("CREATE TABLE in_parts USING DELTA AS SELECT /*+ REPARTITION(4) */ id FROM range(4000)")
    connection.execute("SET spark.sql.files.openCostInBytes = 100000000")
    scan = Scan(0, ("in_parts",), (), exp.table_("in_parts"))
    text = "SELECT count(DISTINCT part) FROM (SELECT spark_partition_id() AS part FROM {})"
    every, one = (connection.execute(text.format(at_versions({scan.table: 0}, most)(scan))).fetchall()[0][0] for most in (None, 1))
    assert every > one == 1


def test_row_counts_and_one_commit_for_many_rows(connection: imp_driver.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("CREATE OR REPLACE TABLE counted (a INT, b STRING) USING DELTA")
    assert cursor.rowcount == -1
    cursor.executemany("INSERT INTO counted VALUES (?, ?)", [(number, f"row {number}") for number in range(500)])
    assert cursor.rowcount == 500
    assert max(row[0] for row in cursor.execute("DESCRIBE HISTORY counted").fetchall()) == 1
    steps = [
        ("INSERT INTO counted SELECT 1000, 'x' WHERE false", 0),
        ("UPDATE counted SET b = 'new' WHERE a < 10", 10),
        ("DELETE FROM counted WHERE a >= 490", 10),
        (
            "MERGE INTO counted USING (SELECT 1 AS a UNION ALL SELECT 9999) s ON counted.a = s.a "
            "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a)",
            2,
        ),
        ("INSERT OVERWRITE counted VALUES (1, 'a'), (2, 'b')", 2),
    ]
    for text, count in steps:
        assert cursor.execute(text).rowcount == count, text
        assert cursor.description is None
    cursor.executemany("DELETE FROM counted WHERE a = ?", [(1,), (2,), (3,)])
    assert cursor.rowcount == 2


def test_connection_closes_with_open_cursors(warehouse: Path, engine: imp_driver.Connection) -> None:
    connection = imp_driver.connect(warehouse=str(warehouse))
    cursor = connection.execute("SELECT id FROM range(0, 1000000, 1, 20)")
    cursor.fetchone()
    connection.close()
    with pytest.raises(imp_driver.InterfaceError):
        cursor.fetchone()


def test_types_of_rows(connection: imp_driver.Connection) -> None:
    row = connection.execute(
        "SELECT array(1, NULL), map('k', array(1)), named_struct('f', named_struct('g', 1)), INTERVAL '1 2' DAY TO HOUR, "
        "TIMESTAMP '2024-01-01 00:00:00+02:00', TIMESTAMP_NTZ '2024-01-01 00:00:00', DATE '0001-01-01', X'00', 1.50"
    ).fetchone()
    assert row == (
        [1, None],
        {"k": [1]},
        {"f": {"g": 1}},
        datetime.timedelta(days=1, hours=2),
        datetime.datetime(2023, 12, 31, 22, tzinfo=datetime.UTC),
        datetime.datetime(2024, 1, 1),
        datetime.date(1, 1, 1),
        b"\x00",
        Decimal("1.50"),
    )


def test_states_outlive_the_folders_of_an_installation(engine: imp_driver.Connection, warehouse: Path) -> None:
    """Every setting that counts is a part of what a state is known by."""
    entries = local.open_session(Options(warehouse=str(warehouse)))._set_entries()
    assert "spark.sql." in entries
    assert [folder for folder in (sys.prefix, str(warehouse)) if folder in entries] == []


def test_the_engine_has_the_settings_for_tiny_tables(spark: SparkSession) -> None:
    """Whoever opens the first connection of a run: with Spark's own settings the suite takes twice as long."""
    assert jvm.SETTINGS.items() <= dict(spark.sparkContext.getConf().getAll()).items()
