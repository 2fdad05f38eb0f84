"""A session at a Spark Connect server through the public surface: sketches, changes of others, names, values, errors, cancelling."""

from __future__ import annotations

import datetime
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from sqlalchemy import create_engine, inspect, text

import imp_driver
from imp_driver.spark import connect
from imp_driver.values.report import SketchReport
from tests.connect.relay import Relay
from tests.connect.server import Server

_QUERY = "SELECT shop, sum(price) FROM sales GROUP BY shop HAVING sum(price) > ?"


def _report(cursor: imp_driver.Cursor) -> SketchReport:
    assert cursor.sketch_report is not None
    return cursor.sketch_report


@pytest.fixture(scope="module")
def sales(server: Server) -> Iterator[None]:
    """A clustered table: 40 shops with 10 rows each, 4 files."""
    with imp_driver.connect(server.url) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE sales (shop INT, price DECIMAL(9,2)) USING DELTA")
        for part in range(4):
            rows = f"SELECT CAST(id % 10 + {part * 10} AS INT), CAST(id % 10 AS DECIMAL(9,2)) FROM range(100)"
            cursor.execute(f"INSERT INTO sales {rows}")
        yield


@pytest.mark.usefixtures("sales")
def test_a_sketch_is_captured_used_and_maintained(server: Server, cursor: imp_driver.Cursor) -> None:
    assert len(cursor.execute(_QUERY, (80,)).fetchall()) == 4
    assert (_report(cursor).decision.name, _report(cursor).reason.name) == ("CAPTURED", "FILTERED")
    cursor.execute(_QUERY, (85,)).fetchall()
    assert _report(cursor).decision.name == "FRESH"
    assert cursor.execute("INSERT INTO sales VALUES (3, 1000)").rowcount == 1
    assert len(cursor.execute(_QUERY, (80,)).fetchall()) == 5
    assert _report(cursor).decision.name == "MAINTAINED"
    # Another writer, without Spark.
    rows = pa.table({"shop": pa.array([4], pa.int32()), "price": pa.array([Decimal("2000.00")], pa.decimal128(9, 2))})
    write_deltalake(str(server.folder / "warehouse" / "sales"), rows, mode="append")
    found = cursor.execute(_QUERY, (800,)).fetchall()
    assert {shop for shop, _ in found} == {3, 4}
    assert _report(cursor).decision.name == "MAINTAINED"


@pytest.mark.usefixtures("sales")
def test_rows_come_from_groups_where_the_server_is_promised_to_have_no_rules(server: Server) -> None:
    text = "SELECT shop % 3 AS k, sum(price) AS s, count(*) AS n, max(price) AS m FROM sales GROUP BY shop % 3 ORDER BY k"
    with imp_driver.connect(server.url, row_rules="none", policy="incremental") as connection, imp_driver.connect(server.url) as plain:
        cursor, other = connection.cursor(), plain.cursor()
        assert cursor.execute(text).fetchall() == other.execute(text).fetchall()
        refused = _report(other).not_answered
        assert refused is not None
        assert refused.reason.name == "NOT_PERMITTED"
        for change in ("INSERT INTO sales VALUES (7, 12.25)", "DELETE FROM sales WHERE price = 12.25"):
            other.execute(change)
            assert cursor.execute(text).fetchall() == other.execute(text).fetchall()
            assert (_report(cursor).served_by.name, _report(cursor).decision.name) == ("STATE", "MAINTAINED")


@pytest.mark.usefixtures("sales")
def test_the_server_reads_changes_at_a_location_with_its_scheme(server: Server, connection: imp_driver.Connection) -> None:
    folder = f"file:{server.folder / 'warehouse' / 'sales'}"
    assert connection.execute(f"SELECT count(*) FROM table_changes_by_path('{folder}', 1, 1)").fetchall() == [(100,)]


@pytest.mark.usefixtures("sales")
def test_a_temporary_view_hides_the_table(cursor: imp_driver.Cursor) -> None:
    cursor.execute("CREATE TEMPORARY VIEW sales AS SELECT 1 AS shop, 1.0 AS price")
    assert cursor.execute(_QUERY, (0,)).fetchall() == [(1, Decimal("1.0"))]
    assert _report(cursor).reason.name == "TEMPORARY_VIEW"


@pytest.mark.usefixtures("sales")
def test_a_view_runs_unchanged(cursor: imp_driver.Cursor) -> None:
    cursor.execute("CREATE OR REPLACE VIEW some_sales AS SELECT * FROM sales")
    cursor.execute(_QUERY.replace("sales", "some_sales"), (80,)).fetchall()
    assert _report(cursor).reason.name == "VIEW"


