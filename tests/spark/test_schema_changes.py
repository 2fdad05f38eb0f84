"""A table's schema changes under states: what they do not read costs nothing, what they do read is captured again, no row is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from imp_driver.reasons import Decision, RecaptureReason, ServedBy
from tests.seeds import of_today

_numbers = itertools.count()
MAPPED = "'delta.columnMapping.mode' = 'name'"
STEPS: tuple[tuple[str, str, RecaptureReason | None], ...] = (
    (MAPPED, "ALTER TABLE {t} ADD COLUMN later INT", None),
    (MAPPED, "ALTER TABLE {t} ADD COLUMN (first_of_all STRING FIRST, between_two STRING AFTER g)", None),
    (MAPPED, "INSERT INTO {t} (g, x, later) VALUES (1, 5, 7), (4, 1, NULL)", None),
    (MAPPED, "ALTER TABLE {t} RENAME COLUMN later TO then", None),
    (MAPPED, "ALTER TABLE {t} DROP COLUMN unread", None),
    (MAPPED, "UPDATE {t} SET x = x + 1 WHERE g = 1", None),
    (MAPPED, "ALTER TABLE {t} RENAME COLUMN x TO y; ALTER TABLE {t} RENAME COLUMN then TO x", RecaptureReason.TABLE_REPLACED),
    (MAPPED, "ALTER TABLE {t} DROP COLUMN x; ALTER TABLE {t} ADD COLUMN x INT", RecaptureReason.TABLE_REPLACED),
    (MAPPED, "INSERT INTO {t} (g, x) VALUES (1, 3)", None),
    ("", "ALTER TABLE {t} ADD COLUMN later INT", None),
    ("", "DELETE FROM {t} WHERE x = 3", None),
    ("", "ALTER TABLE {t} ALTER COLUMN x COMMENT 'of no account'", None),
    ("", "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name'); ALTER TABLE {t} DROP COLUMN later", None),
    ("", "UPDATE {t} SET x = x + 1 WHERE g = 2", None),
)
QUERIES = (
    "SELECT g, sum(x) AS s, count(*) AS c FROM {t} GROUP BY g ORDER BY g",
    "SELECT count(*) FROM {t}",
    "SELECT count(x) FROM {t} WHERE x > 2",
    "SELECT a.g, count(*) AS c, max(b.x) AS m FROM {t} a JOIN {t} b ON a.g = b.g GROUP BY a.g ORDER BY a.g",
)


@pytest.fixture
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    # By cost a step on a busy machine may be left out.
    with imp_driver.connect(warehouse=str(warehouse), policy="incremental") as connection:
        yield connection.cursor()


@pytest.mark.parametrize("feed", of_today([False, True]))
def test_a_column_is_followed_as_long_as_it_is_the_same(cursor: imp_driver.Cursor, engine: imp_driver.Connection, feed: bool) -> None:
    plain = engine.cursor()
    names: dict[str, str] = {}
    for properties in (MAPPED, ""):
        names[properties] = f"schemas{next(_numbers)}"
        told = ", ".join(filter(None, (properties, f"'delta.enableChangeDataFeed' = {str(feed).lower()}")))
        cursor.execute(f"CREATE TABLE {names[properties]} (g INT, x INT, unread STRING) USING DELTA TBLPROPERTIES ({told})")
        cursor.execute(f"INSERT INTO {names[properties]} SELECT id % 3, id % 5, 'u' FROM range(30)")
        for query in QUERIES * 3:
            cursor.execute(query.format(t=names[properties])).fetchall()
    for properties, statements, reason in STEPS:
        for statement in statements.split("; "):
            cursor.execute(statement.format(t=names[properties]))
        for query in QUERIES:
            text = query.format(t=names[properties])
            found, expected = cursor.execute(text).fetchall(), plain.execute(text).fetchall()
            report = cursor.sketch_report
            assert found == expected, (statements, text, report)
            assert report is not None
            assert report.served_by is ServedBy.STATE, (statements, text, report)
            wanted = reason if "x" in query else None
            assert (report.recapture_reason, statements, text) == (wanted, statements, text), report
            assert report.decision in ((Decision.RECAPTURED,) if wanted else (Decision.MAINTAINED, Decision.FRESH)), (text, report)


def test_a_wider_type_is_another_column(cursor: imp_driver.Cursor, engine: imp_driver.Connection) -> None:
    name, plain = f"schemas{next(_numbers)}", engine.cursor()
    cursor.execute(f"CREATE TABLE {name} (g INT, x INT) USING DELTA TBLPROPERTIES ('delta.enableTypeWidening' = true)")
    cursor.execute(f"INSERT INTO {name} VALUES (1, 2147483647), (1, 1)")
    text = f"SELECT g, max(x) AS m, sum(x) AS s FROM {name} GROUP BY g"
    cursor.execute(text).fetchall()
    cursor.execute(f"ALTER TABLE {name} ALTER COLUMN x TYPE BIGINT")
    cursor.execute(f"INSERT INTO {name} VALUES (1, 2147483648)")
    for _ in range(2):
        assert cursor.execute(text).fetchall() == plain.execute(text).fetchall(), cursor.sketch_report
    assert cursor.sketch_report is not None
    assert cursor.sketch_report.served_by is ServedBy.STATE
