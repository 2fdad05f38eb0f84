"""Superset on a warehouse: what it reads of it, what its charts ask and get, its errors, and a dashboard in a browser."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.superset.browser import take_picture
from tests.superset.client import Client

PICTURE = Path(__file__).parents[2] / "docs" / "superset-dashboard.png"
REVENUE = {"expressionType": "SQL", "sqlExpression": "sum(pieces * price)", "label": "revenue"}
PIECES = {"expressionType": "SIMPLE", "column": {"column_name": "pieces"}, "aggregate": "SUM", "label": "SUM(pieces)"}
TOP_SHOPS = {"columns": ["shop"], "metrics": [REVENUE], "orderby": [[REVENUE, False]], "row_limit": 10}
BIG_SHOPS = {
    "columns": ["shop"],
    "metrics": [PIECES, REVENUE],
    "orderby": [[REVENUE, False]],
    "extras": {"having": "sum(pieces) > 1290"},
    "row_limit": 1000,
}
BY_REGION = {"columns": ["region"], "metrics": [PIECES], "orderby": [[PIECES, False]], "row_limit": 100}
WEEK = {"timeGrain": "P1W", "columnType": "BASE_AXIS", "sqlExpression": "sold", "label": "sold", "expressionType": "SQL"}
BY_WEEK = {
    "columns": [WEEK],
    "metrics": [PIECES],
    "filters": [{"col": "sold", "op": "TEMPORAL_RANGE", "val": "2024-02-01 : 2024-05-01"}],
    "row_limit": 1000,
}


def statements(home: Path, part: str) -> list[dict[str, object]]:
    """Return the record of the statements with this text in them, in their order."""
    lines = (home / "statements.jsonl").read_text(encoding="utf-8").splitlines()
    return [line for line in map(json.loads, lines) if part in line["sql"]]


def test_tables_and_columns_are_listed(client: Client, database: int, dataset: int) -> None:
    schemas = client.ask("GET", f"database/{database}/schemas/")["result"]
    tables = client.ask("GET", f"database/{database}/tables/?q=(schema_name:default,force:!t)")["result"]
    columns = client.ask("GET", f"dataset/{dataset}")["result"]["columns"]
    assert schemas == ["default"]
    assert [table["value"] for table in tables] == ["sales"]
    assert {column["column_name"]: (column["type"], column["is_dttm"]) for column in columns} == {
        "id": ("BIGINT", False),
        "shop": ("INT", False),
        "region": ("STRING", False),
        "pieces": ("INT", False),
        "price": ("DECIMAL(10, 2)", False),
        "sold": ("TIMESTAMP_NTZ", True),
        "day": ("DATE", True),
    }


@pytest.mark.parametrize("name", ["top", "big"])
def test_a_chart_reads_the_files_of_its_sketch(client: Client, dataset: int, home: Path, expected: dict[str, Any], name: str) -> None:
    query, text = {"top": (TOP_SHOPS, "LIMIT 10"), "big": (BIG_SHOPS, "HAVING")}[name]
    answers = [client.rows(dataset, **query) for _ in range(3)]
    rows = [[list(row.values()) for row in answer] for answer in answers]
    assert all(sorted(map(str, answer)) == sorted(map(str, expected[name])) for answer in rows)
    newest = statements(home, text)[-1]
    assert (newest["decision"], newest["reason"]) == ("FRESH", "FILTERED"), newest


def test_time_grain_and_time_range(client: Client, dataset: int, expected: dict[str, Any]) -> None:
    rows = client.rows(dataset, **BY_WEEK)
    assert sorted([row["sold"], row["SUM(pieces)"]] for row in rows) == expected["weeks"]


@pytest.mark.parametrize(
    ("sql", "kind", "message"),
    [
        ("SELECT * FROM sails", "TABLE_DOES_NOT_EXIST_ERROR", "The table `sails` does not exist"),
        ("SELECT prise FROM sales", "COLUMN_DOES_NOT_EXIST_ERROR", "The column `prise` does not exist. Similar columns: `price`"),
        ("SELECT no_such(1)", "GENERIC_DB_ENGINE_ERROR", "UNRESOLVED_ROUTINE"),
    ],
)
def test_errors(client: Client, database: int, sql: str, kind: str, message: str) -> None:
    error = client.run(database, sql, status=(400, 422, 500))["errors"][0]
    assert error["error_type"] == kind
    assert message in error["message"]


def test_sql_lab_shows_the_sketches(client: Client, database: int) -> None:
    assert client.run(database, "SHOW SKETCHES")["status"] == "success"
    assert client.run(database, "SELECT shop, sold, day FROM sales ORDER BY id LIMIT 1")["data"][0]["day"].startswith("2024-01-01")


def test_a_query_is_stopped(client: Client, database: int) -> None:
    endless = "SELECT count(*) FROM range(1000000) a CROSS JOIN range(1000000) b WHERE hash(a.id, b.id) = 1"
    answers: list[str] = []

    def run() -> None:
        answers.append(json.dumps(client.run(database, endless, "stopped0001", status=(200, 400, 422, 500))))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(5)
    client.ask("POST", "query/stop", {"client_id": "stopped0001"})
    thread.join(30)
    assert "stopped" in answers[0]


def test_a_dashboard(client: Client, dataset: int, address: str) -> None:
    table = {
        "query_mode": "aggregate",
        "groupby": ["shop"],
        "order_desc": True,
        "server_pagination": False,
        "table_timestamp_format": "smart_date",
    }
    top = client.add_chart(
        dataset,
        "Ten shops with the highest revenue",
        "table",
        {**table, "metrics": [REVENUE], "row_limit": 10, "timeseries_limit_metric": REVENUE},
        TOP_SHOPS,
    )
    having = {"expressionType": "SQL", "clause": "HAVING", "sqlExpression": "sum(pieces) > 1290"}
    big = client.add_chart(
        dataset, "Shops with more than 1290 pieces", "table", {**table, "metrics": [PIECES, REVENUE], "adhoc_filters": [having]}, BIG_SHOPS
    )
    pie = client.add_chart(dataset, "Pieces by region", "pie", {"groupby": ["region"], "metric": PIECES, "row_limit": 100}, BY_REGION)
    weeks = {"x_axis": "sold", "time_grain_sqla": "P1W", "metrics": [PIECES], "groupby": [], "row_limit": 1000, "adhoc_filters": []}
    line = client.add_chart(dataset, "Pieces by week", "echarts_timeseries_line", weeks, BY_WEEK)
    dashboard = client.add_dashboard("Sales", [[(top, 6), (big, 6)], [(pie, 4), (line, 8)]])
    text = take_picture(address, f"/superset/dashboard/{dashboard}/?standalone=1", 4, PICTURE)
    assert "Ten shops with the highest revenue" in text
    assert "Error" not in text
