"""Groups over joins, semi-joins and unions: each shape is run in shadow mode, cut, before and after changes of every table it reads."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import imp_driver
from imp_driver.circuit import circuit
from imp_driver.reasons import Decision, Reason, RecaptureReason
from tests.spark.reports import report_of
from tests.spark.stream_of_changes import Stream

_numbers = itertools.count()


def made_by(run: Callable[[str], object]) -> dict[str, str]:
    """``o``: order k 0..49, customer k % 7, five files; ``l``: four lines per order, price 10 * k + n, ten files; ``c``: customers."""
    number = next(_numbers)
    names = {name: f"join_{name}{number}" for name in ("o", "l", "c")}
    by_key = "CREATE TABLE {} USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE({}, k) */"
    run(f"{by_key.format(names['o'], 5)} CAST(id AS INT) AS k, CAST(id % 7 AS INT) AS c, CAST(id % 3 AS INT) AS d FROM range(50)")
    run(
        f"{by_key.format(names['l'], 10)} CAST(id DIV 4 AS INT) AS k, CAST(id % 4 AS INT) AS n, "
        "CAST(10 * (id DIV 4) + id % 4 AS INT) AS price FROM range(200)"
    )
    run(f"CREATE TABLE {names['c']} USING DELTA AS SELECT CAST(id AS INT) AS c, concat('name', id) AS name FROM range(7)")
    return names


@pytest.fixture
def tables(cursor: imp_driver.Cursor) -> dict[str, str]:
    return made_by(cursor.execute)


@contextmanager
def _played(
    warehouse: Path, stores: Path, changes: Sequence[str], queries: Sequence[str], with_large_sides: Sequence[str]
) -> Iterator[tuple[Stream, set[str]]]:
    """Ask all queries before and after each change; yield the stream and the names of the tables.

    Those ``with_large_sides`` are asked a second time, as (query, "large"), with a driver that finds each table too large to keep.
    """
    with closing(Stream(warehouse, stores)) as stream:
        names = made_by(stream.run)
        for _ in stream.turns([change.format(**names) for change in changes]):
            for query in queries:
                stream.ask(query, query.format(**names))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(circuit, "FEW_ROWS", 0)
                patch.setattr(circuit, "MOST_SIDE_ROWS", 0)
                for query in with_large_sides:
                    stream.ask((query, "large"), query.format(**names))
        yield stream, set(names.values())


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


LOOKED_UP = (INCREMENTAL[0], INCREMENTAL[1], INCREMENTAL[5])
CHANGES = (
    "INSERT INTO {l} VALUES (3, 9, 5000), (49, 5, -900), (77, 1, 4000), (NULL, 1, 9000)",
    "INSERT INTO {o} VALUES (77, 3, 1), (48, 2, 1), (NULL, NULL, 0)",
    "DELETE FROM {l} WHERE k BETWEEN 46 AND 47",
    "UPDATE {o} SET d = 1, k = k - 1 WHERE k IN (44, 48)",
)


@pytest.fixture(scope="module")
def joined(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stream, set[str]]]:
    with _played(warehouse, tmp_path_factory.mktemp("stores"), CHANGES, INCREMENTAL, LOOKED_UP) as played:
        yield played


def _assert_maintained(joined: tuple[Stream, set[str]], key: Hashable, in_memory_at_least: int) -> None:
    stream, names = joined
    first, *later = stream.reports(key)
    assert (first.decision, first.reason) == (Decision.CAPTURED, Reason.FILTERED)
    assert len(later) == len(CHANGES)
    for report in later:
        assert report.decision in (Decision.MAINTAINED, Decision.FRESH), report.detail
        assert {name.split(".")[-1] for name in report.versions} <= names
    assert [report.detail for report in later].count("joined in memory") >= in_memory_at_least


@pytest.mark.parametrize(("query", "in_memory_at_least"), list(zip(INCREMENTAL, (2, 2, 1, 4, 2, 2), strict=True)))
def test_join_is_cut_and_maintained(joined: tuple[Stream, set[str]], query: str, in_memory_at_least: int) -> None:
    _assert_maintained(joined, query, in_memory_at_least)


@pytest.mark.parametrize("query", LOOKED_UP)
def test_partners_in_tables_that_are_too_large_to_keep_are_looked_up(joined: tuple[Stream, set[str]], query: str) -> None:
    _assert_maintained(joined, (query, "large"), 2)


def test_both_sides_of_a_join_are_cut_on_the_key(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    cursor.execute(INCREMENTAL[0].format(**tables)).fetchall()
    report = report_of(cursor)
    assert report.executed_sql.count("`k` >= ") == 2
    assert report.files_total == 15
    assert report.files_kept is not None
    assert report.files_kept <= 4
    assert set(report.versions) == {f"spark_catalog.default.{tables[name]}" for name in ("o", "l")}


COMPARING = (
    "SELECT l.k, sum(price) FROM {l} l WHERE EXISTS (SELECT 1 FROM {o} o WHERE o.k = l.k AND o.d = 1) GROUP BY l.k "
    "HAVING sum(price) > 1500",
    "SELECT l.k, sum(price) FROM {l} l WHERE NOT EXISTS (SELECT 1 FROM {o} o WHERE o.k = l.k AND o.d * 10 > l.n) GROUP BY l.k "
    "HAVING sum(price) > 900",
    "SELECT l.k, count(o.d) FROM {l} l LEFT JOIN {o} o ON o.k = l.k AND o.d = 1 GROUP BY l.k HAVING max(price) > 460",
    "SELECT k, sum(v) FROM (SELECT k, price AS v FROM {l} UNION SELECT k, d FROM {o}) u GROUP BY k HAVING sum(v) > 1800",
    "SELECT k, sum(price) FROM {l} WHERE k NOT IN (SELECT k FROM {o} WHERE d = 1 AND k IS NOT NULL) GROUP BY k HAVING sum(price) > 1500",
    "SELECT l.k, count(*) FROM {l} l JOIN (SELECT DISTINCT k, d FROM {o} WHERE k > 30) o ON o.k = l.k GROUP BY l.k HAVING max(price) > 460",
)


COMPARED_LARGE = (COMPARING[0], COMPARING[3])
CHANGES_OF_COMPARED = (
    "INSERT INTO {o} VALUES (49, 3, 1), (48, 2, 1), (48, 2, 1), (NULL, NULL, 0), (99, 1, 1)",
    "INSERT INTO {l} VALUES (49, 9, 5000), (46, 5, -900), (99, 1, 4000), (NULL, 1, 9000)",
    "INSERT INTO {o} SELECT k, c, 2 - d FROM {o} WHERE k > 40",
    "DELETE FROM {l} WHERE k = 47 OR n = 2",
    "DELETE FROM {o} WHERE k = 48",
    "INSERT INTO {o} VALUES (47, 3, 1), (46, 2, 1)",
)


@pytest.fixture(scope="module")
def compared(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stream]:
    with _played(warehouse, tmp_path_factory.mktemp("stores"), CHANGES_OF_COMPARED, COMPARING, COMPARED_LARGE) as (stream, _):
        yield stream


@pytest.mark.parametrize("key", [*COMPARING, *((query, "large") for query in COMPARED_LARGE)])
def test_changes_of_rows_that_are_compared_with_each_other_are_followed(compared: Stream, key: Hashable) -> None:
    first, *later = compared.reports(key)
    assert (first.decision, first.reason) == (Decision.CAPTURED, Reason.FILTERED)
    assert [(report.decision, report.detail) for report in later] == [(Decision.MAINTAINED, "joined in memory")] * len(CHANGES_OF_COMPARED)


SEVERAL = (
    "SELECT k, sum(price) FROM {l} WHERE (k, n) NOT IN (SELECT k, c FROM {o} WHERE d = 1 AND k IS NOT NULL AND c IS NOT NULL) GROUP BY k "
    "HAVING sum(price) > 1500"
)
NOT_INCREMENTAL = "SELECT k, count(*) FROM {l} WHERE price > (SELECT avg(d) * 400 FROM {o}) GROUP BY k HAVING count(*) > 3"


def test_not_in_of_several_columns_is_followed(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    text = SEVERAL.format(**tables)
    cursor.execute(text).fetchall()
    for change in (
        "INSERT INTO {l} VALUES (49, 5, 900)",
        "UPDATE {o} SET d = 1 WHERE k = 3",
        "INSERT INTO {o} SELECT * FROM {o} WHERE k > 45",
    ):
        cursor.execute(change.format(**tables))
        cursor.execute(text).fetchall()
        assert (report_of(cursor).decision, report_of(cursor).reason) == (Decision.MAINTAINED, Reason.FILTERED), change


def test_what_is_not_incremental_is_captured_again_once_it_pays(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    text = NOT_INCREMENTAL.format(**tables)
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
    report = report_of(cursor)
    assert (report.decision, report.reason) == (Decision.RECAPTURED, Reason.FILTERED)
    assert report.recapture_reason is RecaptureReason.NOT_INCREMENTAL


def test_the_reason_of_a_new_capture_is_shown(cursor: imp_driver.Cursor, tables: dict[str, str]) -> None:
    text = NOT_INCREMENTAL.format(**tables)
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
