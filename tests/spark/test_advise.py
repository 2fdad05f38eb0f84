"""Advice from recorded queries: it names the column that pays, and is gone once it was followed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.reasons import Decision, Reason

_numbers = itertools.count()


@pytest.fixture
def cursor(warehouse: Path, engine: imp_driver.Connection) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="lazy", answers="off") as connection:
        yield connection.cursor()


@pytest.fixture
def table(cursor: imp_driver.Cursor) -> str:
    """16 files that hold every group each: g (2000 groups), h (50 groups), x; the sums of x grow with g and h."""
    name = f"advised{next(_numbers)}"
    cursor.execute(
        f"CREATE TABLE {name} USING DELTA AS SELECT /*+ REPARTITION(16) */ CAST(id % 2000 AS INT) AS g, "
        "CAST(id % 2000 DIV 40 AS INT) AS h, id % 2000 AS x, uuid() AS filler FROM range(100000)"
    )
    return name


def _advice(cursor: imp_driver.Cursor, table: str) -> list[dict[str, Any]]:
    cursor.execute("ADVISE SKETCHES")
    assert cursor.description is not None
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return [row for row in rows if row["table_name"] is not None and row["table_name"].endswith(f".{table}")]


def _reason(cursor: imp_driver.Cursor) -> Reason:
    assert cursor.sketch_report is not None
    return cursor.sketch_report.reason


def test_advice_names_the_column_and_is_gone_once_followed(cursor: imp_driver.Cursor, table: str) -> None:
    query = f"SELECT g, h, sum(x) FROM {table} GROUP BY g, h HAVING sum(x) > 98000"
    for _ in range(3):
        expected = sorted(cursor.execute(query).fetchall())
        assert _reason(cursor) is Reason.NOT_CLUSTERED
    # The 39 groups that pass are 39 of 2000 values of g, but one of 50 values of h: both are one file of 16.
    (best,) = _advice(cursor, table)
    assert best["clustering"] in ("g", "h")
    assert (best["templates"], best["executions"]) == (1, 3)
    assert best["saved_bytes"] == best["bytes_now"] - best["bytes_then"]
    assert best["bytes_then"] < best["bytes_now"] / 4
    for statement in best["statement"].rstrip(";").split(";\n"):
        cursor.execute(statement)
    assert sorted(cursor.execute(query).fetchall()) == expected
    assert cursor.sketch_report is not None
    assert (cursor.sketch_report.decision, cursor.sketch_report.reason) == (Decision.CAPTURED, Reason.FILTERED)
    assert cursor.sketch_report.attribute == best["clustering"]
    assert cursor.sketch_report.bytes_kept is not None
    assert cursor.sketch_report.bytes_total is not None
    assert cursor.sketch_report.bytes_kept < cursor.sketch_report.bytes_total / 2
    assert [row["clustering"] for row in _advice(cursor, table)] == [None]


def test_estimate_of_a_sample_is_that_of_the_answer(cursor: imp_driver.Cursor, table: str) -> None:
    """Half of the table's h is kept by one query, a fiftieth by the other; WHERE, minima and averages take part."""
    cursor.execute(f"SELECT h, avg(x) FROM {table} WHERE g % 2 = 0 GROUP BY h HAVING avg(x) >= 1000 AND min(x) > ?", (0,)).fetchall()
    assert _reason(cursor) is Reason.NOT_CLUSTERED
    (row,) = _advice(cursor, table)
    assert row["bytes_then"] == pytest.approx(row["bytes_now"] / 2, rel=0.15)


