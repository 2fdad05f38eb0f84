"""Recursion by UNION at a Connect server, which may have row rules: its own Spark computes it round by round."""

from __future__ import annotations

import pytest

import imp_driver
from imp_driver.answer.recursion import sorting
from imp_driver.reasons import ServedBy
from tests.connect.server import Server

REACH = (
    "WITH RECURSIVE p(a, b) AS (SELECT src, dst FROM links UNION SELECT p.a, l.dst FROM p JOIN links l ON l.src = p.b) SELECT a, b FROM p"
)


def test_rounds_at_the_server(server: Server) -> None:
    with imp_driver.connect(server.url) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "CREATE OR REPLACE TABLE links AS SELECT * FROM VALUES (1, 2), (2, 3), (3, 1), (3, CAST(NULL AS INT)) AS t(src, dst)"
        )
        rows = cursor.execute(REACH).fetchall()
        assert len(rows) == 12
        report = cursor.sketch_report
        assert report is not None
        assert (report.served_by, report.detail[:9]) == (ServedBy.SPARK_BY_ROUNDS, "rounds: 3")
        assert report.not_answered is not None
        assert report.not_answered.detail.startswith("NOT_PERMITTED")
        cursor.execute("DELETE FROM links WHERE src = 3")
        assert sorted(cursor.execute(REACH).fetchall()) == [(1, 2), (1, 3), (2, 3)]
        with pytest.raises(imp_driver.DataError, match="DIVIDE_BY_ZERO"):
            cursor.execute("WITH RECURSIVE p AS (SELECT 3 AS a UNION SELECT a - 1 FROM p WHERE 6 / (a - 1) > 0) SELECT a FROM p")
        assert [row for row in cursor.execute("SHOW TABLES").fetchall() if "imp_rows" in str(row)] == []


@pytest.mark.parametrize("is_copied", [False, True])
def test_rows_that_the_server_keeps_follow_commits_where_it_has_no_row_rules(
    server: Server, is_copied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "LEAST_ROWS", 0 if is_copied else 1 << 40)
    monkeypatch.setattr(sorting, "SECONDS_PER_ROW", 0.0)
    copied = 0
    with imp_driver.connect(server.url, row_rules="none", recursion="spark") as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE OR REPLACE TABLE links AS SELECT * FROM VALUES (1, 2), (2, 3), (3, 1), (3, 4), (1, 4) AS t(src, dst)")
        assert len(cursor.execute(REACH).fetchall()) == 12
        for statement, rows in (
            ("DELETE FROM links WHERE src = 3 AND dst = 1", [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]),
            ("INSERT INTO links VALUES (4, 3)", [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 3), (3, 4), (4, 3), (4, 4)]),
            ("DELETE FROM links WHERE src = 1", [(2, 3), (2, 4), (3, 3), (3, 4), (4, 3), (4, 4)]),
        ):
            cursor.execute(statement)
            assert sorted(cursor.execute(REACH).fetchall()) == rows
            report = cursor.sketch_report
            assert report is not None
            assert report.served_by is ServedBy.SPARK_BY_ROUNDS
            assert report.detail.startswith("followed: "), report.detail
            copied += "copied: " in report.detail
    assert copied == is_copied
