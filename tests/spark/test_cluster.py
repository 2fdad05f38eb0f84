"""Tables written clustered by a column: the rows and the table stay what they are, and sketches skip files afterwards."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import imp_driver
from imp_driver.cli import load
from imp_driver.cli.main import _parser
from tests.spark.reports import report_of


def _run(connection: imp_driver.Connection, *texts: str) -> None:
    for text in texts:
        connection.execute(text).close()


def _rows(connection: imp_driver.Connection, text: str) -> list[tuple[object, ...]]:
    with connection.execute(text) as cursor:
        return cursor.fetchall()


def test_a_table_is_rewritten_in_place_in_one_commit(engine: imp_driver.Connection, cursor: imp_driver.Cursor) -> None:
    _run(
        engine,
        "DROP TABLE IF EXISTS clustered",
        "CREATE TABLE clustered (g INT NOT NULL COMMENT 'the group', c CHAR(3), twice INT GENERATED ALWAYS AS (g * 2)) USING DELTA "
        "COMMENT 'a table' TBLPROPERTIES ('mine' = 'kept')",
        "INSERT INTO clustered (g, c) SELECT /*+ REPARTITION(20) */ CAST(hash(id) % 500 AS INT), 'x' FROM range(5000)",
        "ALTER TABLE clustered ADD CONSTRAINT few CHECK (g < 500)",
    )
    before = _rows(engine, "SELECT * FROM clustered ORDER BY g, c")
    text = "SELECT g, count(*) FROM clustered GROUP BY g HAVING count(*) > 12"
    cursor.execute(text).fetchall()
    assert report_of(cursor).reason.name == "NOT_CLUSTERED"
    version = _rows(engine, "DESCRIBE HISTORY clustered")[0][0]

    cursor.execute("CLUSTER SKETCH TABLE clustered BY G FILES 10")
    assert cursor.rowcount == 5000
    assert report_of(cursor).version == int(str(version)) + 1
    assert _rows(engine, "SELECT * FROM clustered ORDER BY g, c") == before
    with engine.execute("DESCRIBE DETAIL clustered") as detail:
        [row] = detail.fetch_arrow_table().to_pylist()
    assert (row["numFiles"], row["description"]) == (10, "a table")
    assert {"mine": "kept", "delta.constraints.few": "g < 500"}.items() <= dict(row["properties"]).items()
    assert ("g", "int", "the group") in _rows(engine, "DESCRIBE TABLE clustered")
    with pytest.raises(imp_driver.IntegrityError):
        engine.execute("INSERT INTO clustered (g, c) VALUES (600, 'x')")
    cursor.execute(text).fetchall()
    report = report_of(cursor)
    assert report.reason.name == "FILTERED"
    assert report.files_kept is not None
    assert report.files_kept < 10


def test_a_column_beyond_the_indexed_ones_gets_statistics(engine: imp_driver.Connection, cursor: imp_driver.Cursor) -> None:
    columns = ", ".join(f"id AS c{number}" for number in range(35))
    _run(engine, "DROP TABLE IF EXISTS wide", f"CREATE TABLE wide AS SELECT {columns}, CAST(id % 100 AS INT) AS g FROM range(2000)")
    cursor.execute("CLUSTER SKETCH TABLE wide BY (g) FILES 8")
    cursor.execute("SELECT g, max(c1) AS m FROM wide GROUP BY g HAVING max(c1) > 1995").fetchall()
    assert (report_of(cursor).reason.name, report_of(cursor).files_total) == ("FILTERED", 8)


def test_sketches_of_the_table_are_captured_again(engine: imp_driver.Connection, cursor: imp_driver.Cursor) -> None:
    rows = "SELECT CAST(id % 100 AS INT) AS g, CAST(id DIV 20 AS INT) AS h FROM range(2000)"
    _run(
        engine,
        "DROP TABLE IF EXISTS both",
        f"CREATE TABLE both AS SELECT * FROM (SELECT /*+ REPARTITION_BY_RANGE(16, h) */ * FROM ({rows})) SORT BY h",
    )
    text = "SELECT g, h, count(*) AS f FROM both WHERE g < 50 GROUP BY g, h HAVING count(*) > 0 AND g < 5"
    assert report_of(cursor.execute(text)).attribute == "h"
    cursor.execute("CLUSTER SKETCH TABLE both BY g FILES 16")
    assert all("both" not in row[2] for row in cursor.execute("SHOW SKETCHES").fetchall())
    reports = [report_of(cursor.execute(text)) for _ in range(3)]
    assert (reports[-1].attribute, reports[-1].reason.name) == ("g", "FILTERED")


@pytest.mark.parametrize(
    ("definition", "error", "words"),
    [
        ("(g INT, p INT) USING DELTA PARTITIONED BY (p)", imp_driver.NotSupportedError, "is partitioned \\(p\\)"),
        ("(g INT, p INT) USING DELTA CLUSTER BY (p)", imp_driver.NotSupportedError, "has CLUSTER BY \\(p\\)"),
        ("(g INT, p BIGINT GENERATED ALWAYS AS IDENTITY) USING DELTA", imp_driver.NotSupportedError, "IDENTITY"),
        ("(g INT, p INT) USING PARQUET", imp_driver.NotSupportedError, "only Delta tables"),
        ("(gg INT, p INT) USING DELTA PARTITIONED BY (p)", imp_driver.ProgrammingError, "Did you mean 'gg'"),
    ],
)
def test_what_is_refused_stays_as_it_is(
    engine: imp_driver.Connection, cursor: imp_driver.Cursor, definition: str, error: type[Exception], words: str
) -> None:
    _run(engine, "DROP TABLE IF EXISTS refused", f"CREATE TABLE refused {definition}")
    column = "gg" if "gg" in definition else "g"
    _run(engine, f"INSERT INTO refused ({column}) VALUES (1)" if "IDENTITY" in definition else "INSERT INTO refused VALUES (1, 2)")
    before = _rows(engine, "SELECT * FROM refused")
    with pytest.raises(error, match=words):
        cursor.execute("CLUSTER SKETCH TABLE refused BY g")
    assert _rows(engine, "SELECT * FROM refused") == before


def test_no_such_table(cursor: imp_driver.Cursor) -> None:
    with pytest.raises(imp_driver.ProgrammingError, match="There is no table"):
        cursor.execute("CLUSTER SKETCH TABLE not_there BY g")


def _load(warehouse: Path, *arguments: str) -> int:
    from rich.console import Console

    return load.run(_parser().parse_args(["load", f"imp:///{warehouse}", *arguments]), Console())


def test_files_are_loaded_clustered(engine: imp_driver.Connection, cursor: imp_driver.Cursor, warehouse: Path, tmp_path: Path) -> None:
    _run(engine, "DROP TABLE IF EXISTS loaded")
    lines = [f'{number % 50},{number},"text, ""{number}""\nmore"' for number in range(1000)]
    (tmp_path / "first, {part}.csv").write_text("g,x,s\n" + "\n".join(lines[:600]) + "\n", encoding="utf-8")
    (tmp_path / "it's.csv").write_text("g,x,s\n" + "\n".join(lines[600:]) + "\n", encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("first, {part}.csv", "it's.csv")]
    assert _load(warehouse, "loaded", *paths, "--cluster-by", "g", "--files", "5") == 0
    expected = [(number % 50, number, f'text, "{number}"\nmore') for number in range(1000)]
    assert _rows(engine, "SELECT * FROM loaded ORDER BY x") == expected
    cursor.execute("SELECT g, sum(x) FROM loaded GROUP BY g HAVING sum(x) > 10450").fetchall()
    assert (report_of(cursor).reason.name, report_of(cursor).files_total) == ("FILTERED", 5)

    (tmp_path / "more.jsonl").write_text(json.dumps({"x": 7, "g": 99, "s": None}) + "\n", encoding="utf-8")
    assert _load(warehouse, "loaded", str(tmp_path / "more.jsonl"), "--cluster-by", "g", "--append") == 0
    assert _rows(engine, "SELECT x, s FROM loaded WHERE g = 99") == [(7, None)]
    with pytest.raises(imp_driver.ProgrammingError, match="--replace or --append"):
        _load(warehouse, "loaded", str(tmp_path / "more.jsonl"), "--cluster-by", "g")
    (tmp_path / "array.json").write_text(json.dumps([{"g": 1, "x": 2}, {"g": 2, "x": 3}]), encoding="utf-8")
    assert _load(warehouse, "loaded", str(tmp_path / "array.json"), "--cluster-by", "g", "--replace") == 0
    assert _rows(engine, "SELECT g, x FROM loaded ORDER BY g") == [(1, 2), (2, 3)]
    (tmp_path / "text.csv").write_text("x,g\n1,2\n1,two\n", encoding="utf-8")
    with pytest.raises(
        imp_driver.DataError, match="'g' is string in the files and bigint in the table, and 1 of its values do not fit, such as 'two'"
    ):
        _load(warehouse, "loaded", str(tmp_path / "text.csv"), "--append")


def test_a_folder_of_partitions_is_loaded(engine: imp_driver.Connection, warehouse: Path, tmp_path: Path) -> None:
    _run(engine, "DROP TABLE IF EXISTS of_folders")
    for day in (1, 2):
        (tmp_path / f"day=2024-01-0{day}").mkdir()
        pq.write_table(pa.table({"x": [day, 10 * day]}), tmp_path / f"day=2024-01-0{day}" / "part.parquet")
    assert _load(warehouse, "of_folders", str(tmp_path), "--dry-run") == 0
    assert _rows(engine, "SHOW TABLES LIKE 'of_folders'") == []
    assert _load(warehouse, "of_folders", str(tmp_path)) == 0
    assert _rows(engine, "SELECT day, sum(x) FROM of_folders GROUP BY day ORDER BY day") == [(date(2024, 1, 1), 11), (date(2024, 1, 2), 22)]


def test_a_bad_row_loads_nothing(engine: imp_driver.Connection, warehouse: Path, tmp_path: Path) -> None:
    _run(engine, "DROP TABLE IF EXISTS bad")
    (tmp_path / "bad.jsonl").write_text('{"g": 1}\n{"g": \n', encoding="utf-8")
    with pytest.raises(imp_driver.Error):
        _load(warehouse, "bad", str(tmp_path / "bad.jsonl"), "--cluster-by", "g")
    assert _rows(engine, "SHOW TABLES LIKE 'bad'") == []