@pytest.mark.parametrize(
    ("keys", "condition"),
    [
        ("text", "sum(amount) > 9650"),
        ("day, text", "max(day) >= DATE'2024-07-10' AND min(amount) > 190.0"),
        ("moment", "avg(amount) > 193.0 OR count(amount) > 1000"),
        ("price", "sum(price) > 9650 AND count(*) > 1 AND max(text) > '193'"),
    ],
)
def test_keys_and_aggregates_of_every_type_are_sampled(cursor: imp_driver.Cursor, keys: str, condition: str) -> None:
    """200 groups of 50 rows, the last few of which pass; every column ascends with the group."""
    name = f"advised{next(_numbers)}"
    cursor.execute(
        f"CREATE TABLE {name} USING DELTA AS SELECT /*+ REPARTITION(16) */ lpad(id % 200, 3, '0') AS text, date_add(DATE'2024-01-01', "
        "CAST(id % 200 AS INT)) AS day, timestamp_seconds(id % 200) AS moment, CAST(id % 200 AS DECIMAL(12, 2)) AS price, "
        "CAST(id % 200 AS DECIMAL(20, 3)) AS amount, uuid() AS filler FROM range(10000)"
    )
    count = len(cursor.execute(f"SELECT {keys}, count(*) FROM {name} GROUP BY {keys} HAVING {condition}").fetchall())
    assert 0 < count < 20
    assert _reason(cursor) is Reason.NOT_CLUSTERED
    (row,) = [row for row in _advice(cursor, name) if row["clustering"] is not None]
    assert row["clustering"] in keys.split(", ")
    assert row["bytes_then"] == pytest.approx(row["bytes_now"] * max(1, -(-count * 16 // 200)) / 16, rel=0.01)


def test_a_maintained_state_says_exactly_what_would_be_kept(cursor: imp_driver.Cursor, warehouse: Path) -> None:
    name = f"advised{next(_numbers)}"
    cursor.execute(f"CREATE TABLE {name} USING DELTA AS SELECT /*+ REPARTITION(6) */ id % 64 AS g, id % 64 AS x FROM range(64000)")
    cursor.execute(f"SELECT g, sum(x) FROM {name} GROUP BY g HAVING sum(x) BETWEEN 16000 AND 31000").fetchall()
    assert cursor.sketch_report is not None
    assert cursor.sketch_report.files_kept == cursor.sketch_report.files_total == 6
    # A connection that closes estimates from the state: 16 of 64 groups, from the 17th on, are the second of four files.
    imp_driver.connect(warehouse=str(warehouse)).close()
    written = [json.loads(line) for line in (warehouse / "_imp" / "workload.jsonl").read_text(encoding="utf-8").splitlines()]
    (estimate,) = [record["shares"]["g"] for record in written if record["table"].endswith(f".{name}") and record["shares"]]
    assert estimate[:4] == [1.0, 0.5, 0.25, 0.25]
    (row,) = _advice(cursor, name)
    assert (row["clustering"], row["bytes_then"]) == ("g", row["bytes_now"] // 4)


def test_a_partitioned_table_is_ordered_within_its_partitions(cursor: imp_driver.Cursor) -> None:
    name = f"advised{next(_numbers)}"
    cursor.execute(
        f"CREATE TABLE {name} USING DELTA PARTITIONED BY (p) AS SELECT /*+ REPARTITION(4) */ CAST(id % 4 AS INT) AS p, "
        "CAST(id DIV 4 % 1000 AS INT) AS g, uuid() AS filler FROM range(100000)"
    )
    cursor.execute(f"SELECT g, avg(g) FROM {name} GROUP BY g HAVING avg(g) < 30").fetchall()
    assert _reason(cursor) is Reason.NOT_CLUSTERED
    (row,) = _advice(cursor, name)
    assert "ZORDER BY (`g`)" in row["statement"]
    for statement in row["statement"].rstrip(";").split(";\n"):
        cursor.execute(statement)


def test_what_no_clustering_helps_is_listed_with_its_reason(cursor: imp_driver.Cursor, table: str) -> None:
    cursor.execute(f"SELECT g, sum(x) FROM {table} GROUP BY g").fetchall()
    assert _reason(cursor) is Reason.NO_FILTER_ABOVE_GROUPS
    cursor.execute("ADVISE SKETCHES")
    reasons = {row[8].split(":")[0]: row for row in cursor.fetchall() if row[1] is None}
    assert reasons["NO_FILTER_ABOVE_GROUPS"][2] >= 1