@pytest.mark.usefixtures("sales")
def test_settings_are_read_again_when_they_may_have_changed(connection: imp_driver.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute(_QUERY, (80,)).fetchall()
    cursor.execute("SET spark.sql.caseSensitive = true")
    cursor.execute(_QUERY, (80,)).fetchall()
    assert _report(cursor).reason.name == "UNSUPPORTED_SETTING"


@pytest.mark.parametrize(
    ("value", "type_name"),
    [
        (1, "int"),
        (2**31, "bigint"),
        (float("inf"), "double"),
        (Decimal("12.340"), "decimal(5,3)"),
        ("it's `\\ \n 'quoted' é𝔷", "string"),
        (b"\x00\xff", "binary"),
        (datetime.date(1582, 10, 4), "date"),
        (datetime.datetime(2024, 3, 31, 1, 30, 0, 123456), "timestamp_ntz"),
        (datetime.datetime(2024, 3, 31, 1, 30, tzinfo=datetime.UTC), "timestamp"),
        (None, "void"),
    ],
)
def test_parameters_keep_value_and_type(connection: imp_driver.Connection, value: Any, type_name: str) -> None:
    assert connection.execute("SELECT ?, typeof(:v)".replace(":v", "?"), (value, value)).fetchone() == (value, type_name)
    assert connection.execute("SELECT :v", {"v": value}).fetchone() == (value,)


def test_values_arrive_as_from_the_embedded_engine(connection: imp_driver.Connection) -> None:
    connection.execute("SET TIME ZONE 'America/New_York'")
    row = connection.execute(
        "SELECT TIMESTAMP '2024-01-01 00:00:00' AS at, array(TIMESTAMP '2024-01-01 00:00:00'), map('a', TIMESTAMP '2024-01-01 00:00:00'), "
        "named_struct('x', array(1, NULL)), INTERVAL '1' DAY, CAST(NULL AS INT) AS nothing"
    ).fetchone()
    moment = datetime.datetime(2024, 1, 1, 5, tzinfo=datetime.UTC)
    assert row == (moment, [moment], {"a": moment}, {"x": [1, None]}, datetime.timedelta(days=1), None)
    empty = connection.execute("SELECT 1 AS one WHERE 1 = 0")
    assert (empty.description or [])[0][0] == "one"
    assert empty.fetchall() == []


@pytest.mark.parametrize(
    ("statement", "kind", "error_class", "place"),
    [
        ("SELEC 1", imp_driver.ProgrammingError, "PARSE_SYNTAX_ERROR", (1, 1)),
        ("SELECT\n  nope", imp_driver.ProgrammingError, "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", (2, 3)),
        ("SELECT * FROM nowhere", imp_driver.ProgrammingError, "TABLE_OR_VIEW_NOT_FOUND", (1, 15)),
        ("SELECT 1/0", imp_driver.DataError, "DIVIDE_BY_ZERO", (1, 8)),
        ("SELECT CAST('x' AS INT)", imp_driver.DataError, "CAST_INVALID_INPUT", (1, 8)),
        ("INSERT INTO checked VALUES (-1)", imp_driver.IntegrityError, "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", None),
    ],
)
def test_errors(
    connection: imp_driver.Connection, statement: str, kind: type[imp_driver.Error], error_class: str, place: tuple[int, int] | None
) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS checked (a INT) USING DELTA TBLPROPERTIES ('delta.constraints.c' = 'a > 0')")
    with pytest.raises(kind) as caught:
        connection.execute(statement).fetchall()
    error = caught.value
    assert error.error_class == error_class
    assert (None if error.position is None else (error.position.line, error.position.column)) == place
    assert "stacktrace" not in str(error)
    assert str(error).startswith("[")


def test_a_running_query_is_cancelled(connection: imp_driver.Connection) -> None:
    cursor = connection.cursor()
    raised: list[imp_driver.Error] = []

    def run() -> None:
        try:
            cursor.execute("SELECT max(a.id * b.id % 7) FROM range(1000000) a CROSS JOIN range(1000000) b").fetchall()
        except imp_driver.Error as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while cursor.query_id is None:
        time.sleep(0.01)
    time.sleep(1)
    cursor.cancel()
    thread.join(60)
    assert [(type(error), error.error_class) for error in raised] == [(imp_driver.OperationalError, "OPERATION_CANCELLED")]
    assert connection.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_session_of_the_application(server: Server) -> None:
    from pyspark.sql.connect.session import SparkSession

    spark = SparkSession(connection=f"sc://127.0.0.1:{server.port}")
    spark.sql("CREATE TEMPORARY VIEW only_here AS SELECT 7 AS x")
    with imp_driver.connect(session=spark) as connection:
        assert connection.execute("SELECT x FROM only_here").fetchall() == [(7,)]
    assert not spark.is_stopped
    spark.stop()
    with pytest.raises(imp_driver.InterfaceError, match="stopped"):
        imp_driver.connect(session=spark)


def test_sqlalchemy(server: Server) -> None:
    engine = create_engine(f"imp+connect://me@127.0.0.1:{server.port}/default", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS reflected (a INT NOT NULL, b VARCHAR(3)) USING DELTA COMMENT 'few'"))
        assert connection.execute(text("SELECT :a + 1"), {"a": 2}).scalar_one() == 3
        inspector = inspect(connection)
        assert "reflected" in inspector.get_table_names()
        columns = [(each["name"], str(each["type"]), each["nullable"]) for each in inspector.get_columns("reflected")]
        assert columns == [("a", "INTEGER", False), ("b", "VARCHAR(3)", True)]
        assert inspector.get_table_comment("reflected") == {"text": "few"}
    engine.dispose()


def test_a_server_that_is_gone(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "RETRIES", 1)  # The delays between them add up to seconds for each statement.
    with Relay(server.port) as relay:
        url = f"imp+connect://127.0.0.1:{relay.port}"
        connection = imp_driver.connect(url)
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
        under_way = connection.execute("SELECT id, repeat('x', 180) FROM range(0, 400000, 1, 8)")
        assert len(under_way.fetchmany(10)) == 10
        relay.cut()
        # A result that was on its way does not end as if it were whole.
        with pytest.raises(imp_driver.OperationalError) as caught:
            under_way.fetchall()
        assert caught.value.error_class == imp_driver.CONNECTION_LOST
        for _ in range(2):
            with pytest.raises(imp_driver.OperationalError) as caught:
                connection.execute("SELECT 1")
            assert caught.value.error_class == imp_driver.CONNECTION_LOST
        connection.close()
        with pytest.raises(imp_driver.OperationalError, match="does not answer") as caught:
            imp_driver.connect(url)
        assert caught.value.error_class == imp_driver.CONNECTION_LOST
