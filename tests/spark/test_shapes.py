"""Blocks inside larger queries: each shape is run in shadow mode, cut, before and after changes of every table it reads."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.reasons import Decision, Reason
from tests.spark.reports import report_of
from tests.spark.stream_of_changes import Stream

_numbers = itertools.count()


def made_by(run: Callable[[str], object]) -> dict[str, str]:
    """``r``: ten groups of ten rows, g, x = 10 * g + 0..9, one file per two groups; ``s``: k, label for even k."""
    number = next(_numbers)
    names = {"r": f"shape_r{number}", "s": f"shape_s{number}"}
    run(
        f"CREATE TABLE {names['r']} USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE(5, g) */ CAST(id DIV 10 AS INT) AS g, id AS x "
        "FROM range(100)"
    )
    run(f"CREATE TABLE {names['s']} USING DELTA AS SELECT CAST(id * 2 AS INT) AS k, concat('l', id) AS label FROM range(5)")
    return names


@pytest.fixture
def tables(cursor: imp_driver.Cursor) -> dict[str, str]:
    return made_by(cursor.execute)


CUT = (
    "WITH big AS (SELECT g, sum(x) AS t FROM {r} GROUP BY g HAVING sum(x) > 700) SELECT big.g, t, label FROM big LEFT JOIN {s} ON k = g",
    "SELECT label, b.t FROM {s} JOIN (SELECT g, sum(x) AS t FROM {r} GROUP BY g) b ON b.g = k WHERE b.t > 700",
    "SELECT label FROM {s} WHERE k IN (SELECT g FROM {r} GROUP BY g HAVING min(x) > 60)",
    "SELECT label FROM {s} WHERE NOT EXISTS (SELECT 1 FROM (SELECT g FROM {r} GROUP BY g HAVING max(x) > 60) b WHERE b.g = k)",
    "SELECT g FROM {r} GROUP BY g HAVING sum(x) > 700 UNION ALL SELECT k FROM {s}",
    "SELECT g, avg(x) FROM {r} GROUP BY g HAVING avg(x) > 70 AND sum(x) > (SELECT count(*) FROM {s})",
    "SELECT g FROM {r} GROUP BY g HAVING avg(x) > 70 AND g IN (SELECT k FROM {s}) ORDER BY g LIMIT 1",
    "SELECT t, count(*) FROM (SELECT g, sum(x) DIV 500 AS t FROM {r} GROUP BY g HAVING sum(x) > 700) b GROUP BY t",
    "SELECT x FROM {r} WHERE g IN (SELECT g FROM {r} GROUP BY g HAVING sum(x) > 900)",
    "SELECT g, t, row_number() OVER (ORDER BY t DESC, g) AS place FROM (SELECT g, sum(x) AS t FROM {r} GROUP BY g HAVING sum(x) > 700) b",
    "SELECT a.g, b.t FROM (SELECT g FROM {r} GROUP BY g ORDER BY sum(x) DESC, g LIMIT 2) a "
    "JOIN (SELECT g, count(*) AS t FROM {r} GROUP BY g HAVING count(*) > 5) b ON a.g = b.g",
    "SELECT g FROM {r} GROUP BY g HAVING sum(x) > 700 EXCEPT SELECT k FROM {s} WHERE label > 'l3'",
    "SELECT g, sum(x) AS t FROM {r} GROUP BY g ORDER BY t DESC LIMIT 2",
    "SELECT label FROM {s} JOIN (SELECT g, sum(x) AS t FROM {r} GROUP BY g ORDER BY t DESC LIMIT 1 OFFSET 1) b ON b.g = k",
    "SELECT g, count(DISTINCT x) AS n, avg(x) FROM {r} GROUP BY g HAVING count(DISTINCT x) >= 10 AND g > 6",
    "SELECT g, count(DISTINCT x + 1) AS n FROM {r} GROUP BY g ORDER BY n DESC, g LIMIT 1",
)


CHANGES = (
    "INSERT INTO {r} VALUES (2, 5000), (11, 800), (NULL, 900)",
    "UPDATE {s} SET k = k + 3 WHERE k IN (2, 8)",
    "UPDATE {r} SET x = x - 95 WHERE g IN (8, 9) AND x > 82",
)


@pytest.fixture(scope="module")
def stream(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stream]:
    """All queries of ``CUT``, asked before and after each change."""
    with closing(Stream(warehouse, tmp_path_factory.mktemp("stores"))) as stream:
        names = made_by(stream.run)
        for _ in stream.turns([change.format(**names) for change in CHANGES]):
            for query in CUT:
                stream.ask(query, query.format(**names))
        yield stream


@pytest.mark.parametrize("query", CUT)
def test_block_is_cut_and_its_answer_follows_every_table(stream: Stream, query: str) -> None:
    first, *later = stream.reports(query)
    assert (first.decision, first.reason, first.attribute) == (Decision.CAPTURED, Reason.FILTERED, "g")
    assert len(later) == len(CHANGES)
    assert {report.decision for report in later} <= {Decision.MAINTAINED, Decision.FRESH}
    assert {report.reason for report in later} <= {Reason.FILTERED, Reason.COVERS_ALMOST_ALL}


def test_two_blocks_have_a_sketch_each(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    text = (
        "SELECT a.g, b.g FROM (SELECT g FROM {r} GROUP BY g HAVING sum(x) > 900) a "
        "CROSS JOIN (SELECT g FROM {r} GROUP BY g HAVING min(x) < 10) b"
    ).format(**tables)
    assert cursor.execute(text).fetchall() == [(9, 0)]
    report = report_of(cursor)
    assert len(report.also) == 1
    assert {report.sketch_id, report.also[0].sketch_id} - {None} == {report.sketch_id, report.also[0].sketch_id}
    assert report.sketch_id != report.also[0].sketch_id
    assert report.executed_sql.count("VERSION AS OF") == 2
    assert "`g` < " in report.executed_sql
    assert "`g` >= " in report.executed_sql


def test_top_without_tie_break_is_cut_unless_rows_tie_where_it_ends(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    text = f"SELECT g, sum(x) AS t FROM {tables['r']} GROUP BY g ORDER BY t DESC LIMIT 2"
    assert cursor.execute(text).fetchall() == [(9, 945), (8, 845)]
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.CAPTURED, Reason.FILTERED)
    cursor.execute(f"INSERT INTO {tables['r']} VALUES (7, 100)")
    first, second = cursor.execute(text).fetchall()
    assert (first, second[1]) == ((9, 945), 845)
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.NOT_USED, Reason.TIE_AT_LIMIT)
    assert report_of(cursor).detail.startswith("rows 2 and 3")
    assert report_of(cursor).executed_sql == text
    cursor.execute(f"INSERT INTO {tables['r']} VALUES (7, 1)")
    assert cursor.execute(text).fetchall() == [(9, 945), (7, 846)]
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.MAINTAINED, Reason.FILTERED)


def test_tie_between_rows_inside_the_top_or_behind_it_matters_not(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    cursor.execute(f"INSERT INTO {tables['r']} VALUES (8, 100), (5, 100)")
    text = f"SELECT g, sum(x) AS t FROM {tables['r']} GROUP BY g ORDER BY t DESC LIMIT 3"
    assert sorted(cursor.execute(text).fetchall()) == [(7, 745), (8, 945), (9, 945)]
    assert report_of(cursor).reason is Reason.FILTERED


@pytest.mark.parametrize(
    ("top", "reason"),
    [
        ("count(*) LIMIT 1", Reason.TIE_AT_LIMIT),
        ("sum(x) LIMIT 1", Reason.FILTERED),
        ("approx_count_distinct(x) LIMIT 1", Reason.UNSUPPORTED_AGGREGATE),
    ],
)
def test_top_that_may_tie_beside_another_block(cursor: imp_driver.Cursor, tables: dict[str, str], top: str, reason: Reason) -> None:
    text = (
        f"SELECT a.g, b.n FROM (SELECT g FROM {tables['r']} GROUP BY g HAVING sum(x) > 900) a "
        f"CROSS JOIN (SELECT count(*) AS n FROM (SELECT g FROM {tables['r']} GROUP BY g ORDER BY {top}) t) b"
    )
    assert cursor.execute(text).fetchall() == [(9, 1)]
    assert report_of(cursor).reason is reason
    assert (report_of(cursor).executed_sql == text) is (reason is not Reason.FILTERED)


def test_occurrence_that_is_not_cut_reads_the_same_version(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    text = f"SELECT x FROM {tables['r']} WHERE g IN (SELECT g FROM {tables['r']} GROUP BY g HAVING sum(x) > 900)"
    cursor.execute(text).fetchall()
    assert report_of(cursor).executed_sql.count(f"VERSION AS OF {report_of(cursor).version}") == 2


def test_table_with_a_name_and_a_path_is_read_at_one_version(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    path = cursor.execute(f"DESCRIBE DETAIL {tables['r']}").fetch_arrow_table().column("location")[0].as_py().removeprefix("file:")
    text = f"SELECT x FROM delta.`{path}` WHERE g IN (SELECT g FROM {tables['r']} GROUP BY g HAVING sum(x) > 900)"
    assert sorted(cursor.execute(text).fetchall()) == [(x,) for x in range(90, 100)]
    assert report_of(cursor).executed_sql.count(f"VERSION AS OF {report_of(cursor).version}") == 2


def test_common_table_that_is_read_twice_is_cut_when_every_reading_is(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    text = f"WITH q AS (SELECT g FROM {tables['r']} GROUP BY g HAVING sum(x) > 700) SELECT a.g FROM q a JOIN q b ON a.g = b.g"
    assert sorted(cursor.execute(text).fetchall()) == [(7,), (8,), (9,)]
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.CAPTURED, Reason.FILTERED)
    assert len(report_of(cursor).also) == 1
    assert report_of(cursor).executed_sql.count("`g` >= ") == 1
    both = f"WITH q AS (SELECT g, sum(x) AS t FROM {tables['r']} GROUP BY g) SELECT a.g, b.g FROM q a JOIN q b ON a.t = b.t + 900"
    assert cursor.execute(f"{both} WHERE a.t > 900 AND b.t < 100").fetchall() == [(9, 0)]
    assert report_of(cursor).reason is Reason.FILTERED
    assert cursor.execute(f"{both} WHERE a.t > 900").fetchall() == [(9, 0)]
    assert report_of(cursor).reason in (Reason.READ_TWICE, Reason.NO_FILTER_ABOVE_GROUPS)
    rows = f"WITH q AS (SELECT * FROM {tables['r']}) SELECT g FROM q WHERE x IN (SELECT x FROM q) GROUP BY g HAVING sum(x) > 900"
    assert cursor.execute(rows).fetchall() == [(9,)]
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.NOT_USED, Reason.READ_TWICE)


def test_explain_prints_the_derivation(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    cursor.execute(
        f"EXPLAIN SKETCH SELECT label FROM {tables['s']} WHERE k IN (SELECT g FROM {tables['r']} GROUP BY g HAVING min(x) > 60 AND g < 9)"
    )
    lines = [row[0] for row in cursor.fetchall()]
    assert any("ALIGNED" in line and "every group lies in one fragment" in line for line in lines)
    assert any("is cut on g" in line for line in lines)
    assert any("PINNED" in line for line in lines)


def test_changing_conditions_on_keys_need_one_more_capture_and_then_none(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    query = f"SELECT g, sum(x) FROM {tables['r']} WHERE g >= ? AND g <> ? GROUP BY g HAVING max(x) > ?"
    decisions = []
    for constants in ((7, 8, 50), (2, 3, 40), (1, 9, 80), (8, 1, 10), (7, 8, 60)):
        expected = [
            (g, sum(range(10 * g, 10 * g + 10))) for g in range(constants[0], 10) if g != constants[1] and 10 * g + 9 > constants[2]
        ]
        assert sorted(cursor.execute(query, constants).fetchall()) == expected
        decisions.append(report_of(cursor).decision)
    assert decisions == [Decision.CAPTURED, Decision.CAPTURED, Decision.FRESH, Decision.FRESH, Decision.FRESH]
    cursor.execute(f"INSERT INTO {tables['r']} VALUES (5, 1000)")
    assert sorted(cursor.execute(query, (5, 9, 500)).fetchall()) == [(5, sum(range(50, 60)) + 1000)]
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.MAINTAINED, Reason.FILTERED)


def test_guard_returns_the_plain_rows_and_disables_the_template(warehouse: Path, tables: dict[str, str]) -> None:
    query = f"SELECT g FROM {tables['r']} GROUP BY g HAVING sum(x) > ?"
    with imp_driver.connect(warehouse=str(warehouse), sketch_guard=1, answers="off") as connection:
        cursor = connection.cursor()
        cursor.execute(query, (900,))
        assert (report_of(cursor).reason, cursor.fetchall()) == (Reason.FILTERED, [(9,)])
        _pretend_that_the_sketch_is_up_to_date(cursor, tables["r"], report_of(cursor).sketch_id)
        assert sorted(cursor.execute(query, (900,)).fetchall()) == [(1,), (9,)]
        assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.NOT_USED, Reason.TEMPLATE_DISABLED)
        assert sorted(cursor.execute(query, (800,)).fetchall()) == [(1,), (8,), (9,)]
        assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.NOT_USED, Reason.TEMPLATE_DISABLED)
        cursor.execute(f"SELECT g FROM {tables['r']} GROUP BY g HAVING max(x) > 95").fetchall()
        assert report_of(cursor).reason is Reason.FILTERED


def _pretend_that_the_sketch_is_up_to_date(cursor: imp_driver.Cursor, table: str, sketch_id: str | None) -> None:
    """Insert a group's worth of rows and move the version of the sketch's state along without them."""
    cursor.execute(f"INSERT INTO {table} VALUES (1, 5000)")
    pipeline: Any = cursor.connection._pipeline
    (relation,) = [each for each in pipeline.inner._sketches.relations.registry.relations() if each.identifier == sketch_id]
    version = report_of(cursor).version
    assert version is not None
    relation._vector = {location: replace(each, version=version, rows=(each.rows or 0) + 1) for location, each in relation.vector.items()}
