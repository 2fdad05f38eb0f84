"""Groups over joins, semi-joins and unions: each shape is run in shadow mode, cut, before and after changes of every table it reads."""

from __future__ import annotations

import itertools

import pytest

import imp_driver
from imp_driver.maintain import sides
from imp_driver.reasons import Decision, Reason, RecaptureReason
from tests.spark.reports import report_of

_numbers = itertools.count()


@pytest.fixture
def tables(cursor: imp_driver.Cursor) -> dict[str, str]:
    """``o``: order k 0..49, customer k % 7, five files; ``l``: four lines per order, price 10 * k + n, ten files; ``c``: customers."""
    number = next(_numbers)
    names = {name: f"join_{name}{number}" for name in ("o", "l", "c")}
    by_key = "CREATE TABLE {} USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE({}, k) */"
    cursor.execute(
        f"{by_key.format(names['o'], 5)} CAST(id AS INT) AS k, CAST(id % 7 AS INT) AS c, CAST(id % 3 AS INT) AS d FROM range(50)"
    )
    cursor.execute(
        f"{by_key.format(names['l'], 10)} CAST(id DIV 4 AS INT) AS k, CAST(id % 4 AS INT) AS n, "
        "CAST(10 * (id DIV 4) + id % 4 AS INT) AS price FROM range(200)"
    )
    cursor.execute(f"CREATE TABLE {names['c']} USING DELTA AS SELECT CAST(id AS INT) AS c, concat('name', id) AS name FROM range(7)")
    return names


INCREMENTAL = (
    "SELECT o.k, sum(l.price) FROM {o} o JOIN {l} l ON o.k = l.k WHERE o.d < 2 GROUP BY o.k HAVING sum(l.price) > 1700",
    "SELECT l.k, count(*), min(c.name) FROM {o} o, {l} l, {c} c WHERE o.k = l.k AND o.c = c.c GROUP BY l.k "
    "HAVING avg(l.price) BETWEEN 30 AND 60",
    "SELECT x.k, count(*) FROM {l} x JOIN {l} y ON x.k = y.k AND x.n < y.n GROUP BY x.k HAVING max(y.price) > 460",
    "SELECT k, sum(v) FROM (SELECT k, price AS v FROM {l} UNION ALL SELECT k, d FROM {o}) u GROUP BY k HAVING sum(v) > 1800",
    "SELECT o.k, count(c.name) FROM {o} o LEFT JOIN {c} c ON o.c = c.c GROUP BY o.k HAVING min(o.k) > 44",
    "SELECT q.kk, sum(p) FROM (SELECT o.k AS kk, l.price + 1 AS p FROM {o} o JOIN {l} l USING (k)) q GROUP BY q.kk "
    "ORDER BY sum(p) DESC, kk LIMIT 3",
)


@pytest.mark.parametrize(("query", "in_memory_at_least"), list(zip(INCREMENTAL, (2, 2, 1, 4, 2, 2), strict=True)))
def test_join_is_cut_and_maintained(cursor: imp_driver.Cursor, tables: dict[str, str], query: str, in_memory_at_least: int) -> None:
    text = query.format(**tables)
    cursor.execute(text).fetchall()
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.CAPTURED, Reason.FILTERED)
    in_memory = 0
    for change in (
        f"INSERT INTO {tables['l']} VALUES (3, 9, 5000), (49, 5, -900), (77, 1, 4000), (NULL, 1, 9000)",
        f"INSERT INTO {tables['o']} VALUES (77, 3, 1), (48, 2, 1), (NULL, NULL, 0)",
        f"DELETE FROM {tables['l']} WHERE k BETWEEN 46 AND 47",
        f"UPDATE {tables['o']} SET d = 1, k = k - 1 WHERE k IN (44, 48)",
    ):
        cursor.execute(change)
        cursor.execute(text).fetchall()
        report = report_of(cursor)
        assert report.decision in (Decision.MAINTAINED, Decision.FRESH), report.detail
        in_memory += report.detail == "joined in memory"
        assert set(report.versions) <= {f"spark_catalog.default.{name}" for name in tables.values()}
    assert in_memory >= in_memory_at_least


@pytest.mark.parametrize("query", [INCREMENTAL[0], INCREMENTAL[1], INCREMENTAL[5]])
def test_partners_in_tables_that_are_too_large_to_keep_are_looked_up(
    cursor: imp_driver.Cursor, tables: dict[str, str], query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sides, "MOST_SIDE_ROWS", 0)
    test_join_is_cut_and_maintained(cursor, tables, query, 2)


