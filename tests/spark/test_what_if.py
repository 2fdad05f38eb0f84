"""WHAT IF: the rows of tables where the changes are made, and nothing is written."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.reasons import DeltaSource, Reason, ServedBy

_numbers = itertools.count()
QUERIES = (
    "SELECT g, sum(x) AS s, count(*) AS c FROM {t} GROUP BY g",
    "SELECT n, sum(x) AS s, max(d) AS m FROM {t} JOIN {u} ON {t}.g = {u}.g GROUP BY n",
    "SELECT n, s FROM {v}",
    "SELECT g, x, (SELECT sum(a.x) FROM {t} a WHERE a.g < {t}.g) AS m FROM {t}",
    "SELECT g, row_number() OVER (PARTITION BY g ORDER BY d, s) AS r FROM {t} WHERE d > 4",
)
CHANGES = (
    ("DELETE FROM {t} WHERE g = 1",),
    (
        "INSERT INTO {t} VALUES (1, 2, 3.5, 'new'), (11, NULL, -0.0, NULL)",
        "UPDATE {t} SET x = x + 1, s = 'z' WHERE g IN (1, 4) OR d IS NULL",
        "INSERT INTO {u} (n, g) SELECT concat('n', g), g + 10 FROM {u} WHERE g > 1",
    ),
    (
        "MERGE INTO {t} USING (SELECT g AS k, n FROM {u} WHERE g < 4 UNION ALL SELECT 77, 'new') s ON {t}.g = s.k "
        "WHEN MATCHED AND {t}.x > 2 THEN DELETE WHEN MATCHED THEN UPDATE SET s = s.n, x = 0 "
        "WHEN NOT MATCHED THEN INSERT (g, s) VALUES (s.k, s.n) WHEN NOT MATCHED BY SOURCE AND {t}.x = 1 THEN DELETE",
    ),
    ("INSERT OVERWRITE {u} SELECT g, max(s) FROM {t} GROUP BY g", "INSERT INTO {t} BY NAME SELECT 5 AS g, 'a' AS s"),
    (
        "INSERT INTO {t} (d, g) VALUES (-0.0, 1), (0.1, 2), (12345678901234567.1, NULL), (1.5, 3)",
        "INSERT INTO {t} (s, G) VALUES ('it''s', -0), ('', 8)",
        "insert into table {t} values (1, 2, 7, 'x'), (null, null, null, null)",
        "INSERT INTO {t} VALUES (5, DEFAULT, DEFAULT, 'it''s')",
        "UPDATE {t} SET x = DEFAULT, s = concat(s, '''') WHERE g = 2",
        "WITH w AS (SELECT g FROM {u}) INSERT INTO {u} SELECT g, 'n0' FROM w",
        "INSERT INTO {u} TABLE {u}",
    ),
)


@pytest.fixture
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse)) as connection:
        yield connection.cursor()


@pytest.fixture
def names(cursor: imp_driver.Cursor) -> dict[str, str]:
    number = next(_numbers)
    found = {"t": f"supposed{number}", "u": f"partner{number}", "v": f"shown{number}"}
    cursor.execute("CREATE TABLE {t} (g INT, x INT, d DOUBLE, s STRING) USING DELTA".format(**found))
    cursor.execute("INSERT INTO {t} SELECT id % 6, id % 5, id / 8, concat('s', id % 3) FROM range(60)".format(**found))
    cursor.execute("CREATE TABLE {u} (g INT, n STRING) USING DELTA".format(**found))
    cursor.execute("INSERT INTO {u} SELECT id, concat('n', id % 2) FROM range(4)".format(**found))
    cursor.execute("CREATE VIEW {v} AS SELECT n, sum({t}.x) AS s FROM {t} JOIN {u} ON {t}.g = {u}.g GROUP BY n".format(**found))
    return found


def bag(rows: list[Any]) -> Counter[str]:
    return Counter(map(str, rows))


def versions(cursor: imp_driver.Cursor, names: dict[str, str]) -> list[int]:
    return [cursor.execute(f"DESCRIBE HISTORY {names[each]}").fetchall()[0][0] for each in ("t", "u")]


def test_rows_are_those_after_the_changes(cursor: imp_driver.Cursor, names: dict[str, str], engine: imp_driver.Connection) -> None:
    plain = engine.cursor()
    for each in CHANGES:
        changes, found = [change.format(**names) for change in each], {}
        before = versions(plain, names)
        for query in QUERIES:
            text = query.format(**names)
            found[text] = bag(cursor.execute(f"WHAT IF ({'; '.join(changes)}) {text}").fetchall())
            report = cursor.sketch_report
            assert report is not None
            # Rows may tie in the order of the window, and those beside a subquery are kept once they were asked for.
            if "row_number" not in text and "(SELECT" not in text:
                assert report.served_by is ServedBy.STATE, (changes, text, report)
            # What is maintained stands for the tables as they are.
            assert bag(cursor.execute(text).fetchall()) == bag(plain.execute(text).fetchall()), (changes, text)
        assert versions(plain, names) == before
        for change in changes:
            plain.execute(change)
        assert found == {text: bag(plain.execute(text).fetchall()) for text in found}, changes


def test_markers_and_reports(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    text = "WHAT IF (DELETE FROM {t} WHERE x = 1) SELECT g, count(*) AS c FROM {t} WHERE g = ? GROUP BY g".format(**names)
    assert cursor.execute(text, (2,)).fetchall() == [(2, 8)]
    report = cursor.sketch_report
    assert report is not None
    assert (report.served_by, report.delta_source, report.delta_rows) == (ServedBy.STATE, DeltaSource.SUPPOSED, 12)
    # The versions are those that somebody has written.
    [written, _] = versions(cursor, names)
    assert report.version == written
    assert set(report.tables.values()) == {written}
    assert cursor.execute(text, (3,)).fetchall() == [(3, 8)]
    assert cursor.execute("SELECT count(*) FROM {t} WHERE g = 2".format(**names)).fetchall() == [(10,)]
    # Made by another client meanwhile.
    cursor.execute("DELETE FROM {t} WHERE g = 2 AND x > 2".format(**names))
    assert cursor.execute(text, (2,)).fetchall() == [(2, 4)]
    cursor.execute("WHAT IF (DELETE FROM {t}) SELECT md5(s) FROM {t}".format(**names))
    assert cursor.fetchall() == []
    report = cursor.sketch_report
    assert report is not None
    assert report.not_answered is not None
    assert report.not_answered.reason in (Reason.ROWS_WITHOUT_GROUPS, Reason.ROWS_NEEDED, Reason.LEFT_TO_SPARK, Reason.UNKNOWN_FUNCTION)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("WHAT IF DELETE FROM {t} SELECT 1", imp_driver.ProgrammingError, "in brackets"),
        ("WHAT IF (DELETE FROM {t} SELECT 1", imp_driver.ProgrammingError, "does not end"),
        ("WHAT IF () SELECT 1", imp_driver.ProgrammingError, "no change"),
        ("WHAT IF (DELETE FROM {t})", imp_driver.ProgrammingError, "no query"),
        ("WHAT IF (DELETE FROM {t}) DELETE FROM {t}", imp_driver.ProgrammingError, "is to be a query"),
        ("WHAT IF (DELETE FROM {t}) FROM {t} INSERT INTO {t} SELECT *", imp_driver.ProgrammingError, "is to be a query"),
        ("WHAT IF (DELETE FROM {t} WHERE g = ?) SELECT 1", imp_driver.ProgrammingError, "no markers"),
        ("WHAT IF (DROP TABLE {t}) SELECT * FROM {t}", imp_driver.ProgrammingError, "INSERT, UPDATE, DELETE and MERGE"),
        ("WHAT IF (DELETE FROM {t} WHERE nope = 1) SELECT * FROM {t}", imp_driver.ProgrammingError, "nope"),
        ("WHAT IF (DELETE FROM {t}) SELECT nope FROM {t}", imp_driver.ProgrammingError, "nope"),
        ("WHAT IF (DELETE FROM {t}) SELECT * FROM {t} VERSION AS OF 0", imp_driver.NotSupportedError, "older version"),
        ("WHAT IF (DELETE FROM {t} WHERE g IN (SELECT g FROM {u})) SELECT 1", imp_driver.NotSupportedError, "UNSUPPORTED_SUBQUERY"),
        (
            "WHAT IF (MERGE INTO {t} USING (VALUES (1, 1), (1, 2)) s ON {t}.g = s.col1 WHEN MATCHED AND s.col2 = 1 THEN DELETE) SELECT 1",
            imp_driver.ProgrammingError,
            "match one row",
        ),
        ("WHAT IF (INSERT INTO {t} VALUES ('a', 1, 1, 1)) SELECT * FROM {t}", imp_driver.DataError, "INT"),
        ("WHAT IF (INSERT INTO {t} VALUES (1)) SELECT * FROM {t}", imp_driver.ProgrammingError, "column"),
        ("WHAT IF (INSERT INTO {t} (g, g) VALUES (1, 2)) SELECT * FROM {t}", imp_driver.ProgrammingError, "ALREADY_EXISTS"),
        ("WHAT IF (INSERT INTO {t} (g) VALUES (1), (1, 2)) SELECT * FROM {t}", imp_driver.ProgrammingError, "INLINE_TABLE"),
        ("WHAT IF (INSERT INTO {t} BY NAME SELECT * FROM {t}) SELECT * FROM {t}", imp_driver.NotSupportedError, "names its columns"),
        ("WHAT IF (DELETE FROM {v}) SELECT * FROM {t}", imp_driver.NotSupportedError, "only supports Delta"),
        ("WHAT IF (INSERT INTO {t} (d) SELECT rand()) SELECT * FROM {t}", imp_driver.NotSupportedError, "NON_DETERMINISTIC"),
        ("WHAT IF (INSERT INTO {t} (g) VALUES (3000000000)) SELECT * FROM {t}", imp_driver.Error, "OVERFLOW"),
        (
            "WHAT IF (MERGE INTO {t} USING (VALUES (1), (1)) s ON {t}.g = s.col1 WHEN MATCHED THEN UPDATE SET x = 0) SELECT 1",
            imp_driver.ProgrammingError,
            "match one row",
        ),
    ],
)
def test_what_is_wrong_is_told(cursor: imp_driver.Cursor, names: dict[str, str], text: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        cursor.execute(text.format(**names))


def test_rules_of_tables_are_kept(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    table = names["t"]
    cursor.execute(f"CREATE TABLE {table}_r (k INT NOT NULL, v INT, w INT GENERATED ALWAYS AS (v + 1)) USING DELTA")
    with pytest.raises(imp_driver.NotSupportedError, match="computed columns"):
        cursor.execute(f"WHAT IF (INSERT INTO {table}_r (k, v) VALUES (1, 1)) SELECT * FROM {table}_r")
    cursor.execute(f"CREATE TABLE {table}_c (k INT NOT NULL, v INT) USING DELTA")
    cursor.execute(f"ALTER TABLE {table}_c ADD CONSTRAINT few CHECK (v < 10)")
    cursor.execute(f"CREATE TABLE {table}_l (k VARCHAR(3)) USING DELTA")
    with pytest.raises(imp_driver.NotSupportedError, match=r"varchar\(3\)"):
        cursor.execute(f"WHAT IF (INSERT INTO {table}_l VALUES ('longer')) SELECT * FROM {table}_l")
    cursor.execute(f"CREATE TABLE {table}_p (k INT, p STRING) USING DELTA PARTITIONED BY (p)")
    cursor.execute(f"INSERT INTO {table}_p VALUES (1, 'a')")
    for change in ("INSERT INTO {t} VALUES (2, '')", "INSERT INTO {t} SELECT 2, ''", "UPDATE {t} SET p = '' WHERE k = 1"):
        cursor.execute(f"WHAT IF ({change.format(t=f'{table}_p')}) SELECT p, count(*) FROM {table}_p WHERE p IS NULL OR p = '' GROUP BY p")
        assert cursor.fetchall() == [(None, 1)], change
        assert cursor.execute(f"WHAT IF ({change.format(t=f'{table}_p')}) SELECT md5(p) FROM {table}_p WHERE p = ''").fetchall() == []
    for row, said in (("(NULL, 1)", "NOT NULL"), ("(1, 11)", "few")):
        with pytest.raises(imp_driver.IntegrityError, match=said):
            cursor.execute(f"WHAT IF (INSERT INTO {table}_c VALUES {row}) SELECT * FROM {table}_c")
    assert cursor.execute(f"WHAT IF (INSERT INTO {table}_c VALUES (1, 9)) SELECT * FROM {table}_c").fetchall() == [(1, 9)]
