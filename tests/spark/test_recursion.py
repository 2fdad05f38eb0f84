"""Recursive queries and views on Spark: rows of a plain fixpoint after each commit, and what other clients see of a recursive view."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import imp_driver
from imp_driver.ports import Moment
from imp_driver.reasons import Decision, ServedBy

_numbers = itertools.count()
REACH = (
    "WITH RECURSIVE reach(src, dst) AS (SELECT src, dst FROM {t} UNION SELECT l.src, r.dst FROM {t} l JOIN reach r ON l.dst = r.src) "
    "SELECT src, dst FROM reach"
)


@pytest.fixture
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse)) as connection:
        yield connection.cursor()


@pytest.fixture
def table(cursor: imp_driver.Cursor) -> str:
    name = f"links{next(_numbers)}"
    cursor.execute(f"CREATE TABLE {name} (src INT, dst INT, cost INT) USING DELTA")
    cursor.execute(f"INSERT INTO {name} VALUES (1, 2, 3), (2, 1, 1), (2, 3, 5), (1, 2, 3)")
    return name


def closure(cursor: imp_driver.Cursor, table: str) -> list[tuple[int, int]]:
    links = set(cursor.execute(f"SELECT src, dst FROM {table}").fetchall())
    found = set(links)
    while more := {(a, d) for a, b in found for c, d in links if b == c} - found:
        found |= more
    return sorted(found)


def test_a_query_over_a_cycle_follows_each_commit(cursor: imp_driver.Cursor, table: str) -> None:
    text = REACH.format(t=table)
    assert sorted(cursor.execute(text).fetchall()) == closure(cursor, table)
    choice = random.Random(5)
    for _ in range(6):
        where, pair = choice.randint(1, 4), (choice.randint(1, 4), choice.randint(1, 4))
        cursor.execute(choice.choice([f"DELETE FROM {table} WHERE dst = {where}", f"INSERT INTO {table} VALUES ({pair[0]}, {pair[1]}, 1)"]))
        rows = sorted(cursor.execute(text).fetchall())
        report = cursor.sketch_report
        assert report is not None
        assert (report.served_by, report.decision) in {(ServedBy.STATE, Decision.MAINTAINED), (ServedBy.STATE, Decision.FRESH)}
        assert rows == closure(cursor, table)


def test_types_and_names_are_those_that_spark_gives_them(cursor: imp_driver.Cursor, table: str) -> None:
    cursor.execute(
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 3) SELECT i, i * 2 AS twice, cost FROM n, {table}"
    )
    assert cursor.description is not None
    assert [column[0] for column in cursor.description] == ["i", "twice", "cost"]
    cursor.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 3) SELECT sum(i) FROM n")
    assert cursor.fetchall() == [(6,)]
    values = "SELECT i, t FROM n JOIN VALUES (2, 'two'), (3, NULL) AS w(k, t) ON k = i UNION ALL SELECT 9, 'nine'"
    cursor.execute(f"WITH RECURSIVE n(i) AS (VALUES (1), (2) UNION SELECT i + 1 FROM n WHERE i < 3) {values}")
    assert sorted(cursor.fetchall(), key=repr) == [(2, "two"), (3, None), (9, "nine")]


@pytest.mark.parametrize("policy", ["STRICT", "AUTO"])
def test_a_view_is_followed_and_read_like_any_other(cursor: imp_driver.Cursor, table: str, policy: str) -> None:
    cursor.execute(f"CREATE INCREMENTAL VIEW {table}_v (a, b) POLICY {policy} AS {REACH.format(t=table)}")
    assert sorted(cursor.execute(f"SELECT * FROM {table}_v").fetchall()) == closure(cursor, table)
    cursor.execute(f"DELETE FROM {table} WHERE src = 2 AND dst = 1")
    assert sorted(cursor.execute(f"SELECT a, b FROM {table}_v").fetchall()) == closure(cursor, table)
    joined = f"SELECT l.cost, v.b FROM {table} l JOIN {table}_v v ON v.a = l.dst"
    assert cursor.execute(joined).fetchall() == [(3, 3), (3, 3)]
    assert cursor.execute(f"SELECT count(*) FROM {table}_v WHERE a = 1").fetchall() == [(2,)]
    assert cursor.sketch_report is not None
    assert cursor.sketch_report.served_by is ServedBy.STATE
    cursor.execute(f"ALTER VIEW {table}_v AS SELECT src AS a, cost AS b FROM {table}")
    assert cursor.execute(f"SELECT * FROM {table}_v").fetchall() == cursor.execute(f"SELECT src, cost FROM {table}").fetchall()
    cursor.execute(f"DROP INCREMENTAL VIEW {table}_v")


def test_another_client_of_the_catalog_gets_an_error_and_no_other_rows(cursor: imp_driver.Cursor, table: str, warehouse: Path) -> None:
    cursor.execute(f"CREATE INCREMENTAL VIEW {table}_v AS {REACH.format(t=table)}")
    cursor.execute(f"TRUNCATE TABLE {table}")
    with imp_driver.connect(warehouse=str(warehouse), sketch="off") as other:
        # Not even where there are none.
        for text in (f"SELECT * FROM {table}_v", f"SELECT count(*) FROM {table}_v", f"SELECT 1 FROM {table}_v WHERE src = 5 LIMIT 1"):
            with pytest.raises(imp_driver.Error, match=r"is a recursive view|is recursive"):
                other.cursor().execute(text).fetchall()
    assert cursor.execute(f"SELECT * FROM {table}_v").fetchall() == []


def test_a_materialized_view_has_the_rows_of_a_recursion(cursor: imp_driver.Cursor, table: str) -> None:
    cursor.execute(f"CREATE MATERIALIZED VIEW {table}_m AS {REACH.format(t=table)}")
    cursor.execute(f"DELETE FROM {table} WHERE src = 2 AND dst = 1")
    cursor.execute(f"REFRESH MATERIALIZED VIEW {table}_m")
    assert sorted(cursor.execute(f"SELECT * FROM {table}_m").fetchall()) == closure(cursor, table)


def test_a_view_is_shown_by_its_own_query(cursor: imp_driver.Cursor, table: str) -> None:
    query = REACH.format(t=table) + " WHERE src <> length('(x\"') \n OR src = 2"
    head = f"CREATE INCREMENTAL VIEW {table}_v (a COMMENT 'an \\'a\\'', b) COMMENT 'all (of them)' POLICY FULL"
    cursor.execute(f"{head} AS {query}")
    definition = cursor.connection.definition(f"{table}_v")
    assert definition is not None
    assert definition.view_text == query
    described = cursor.execute(f"DESCRIBE EXTENDED {table}_v").fetchall()
    assert {row[1] for row in described if str(row[0]) in ("View Text", "View Original Text")} == {query}
    ((text,),) = cursor.execute(f"DESCRIBE TABLE EXTENDED {table}_v AS JSON").fetchall()
    assert json.loads(text)["view_text"] == query
    ((text,),) = cursor.execute(f"SHOW CREATE TABLE {table}_v").fetchall()
    assert "raise_error" not in text
    cursor.execute(f"DROP VIEW {table}_v")
    cursor.execute(text)
    assert cursor.execute(f"SHOW CREATE TABLE {table}_v").fetchall() == [(text,)]
    ((listed,),) = [row[3:] for row in cursor.execute(f"SHOW TABLE EXTENDED LIKE '{table}_v'").fetchall()]
    assert f"View Text: {query}" in listed
    assert "raise_error" not in listed


def test_what_if_of_what_nobody_has_read_or_the_process_does_not_know(cursor: imp_driver.Cursor, table: str) -> None:
    view = f"{table}_supposed"
    cursor.execute(f"CREATE INCREMENTAL VIEW {view} POLICY STRICT AS {REACH.format(t=table)}")
    cursor.execute("DROP STATE ALL")
    assert cursor.execute(f"WHAT IF (DELETE FROM {table} WHERE src = 2 AND dst = 1) SELECT count(*) FROM {view}").fetchall() == [(3,)]
    with pytest.raises(imp_driver.NotSupportedError, match="WHAT IF does not follow this recursion: LEFT_TO_SPARK: CONCAT_WS"):
        cursor.execute(f"WHAT IF (DELETE FROM {table} WHERE src = 2) SELECT concat_ws('-', src, dst) FROM {view}")


def test_what_if(cursor: imp_driver.Cursor, table: str) -> None:
    assert cursor.execute(REACH.format(t=table)).fetchall()
    rows = cursor.execute(f"WHAT IF (DELETE FROM {table} WHERE src = 2 AND dst = 1) {REACH.format(t=table)}").fetchall()
    assert sorted(rows) == [(1, 2), (1, 3), (2, 3)]
    assert len(closure(cursor, table)) == 6


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT j + 1 FROM n) SELECT i FROM n", "`j`"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT nope FROM n", "`nope`"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT i FROM n", "2000 rounds"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i, i FROM n) SELECT i FROM n", "number of columns"),
    ],
)
def test_errors_say_what_is_wrong(cursor: imp_driver.Cursor, text: str, told: str) -> None:
    with pytest.raises((imp_driver.ProgrammingError, imp_driver.NotSupportedError), match=told):
        cursor.execute(text)


def test_rows_expire_by_the_newest_time_of_their_table(cursor: imp_driver.Cursor) -> None:
    name = f"timed{next(_numbers)}"
    cursor.execute(f"CREATE TABLE {name} (src INT, dst INT, ts TIMESTAMP) USING DELTA")
    cursor.execute(
        f"INSERT INTO {name} VALUES (1, 2, TIMESTAMP'2026-01-01 10:00:00'), (2, 3, TIMESTAMP'2026-01-01 10:05:00'), (4, 5, NULL)"
    )
    expiry = f"POLICY STRICT WITH EXPIRY {name} AFTER INTERVAL 10 MINUTES ON ts"
    cursor.execute(f"CREATE INCREMENTAL VIEW {name}_v {expiry} AS {REACH.format(t=name)}")
    assert sorted(cursor.execute(f"SELECT * FROM {name}_v").fetchall()) == [(1, 2), (1, 3), (2, 3)]
    # Exactly as old as is too old.
    cursor.execute(f"INSERT INTO {name} VALUES (7, 8, TIMESTAMP'2026-01-01 10:10:00')")
    assert sorted(cursor.execute(f"SELECT * FROM {name}_v").fetchall()) == [(2, 3), (7, 8)]
    assert cursor.sketch_report is not None
    assert cursor.sketch_report.decision is Decision.MAINTAINED
    cursor.execute(f"DELETE FROM {name} WHERE src = 7")
    assert sorted(cursor.execute(f"SELECT * FROM {name}_v").fetchall()) == [(1, 2), (1, 3), (2, 3)]
    # A WITH inside hides a table there alone.
    inner = "l.src IN (WITH u AS (SELECT 1 AS k) SELECT k FROM u)"
    hidden = f"SELECT l.src, t.dst FROM {name} AS l(src, dst, ts) JOIN {name} t ON l.dst = t.src WHERE {inner}"
    cursor.execute(f"CREATE INCREMENTAL VIEW {name}_w WITH EXPIRY {name} AFTER INTERVAL 10 MINUTES ON ts AS {hidden}")
    assert cursor.execute(f"SELECT * FROM {name}_w").fetchall() == [(1, 3)]


DAYS = "DATE'2026-01-01'", "DATE'2026-01-04'", "DATE'2026-01-11'"
LOCAL = "TIMESTAMP_NTZ'2026-01-01 00:00:00'", "TIMESTAMP_NTZ'2026-01-04 00:00:00'", "TIMESTAMP_NTZ'2026-01-11 00:00:00'"


@pytest.mark.parametrize(("kind", "times", "age"), [("DATE", DAYS, "1 WEEK"), ("TIMESTAMP_NTZ", LOCAL, "168 HOURS")])
def test_rows_expire_by_days_and_by_times_without_a_zone(cursor: imp_driver.Cursor, kind: str, times: tuple[str, ...], age: str) -> None:
    name = f"timed{next(_numbers)}"
    cursor.execute(f"CREATE TABLE {name} (src INT, dst INT, ts {kind}) USING DELTA")
    cursor.execute(f"INSERT INTO {name} VALUES (1, 2, {times[0]}), (2, 3, {times[1]}), (4, 5, NULL)")
    cursor.execute(
        f"CREATE INCREMENTAL VIEW {name}_v POLICY STRICT WITH EXPIRY {name} AFTER INTERVAL {age} ON ts AS {REACH.format(t=name)}"
    )
    assert sorted(cursor.execute(f"SELECT * FROM {name}_v").fetchall()) == [(1, 2), (1, 3), (2, 3)]
    # Exactly as old as is too old.
    cursor.execute(f"INSERT INTO {name} VALUES (7, 8, {times[2]})")
    assert cursor.execute(f"SELECT * FROM {name}_v").fetchall() == [(7, 8)]


def test_rows_expire_by_the_clock(cursor: imp_driver.Cursor, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"timed{next(_numbers)}"
    cursor.execute(f"CREATE TABLE {name} (src INT, dst INT, ts TIMESTAMP) USING DELTA")
    cursor.execute(f"INSERT INTO {name} VALUES (1, 2, TIMESTAMP'2026-01-01 10:00:00Z'), (2, 3, TIMESTAMP'2026-01-01 10:05:00Z')")
    cursor.execute(
        f"CREATE INCREMENTAL VIEW {name}_v WITH EXPIRY {name} AFTER INTERVAL 10 MINUTES ON ts BY CLOCK AS {REACH.format(t=name)}"
    )
    for minute, rows in ((8, [(1, 2), (1, 3), (2, 3)]), (10, [(2, 3)]), (15, []), (8, [(1, 2), (1, 3), (2, 3)])):
        now = datetime(2026, 1, 1, 10, minute, tzinfo=UTC)
        monkeypatch.setattr("imp_driver.spark.session.moment", lambda jvm, zone, now=now: Moment(now.date(), now))
        assert sorted(cursor.execute(f"SELECT * FROM {name}_v").fetchall()) == rows
        assert cursor.sketch_report is not None
        assert cursor.sketch_report.decision is not Decision.CAPTURED or minute == 8


UNFIT = (
    ("WITH EXPIRY nothing AFTER INTERVAL 1 DAY ON ts", "does not read `nothing`"),
    ("WITH EXPIRY {t} AFTER INTERVAL 1 FORTNIGHT ON ts", "FORTNIGHT"),
    ("WITH EXPIRY {t} AFTER 10 MINUTES ON ts", "INTERVAL"),
    ("WITH EXPIRY {t} AFTER INTERVAL 1 DAY ON nope", "`nope`"),
    ("WITH EXPIRY {t} AFTER INTERVAL 1 DAY ON cost", "cost of `links.*` is INT; rows expire by a TIMESTAMP, a TIMESTAMP_NTZ or a DATE"),
    ("WITH EXPIRY default.{t} AFTER INTERVAL 1 DAY ON ts", "in one way"),
)


def test_an_expiry_that_cannot_be_is_an_error(cursor: imp_driver.Cursor, table: str) -> None:
    for clause, told in UNFIT:
        with pytest.raises(imp_driver.Error, match=told):
            cursor.execute(f"CREATE INCREMENTAL VIEW {table}_v {clause.format(t=table)} AS {REACH.format(t=table)}")
    assert not [row for row in cursor.execute("SHOW INCREMENTAL VIEWS").fetchall() if f"{table}_v" in row[0]]


def test_why_a_row_is_there(cursor: imp_driver.Cursor) -> None:
    """The worked example of the paper (figures 2 and 5), and what a deletion leaves of it."""
    name = f"named{next(_numbers)}"
    cursor.execute(f"CREATE TABLE {name} (src STRING, dst STRING, since DATE) USING DELTA")
    cursor.execute(f"INSERT INTO {name} SELECT *, DATE'2026-02-03' FROM VALUES ('A', 'B'), ('B', 'C'), ('C', 'A'), ('C', 'B')")
    cursor.execute(f"CREATE INCREMENTAL VIEW {name}_v WITH PROVENANCE AS {REACH.format(t=name)}")
    why = f"EXPLAIN WHY SELECT * FROM {name}_v WHERE src = 'B' AND dst = 'B'"

    def shown(*links: str) -> list[str]:
        return [f"spark_catalog.default.{name} (src = {link[0]}, dst = {link[1]}, since = 2026-02-03)" for link in links]

    rows = cursor.execute(why).fetchall()
    assert [(row[0], row[1]) for row in rows] == [(1, "src = B, dst = B")] * 5
    assert [row[3] for row in rows if row[2] == 1] == shown("BC", "CB")
    assert [row[3] for row in rows if row[2] == 2] == shown("AB", "BC", "CA")
    cursor.execute(f"DELETE FROM {name} WHERE src = 'C' AND dst = 'B'")
    assert [row[3] for row in cursor.execute(why).fetchall()] == shown("AB", "BC", "CA")
    assert len(cursor.execute(f"SELECT * FROM {name}_v").fetchall()) == 9
    first = cursor.execute(f"EXPLAIN WHY UP TO 1 SELECT dst FROM {name}_v WHERE src = 'A' ORDER BY dst DESC LIMIT 2").fetchall()
    assert [(row[0], row[1], row[3]) for row in first if row[0] == 1] == [(1, "dst = C", each) for each in shown("AB", "BC")]
    by_value = cursor.execute(f"EXPLAIN WHY SELECT * FROM {name}_v WHERE src = ? AND dst = ?", ("B", "B")).fetchall()
    assert [row[3] for row in by_value] == shown("AB", "BC", "CA")
    bounded = REACH.format(t=name).replace("l.dst = r.src", "l.dst = r.src AND l.since > DATE'2027-01-01'")
    cursor.execute(f"CREATE INCREMENTAL VIEW {name}_b WITH PROVENANCE AS {bounded}")
    assert len(cursor.execute(f"EXPLAIN WHY SELECT * FROM {name}_b").fetchall()) == 3
    grouped = f"SELECT src, count(*) AS n FROM ({REACH.format(t=name)}) GROUP BY src"
    with pytest.raises(imp_driver.NotSupportedError, match="aggregate"):
        cursor.execute(f"CREATE INCREMENTAL VIEW {name}_g WITH PROVENANCE AS {grouped}")
    with pytest.raises(imp_driver.NotSupportedError, match="aggregate"):
        cursor.execute(f"EXPLAIN WHY SELECT count(*) FROM {name}_v")
    with pytest.raises(imp_driver.NotSupportedError, match="WITH PROVENANCE"):
        cursor.execute(f"EXPLAIN WHY {REACH.format(t=name)}")
    with pytest.raises(imp_driver.ProgrammingError, match="WITH RECURSIVE"):
        cursor.execute(f"CREATE INCREMENTAL VIEW {name}_w WITH PROVENANCE AS SELECT * FROM {name}")
