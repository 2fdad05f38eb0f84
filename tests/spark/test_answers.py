"""Rows from maintained groups are Spark's: values, types, names and order, after changes too; each query says where its rows came from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

import imp_driver
from imp_driver.reasons import Decision, Reason, ServedBy

_numbers = itertools.count()
ROWS = """
    (1, 'a', DATE'2024-01-31', 10.05BD, 5L, TIMESTAMP'2024-03-31 01:30:00', 1.5D, true),
    (1, 'a', DATE'2024-02-01', -0.06BD, NULL, NULL, 0.25D, NULL),
    (1, NULL, DATE'2024-02-29', NULL, 7L, TIMESTAMP'2024-10-27 02:30:00', NULL, false),
    (2, 'b ', NULL, 0.01BD, -7L, TIMESTAMP'1969-12-31 23:59:59.999999', 3.0D, true),
    (2, 'ä', DATE'1999-12-31', 99999999.99BD, 900719925474099L, NULL, -0.0D, false),
    (NULL, '', DATE'2024-01-31', 0.02BD, 0L, TIMESTAMP'2024-03-31 01:30:00', 2.0D, true),
    (NULL, 'a', DATE'2024-01-31', 0.01BD, 1L, TIMESTAMP'2024-03-31 01:30:00', 2.0D, true)
