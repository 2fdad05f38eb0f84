"""Sketches on columns that are no group key, in shadow mode: where groups are there in part, and where the facts of a proof expire."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import imp_driver
from imp_driver.observe.report import SketchReport
from imp_driver.reasons import Decision, Reason
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
        (Decision.CAPTURED, Reason.FILTERED, "y"),
        (Decision.FRESH, Reason.FILTERED, "y"),
    ):
        assert len(cursor.execute(text).fetchall()) == 4
        report = report_of(cursor)
        assert (report.decision, report.reason, report.attribute) == (decision, reason, attribute)
    assert (report.files_kept, report.files_total) == (4, 16)
