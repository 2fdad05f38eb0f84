"""Incremental views: ordinary views to Spark, held by the driver; their rows are Spark's after each change, under each policy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.reasons import Decision, ServedBy

_numbers = itertools.count()
VIEWS = {
    "sums": ("STRICT", "SELECT g, sum(x) AS s, count(*) AS c FROM {t} GROUP BY g"),
    "names": ("AUTO", "SELECT n, s FROM {v}_sums JOIN {u} ON {v}_sums.g = {u}.g"),
    "rows": ("INCREMENTAL", "SELECT {t}.x, {u}.n FROM {t} JOIN {u} ON {t}.g = {u}.g WHERE {t}.x > 3"),
    "most": ("FULL", "SELECT g, max(x) AS m FROM {t} GROUP BY g"),
    "above": ("AUTO", "SELECT n, sum(s) AS s, count(*) AS c FROM {v}_names GROUP BY n HAVING sum(s) > 0"),
    "over": (
        "STRICT",
        "SELECT g, sum(x) AS s FROM {t} GROUP BY g HAVING sum(x) > (SELECT avg(g) FROM {u}) AND g >= (SELECT min(g) FROM {u})",
    ),
    "first": ("INCREMENTAL", "SELECT g, sum(x) AS s FROM {t} GROUP BY g ORDER BY s DESC, g LIMIT 2"),
}
CHANGES = (
    "INSERT INTO {t} VALUES (1, 4), (7, NULL), (2, 9)",
    "UPDATE {u} SET n = 'uno' WHERE g = 1",
    "DELETE FROM {t} WHERE x = 4",
    "MERGE INTO {t} USING (SELECT 2 AS g, 5 AS x) s ON {t}.g = s.g WHEN MATCHED THEN UPDATE SET x = s.x WHEN NOT MATCHED THEN INSERT *",
)


@pytest.fixture
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse)) as connection:
        yield connection.cursor()


@pytest.fixture
def names(cursor: imp_driver.Cursor) -> dict[str, str]:
    number = next(_numbers)
    found = {"t": f"facts{number}", "u": f"names{number}", "v": f"view{number}"}
    cursor.execute(f"CREATE TABLE {found['t']} (g INT, x INT) USING DELTA")
    cursor.execute(f"CREATE TABLE {found['u']} (g INT, n STRING) USING DELTA")
    cursor.execute(f"INSERT INTO {found['t']} SELECT id % 3, id % 5 FROM range(300)")
    cursor.execute(f"INSERT INTO {found['u']} VALUES (0, 'zero'), (1, 'one'), (2, 'two')")
    return found


def create(cursor: imp_driver.Cursor, names: dict[str, str], only: tuple[str, ...] = tuple(VIEWS)) -> None:
    for name in only:
        policy, query = VIEWS[name]
        cursor.execute(f"CREATE INCREMENTAL VIEW {names['v']}_{name} POLICY {policy} AS {query.format(**names)}")


def shown(cursor: imp_driver.Cursor, names: dict[str, str]) -> dict[str, dict[str, Any]]:
    rows = cursor.execute("SHOW INCREMENTAL VIEWS").fetchall()
    assert cursor.description is not None
    every = [dict(zip((column[0] for column in cursor.description), row, strict=True)) for row in rows]
    mark = f".{names['v']}_"
    return {row["view_name"].partition(mark)[2]: row for row in every if mark in row["view_name"]}


def test_rows_are_sparks_after_every_change_and_no_view_waits_for_a_first_query(
    cursor: imp_driver.Cursor, names: dict[str, str], engine: imp_driver.Connection
) -> None:
    create(cursor, names)
    plain, decisions = engine.cursor(), dict.fromkeys(VIEWS, Decision.FRESH)
    for change in ("", *CHANGES):
        if change:
            cursor.execute(change.format(**names))
        for name in VIEWS:
            text = f"SELECT * FROM {names['v']}_{name} ORDER BY 1, 2"
            found, expected = cursor.execute(text).fetchall(), plain.execute(text).fetchall()
            report = cursor.sketch_report
            assert report is not None
            assert (report.served_by, text) == (ServedBy.STATE, text), report
            assert found == expected, (text, change)
            if not change:
                assert report.decision is Decision.FRESH, (text, report)
            elif report.decision is not Decision.FRESH:
                decisions[name] = report.decision
    assert decisions["most"] is Decision.RECAPTURED
    assert [decisions[name] for name in ("sums", "rows")] == [Decision.MAINTAINED] * 2
    rows = shown(cursor, names)
    assert rows.keys() == VIEWS.keys()
    assert [(rows[name]["policy"], rows[name]["rows"] > 0, rows[name]["bytes"] > 0) for name in VIEWS] == [
        (policy, True, True) for policy, _ in VIEWS.values()
    ]
    assert rows["sums"]["statement"] == VIEWS["sums"][1].format(**names)


def test_strict_is_never_silently_full(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    create(cursor, names, ("sums", "names"))
    text = f"SELECT * FROM {names['v']}_sums ORDER BY g"
    before = cursor.execute(text).fetchall()
    cursor.execute(f"INSERT INTO {names['t']} VALUES (1, 4)")
    cursor.execute(f"RESTORE TABLE {names['t']} TO VERSION AS OF 1").fetchall()
    cursor.execute(f"CREATE VIEW {names['v']}_plain AS SELECT s FROM {names['v']}_sums")
    for each in (
        text,
        text,
        f"SELECT * FROM {names['v']}_plain",
        f"SELECT * FROM {names['v']}_names",
        f"SELECT md5(CAST(s AS STRING)) FROM {names['v']}_sums",
    ):
        with pytest.raises(imp_driver.OperationalError, match=r"POLICY STRICT.*RESTORED"):
            cursor.execute(each)
    # Others read the table as before.
    assert len(cursor.execute(f"SELECT g, sum(x) AS s, count(*) AS c FROM {names['t']} GROUP BY g").fetchall()) == len(before)
    cursor.execute(f"CREATE OR REPLACE INCREMENTAL VIEW {names['v']}_sums POLICY STRICT AS {VIEWS['sums'][1].format(**names)}")
    assert cursor.execute(text).fetchall() == before
    assert len(cursor.execute(f"SELECT * FROM {names['v']}_names").fetchall()) == len(before)


def test_strict_over_auto_is_strict(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    lower, upper = f"{names['v']}_lower", f"{names['v']}_upper"
    cursor.execute(f"CREATE INCREMENTAL VIEW {lower} AS SELECT g, sum(x) AS s FROM {names['t']} GROUP BY g")
    query = f"SELECT n, sum(s) AS s FROM {lower} JOIN {names['u']} ON {lower}.g = {names['u']}.g GROUP BY n"
    cursor.execute(f"CREATE INCREMENTAL VIEW {upper} POLICY STRICT AS {query}")
    before = sorted(cursor.execute(f"SELECT * FROM {upper}").fetchall())
    cursor.execute(f"INSERT INTO {names['t']} VALUES (1, 4)")
    cursor.execute(f"RESTORE TABLE {names['t']} TO VERSION AS OF 1").fetchall()
    for _ in range(2):
        with pytest.raises(imp_driver.OperationalError, match=r"POLICY STRICT.*RESTORED"):
            cursor.execute(f"SELECT * FROM {upper}")
    cursor.execute(f"CREATE OR REPLACE INCREMENTAL VIEW {upper} POLICY STRICT AS {query}")
    assert sorted(cursor.execute(f"SELECT * FROM {upper}").fetchall()) == before


def test_a_maximum_that_was_deleted_is_captured_again(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    view, table = f"{names['v']}_greatest", names["t"]
    cursor.execute(f"INSERT INTO {table} SELECT id % 50, id % 97 FROM range(20000)")
    for policy in ("INCREMENTAL", "STRICT"):
        create = f"CREATE OR REPLACE INCREMENTAL VIEW {view} POLICY {policy} AS SELECT g, max(x) AS m FROM {table} GROUP BY g"
        cursor.execute(create)
        cursor.execute(f"DELETE FROM {table} WHERE g = {6 if policy == 'STRICT' else 5} AND x > 10")
        if policy == "STRICT":
            with pytest.raises(imp_driver.OperationalError, match="INEXACT_STATE"):
                cursor.execute(f"SELECT * FROM {view}")
            cursor.execute(create)
        rows = cursor.execute(f"SELECT m FROM {view} WHERE g BETWEEN 5 AND 6 ORDER BY g").fetchall()
        report = cursor.sketch_report
        assert report is not None
        assert (rows[0], rows[1] == (10,), report.served_by) == ((10,), policy == "STRICT", ServedBy.STATE)


def test_settings_of_the_engine_that_come_later_change_nothing(warehouse: Path, cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    create(cursor, names, ("sums",))
    with imp_driver.connect(warehouse=str(warehouse), conf={"spark.databricks.delta.snapshotPartitions": "7"}) as other:
        other.execute("SET spark.databricks.delta.snapshotPartitions = 7").close()
        assert len(other.execute(f"SELECT * FROM {names['v']}_sums").fetchall()) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ALTER VIEW {v}_sums SET TBLPROPERTIES ('imp.view.policy' = 'STRIKT')", "There is no policy STRIKT"),
        ("REFRESH INCREMENTAL VIEW {v}_sums", "up to date whenever it is read"),
        ("REFRESH MATERIALIZED VIEW {v}_sums", "is an incremental view"),
        ("DROP MATERIALIZED VIEW {v}_sums", "DROP INCREMENTAL VIEW"),
        ("ALTER INCREMENTAL VIEW {v}_sums RENAME TO x", "ALTER VIEW, as Spark has it"),
        ("CREATE OR REPLACE INCREMENTAL VIEW {t} AS SELECT 1 AS one", "is a Delta table"),
        ("CREATE MATERIALIZED VIEW {v}_m AS SELECT g, count(*) FROM {t} GROUP BY g", r"count\(1\).*AS name"),
    ],
)
def test_mistakes_are_told(cursor: imp_driver.Cursor, names: dict[str, str], text: str, said: str) -> None:
    create(cursor, names, ("sums",))
    with pytest.raises(imp_driver.ProgrammingError, match=said):
        cursor.execute(text.format(**names))
    assert shown(cursor, names)["sums"]["policy"] == "STRICT"


def test_states_of_views_are_shown(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    create(cursor, names, ("sums",))
    states = shown(cursor, names)["sums"]["states"].split(", ")
    assert set(states) <= {row[0] for row in cursor.execute("SHOW STATES").fetchall()}
    (row,) = cursor.execute(f"EXPLAIN INCREMENTAL SELECT g, sort_array(collect_list(x)) AS l FROM {names['t']} GROUP BY g").fetchall()
    assert (row[1], row[2], "#" in row[4]) == ("query", "by Spark", False)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT g, row_number() OVER (ORDER BY x) AS k FROM {t}", "computed by Spark at each reading"),
        ("SELECT g, rand() AS r FROM {t}", "NON_DETERMINISTIC"),
    ],
)
def test_what_cannot_be_followed_is_not_made_where_it_must_be(
    cursor: imp_driver.Cursor, names: dict[str, str], query: str, said: str
) -> None:
    view = f"{names['v']}_refused"
    for policy in ("STRICT", "INCREMENTAL"):
        with pytest.raises(imp_driver.NotSupportedError, match=said):
            cursor.execute(f"CREATE INCREMENTAL VIEW {view} POLICY {policy} AS {query.format(**names)}")
    assert shown(cursor, names) == {}
    cursor.execute(f"CREATE INCREMENTAL VIEW {view} AS {query.format(**names)}")
    assert len(cursor.execute(f"SELECT * FROM {view}").fetchall()) > 0


def test_a_refused_replacement_leaves_what_was_there(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    create(cursor, names, ("sums",))
    before = shown(cursor, names)
    for query in ("SELECT g, row_number() OVER (ORDER BY x) AS k FROM {t}", "SELECT nope FROM {t}"):
        with pytest.raises(imp_driver.Error):
            cursor.execute(f"CREATE OR REPLACE INCREMENTAL VIEW {names['v']}_sums POLICY STRICT AS {query.format(**names)}")
    assert shown(cursor, names) == before
    assert [row[1] for row in cursor.execute("SHOW VIEWS LIKE '__imp*'").fetchall()] == []
    assert len(cursor.execute(f"SELECT * FROM {names['v']}_sums").fetchall()) == 3


def test_a_view_goes_with_the_views_below(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    view = names["v"]
    cursor.execute(f"CREATE VIEW {view}_below AS SELECT g, x FROM {names['t']}")
    cursor.execute(f"CREATE INCREMENTAL VIEW {view}_above AS SELECT x, g FROM {view}_below WHERE x < 9")
    cursor.execute(f"ALTER VIEW {view}_below AS SELECT g, x + 1 AS x FROM {names['t']}")
    rows = cursor.execute(f"SELECT DISTINCT x FROM {view}_above ORDER BY x").fetchall()
    report = cursor.sketch_report
    assert report is not None
    assert (rows, report.served_by, report.decision) == ([(1,), (2,), (3,), (4,), (5,)], ServedBy.STATE, Decision.FRESH)


def test_settings_of_another_session_let_nothing_go(warehouse: Path, cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    create(cursor, names, ("rows",))
    text = f"SELECT * FROM {names['v']}_rows ORDER BY 1, 2"
    before = cursor.execute(text).fetchall()
    with imp_driver.connect(warehouse=str(warehouse), conf={"spark.sql.ansi.enabled": "false"}) as other:
        own = other.cursor()
        assert own.execute(text).fetchall() == before
        own.execute(f"CREATE VIEW {names['v']}_any AS SELECT 1 AS one")
    assert cursor.execute(text).fetchall() == before
    assert cursor.sketch_report is not None
    assert (cursor.sketch_report.served_by, cursor.sketch_report.decision) == (ServedBy.STATE, Decision.FRESH)


def test_files_that_are_written_anew_are_no_change(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    create(cursor, names, ("most",))
    cursor.execute(f"INSERT INTO {names['t']} VALUES (1, 4)")
    text, decisions = f"SELECT * FROM {names['v']}_most", []
    for change in ("", f"OPTIMIZE {names['t']}", f"INSERT INTO {names['t']} VALUES (1, 4)"):
        if change:
            cursor.execute(change)
        cursor.execute(text).fetchall()
        assert cursor.sketch_report is not None
        decisions.append(cursor.sketch_report.decision)
    assert decisions == [Decision.RECAPTURED, Decision.MAINTAINED, Decision.RECAPTURED]


def test_names_go_with_the_catalog(cursor: imp_driver.Cursor, names: dict[str, str], engine: imp_driver.Connection) -> None:
    create(cursor, names, ("sums", "most"))
    with pytest.raises(imp_driver.ProgrammingError, match="already exists"):
        create(cursor, names, ("sums",))
    cursor.execute(f"CREATE INCREMENTAL VIEW IF NOT EXISTS {names['v']}_sums AS SELECT 1 AS one")
    cursor.execute(f"ALTER VIEW {names['v']}_most RENAME TO {names['v']}_greatest")
    assert cursor.execute(f"SELECT count(*) FROM {names['v']}_greatest").fetchall() == [(3,)]
    assert shown(cursor, names).keys() == {"sums", "greatest"}
    # Another client drops it.
    engine.cursor().execute(f"DROP VIEW {names['v']}_greatest")
    assert shown(cursor, names).keys() == {"sums"}
    cursor.execute(f"DROP INCREMENTAL VIEW {names['v']}_sums")
    cursor.execute(f"DROP INCREMENTAL VIEW IF EXISTS {names['v']}_sums")
    for missing in (f"{names['v']}_sums", names["t"]):
        with pytest.raises(imp_driver.ProgrammingError, match="no incremental view"):
            cursor.execute(f"DROP INCREMENTAL VIEW {missing}")
    assert shown(cursor, names) == {}


def test_a_view_is_explained_operator_by_operator(cursor: imp_driver.Cursor, names: dict[str, str]) -> None:
    query = "SELECT n, count(*) AS c FROM {t} JOIN {u} ON {t}.g = {u}.g GROUP BY n".format(**names)
    rows = cursor.execute(f"EXPLAIN INCREMENTAL {query}").fetchall()
    assert [row[1].strip().split()[0] for row in rows] == ["groups", "join", "table", "table"]
    assert {row[2] for row in rows} == {"in process"}
    assert rows[0][3] == "to be captured"
    (row,) = cursor.execute("EXPLAIN INCREMENTAL SELECT rand() FROM {t}".format(**names)).fetchall()
    assert (row[1:3], row[4].split(":")[0]) == (("query", "by Spark"), "NON_DETERMINISTIC")
    with pytest.raises(imp_driver.ProgrammingError, match="nope"):
        cursor.execute("EXPLAIN INCREMENTAL SELECT nope FROM {t}".format(**names))
