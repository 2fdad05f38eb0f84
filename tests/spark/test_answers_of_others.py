"""Answers from groups of other templates, from groups with more keys, and with the rest left to Spark: compared with Spark's own rows."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from imp_driver.answer import states
from imp_driver.reasons import Decision, Reason, ServedBy

_numbers = itertools.count()
PATIENCE = 120.0
"""Seconds for a capture in the background, on a busy machine."""
FINE = "SELECT d, t, g, sum(m) AS s, avg(m) AS a, min(n) AS least, count(n) AS c, sum(f) AS x FROM {t} GROUP BY d, t, g"
COARSER = (
    "SELECT g, sum(m) AS s, count(*) AS c FROM {t} GROUP BY g ORDER BY g",
    "SELECT sum(m) AS s, avg(m) AS a, min(n) AS least, sum(f) AS x, avg(f) AS y FROM {t}",
    "SELECT sum(m) AS s, count(*) AS c FROM {t} WHERE d >= DATE'2024-02-01' AND t LIKE 'a%'",
    "SELECT year(d) AS y, month(d) AS mo, sum(m) AS s, count(n) AS c FROM {t} WHERE t IS NOT NULL GROUP BY year(d), month(d)",
    "SELECT t, max(d) AS last, min(g) AS low, sum(g) AS total, count(DISTINCT g) AS k FROM {t} WHERE g = 1 OR d IS NULL GROUP BY t",
    "SELECT CASE WHEN g > 1 THEN 'many' ELSE t END AS k, sum(m) AS s FROM {t} GROUP BY CASE WHEN g > 1 THEN 'many' ELSE t END",
    "SELECT g, sum(CASE WHEN t LIKE 'a%' THEN m ELSE 0 END) AS s, sum(CASE WHEN t IS NULL THEN f ELSE 0 END) AS x, "
    "avg(m) FILTER (WHERE d > DATE'2024-01-15') AS a, min(CASE WHEN g = 1 THEN n END) AS least, "
    "count(CASE t WHEN 'ab' THEN n END) AS c, sum(IF(g = 77, m, 0.00)) AS none, sum(CASE WHEN g = 77 THEN f END) AS nil "
    "FROM {t} GROUP BY g",
    "SELECT DISTINCT g, t FROM {t}",
)
RESTS = (
    "SELECT g, sum(m) AS s, md5(CAST(sum(m) AS STRING)) AS digest FROM {t} GROUP BY g ORDER BY g",
    "SELECT q.g, q.s, o.name FROM (SELECT g, sum(m) AS s FROM {t} GROUP BY g) q JOIN {o} o ON o.g = q.g AND length(o.name) > 2",
    "SELECT o.g, o.name, q.x FROM {o} o LEFT JOIN (SELECT g, sum(f) AS x, max(d) AS last FROM {t} GROUP BY g) q ON o.g = q.g",
    "SELECT name FROM {o} WHERE g IN (SELECT g FROM {t} GROUP BY g HAVING count(*) > 1)",
)


@pytest.fixture
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow") as connection:
        yield connection.cursor()


@pytest.fixture
def names(cursor: imp_driver.Cursor) -> dict[str, str]:
    number = next(_numbers)
    table, other = f"finer{number}", f"beside{number}"
    cursor.execute(
        f"CREATE TABLE {table} USING DELTA AS SELECT CAST(id % 4 AS INT) AS g, "
        "CASE WHEN id % 5 > 0 THEN substr('abcäa', CAST(id % 5 AS INT), 2) END AS t, "
        "date_add(DATE'2023-12-20', CAST(id * 7 % 90 AS INT)) AS d, "
        "CAST(id * 1.37 AS DECIMAL(10, 2)) AS m, id * 1000000007 AS n, id / 7 AS f FROM range(200)"
    )
    rows = "(0, 'zero'), (1, 'one'), (1, 'uno'), (7, 'x'), (NULL, 'none')"
    cursor.execute(f"CREATE TABLE {other} USING DELTA AS SELECT * FROM VALUES {rows} AS v(g, name)")
    return {"t": table, "o": other}


def asked(cursor: imp_driver.Cursor, text: str) -> imp_driver.SketchReport:
    cursor.execute(text).fetchall()
    assert cursor.sketch_report is not None
    return cursor.sketch_report


def test_other_templates_are_answered_from_finer_groups(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    """Shadow mode compares the rows of every answer with Spark's."""
    assert asked(cursor, FINE.format(**names)).decision is Decision.CAPTURED
    changes = (
        "SELECT 1",
        "DELETE FROM {t} WHERE g = 2 OR n % 3 = 0",
        "INSERT INTO {t} VALUES (9, NULL, NULL, 0.05, 1, 0.1), (1, 'ab', DATE'2024-02-29', NULL, NULL, NULL)",
    )
    for change in changes:
        cursor.execute(change.format(**names))
        for query in COARSER:
            report = asked(cursor, query.format(**names))
            assert (report.served_by, report.decision in (Decision.FRESH, Decision.MAINTAINED)) == (ServedBy.STATE, True), (query, report)