"""
TYPES = {"g": "INT", "t": "STRING", "d": "DATE", "m": "DECIMAL(10, 2)", "n": "BIGINT", "z": "TIMESTAMP", "f": "DOUBLE", "b": "BOOLEAN"}
QUERIES = (
    "SELECT g, count(*), count(t), sum(n) AS total, min(d), max(z) FROM {t} GROUP BY g ORDER BY g",
    "SELECT g, sum(m) AS s, avg(m) AS a, min(m), max(m) FROM {t} GROUP BY g ORDER BY s DESC NULLS LAST",
    "SELECT t, d, count(*) AS c FROM {t} GROUP BY t, d HAVING count(*) > 0 ORDER BY c DESC, t, d LIMIT 3",
    "SELECT count(*), sum(n), avg(n), min(t), max(t), count(DISTINCT g) FROM {t}",
    "SELECT count(*), sum(m) AS s, avg(m) AS a FROM {t} WHERE g = 77",
    "SELECT year(d) AS y, month(d) AS mo, sum(m) FROM {t} GROUP BY year(d), month(d) ORDER BY 1, 2",
    "SELECT DISTINCT t FROM {t} GROUP BY t, g ORDER BY t DESC",
    "SELECT z, count(*) AS c FROM {t} GROUP BY z ORDER BY z",
    "SELECT b, f, min(f) AS lo, max(f) AS hi, count(f) FROM {t} GROUP BY b, f ORDER BY b, f",
    "SELECT g, mean(n), mean(m), CASE WHEN count(*) > 1 THEN 'many' ELSE 'few' END AS size, if(count(m) > 0, 'some', NULL) "
    "FROM {t} GROUP BY g ORDER BY g",
    "SELECT max(s) AS most, min(c) FROM (SELECT g, sum(m) AS s, count(*) AS c FROM {t} GROUP BY g)",
    "SELECT g, s FROM (SELECT g, sum(n) AS s FROM {t} GROUP BY g) WHERE s > (SELECT avg(n) FROM {t}) ORDER BY g",
    "SELECT g, sum(n) FROM {t} GROUP BY g HAVING sum(n) IS NOT NULL UNION ALL SELECT 0, count(*) FROM {t}",
    "SELECT u.g, u.c, v.s FROM (SELECT g, count(*) c FROM {t} GROUP BY g) u "
    "LEFT JOIN (SELECT g, sum(m) s FROM {t} GROUP BY g) v ON u.g = v.g ORDER BY u.g",
    "SELECT CASE WHEN g = 1 THEN 'one' ELSE 'other' END AS name, sum(CASE WHEN n > 0 THEN m ELSE 0 END) AS s FROM {t} "
    "GROUP BY CASE WHEN g = 1 THEN 'one' ELSE 'other' END ORDER BY name",
    "SELECT g, sum(n) + 1, count(*) * 2 AS twice, sum(m) - 1.5 AS less FROM {t} WHERE g <> 2 GROUP BY g",
    "SELECT g, sum(f) AS s, avg(f) AS a, sum(f) / count(*) AS per FROM {t} GROUP BY g HAVING sum(f) > 0.3 ORDER BY s DESC LIMIT 2",
    "SELECT g, 100.00 * sum(CASE WHEN t LIKE 'a%' THEN m ELSE 0 END) / NULLIF(sum(m), 0) AS share, "
    "sum(m) / 7.0 AS week, 0.2 * avg(m) AS fifth FROM {t} GROUP BY g ORDER BY g",
    "SELECT g, round(avg(n), 2) AS a, round(sum(m) / 3, 1) AS r, CASE WHEN count(n) = 0 THEN 0 ELSE sum(n) / count(n) END AS per, "
    "sum(n) % 4 AS rest, -sum(m) AS minus, abs(sum(n)) AS size FROM {t} GROUP BY g ORDER BY g",
    "SELECT substring(t, 1, 1) AS first, length(trim(t)) AS size, t || '-' || CAST(count(*) AS STRING) AS name "
    "FROM {t} GROUP BY t ORDER BY t",
    "SELECT quarter(d) AS q, trunc(d, 'month') AS mo, d + INTERVAL '1' MONTH AS later, datediff(DATE'2024-12-31', d) AS days, count(*) "
    "FROM {t} GROUP BY d ORDER BY d",
    "SELECT trunc(d, 'MM') AS mo, sum(m) AS s FROM {t} WHERE d >= DATE'1999-01-01' AND d < DATE'1999-01-01' + INTERVAL '30' YEAR "
    "GROUP BY trunc(d, 'MM') HAVING sum(m) > 0.0001 * (SELECT sum(m) FROM {t}) ORDER BY mo",
    "SELECT g, CAST(sum(m) AS DOUBLE) / count(*) AS x, greatest(sum(n), 3) AS g3, round(sum(f), 2) AS r, floor(sum(m)) AS w "
    "FROM {t} GROUP BY g ORDER BY g",
    "SELECT substring(t, 1, 1) AS k, sum(round(m, 1)) AS s, min(upper(left(t, 0))) AS u FROM {t} GROUP BY substring(t, 1, 1) ORDER BY k",
    "SELECT coalesce(g, -1) AS k, count(*) FILTER (WHERE b) AS yes, count_if(n > 0) AS p FROM {t} GROUP BY g ORDER BY k",
    "SELECT count(*) AS c, g, t, grouping_id() AS i, grouping(t) + 1 AS p, min(g) AS lo FROM {t} GROUP BY ROLLUP (g, t) ORDER BY i, g, t",
    "SELECT count(*) AS c, sum(m) AS s, d FROM {t} GROUP BY GROUPING SETS ((d), (), (d)) ORDER BY d, c",
    "SELECT g, b, max(n) AS most, coalesce(g, 0) AS k FROM {t} GROUP BY g, b WITH CUBE HAVING grouping_id(g, b) < 3 ORDER BY g, b, most",
    "SELECT w.g, count(*) AS c FROM {t} w WHERE w.m >= (SELECT avg(o.m) FROM {t} o WHERE o.g = w.g) GROUP BY w.g ORDER BY w.g",
    "SELECT g, sum(m) / nullif((SELECT sum(m) FROM {t}), 0) AS share, CASE WHEN count(*) > (SELECT avg(c) FROM "
    "(SELECT count(*) AS c FROM {t} GROUP BY g)) THEN 'many' ELSE 'few' END FROM {t} GROUP BY g ORDER BY share DESC, g",
    "SELECT (SELECT count(*) FROM {t}), (SELECT sum(n) FROM {t} WHERE g = 1) - (SELECT count(g) FROM {t}) AS d, (SELECT max(t) FROM {t})",
    "SELECT 'g' AS what, (SELECT max(g) FROM {t}) AS most UNION ALL SELECT 'n', (SELECT max(n) FROM {t} WHERE g > 0)",
    "SELECT g, count(*) AS c FROM {t} WHERE b OR g IN (SELECT g FROM {t} WHERE n > 5) GROUP BY g ORDER BY g",
    "SELECT v, sum(n) AS s FROM (SELECT CASE WHEN t IN (SELECT t FROM {t} WHERE f > 1) THEN 'in' ELSE 'out' END AS v, n FROM {t}) q "
    "GROUP BY v ORDER BY v",
    "SELECT q.g, if(q.g IN (SELECT g FROM {t} WHERE b), 1, 0) AS f, EXISTS (SELECT 1 FROM {t} o WHERE o.g = q.g AND o.n > 5) AS e, q.most "
    "FROM (SELECT g, max(n) AS most FROM {t} GROUP BY g) q ORDER BY q.g",
    "SELECT g, count_if(b OR t IN (SELECT t FROM {t} WHERE g = 1)) AS c, sum(CASE WHEN t IN (SELECT t FROM {t} WHERE b) THEN m END) AS s "
    "FROM {t} GROUP BY g ORDER BY g",
    "SELECT g, try_sum(n) AS s, try_avg(m) AS a, try_divide(sum(n), count(n)) AS q, try_add(sum(n), 1L) AS p, zeroifnull(max(n)) AS z, "
    "nullifzero(count(n)) AS k, sum(try_subtract(n, 1L)) AS d, max(try_divide(n, g - 1)) AS r FROM {t} GROUP BY g ORDER BY g",
    "SELECT count(*) AS c FROM {t} w WHERE 0 = (SELECT count(o.n) FROM {t} o WHERE o.g = w.g AND o.d = w.d AND o.n > 5)",
    "SELECT date_trunc('DAY', z) AS day, hour(z) AS h, count(*) AS c FROM {t} GROUP BY date_trunc('DAY', z), hour(z) ORDER BY day, h",
    "SELECT date_format(d, 'MMM yyyy') AS mo, date_format(z, 'E HH:mm') AS h, count(*) AS c FROM {t} GROUP BY 1, 2 ORDER BY mo, h",
    "SELECT CAST(z AS DATE) AS day, year(z) AS y, sum(n) AS s FROM {t} WHERE z >= '1960-01-01' AND z < TIMESTAMP'2024-12-01 00:00:00' "
    "AND z > DATE'1960-01-02' GROUP BY CAST(z AS DATE), year(z) ORDER BY day",
    "SELECT date_trunc('MONTH', d) AS mo, date_trunc('QUARTER', d) AS q, sum(m) AS s FROM {t} WHERE d >= '2000-01-01' "
    "GROUP BY date_trunc('MONTH', d), date_trunc('QUARTER', d) ORDER BY mo",
)
CHANGES = (
    (
        "INSERT INTO {t} SELECT * FROM VALUES (3, 'new', DATE'2025-01-01', 5.55BD, 3L, TIMESTAMP'2025-01-01 00:00:00', 9.0D, true)",
        "UPDATE {t} SET m = m - 1, t = 'a' WHERE g = 2",
        "DELETE FROM {t} WHERE g IS NULL",
    ),
    ("DELETE FROM {t}",),
)


@pytest.fixture
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="on") as connection:
        yield connection.cursor()


@pytest.fixture
def table(cursor: imp_driver.Cursor) -> str:
    name = f"answers{next(_numbers)}"
    columns = ", ".join(f"CAST({each} AS {kind}) AS {each}" for each, kind in TYPES.items())
    cursor.execute(f"CREATE TABLE {name} USING DELTA AS SELECT {columns} FROM VALUES {ROWS} AS v({', '.join(TYPES)})")
    return name


def served(cursor: imp_driver.Cursor) -> ServedBy:
    assert cursor.sketch_report is not None
    return cursor.sketch_report.served_by


def test_averages_of_decimals_round_as_sparks_do(cursor: imp_driver.Cursor, engine: imp_driver.Connection) -> None:
    """Groups of 32, 160 and 800 rows, whose averages lie halfway between two decimals as often as not; up to 11 digits doubles decide."""
    name, plain = f"answers{next(_numbers)}", engine.cursor()
    kinds = {"a": "DECIMAL(5, 1)", "b": "DECIMAL(9, 2)", "c": "DECIMAL(11, 0)", "d": "DECIMAL(11, 4)", "e": "DECIMAL(12, 2)"}
    columns = ", ".join(
        f"CAST(hash(id, {place}) % {10 ** (4 + place)} / 1{'0' * place} AS {kind}) AS {each}"
        for place, (each, kind) in enumerate(kinds.items())
    )
    cursor.execute(
        f"CREATE TABLE {name} USING DELTA AS SELECT g, {', '.join(kinds)} FROM (SELECT CAST(id % 60 AS INT) AS g, id DIV 60 AS n, "
        f"{columns} FROM range(48000)) WHERE n < element_at(array(32, 160, 800), 1 + g % 3)"
    )
    averages = ", ".join(f"avg({each}) AS {each}" for each in kinds)
    texts = (
        f"SELECT g, {averages}, avg(DISTINCT b) AS x, avg(a) FILTER (WHERE c > 0) AS y FROM {name} GROUP BY g ORDER BY g",
        f"SELECT g % 5 AS k, avg(b) AS b, avg(d) AS d FROM {name} GROUP BY g % 5 ORDER BY k",
        f"SELECT avg(a) AS a, avg(c) AS c FROM {name}",
    )
    cursor.sketch = "lazy"
    for text in texts:
        cursor.execute(text).fetchall()
        found, expected = cursor.execute(text).fetchall(), plain.execute(text).fetchall()
        assert (served(cursor), text) == (ServedBy.STATE, text), cursor.sketch_report
        assert found == expected, text
    rule = "spark.sql.optimizer.excludedRules"
    cursor.execute(f"SET {rule} = org.apache.spark.sql.catalyst.optimizer.DecimalAggregates")
    cursor.execute(texts[0]).fetchall()
    assert served(cursor) is ServedBy.SPARK
    cursor.execute(f"RESET {rule}")
    cursor.execute(texts[0]).fetchall()
    assert served(cursor) is ServedBy.STATE


def test_rows_are_sparks_before_and_after_every_change(cursor: imp_driver.Cursor, table: str, engine: imp_driver.Connection) -> None:
    """They are compared here before, and by shadow mode after a change."""
    plain = engine.cursor()
    cursor.sketch = "lazy"
    for query in QUERIES:
        text = query.format(t=table)
        found, expected = cursor.execute(text).fetchall(), plain.execute(text).fetchall()
        assert (served(cursor), text) == (ServedBy.STATE, text), cursor.sketch_report
        assert cursor.description == plain.description
        assert found == expected or ("ORDER BY" not in text and sorted(found, key=repr) == sorted(expected, key=repr))
    cursor.sketch = "shadow"
    for changes in CHANGES:
        for change in changes:
            cursor.execute(change.format(t=table))
        # Of no rows there is little to tell but by aggregates without groups.
        for query in QUERIES if len(changes) > 1 else [each for each in QUERIES if "SELECT count" in each or "SELECT max" in each]:
            text = query.format(t=table)
            cursor.execute(text).fetchall()
            assert (served(cursor), text) == (ServedBy.STATE, text), cursor.sketch_report


def test_the_first_query_captures_and_the_others_need_no_job(cursor: imp_driver.Cursor, table: str) -> None:
    text = f"SELECT g, sum(m) AS s FROM {table} GROUP BY g HAVING sum(m) > ? ORDER BY s DESC LIMIT ?"
    decisions = []
    for parameters in ((0, 1), (0.5, 2), (Decimal("3.25"), 3)):
        cursor.execute(text, parameters).fetchall()
        report = cursor.sketch_report
        assert report is not None
        assert (report.reason, report.served_by, report.executed_sql) == (Reason.ANSWERED, ServedBy.STATE, "")
        decisions.append(report.decision)
    assert decisions == [Decision.CAPTURED, Decision.FRESH, Decision.FRESH]
    cursor.execute(f"INSERT INTO {table} (g, m) VALUES (9, 1000)")
    assert cursor.execute(text, (0, 1)).fetchall()[0][0] in (2, 9)
    report = cursor.sketch_report
    assert report is not None
    assert (report.decision, report.delta_rows) == (Decision.MAINTAINED, 1)


def test_what_is_left_to_spark_says_why(cursor: imp_driver.Cursor, table: str) -> None:
    cursor.execute(f"SELECT g, md5(t), count(*) FROM {table} GROUP BY g, t").fetchall()
    report = cursor.sketch_report
    assert report is not None
    assert report.served_by is ServedBy.STATE_AND_SPARK
    cursor.execute(f"SELECT g, row_number() OVER (ORDER BY count(*)) AS place FROM {table} GROUP BY g").fetchall()
    report = cursor.sketch_report
    assert report is not None
    assert report.not_answered is not None
    assert (report.served_by, report.not_answered.reason) == (ServedBy.SPARK, Reason.LEFT_TO_SPARK)
    cursor.execute(f"INSERT INTO {table} (g, f) VALUES (1, CAST('NaN' AS DOUBLE))")
    cursor.execute(f"SELECT g, sum(f) FROM {table} GROUP BY g").fetchall()
    assert cursor.sketch_report is not None
    assert cursor.sketch_report.not_answered is not None
    assert cursor.sketch_report.not_answered.reason is Reason.NOT_EXACT


def test_a_query_that_spark_refuses_is_refused(cursor: imp_driver.Cursor, table: str) -> None:
    with pytest.raises(imp_driver.ProgrammingError):
        cursor.execute(f"SELECT g, count(*) FROM {table} GROUP BY t").fetchall()
    with pytest.raises(imp_driver.ProgrammingError):
        cursor.execute(f"SELECT g, count(*) AS c FROM {table} GROUP BY g ORDER BY missing").fetchall()


@pytest.mark.parametrize("halves", [(1, 2, 3), (0, 1), (5, 5, 6, 7, 8, 9, 11)])
def test_averages_of_decimals_round_as_spark_rounds(cursor: imp_driver.Cursor, halves: tuple[int, ...]) -> None:
    name = f"halves{next(_numbers)}"
    values = ", ".join(f"(CAST({sign}0.0000{each} AS DECIMAL(18, 5)))" for each in halves for sign in ("", "-", ""))
    cursor.execute(f"CREATE TABLE {name} USING DELTA AS SELECT * FROM VALUES {values} AS v(x)")
    for count in range(1, 4):
        cursor.execute(f"SELECT avg(x), avg(x * {count}), avg(CAST(x AS DECIMAL(6, 5))) AS narrow FROM {name}").fetchall()
        assert cursor.sketch_report is not None
        cursor.execute(f"INSERT INTO {name} VALUES (0.0000{count})")


def test_sums_of_doubles_are_rounded_once(cursor: imp_driver.Cursor, warehouse: Path) -> None:
    """Of values whose sum Spark's own order may round in many ways, and after changes that take some of them away again."""
    shadow = cursor
    with imp_driver.connect(warehouse=str(warehouse), answers="on") as connection:
        _check_doubles(connection.cursor(), shadow, warehouse)


