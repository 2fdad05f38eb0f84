"""Sketches on columns that are no group key, in shadow mode: where groups are there in part, and where the facts of a proof expire."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import imp_driver
from imp_driver.reasons import Decision, Reason
from imp_driver.values.report import SketchReport
from tests.spark.reports import report_of
from tests.spark.stream_of_changes import Stream

_numbers = itertools.count()


def made_by(run: Callable[[str], object]) -> str:
    """Days 0..99 in ten files; customer c buys on the days from 10 * c on, and rarely on others."""
    name = f"partial_t{next(_numbers)}"
    run(
        f"CREATE TABLE {name} USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE(10, day) */ CAST(id DIV 4 AS INT) AS day, "
        "CAST(CASE WHEN id % 40 = 0 THEN 9 ELSE id DIV 40 END AS INT) AS c, CAST(id % 5 AS INT) AS price, "
        "CAST(id % 3 AS STRING) AS kind FROM range(400)"
    )
    return name


@pytest.fixture
def table(cursor: imp_driver.Cursor) -> str:
    return made_by(cursor.execute)


def _asked_twice(cursor: imp_driver.Cursor, text: str) -> SketchReport:
    """The first time such a capture is put off."""
    cursor.execute(text).fetchall()
    assert report_of(cursor).reason is Reason.CAPTURE_DEFERRED
    cursor.execute(text).fetchall()
    return report_of(cursor)


QUERIES = (
    "SELECT c, count(*) FROM {t} WHERE c < 3 GROUP BY c HAVING count(*) > 38",
    "SELECT c, max(price) FROM {t} WHERE kind = '1' AND c IN (2, 3) GROUP BY c HAVING count(*) BETWEEN 9 AND 11",
    "SELECT c, sum(price) FROM {t} WHERE c < 5 AND price >= 0 GROUP BY c HAVING sum(price) > 60 AND avg(price) < 3",
    "SELECT c, count(*) FROM {t} WHERE c BETWEEN 3 AND 4 GROUP BY c ORDER BY count(*) DESC, c LIMIT 1",
    "SELECT a.c, count(*) FROM {t} a JOIN {t} b ON a.day = b.day AND a.c = b.c WHERE a.c = 2 GROUP BY a.c HAVING count(*) > 20",
)


CHANGES = (
    "INSERT INTO {t} VALUES (95, 2, 4, '1'), (96, 3, 1, '1'), (NULL, 2, 3, '1'), (97, NULL, 3, '1')",
    "UPDATE {t} SET day = day + 40 WHERE c = 2 AND day < 24",
    "DELETE FROM {t} WHERE c = 3 AND day % 2 = 0",
)


@pytest.fixture(scope="module")
def stream(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stream]:
    """All ``QUERIES``, asked twice before and once after each change."""
    with closing(Stream(warehouse, tmp_path_factory.mktemp("stores"))) as stream:
        name = made_by(stream.run)
        for _ in stream.turns([change.format(t=name) for change in CHANGES], before=2):
            for query in QUERIES:
                stream.ask(query, query.format(t=name))
        yield stream


@pytest.mark.parametrize("query", QUERIES)
def test_groups_in_part_do_not_change_the_answer(stream: Stream, query: str) -> None:
    first, second, *later = stream.reports(query)
    assert first.reason is Reason.CAPTURE_DEFERRED
    assert (second.decision, second.attribute) == (Decision.CAPTURED, "day")
    assert len(later) == len(CHANGES)
    for report in later:
        assert report.decision in (Decision.MAINTAINED, Decision.FRESH), report.detail
    assert Reason.FILTERED in {report.reason for report in (second, *later)}


def test_a_negative_value_ends_the_proof_and_its_deletion_renews_it(cursor: imp_driver.Cursor, table: str) -> None:
    text = f"SELECT c, sum(price) FROM {table} GROUP BY c HAVING sum(price) > 76"
    assert _asked_twice(cursor, text).decision is Decision.CAPTURED
    cursor.execute(f"INSERT INTO {table} VALUES (300, 6, -30, '1')")
    cursor.execute(text).fetchall()
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.NOT_USED, Reason.NOT_SAFE)
    cursor.execute(f"DELETE FROM {table} WHERE price < 0")
    cursor.execute(f"INSERT INTO {table} VALUES (99, 9, 1, '1')")
    cursor.execute(text).fetchall()
    assert report_of(cursor).decision in (Decision.MAINTAINED, Decision.FRESH)


def test_ranges_of_a_column_that_is_no_key_follow_the_data(cursor: imp_driver.Cursor, table: str) -> None:
    """New days pile up in the last range: the rows per range are read anew, with the ranges that the files have now."""
    text = f"SELECT c, count(*) FROM {table} GROUP BY c HAVING count(*) > 200"
    before = _asked_twice(cursor, text)
    for first in (200, 300):
        days = f"SELECT CAST({first} + id DIV 20 AS INT), 8, 1, '1' FROM range(400)"
        cursor.execute(f"INSERT INTO {table} {days}")
    cursor.execute(text).fetchall()
    after = report_of(cursor)
    assert (after.decision, after.reason) == (Decision.MAINTAINED, Reason.FILTERED)
    assert before.fragments_total is not None
    assert after.fragments_total is not None
    assert after.fragments_total > before.fragments_total


@pytest.mark.parametrize("having", ["count(*) < 31", "avg(price) > 1", "min(price) > 0"])
def test_what_part_of_a_group_could_satisfy_alone_is_refused(cursor: imp_driver.Cursor, table: str, having: str) -> None:
    cursor.execute(f"SELECT c FROM {table} GROUP BY c HAVING {having}").fetchall()
    assert report_of(cursor).reason is Reason.NOT_CLUSTERED


def test_explain_says_why_a_column_that_is_no_key_is_safe(cursor: imp_driver.Cursor, table: str) -> None:
    rows = cursor.execute(f"EXPLAIN SKETCH SELECT c, sum(price) FROM {table} GROUP BY c HAVING sum(price) > 76").fetchall()
    text = "\n".join(row[0] for row in rows)
    assert "Cut on day, which is no group key" in text
    assert "price >= 0 AND price <= 4" in text
    assert "at most that of the whole group" in text


def test_another_key_is_cut_where_the_captured_groups_lie_closer_together(cursor: imp_driver.Cursor) -> None:
    """Sixteen files, one for each x and y; the groups that pass have every x and one y."""
    cursor.execute(
        "CREATE TABLE two_keys USING DELTA PARTITIONED BY (px, py) AS SELECT /*+ REPARTITION(1) */ *, x AS px, y AS py "
        "FROM (SELECT CAST(id % 4 AS INT) AS x, CAST(id DIV 4 % 4 AS INT) AS y, IF(id DIV 4 % 4 = 2, 100, 1) AS v FROM range(160))"
    )
    text = "SELECT x, y, avg(v) FROM two_keys GROUP BY x, y HAVING avg(v) > 50"
    for decision, reason, attribute in (
        (Decision.CAPTURED, Reason.COVERS_ALMOST_ALL, "x"),
        (Decision.FRESH, Reason.FILTERED, "y"),
        (Decision.FRESH, Reason.FILTERED, "y"),
    ):
        assert len(cursor.execute(text).fetchall()) == 4
        report = report_of(cursor)
        assert (report.decision, report.reason, report.attribute) == (decision, reason, attribute)
    assert (report.files_kept, report.files_total) == (4, 16)


EXAMPLE = (
    "SELECT a, sum(c) AS sc FROM (SELECT a, b FROM {r} WHERE a > 3) JOIN {s} ON b = d GROUP BY a HAVING sum(c) > 300",
    "SELECT a, sum(c) AS sc FROM (SELECT a, b FROM {r} WHERE a > 3) JOIN {s} ON b = d GROUP BY a ORDER BY sum(c) DESC, a LIMIT 1",
)
EXAMPLE_CHANGES = (
    "INSERT INTO {r} VALUES (5, 395), (5, 396), (5, 397), (4, 21)",
    "UPDATE {s} SET c = 1000 WHERE d = 170",
    "DELETE FROM {r} WHERE b = 399",
    "INSERT INTO {s} VALUES (-500, 325)",
    "DELETE FROM {s} WHERE c < 0",
)


@pytest.fixture(scope="module")
def example(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stream]:
    """Example 5.1 of the paper: R(a, b) in ten files by a, S(c, d) in ten files by c; group a meets the rows of S with c = a."""
    with closing(Stream(warehouse, tmp_path_factory.mktemp("stores"))) as stream:
        r, s = "example_r", "example_s"
        by = "SELECT /*+ REPARTITION_BY_RANGE(10, {}) */ CAST(id DIV 40 AS INT) AS {}, CAST(id AS INT) AS {} FROM range(400)"
        stream.run(f"CREATE TABLE {r} USING DELTA AS {by.format('a', 'a', 'b')}")
        stream.run(f"CREATE TABLE {s} USING DELTA AS {by.format('c', 'c', 'd')}")
        for _ in stream.turns([change.format(r=r, s=s) for change in EXAMPLE_CHANGES], before=3):
            for query in EXAMPLE:
                stream.ask(query, query.format(r=r, s=s))
        yield stream


@pytest.mark.parametrize("query", EXAMPLE)
def test_one_query_reads_few_files_of_both_tables(example: Stream, query: str) -> None:
    captured, *asked = example.reports(query)
    assert (captured.decision, captured.also) == (Decision.CAPTURED, ())
    for before in asked[:2]:
        both = sorted((before, *before.also), key=lambda each: each.table or "")
        assert [(each.attribute, each.reason) for each in both] == [("a", Reason.FILTERED), ("c", Reason.FILTERED)]
        assert all((each.files_total, each.files_kept) in ((10, 1), (10, 2)) for each in both)


@pytest.mark.parametrize("query", EXAMPLE)
def test_both_cuts_are_maintained_and_the_proof_expires_with_its_fact(example: Stream, query: str) -> None:
    *_, inserted, updated, deleted, negative, gone = example.reports(query)
    for report in (inserted, updated, deleted, gone):
        assert report.decision is Decision.MAINTAINED
        assert {each.attribute for each in (report, *report.also)} == {"a", "c"}
    # A group of which rows with a negative c are missing could pass: then a is cut alone.
    assert {each.attribute for each in (negative, *negative.also)} == {"a"}
