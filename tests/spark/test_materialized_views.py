"""Materialized views: a table that plain Spark reads, brought up to date by its changes alone, once, whoever was in between."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.reasons import Decision, ServedBy

_numbers = itertools.count()
VIEWS = {
    "sums": ("STRICT", "SELECT g, sum(x) AS s, count(*) AS c FROM {t} GROUP BY g"),
    "rows": ("AUTO", "SELECT x, d FROM {t} WHERE x > 2"),
    "lists": ("AUTO", "SELECT g, sort_array(collect_list(x)) AS l FROM {t} GROUP BY g"),
    "most": ("FULL", "SELECT g, max(d) AS m FROM {t} GROUP BY g"),
}
CHANGES = (
    "INSERT INTO {t} VALUES (1, 4, 1.5), (7, 7, NULL), (1, 4, 1.5), (NULL, 3, DOUBLE('NaN'))",
    "UPDATE {t} SET d = 0 WHERE g = 1",
    "DELETE FROM {t} WHERE x = 4",
    "UPDATE {t} SET d = -d WHERE g = 1",
)


@pytest.fixture
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse)) as connection:
        yield connection.cursor()


@pytest.fixture
def names(cursor: imp_driver.Cursor) -> dict[str, str]:
    return made_of(cursor)


def made_of(cursor: imp_driver.Cursor) -> dict[str, str]:
    """Make a table; return its name and that of a view to be made."""
    found = {"t": f"source{next(_numbers)}", "m": f"made{next(_numbers)}"}
    cursor.execute(f"CREATE TABLE {found['t']} (g INT, x INT, d DOUBLE) USING DELTA")
    cursor.execute(f"INSERT INTO {found['t']} SELECT id % 3, id % 5, id / 7 FROM range(60)")
    return found


def same(cursor: imp_driver.Cursor, one: str, other: str) -> bool:
    """Compare two queries as bags, by plain Spark."""
    return all(
        not cursor.execute(f"SELECT * FROM (({first}) EXCEPT ALL ({second}))").fetchall() for first, second in ((one, other), (other, one))
    )


def test_the_table_has_the_rows_and_only_changes_are_written(
    cursor: imp_driver.Cursor, names: dict[str, str], engine: imp_driver.Connection
) -> None:
    plain, made = engine.cursor(), names["m"]
    for name, (policy, query) in VIEWS.items():
        cursor.execute(f"CREATE MATERIALIZED VIEW {made}_{name} POLICY {policy} AS {query.format(**names)}")
    for change in ("", *CHANGES):
        if change:
            cursor.execute(change.format(**names))
        for name, (_, query) in VIEWS.items():
            cursor.execute(f"REFRESH MATERIALIZED VIEW {made}_{name}")
            report = cursor.sketch_report
            assert report is not None
            assert (change != "") or name == "most" or name == "lists" or cursor.rowcount == 0
            assert name != "sums" or report.served_by is ServedBy.STATE
            assert same(plain, f"SELECT * FROM {made}_{name}", query.format(**names)), (name, change)
    operations = [row[4] for row in plain.execute(f"DESCRIBE HISTORY {made}_sums").fetchall()]
    assert operations == ["MERGE"] * 2 + ["CREATE TABLE AS SELECT"]
    changed = plain.execute(f"SELECT _change_type, g, s, c FROM table_changes('{made}_sums', 1, 1)").fetchall()
    assert Counter(row[0] for row in changed) == {"insert": 2, "update_preimage": 1, "update_postimage": 1}
    remark = plain.execute(f"DESCRIBE HISTORY {made}_sums").fetchall()[0][13]
    (version,) = json.loads(remark)["imp.view"].values()
    shown = [row for row in cursor.execute("SHOW MATERIALIZED VIEWS").fetchall() if row[0].endswith(f".{made}_sums")]
    assert [(row[1], row[2], row[6]) for row in shown] == [("STRICT", 2, VIEWS["sums"][1].format(**names))]
    assert list(json.loads(shown[0][3]).values()) == [version]
    # The last change of the sums: the update after it left them as they were, and nothing was written.
    assert version == next(row[0] for row in plain.execute(f"DESCRIBE HISTORY {names['t']}").fetchall() if row[4] == "DELETE")


def test_what_came_between_is_made_good(cursor: imp_driver.Cursor, names: dict[str, str], engine: imp_driver.Connection) -> None:
    plain, view, query = engine.cursor(), f"{names['m']}_rows", VIEWS["rows"][1].format(**names)
    cursor.execute(f"CREATE MATERIALIZED VIEW {view} AS {query}")
    for change in (f"DELETE FROM {view} WHERE x = 3", f"INSERT INTO {view} SELECT * FROM {view}", f"TRUNCATE TABLE {view}"):
        plain.execute(change)
        cursor.execute(f"REFRESH MATERIALIZED VIEW {view}")
        assert same(plain, f"SELECT * FROM {view}", query), change


def test_two_at_once_are_one(warehouse: Path, cursor: imp_driver.Cursor, names: dict[str, str], engine: imp_driver.Connection) -> None:
    view, query, plain = f"{names['m']}_rows", VIEWS["rows"][1].format(**names), engine.cursor()
    cursor.execute(f"CREATE MATERIALIZED VIEW {view} AS {query}")
    cursor.execute(f"INSERT INTO {names['t']} VALUES (1, 100, 1.5), (1, 100, 1.5)")
    errors: list[BaseException] = []
    ready = threading.Barrier(2)

    def refresh() -> None:
        try:
            with imp_driver.connect(warehouse=str(warehouse)) as own:
                ready.wait(60)
                own.execute(f"REFRESH MATERIALIZED VIEW {view}")
        except imp_driver.OperationalError as error:
            # Delta may say that the other one has changed the table meanwhile.
            errors.append(error)

    threads = [threading.Thread(target=refresh) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) < 2
    assert same(plain, f"SELECT * FROM {view}", query)


def test_every_so_many_seconds(warehouse: Path, engine: imp_driver.Connection) -> None:
    # Of a schema of their own: all tables of one are looked at, and the others' tests leave hundreds.
    engine.execute("CREATE SCHEMA IF NOT EXISTS refreshed").close()
    lazy, off = (imp_driver.connect(warehouse=str(warehouse), schema="refreshed", sketch=mode) for mode in ("lazy", "off"))
    with lazy, off:
        _refreshed_by_themselves(warehouse, lazy.cursor(), off.cursor())


def _refreshed_by_themselves(warehouse: Path, cursor: imp_driver.Cursor, plain: imp_driver.Cursor) -> None:
    names = made_of(cursor)
    view, query = f"{names['m']}_sums", VIEWS["sums"][1].format(**names)
    cursor.execute(f"CREATE MATERIALIZED VIEW {view} POLICY INCREMENTAL EVERY 1 SECOND AS {query}")
    cursor.execute(f"INSERT INTO {names['t']} VALUES (1, 100, 1.5)")
    assert not same(plain, f"SELECT * FROM {view}", query)
    with imp_driver.connect(warehouse=str(warehouse), schema="refreshed", sketch="eager") as eager:
        assert wait_for(lambda: same(plain, f"SELECT * FROM {view}", query))
        # One that is made meanwhile.
        other = f"{names['m']}_rows"
        eager.execute(f"CREATE MATERIALIZED VIEW {other} EVERY 1 SECONDS AS {VIEWS['rows'][1].format(**names)}").close()
        cursor.execute(f"DELETE FROM {names['t']} WHERE g = 2")
        assert wait_for(lambda: same(plain, f"SELECT * FROM {other}", VIEWS["rows"][1].format(**names)))
    names_of_threads = {thread.name for thread in threading.enumerate()}
    assert "imp-refresh" not in names_of_threads
    shown = [row for row in cursor.execute("SHOW MATERIALIZED VIEWS").fetchall() if row[0].endswith((view, other))]
    assert [row[4:6] for row in shown] == [(1, None), (1, None)]
    with pytest.raises(imp_driver.ProgrammingError, match="EVERY n SECONDS is for materialized views"):
        cursor.execute(f"CREATE INCREMENTAL VIEW {names['m']}_v EVERY 5 SECONDS AS {query}")
    with pytest.raises(imp_driver.ProgrammingError, match="'0' is not expected"):
        cursor.execute(f"CREATE MATERIALIZED VIEW {names['m']}_v EVERY 0 SECONDS AS {query}")


def wait_for(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 300
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.2)
    return False


def test_names_are_those_of_the_schema_where_it_was_made(
    cursor: imp_driver.Cursor, names: dict[str, str], engine: imp_driver.Connection
) -> None:
    view = f"default.{names['m']}_sums"
    cursor.execute(f"CREATE MATERIALIZED VIEW {view} (key, total, rows) AS {VIEWS['sums'][1].format(**names)}")
    cursor.execute("CREATE SCHEMA IF NOT EXISTS elsewhere")
    cursor.execute("USE elsewhere")
    cursor.execute(f"INSERT INTO default.{names['t']} VALUES (8, 8, 8)")
    cursor.execute(f"REFRESH MATERIALIZED VIEW {view}")
    assert cursor.sketch_report is not None
    assert (cursor.sketch_report.decision, cursor.rowcount) == (Decision.MAINTAINED, 1)
    assert cursor.execute("SELECT current_schema()").fetchall() == [("elsewhere",)]
    assert engine.cursor().execute(f"SELECT key, total, rows FROM {view} WHERE key = 8").fetchall() == [(8, 8, 1)]


def test_what_is_replaced_stays_until_the_new_rows_are_there(
    cursor: imp_driver.Cursor, names: dict[str, str], engine: imp_driver.Connection
) -> None:
    view, query, plain = f"{names['m']}_rows", VIEWS["rows"][1].format(**names), engine.cursor()
    cursor.execute(f"CREATE MATERIALIZED VIEW {view} AS {query}")
    with pytest.raises(imp_driver.OperationalError, match="wrong"):
        cursor.execute(f"CREATE OR REPLACE MATERIALIZED VIEW {view} AS SELECT raise_error('wrong') AS x FROM {names['t']}")
    with pytest.raises(imp_driver.ProgrammingError, match="already exists"):
        cursor.execute(f"CREATE MATERIALIZED VIEW {view} AS SELECT 1 AS one")
    with pytest.raises(imp_driver.ProgrammingError, match="is a Delta table"):
        cursor.execute(f"CREATE OR REPLACE MATERIALIZED VIEW {names['t']} AS SELECT 1 AS one")
    assert same(plain, f"SELECT * FROM {view}", query)
    cursor.execute(f"CREATE OR REPLACE MATERIALIZED VIEW {view} (a, b) AS SELECT g, x FROM {names['t']}")
    assert same(plain, f"SELECT a, b FROM {view}", f"SELECT g, x FROM {names['t']}")
    cursor.execute(f"REFRESH MATERIALIZED VIEW {view}")
    assert cursor.rowcount == 0
    assert len(plain.execute(f"DESCRIBE HISTORY {view}").fetchall()) == 2


@pytest.mark.parametrize(
    ("statement", "error", "said"),
    [
        ("REFRESH MATERIALIZED VIEW {t}", imp_driver.ProgrammingError, "is a Delta table"),
        ("REFRESH MATERIALIZED VIEW nothing_here", imp_driver.ProgrammingError, "nothing of this name"),
        ("DROP MATERIALIZED VIEW {t}", imp_driver.ProgrammingError, "no materialized view"),
        ("CREATE MATERIALIZED VIEW {m} AS SELECT nope FROM {t}", imp_driver.ProgrammingError, "nope"),
        *(
            (text, imp_driver.ProgrammingError, "is to be a query")
            for change in ("DELETE FROM {t}", "INSERT INTO {t} VALUES (9, 9, 9)", "DROP TABLE {t}", "FROM {t} INSERT INTO {t} SELECT *")
            for text in (
                f"CREATE MATERIALIZED VIEW {{m}} AS {change}",
                f"CREATE MATERIALIZED VIEW {{m}} POLICY STRICT AS {change}",
                f"CREATE INCREMENTAL VIEW {{m}} POLICY STRICT AS {change}",
                f"EXPLAIN INCREMENTAL {change}",
                f"EXPLAIN SKETCH {change}",
            )
        ),
        ("CREATE MATERIALIZED VIEW {m} POLICY STRICT AS SELECT rand() AS r FROM {t}", imp_driver.NotSupportedError, "NON_DETERMINISTIC"),
        (
            "CREATE MATERIALIZED VIEW {m} POLICY STRICT AS SELECT md5(CAST(x AS STRING)) AS r FROM {t}",
            imp_driver.OperationalError,
            "POLICY STRICT",
        ),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_left(
    cursor: imp_driver.Cursor, names: dict[str, str], statement: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        cursor.execute(statement.format(**names))
    tables: list[Any] = cursor.execute(f"SHOW TABLES LIKE '{names['m']}*'").fetchall()
    assert tables == []
    assert cursor.execute(f"SELECT count(*) FROM {names['t']}").fetchall() == [(60,)]


def test_columns_that_are_others_by_now_are_told(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    view, table = f"{names['m']}_all", names["t"]
    cursor.execute(f"CREATE MATERIALIZED VIEW {view} AS SELECT *, array(x) AS xs, map('a', x) AS ms FROM {table}")
    cursor.execute(f"DELETE FROM {table}")
    cursor.execute(f"REFRESH MATERIALIZED VIEW {view}")
    assert cursor.execute(f"SELECT * FROM {view}").fetchall() == []
    cursor.execute(f"CREATE OR REPLACE MATERIALIZED VIEW {view} AS SELECT *, array(x) AS xs FROM {table}")
    cursor.execute(f"ALTER TABLE {table} ADD COLUMN zz INT")
    with pytest.raises(imp_driver.OperationalError, match="other columns than its query"):
        cursor.execute(f"REFRESH MATERIALIZED VIEW {view}")
