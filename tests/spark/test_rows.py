"""Blocks of rows: joins and filtered tables without groups of their own, cut on a column that the files are clustered by."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import imp_driver
from imp_driver.reasons import Decision, Reason
from tests.spark.reports import report_of
from tests.spark.stream_of_changes import Stream

_numbers = itertools.count()


def made_by(run: Callable[[str], object]) -> dict[str, str]:
    """``r``: days 0 to 99, ten rows a day, ten files by day, one kind of 0 to 9 for ten days.

    Every file has kinds -9 and 99 too, so that its bounds say nothing of the kind. ``s``: kind 3 is the only one wanted.
    """
    number = next(_numbers)
    names = {"r": f"rows_r{number}", "s": f"rows_s{number}"}
    run(
        f"CREATE TABLE {names['r']} USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE(10, day) */ CAST(id DIV 10 AS INT) AS day, "
        "CAST(CASE id % 10 WHEN 0 THEN -9 WHEN 9 THEN 99 ELSE id DIV 100 END AS INT) AS kind, id AS x FROM range(1000)"
    )
    run(f"CREATE TABLE {names['s']} USING DELTA AS SELECT CAST(id AS INT) AS kind, id = 3 AS wanted FROM range(10)")
    return names


@pytest.fixture
def tables(cursor: imp_driver.Cursor) -> dict[str, str]:
    return made_by(cursor.execute)


CUT = (
    "SELECT r.x, s.kind FROM {r} r JOIN {s} s ON r.kind = s.kind WHERE s.wanted",
    "SELECT count(*), sum(x) FROM {r} WHERE kind = 3",
    "SELECT x FROM {r} WHERE kind IN (SELECT kind FROM {s} WHERE wanted)",
    "SELECT DISTINCT day FROM {r} WHERE kind = 3 AND x > 0 ORDER BY day LIMIT 4",
    "SELECT day DIV 2 AS pair, avg(x) FROM {r} WHERE kind = 3 GROUP BY day DIV 2",
    "SELECT kind FROM {s} UNION ALL SELECT day FROM {r} WHERE kind = 3",
    "SELECT x, count(*) OVER (PARTITION BY day) FROM {r} WHERE kind = 3",
)


CHANGES = (
    "INSERT INTO {r} VALUES (150, 3, 5000), (NULL, 3, 800), (1, NULL, 1)",
    "DELETE FROM {r} WHERE day IN (31, 32)",
    "UPDATE {r} SET kind = 3 WHERE day = 77",
)


@pytest.fixture(scope="module")
def stream(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stream]:
    """All queries of ``CUT``, asked twice before and once after each change."""
    with closing(Stream(warehouse, tmp_path_factory.mktemp("stores"))) as stream:
        names = made_by(stream.run)
        for _ in stream.turns([change.format(**names) for change in CHANGES], before=2):
            for query in CUT:
                stream.ask(query, query.format(**names))
        yield stream


@pytest.mark.parametrize("query", CUT)
def test_rows_are_cut_and_follow_every_table(stream: Stream, query: str) -> None:
    first, second, *later = stream.reports(query)
    assert (first.decision, first.reason) == (Decision.NOT_USED, Reason.CAPTURE_DEFERRED)
    assert (second.decision, second.reason) == (Decision.CAPTURED, Reason.FILTERED)
    assert second.attribute in ("day", "x")
    assert [(report.decision, report.reason) for report in later] == [(Decision.MAINTAINED, Reason.FILTERED)] * len(CHANGES)


def test_change_of_a_subquery_is_followed(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    text = f"SELECT x FROM {tables['r']} WHERE kind IN (SELECT kind FROM {tables['s']} WHERE wanted)"
    for _ in range(2):
        assert len(cursor.execute(text).fetchall()) == 80
    for wanted, rows in ((True, 160), (False, 80)):
        cursor.execute(f"UPDATE {tables['s']} SET wanted = {wanted} WHERE kind = 4")
        assert len(cursor.execute(text).fetchall()) == rows
        assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.MAINTAINED, Reason.FILTERED)


def test_states_of_single_values_serve_a_list_together(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    text = f"SELECT x FROM {tables['r']} WHERE kind IN ({{}})"
    for value in (3, 4):
        for _ in range(2):
            cursor.execute(text.format(value)).fetchall()
        assert report_of(cursor).reason is Reason.FILTERED
    assert len(cursor.execute(text.format("4, 3")).fetchall()) == 160
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.FRESH, Reason.FILTERED)
    assert "2 states of other constants together" in report_of(cursor).detail
    cursor.execute(f"INSERT INTO {tables['r']} VALUES (99, 4, 7)")
    assert len(cursor.execute(text.format("4, 3")).fetchall()) == 161
    assert len(cursor.execute(text.format("4, 5")).fetchall()) == 161


def test_condition_on_the_clustered_column_is_left_to_delta(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    cursor.execute(
        f"CREATE TABLE {tables['r']}_day USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE(10, day) */ day, 1 AS one FROM {tables['r']}"
    )
    for _ in range(3):
        cursor.execute(f"SELECT count(*) FROM {tables['r']}_day WHERE day = 7").fetchall()
        assert report_of(cursor).reason is Reason.NOT_CLUSTERED


def test_rows_that_the_querys_own_conditions_find_need_no_sketch(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    for condition in ("day = 31", "day BETWEEN 30 AND 41"):
        for _ in range(3):
            cursor.execute(f"SELECT sum(x) FROM {tables['r']} WHERE {condition} AND kind = 3").fetchall()
            assert report_of(cursor).reason is Reason.NOT_CLUSTERED


def test_char_is_compared_as_spark_compares_it_in_changes_too(cursor: imp_driver.Cursor) -> None:
    name = f"rows_char{next(_numbers)}"
    cursor.execute(f"CREATE TABLE {name} (g INT, c CHAR(4), x INT) USING DELTA")
    cursor.execute(f"INSERT INTO {name} SELECT CAST(id DIV 10 AS INT), 'ab', id FROM range(40)")
    text = f"SELECT g, count(*) FROM {name} WHERE c = 'ab' GROUP BY g HAVING count(*) > 10"
    assert cursor.execute(text).fetchall() == []
    cursor.execute(f"INSERT INTO {name} VALUES (1, 'ab', 5), (2, 'abc', 5)")
    assert cursor.execute(text).fetchall() == [(1, 11)]
    assert report_of(cursor).decision is Decision.MAINTAINED
    cursor.execute(f"ALTER TABLE {name} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)")
    cursor.execute(f"UPDATE {name} SET c = 'ab' WHERE x = 5 AND g = 2")
    assert sorted(cursor.execute(text).fetchall()) == [(1, 11), (2, 11)]


def test_a_column_alone_is_a_condition(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    text = "SELECT day FROM {r} WHERE EXISTS (SELECT 1 FROM {s}_flags WHERE flag) GROUP BY day HAVING sum(x) > 9000".format(**tables)
    cursor.execute(f"CREATE TABLE {tables['s']}_flags USING DELTA AS SELECT false AS flag")
    assert cursor.execute(text).fetchall() == []
    assert report_of(cursor).decision is Decision.CAPTURED
    cursor.execute(f"INSERT INTO {tables['s']}_flags VALUES (true)")
    for _ in range(2):
        assert len(cursor.execute(text).fetchall()) == 10
    assert report_of(cursor).reason is Reason.FILTERED


@pytest.mark.parametrize("column", ["CAST('x' AS BINARY)", "named_struct('a', 1)", "array(1)"])
def test_group_key_without_an_order_runs_unchanged(cursor: imp_driver.Cursor, column: str) -> None:
    name = f"rows_key{next(_numbers)}"
    cursor.execute(f"CREATE TABLE {name} USING DELTA AS SELECT CAST(id DIV 10 AS INT) AS g, {column} AS k FROM range(20)")
    for _ in range(2):
        assert len(cursor.execute(f"SELECT g, k FROM {name} GROUP BY g, k HAVING count(*) > 5").fetchall()) == 2
        assert report_of(cursor).reason is Reason.UNSUPPORTED_EXPRESSION
        assert "group key" in report_of(cursor).detail