def test_both_sides_of_a_join_are_cut_on_the_key(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    cursor.execute(INCREMENTAL[0].format(**tables)).fetchall()
    report = report_of(cursor)
    assert report.executed_sql.count("`k` >= ") == 2
    assert report.files_total == 15
    assert report.files_kept is not None
    assert report.files_kept <= 4
    assert len(report.versions) == 2


COMPARING = (
    "SELECT l.k, sum(price) FROM {l} l WHERE EXISTS (SELECT 1 FROM {o} o WHERE o.k = l.k AND o.d = 1) GROUP BY l.k "
    "HAVING sum(price) > 1500",
    "SELECT l.k, sum(price) FROM {l} l WHERE NOT EXISTS (SELECT 1 FROM {o} o WHERE o.k = l.k AND o.d * 10 > l.n) GROUP BY l.k "
    "HAVING sum(price) > 900",
    "SELECT l.k, count(o.d) FROM {l} l LEFT JOIN {o} o ON o.k = l.k AND o.d = 1 GROUP BY l.k HAVING max(price) > 460",
    "SELECT k, sum(v) FROM (SELECT k, price AS v FROM {l} UNION SELECT k, d FROM {o}) u GROUP BY k HAVING sum(v) > 1800",
    "SELECT l.k, count(*) FROM {l} l JOIN (SELECT DISTINCT k, d FROM {o} WHERE k > 30) o ON o.k = l.k GROUP BY l.k HAVING max(price) > 460",
)


@pytest.mark.parametrize(("query", "is_kept"), [*((query, True) for query in COMPARING), (COMPARING[0], False), (COMPARING[3], False)])
def test_changes_of_rows_that_are_compared_with_each_other_are_followed(
    cursor: imp_driver.Cursor, tables: dict[str, str], query: str, is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_kept:
        monkeypatch.setattr(sides, "MOST_SIDE_ROWS", 0)
    text = query.format(**tables)
    cursor.execute(text).fetchall()
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.CAPTURED, Reason.FILTERED)
    for change in (
        f"INSERT INTO {tables['o']} VALUES (49, 3, 1), (48, 2, 1), (48, 2, 1), (NULL, NULL, 0), (99, 1, 1)",
        f"INSERT INTO {tables['l']} VALUES (49, 9, 5000), (46, 5, -900), (99, 1, 4000), (NULL, 1, 9000)",
        f"INSERT INTO {tables['o']} SELECT k, c, 2 - d FROM {tables['o']} WHERE k > 40",
        f"DELETE FROM {tables['l']} WHERE k = 47 OR n = 2",
        f"DELETE FROM {tables['o']} WHERE k = 48",
        f"INSERT INTO {tables['o']} VALUES (47, 3, 1), (46, 2, 1)",
    ):
        cursor.execute(change)
        cursor.execute(text).fetchall()
        assert (report_of(cursor).decision, report_of(cursor).detail) == (Decision.MAINTAINED, "joined in memory")


NOT_INCREMENTAL = (
    "SELECT k, sum(price) FROM {l} WHERE k NOT IN (SELECT k FROM {o} WHERE d = 1 AND k IS NOT NULL) GROUP BY k HAVING sum(price) > 1500",
    "SELECT k, count(*) FROM {l} WHERE price > (SELECT avg(d) * 400 FROM {o}) GROUP BY k HAVING count(*) > 3",
)


@pytest.mark.parametrize("query", NOT_INCREMENTAL)
def test_what_is_not_incremental_is_captured_again_once_it_pays(cursor: imp_driver.Cursor, tables: dict[str, str], query: str) -> None:
    text = query.format(**tables)
    cursor.execute(text).fetchall()
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.CAPTURED, Reason.FILTERED)
    cursor.execute(f"INSERT INTO {tables['l']} VALUES (49, 5, 900)")
    cursor.execute(text).fetchall()
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.MAINTAINED, Reason.FILTERED)
    for _ in range(2):
        cursor.execute(f"UPDATE {tables['o']} SET d = (d + 1) % 3 WHERE k > 40")
        cursor.execute(text).fetchall()
        assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.NOT_USED, Reason.RECAPTURE_DEFERRED)
    cursor.execute(text).fetchall()
    assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.CAPTURED, Reason.FILTERED)


def test_the_reason_of_a_new_capture_is_shown(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    text = NOT_INCREMENTAL[0].format(**tables)
    cursor.execute(text).fetchall()
    cursor.execute(f"UPDATE {tables['o']} SET d = 1 WHERE k = 3")
    cursor.execute(text).fetchall()
    assert "changed, which is read in a subquery" in report_of(cursor).detail
    assert report_of(cursor).recapture_reason in (None, RecaptureReason.NOT_INCREMENTAL)


def test_every_table_is_read_at_one_version(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    text = (
        "SELECT b.k, c.name FROM (SELECT o.k, max(o.c) AS c FROM {o} o JOIN {l} l ON o.k = l.k GROUP BY o.k HAVING sum(l.price) > 1700) b "
        "JOIN {c} c ON c.c = b.c WHERE b.k IN (SELECT k FROM {o})"
    ).format(**tables)
    cursor.execute(text).fetchall()
    sql = report_of(cursor).executed_sql
    assert sql.count("VERSION AS OF") == 4
    assert f"{tables['c']} VERSION AS OF" in sql