def _check_doubles(cursor: imp_driver.Cursor, shadow: imp_driver.Cursor, warehouse: Path) -> None:
    name = f"doubles{next(_numbers)}"
    numbers = [0.1, 0.2, 0.3, 1e15, -1e15, 19.99, 1e-3, 123456.789, -0.1] * 40
    cursor.execute(
        f"CREATE TABLE {name} USING DELTA AS SELECT * FROM VALUES {', '.join(f'({n}, {x!r}D)' for n, x in enumerate(numbers))} AS v(n, x)"
    )
    text = f"SELECT sum(x) AS s, avg(x) AS a FROM {name}"
    assert cursor.execute(text).fetchall() == [(math.fsum(numbers), math.fsum(numbers) / len(numbers))]
    assert served(cursor) is ServedBy.STATE
    shadow.execute(text).fetchall()
    # Spark's own sum is off by more than such answers are compared by.
    assert served(shadow) is ServedBy.SPARK
    cursor.execute(f"DELETE FROM {name} WHERE n % 3 = 1")
    left = [x for n, x in enumerate(numbers) if n % 3 != 1]
    assert cursor.execute(text).fetchall() == [(math.fsum(left), math.fsum(left) / len(left))]
    assert served(cursor) is ServedBy.STATE
    with imp_driver.connect(warehouse=str(warehouse), answers="on", floats="spark") as connection:
        other = connection.cursor()
        other.execute(text).fetchall()
        assert served(other) is ServedBy.SPARK