def test_constants_that_change_are_lifted_in_the_background(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    text = f"SELECT g, sum(m) AS s FROM {names['t']} WHERE d BETWEEN DATE'{{}}' AND DATE'2024-02-20' GROUP BY g"
    assert asked(cursor, text.format("2024-01-01")).decision is Decision.CAPTURED
    first = asked(cursor, text.format("2024-01-02"))
    assert first.not_answered is not None
    assert (first.not_answered.reason, first.not_answered.detail) == (Reason.LIFT_NEEDED, "d")
    end = time.monotonic() + PATIENCE
    while asked(cursor, text.format("2024-01-03")).served_by is not ServedBy.STATE:
        assert time.monotonic() < end
    for day in ("2024-01-04", "2023-12-25", "2030-01-01"):
        assert asked(cursor, text.format(day)).served_by is ServedBy.STATE
    cursor.execute(f"UPDATE {names['t']} SET d = DATE'2024-02-01' WHERE g = 1")
    assert asked(cursor, text.format("2024-01-31")).decision is Decision.MAINTAINED


def test_rows_that_divide_by_zero_are_spark_s(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    table = names["t"]
    text = f"SELECT t, sum(m / g) AS s, sum(n % g) AS r FROM {table} WHERE g > {{}} GROUP BY t"
    asked(cursor, text.format(1))
    end = time.monotonic() + PATIENCE
    while asked(cursor, text.format(2)).served_by is not ServedBy.STATE:
        assert time.monotonic() < end
    cursor.execute(f"INSERT INTO {table} VALUES (0, 'ab', NULL, 0.05, 1, 0.1), (3, 'ab', NULL, NULL, 7, NULL)")
    report = asked(cursor, text.format(0))
    assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.MAINTAINED)
    with pytest.raises(imp_driver.DataError, match="BY_ZERO"):
        asked(cursor, text.format(-1))


def test_the_value_of_a_subquery_is_a_constant_that_changes_with_its_table(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    table = names["t"]
    text = (
        f"SELECT g, sum(m) AS s FROM {table} WHERE m > (SELECT avg(m) FROM {table} WHERE g < 3) AND d <> (SELECT min(d) FROM {table}) "
        "GROUP BY g"
    )
    assert asked(cursor, text).decision is Decision.CAPTURED
    cursor.execute(f"UPDATE {table} SET m = m + 1 WHERE g = 1")
    first = asked(cursor, text)
    assert first.not_answered is not None
    assert (first.not_answered.reason, first.not_answered.detail) == (Reason.LIFT_NEEDED, "m")
    end = time.monotonic() + PATIENCE
    while asked(cursor, text).served_by is not ServedBy.STATE:
        assert time.monotonic() < end
    cursor.execute(f"UPDATE {table} SET m = m - 2 WHERE g = 1")
    report = asked(cursor, text)
    assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.MAINTAINED)


def test_months_are_keys_while_no_constant_cuts_one(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    text = f"SELECT g, count(*) AS n FROM {names['t']} WHERE d >= '{{}}' AND DATE'{{}}' > d GROUP BY g"
    assert asked(cursor, text.format("2024-01-01", "2024-02-01")).decision is Decision.CAPTURED
    first = asked(cursor, text.format("2024-02-01", "2024-04-01"))
    assert first.not_answered is not None
    assert (first.not_answered.reason, first.not_answered.detail) == (Reason.LIFT_NEEDED, "d by month")
    end = time.monotonic() + PATIENCE
    while asked(cursor, text.format("2023-12-01", "2024-03-01")).served_by is not ServedBy.STATE:
        assert time.monotonic() < end
    cursor.execute(f"UPDATE {names['t']} SET d = DATE'2024-02-29' WHERE g = 1")
    for bounds in (("2024-02-01", "2024-03-01"), ("2024-03-01", "2025-01-01"), ("0001-01-01", "2024-02-01")):
        assert asked(cursor, text.format(*bounds)).served_by is ServedBy.STATE
    within = asked(cursor, text.format("2024-02-01", "2024-02-29"))
    assert within.not_answered is not None
    assert (within.not_answered.reason, within.served_by) == (Reason.OFF_GRANULE, ServedBy.SPARK)


def test_the_rest_runs_in_spark_over_the_groups(
    cursor: imp_driver.Cursor, names: dict[str, str], engine: imp_driver.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "why_too_many", lambda *_: "rows of the other tables are not kept")
    plain = engine.cursor()
    for change in ("SELECT 1", "DELETE FROM {t} WHERE n % 3 = 0", "INSERT INTO {o} VALUES (3, 'three')"):
        cursor.execute(change.format(**names))
        for query in RESTS:
            text = query.format(**names)
            report = asked(cursor, text)
            assert report.served_by is ServedBy.STATE_AND_SPARK, (query, report.not_answered)
            assert cursor.description == plain.execute(text).description
            assert set(report.versions) == {f"spark_catalog.default.{name}" for name in names.values() if name in text}


def test_windows_run_over_the_groups(warehouse: Path, names: dict[str, str], engine: imp_driver.Connection) -> None:
    items = "sum(m) AS s, sum(sum(m)) OVER (ORDER BY g RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS near"
    text = f"SELECT g, {items} FROM {names['t']} GROUP BY g ORDER BY g"
    with imp_driver.connect(warehouse=str(warehouse)) as connection:
        cursor = connection.cursor()
        for _ in range(2):
            assert cursor.execute(text).fetchall() == engine.cursor().execute(text).fetchall()
            assert cursor.sketch_report is not None
            assert cursor.sketch_report.served_by is ServedBy.STATE_AND_SPARK
            cursor.execute(f"DELETE FROM {names['t']} WHERE n % 5 = 0")


def test_settings_that_change_set_operations_leave_them_to_spark(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    text = "SELECT g FROM {t} GROUP BY g UNION SELECT g FROM {o} GROUP BY g INTERSECT SELECT 7 FROM {o} GROUP BY g".format(**names)
    assert asked(cursor, text).served_by is ServedBy.STATE
    cursor.execute("SET spark.sql.legacy.setopsPrecedence.enabled = true")
    try:
        report = asked(cursor, text)
        assert (report.served_by, report.reason) == (ServedBy.SPARK, Reason.UNSUPPORTED_SETTING)
    finally:
        cursor.execute("SET spark.sql.legacy.setopsPrecedence.enabled = false")
