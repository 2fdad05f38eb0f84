"""Recursions whose rounds Spark computes: rows as in process, errors, cancellation, and that nothing is left behind."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import imp_driver
from imp_driver.answer.recursion import sorting
from imp_driver.reasons import Reason, ServedBy

_REACH = (
    "WITH RECURSIVE reach(src, dst) AS (SELECT src, dst FROM links UNION SELECT l.src, r.dst FROM links l JOIN reach r ON l.dst = r.src) "
)
QUERIES = {
    "linear": _REACH + "SELECT src, dst FROM reach",
    "above": _REACH + "SELECT src, count(*) AS n, max(dst) AS m FROM reach GROUP BY src ORDER BY n DESC, src NULLS LAST LIMIT 3",
    "mutual": "WITH RECURSIVE odd(a, b) AS (SELECT src, dst FROM links UNION SELECT e.a, l.dst FROM even e JOIN links l ON l.src = e.b), "
    "even(a, b) AS (SELECT o.a, l.dst FROM odd o JOIN links l ON l.src = o.b) SELECT a, b FROM even",
    "bound": "WITH RECURSIVE p AS (SELECT src AS a, dst AS b, CAST(cost AS BIGINT) AS c, concat('>', name) AS way FROM links "
    "UNION SELECT p.a, l.dst, p.c + l.cost, concat(p.way, '>', l.name) FROM p JOIN links l ON l.src = p.b WHERE p.c + l.cost < 9) "
    "SELECT a, b, c, way FROM p",
    "shortest": "WITH RECURSIVE p AS (SELECT src AS a, dst AS b, cost AS c FROM links "
    "UNION SELECT p.a, l.dst, p.c + l.cost FROM p JOIN links l ON l.src = p.b) SELECT a, b, min(c) AS c FROM p GROUP BY a, b",
}
ROWS = [
    (1, 2, 1, "a", 1.5),
    (2, 3, 2, "b", -0.0),
    (3, 1, 5, "c", 0.0),
    (3, 4, 1, "d", float("nan")),
    (3, 4, 1, "d", float("nan")),
    (None, 4, 2, None, None),
    (4, None, 2, "e", 0.3),
]


@pytest.fixture(scope="module", autouse=True)
def _links(engine: imp_driver.Connection) -> None:
    engine.cursor().execute("CREATE TABLE links (src INT, dst INT, cost INT, name STRING, weight DOUBLE)")
    _fill(engine.cursor(), ROWS)


def _fill(cursor: imp_driver.Cursor, rows: list[tuple[int | None, int | None, int, str | None, float | None]]) -> None:
    cursor.execute("TRUNCATE TABLE links")
    cursor.executemany("INSERT INTO links VALUES (?, ?, ?, ?, ?)", rows)


@pytest.fixture
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), policy="incremental", recursion="spark") as connection:
        yield connection.cursor()


@pytest.fixture
def other(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    """One whose recursions are computed in process."""
    with imp_driver.connect(warehouse=str(warehouse), policy="incremental", recursion="process") as connection:
        yield connection.cursor()


@pytest.fixture(autouse=True)
def _nothing_is_left(engine: imp_driver.Connection, spark: SparkSession) -> Iterator[None]:
    yield
    # Delta keeps what it knows of its tables, under names.
    assert [rdd.name() for rdd in spark.sparkContext._jsc.getPersistentRDDs().values() if rdd.name() is None] == []


def _rows(cursor: imp_driver.Cursor, text: str) -> list[str]:
    return sorted(map(repr, cursor.execute(text).fetchall()))


def test_rows_are_those_of_the_process(cursor: imp_driver.Cursor, other: imp_driver.Cursor) -> None:
    for name, text in QUERIES.items():
        assert _rows(cursor, text) == _rows(other, text), name
        report = cursor.sketch_report
        assert report is not None
        assert (report.served_by, report.reason) == (ServedBy.SPARK_BY_ROUNDS, Reason.RECURSION_BY_SPARK)
        # The query above the first one reads the same rows.
        assert report.detail.startswith("followed: 0" if name == "above" else "rounds: ")
        assert report.times["rounds"] > 0
        assert cursor.description == other.description
    assert [row for row in cursor.execute("SHOW VIEWS").fetchall() if "imp_rows" in str(row)] == []


def test_a_random_graph_before_and_after_a_change(cursor: imp_driver.Cursor, other: imp_driver.Cursor) -> None:
    choice = random.Random(5)
    _fill(cursor, [(choice.randrange(12), choice.randrange(12), choice.randrange(1, 5), "x", 1.0) for _ in range(16)])
    before = _rows(cursor, QUERIES["linear"])
    assert before == _rows(other, QUERIES["linear"])
    cursor.execute("DELETE FROM links WHERE src % 3 = 1")
    after = _rows(cursor, QUERIES["linear"])
    assert after == _rows(other, QUERIES["linear"]) != before
    cursor.execute("TRUNCATE TABLE links")
    assert cursor.execute(QUERIES["linear"]).fetchall() == []
    _fill(cursor, ROWS)


def test_zeros_and_nan_are_one_value_each(cursor: imp_driver.Cursor) -> None:
    text = "WITH RECURSIVE p AS (SELECT weight AS w FROM links UNION SELECT w / 2 FROM p WHERE w > 0.5) SELECT w FROM p"
    # No number is as large as NaN, half of which is NaN.
    assert _rows(cursor, text) == ["(0.0,)", "(0.3,)", "(0.375,)", "(0.75,)", "(1.5,)", "(None,)", "(nan,)"]


def test_an_error_of_a_round_is_the_one_of_the_query(cursor: imp_driver.Cursor, spark: SparkSession) -> None:
    text = "WITH RECURSIVE p AS (SELECT src AS a FROM links WHERE src = 3 UNION SELECT a - 1 FROM p WHERE 6 / (a - 1) > 0) SELECT a FROM p"
    with pytest.raises(imp_driver.DataError) as caught:
        cursor.execute(text)
    assert caught.value.error_class == "DIVIDE_BY_ZERO"
    with pytest.raises(imp_driver.ProgrammingError, match="nope"):
        cursor.execute(_REACH + "SELECT nope FROM reach")
    assert [row for row in cursor.execute("SHOW TABLES").fetchall() if "imp_rows" in str(row)] == []


def test_a_result_that_is_not_read_to_its_end(cursor: imp_driver.Cursor) -> None:
    cursor.execute(QUERIES["linear"])
    cursor.fetchone()
    cursor.execute("SELECT 1").fetchall()


def test_a_run_is_cancelled(cursor: imp_driver.Cursor) -> None:
    """A recursion that would take minutes: each round is a few tenths of a second."""
    endless = "WITH RECURSIVE p AS (SELECT 1 AS a UNION SELECT a + 1 FROM p) SELECT a FROM p"

    def cancel() -> None:
        while cursor.query_id is None:
            time.sleep(0.01)
        time.sleep(1.0)
        cursor.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(imp_driver.OperationalError, match="cancelled"):
        cursor.execute(endless)
    thread.join()
    assert cursor.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize(("policy", "served_by"), [("AUTO", ServedBy.SPARK_BY_ROUNDS), ("STRICT", ServedBy.STATE)])
def test_a_view(cursor: imp_driver.Cursor, other: imp_driver.Cursor, policy: str, served_by: ServedBy) -> None:
    """The rows of a strict one come from what is maintained, or not at all."""
    other.execute(f"CREATE INCREMENTAL VIEW reached POLICY {policy} AS {QUERIES['linear']}")
    assert _rows(cursor, "SELECT * FROM reached") == _rows(other, "SELECT * FROM reached")
    assert cursor.sketch_report is not None
    assert cursor.sketch_report.served_by is served_by
    other.execute("DROP INCREMENTAL VIEW reached")


def test_versions_that_the_text_asks_for(cursor: imp_driver.Cursor) -> None:
    cursor.execute("CREATE TABLE steps (src INT, dst INT)")
    cursor.execute("INSERT INTO steps VALUES (1, 2), (2, 3)")
    cursor.execute("DELETE FROM steps WHERE src = 2")
    text = (
        "WITH RECURSIVE p(a, b) AS (SELECT src, dst FROM steps {v} UNION SELECT p.a, l.dst FROM p JOIN steps {v} l ON l.src = p.b) "
        "SELECT a, b FROM p"
    )
    assert _rows(cursor, text.format(v="")) == ["(1, 2)"]
    assert _rows(cursor, text.format(v="VERSION AS OF 1")) == ["(1, 2)", "(1, 3)", "(2, 3)"]


def test_what_the_process_does_not_know_is_left_to_spark(warehouse: Path) -> None:
    with imp_driver.connect(warehouse=str(warehouse), policy="incremental") as connection:
        cursor = connection.cursor()
        text = (
            "WITH RECURSIVE p AS (SELECT name AS a FROM links UNION SELECT md5(a) FROM p WHERE length(a) < 9) SELECT length(a) AS n FROM p"
        )
        assert sorted(n or 0 for (n,) in cursor.execute(text).fetchall()) == [0, *[1] * 5, *[32] * 5]
        assert cursor.sketch_report is not None
        assert cursor.sketch_report.served_by is ServedBy.SPARK_BY_ROUNDS
        cursor.execute("SELECT src FROM links WHERE src = 1").fetchall()


def test_commits_are_followed_from_the_rows_that_are_kept(cursor: imp_driver.Cursor, other: imp_driver.Cursor) -> None:
    cursor.execute("CREATE TABLE ways (src INT, dst INT, name STRING, at TIMESTAMP)")
    cursor.execute("INSERT INTO ways SELECT id, id + 1, 'x', TIMESTAMP'2026-01-01 10:00:00' FROM range(4)")
    text = (
        "WITH RECURSIVE p(a, b, n, t) AS (SELECT src, dst, name, at FROM ways "
        "UNION SELECT p.a, l.dst, l.name, p.t FROM p JOIN ways l ON l.src = p.b) SELECT a, b, n, t FROM p"
    )
    assert _rows(cursor, text) == _rows(other, text)
    cursor.execute(
        "MERGE INTO ways USING (SELECT * FROM VALUES (1, 2, 'x'), (0, 3, NULL) AS v(src, dst, name)) AS c "
        "ON ways.src = c.src AND ways.dst = c.dst "
        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (src, dst, name, at) VALUES (c.src, c.dst, c.name, NULL)"
    )
    # A row that has gone before it was ever read.
    cursor.execute("INSERT INTO ways VALUES (4, 9, 'y', NULL)")
    cursor.execute("DELETE FROM ways WHERE dst = 9")
    assert _rows(cursor, text) == _rows(other, text)
    report = cursor.sketch_report
    assert report is not None
    assert report.detail.startswith("followed: ")
    assert [row for row in cursor.execute("SHOW VIEWS").fetchall() if "imp_rows" in str(row)] == []


def test_copies_are_asked_in_the_place_of_tables(
    cursor: imp_driver.Cursor, other: imp_driver.Cursor, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "LEAST_ROWS", 1)
    monkeypatch.setattr(sorting, "SECONDS_PER_ROW", 0.0)
    cursor.execute("CREATE OR REPLACE TABLE sought_steps (src INT, dst INT, `it's` STRING, day DATE, n DECIMAL(4, 1), id INT)")
    cursor.execute("INSERT INTO sought_steps SELECT id, id + 1, 'x', DATE'2026-01-01', 1.5, id FROM range(6)")
    text = (
        "WITH RECURSIVE p(a, b, n, d, m) AS (SELECT src, dst, `it's`, day, n FROM sought_steps "
        "UNION SELECT p.a, l.dst, l.`it's`, p.d, l.n FROM p JOIN sought_steps l ON l.src = p.b) SELECT a, b, n, d, m FROM p"
    )
    assert _rows(cursor, text) == _rows(other, text)
    cursor.execute("INSERT INTO sought_steps VALUES (6, 0, 'it''s', NULL, NULL, 6), (6, 0, 'it''s', NULL, NULL, 7)")
    assert _rows(cursor, text) == _rows(other, text)
    report = cursor.sketch_report
    assert report is not None
    assert report.detail.split("; ")[1:] == ["copied: spark_catalog.default.sought_steps by src, dst"]
    for statement in (
        "DELETE FROM sought_steps WHERE id = 7",
        "UPDATE sought_steps SET dst = NULL, `it's` = NULL WHERE id IN (2, 6)",
        "INSERT INTO sought_steps VALUES (NULL, 3, 'y', NULL, 2, 8), (2, 3, 'x', DATE'2026-01-01', 1.5, 9)",
        "DELETE FROM sought_steps WHERE id = 1",
    ):
        cursor.execute(statement)
        assert _rows(cursor, text) == _rows(other, text)
        report = cursor.sketch_report
        assert report is not None
        assert report.detail.startswith("followed: ")
        assert "copied" not in report.detail
    cursor.connection.close()
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()


_FAR = "date_add(DATE'9999-12-31', 400)"


@pytest.mark.parametrize(
    ("kinds", "statements", "step"),
    [
        (
            "imp_count INT, b INT",
            ("VALUES (1, 2), (1, 2), (2, 3), (NULL, 1)", "VALUES (3, 4)", "VALUES (1, 9)"),
            "SELECT imp_count, b FROM strange UNION SELECT l.imp_count, r.d FROM strange l JOIN r ON l.b = r.s",
        ),
        (
            "a DATE, b DATE",
            (
                f"VALUES (DATE'2020-01-01', DATE'9999-12-31'), (DATE'9999-12-31', {_FAR})",
                "VALUES (DATE'2020-01-02', NULL)",
                f"VALUES ({_FAR}, NULL)",
            ),
            "SELECT a, a FROM strange WHERE a < DATE'2021-01-01' UNION SELECT f.b, r.d FROM strange f JOIN r ON f.a = r.s",
        ),
        (
            "a STRING, t STRING",
            ("VALUES ('a', 'b'), ('b', CAST(X'ff41' AS STRING)), ('c', 'd')", "VALUES ('d', 'e')", "VALUES ('e', 'a')"),
            "SELECT a, a FROM strange WHERE a = 'a' UNION SELECT u.t, r.d FROM strange u JOIN r ON u.a = r.s",
        ),
    ],
    ids=["a name of ours", "dates beyond the years of Python", "text that is no UTF-8"],
)
def test_values_that_the_process_does_not_read_are_computed_anew(
    cursor: imp_driver.Cursor, warehouse: Path, kinds: str, statements: tuple[str, ...], step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "LEAST_ROWS", 0)
    monkeypatch.setattr(sorting, "SECONDS_PER_ROW", 0.0)
    text = f"WITH RECURSIVE r(s, d) AS ({step}) SELECT d IS NULL AS is_null, count(*) AS n, count(s) AS s FROM r GROUP BY d IS NULL"
    cursor.execute(f"CREATE OR REPLACE TABLE strange ({kinds})")
    for statement in (*statements, "DELETE"):
        cursor.execute(
            f"INSERT INTO strange {statement}" if statement != "DELETE" else f"DELETE FROM strange WHERE {kinds.split()[0]} IS NOT NULL"
        )
        found = _rows(cursor, text)
    with imp_driver.connect(warehouse=str(warehouse), policy="incremental", recursion="spark") as anew:
        assert found == _rows(anew.cursor(), text)


_STEPS_THAT_TELL_APART = {
    "CREATE TABLE apart (s INT, d INT, w DOUBLE) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')": "",
    "INSERT INTO apart VALUES (1, 2, 1), (2, 3, 1), (3, 4, 0.0)": "",
    # The column is another one, and no file has changed.
    "ALTER TABLE apart DROP COLUMN w": "a column became another one",
    "INSERT INTO apart VALUES (5, 6, 0.0)": "followed",
    # Equal, and another text.
    "UPDATE apart SET w = -0.0D WHERE s = 5": "has -0.0",
}


def test_what_changed_rows_do_not_tell_is_computed_anew(cursor: imp_driver.Cursor, warehouse: Path) -> None:
    text = (
        "WITH RECURSIVE p(a, b, w) AS (SELECT s, d, CAST(w AS STRING) FROM apart "
        "UNION SELECT p.a, l.d, CAST(l.w AS STRING) FROM p JOIN apart l ON l.s = p.b) SELECT a, b, w FROM p"
    )
    for statement, why in _STEPS_THAT_TELL_APART.items():
        cursor.execute(statement)
        if "DROP COLUMN" in statement:
            cursor.execute("ALTER TABLE apart ADD COLUMN w DOUBLE")
        with imp_driver.connect(warehouse=str(warehouse), policy="incremental", recursion="spark") as anew:
            assert _rows(cursor, text) == _rows(anew.cursor(), text), statement
        report = cursor.sketch_report
        assert report is not None
        assert why in report.detail, statement


def test_columns_whose_values_have_no_order_are_computed_anew(cursor: imp_driver.Cursor) -> None:
    text = "WITH RECURSIVE p(a, b) AS (SELECT s, d FROM kinds UNION SELECT p.a, l.d FROM p JOIN kinds l ON l.s = p.b AND l.m['k'] = 1) "
    cursor.execute("CREATE TABLE kinds (s INT, d INT, m MAP<STRING, INT>)")
    cursor.execute("INSERT INTO kinds VALUES (1, 2, map('k', 1)), (2, 3, map('k', 1))")
    assert _rows(cursor, text + "SELECT a, b FROM p") == ["(1, 2)", "(1, 3)", "(2, 3)"]
    cursor.execute("INSERT INTO kinds VALUES (3, 4, map('k', 2))")
    assert _rows(cursor, text + "SELECT a, b FROM p") == ["(1, 2)", "(1, 3)", "(2, 3)", "(3, 4)"]
    report = cursor.sketch_report
    assert report is not None
    assert "column m of a table is of type map" in report.detail


def test_text_that_is_no_utf8_is_not_read_here(cursor: imp_driver.Cursor) -> None:
    text = "WITH RECURSIVE p(a, b) AS (SELECT s, d FROM bytes UNION SELECT p.a, l.d FROM p JOIN bytes l ON l.s = p.b AND l.t <> 'x') "
    cursor.execute("CREATE TABLE bytes (s INT, d INT, t STRING)")
    cursor.execute("INSERT INTO bytes VALUES (1, 2, 'a')")
    assert _rows(cursor, text + "SELECT a, b FROM p") == ["(1, 2)"]
    cursor.execute("INSERT INTO bytes VALUES (2, 3, CAST(X'ff' AS STRING))")
    assert _rows(cursor, text + "SELECT a, b FROM p") == ["(1, 2)", "(1, 3)", "(2, 3)"]


_DAYS = [f"TIMESTAMP_NTZ'2024-01-0{day} 00:00:00'" for day in (1, 2, 3, 4)]


@pytest.mark.parametrize(("kind", "values"), [("BINARY", ["X'00'", "X'01'", "X'02'", "X'03'"]), ("TIMESTAMP_NTZ", _DAYS)])
def test_values_that_are_not_handed_over_as_they_are_are_computed_anew(cursor: imp_driver.Cursor, kind: str, values: list[str]) -> None:
    name = f"handed_{kind.lower()}"
    cursor.execute(f"CREATE TABLE {name} (src {kind}, dst {kind})")
    step = f"SELECT r.a, l.dst FROM r JOIN {name} l ON r.b = l.src"
    text = f"WITH RECURSIVE r(a, b) AS (SELECT src, dst FROM {name} UNION {step}) SELECT a, b FROM r"
    for number in (1, 2, 3):
        cursor.execute(f"INSERT INTO {name} VALUES ({values[number - 1]}, {values[number]})")
        cursor.execute(text)
        assert len(set(map(str, cursor.fetchall()))) == number * (number + 1) // 2
        assert cursor.sketch_report is not None
        assert cursor.sketch_report.served_by is ServedBy.SPARK_BY_ROUNDS
