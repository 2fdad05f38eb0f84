"""A user of Superset's REST API."""

from __future__ import annotations

import json
import uuid
from typing import Any

import requests

USER = PASSWORD = "admin"


class Client:
    """Logged in; every method raises an AssertionError with Superset's answer when that is no success."""

    def __init__(self, address: str) -> None:
        self.address = address
        login = {"username": USER, "password": PASSWORD, "provider": "db", "refresh": True}
        answer = requests.post(f"{address}/api/v1/security/login", json=login, timeout=60)
        self._headers = {"Authorization": f"Bearer {answer.json()['access_token']}"}

    def ask(self, method: str, path: str, body: Any = None, status: tuple[int, ...] = (200, 201)) -> Any:
        answer = requests.request(method, f"{self.address}/api/v1/{path}", json=body, headers=self._headers, timeout=120)
        assert answer.status_code in status, f"{method} {path}: {answer.status_code} {answer.text[:2000]}"
        return answer.json()

    def add(self, kind: str, **values: Any) -> int:
        """Make a database, dataset, chart or dashboard; return its identifier."""
        return int(self.ask("POST", f"{kind}/", values)["id"])

    def run(self, database: int, sql: str, client_id: str = "", status: tuple[int, ...] = (200,)) -> Any:
        """Run a statement in SQL Lab."""
        body = {
            "database_id": database,
            "sql": sql,
            "schema": "default",
            "client_id": client_id or uuid.uuid4().hex[:11],
            "queryLimit": 100,
        }
        return self.ask("POST", "sqllab/execute/", body, status)

    def rows(self, dataset: int, **query: Any) -> list[dict[str, Any]]:
        """Return the rows of a chart, from the database and not from Superset's cache."""
        body = {"datasource": {"id": dataset, "type": "table"}, "queries": [query], "force": True}
        found: list[dict[str, Any]] = self.ask("POST", "chart/data", body)["result"][0]["data"]
        return found

    def add_chart(self, dataset: int, name: str, kind: str, form: dict[str, Any], query: dict[str, Any]) -> int:
        """Make a chart: ``form`` is what its page shows, ``query`` what it asks."""
        datasource = {"id": dataset, "type": "table"}
        form = {"datasource": f"{dataset}__table", "viz_type": kind, **form}
        context = {
            "datasource": datasource,
            "queries": [query],
            "form_data": form,
            "force": False,
            "result_format": "json",
            "result_type": "full",
        }
        return self.add(
            "chart",
            slice_name=name,
            viz_type=kind,
            datasource_id=dataset,
            datasource_type="table",
            params=json.dumps(form),
            query_context=json.dumps(context),
        )

    def add_dashboard(self, title: str, rows: list[list[tuple[int, int]]]) -> int:
        """Make a dashboard; each row holds (chart, width of 12)."""
        dashboard_layout = layout(title, rows)
        dashboard = self.add("dashboard", dashboard_title=title, position_json=json.dumps(dashboard_layout), published=True)
        for row in rows:
            for chart, _ in row:
                self.ask("PUT", f"chart/{chart}", {"dashboards": [dashboard]})
        return dashboard


def layout(title: str, rows: list[list[tuple[int, int]]]) -> dict[str, Any]:
    """Return the grid of a dashboard as Superset keeps it; each row holds (chart, width of 12)."""
    above = ["ROOT_ID", "GRID_ID"]
    names = [f"ROW-{place}" for place in range(len(rows))]
    found: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "ROOT_ID": {"type": "ROOT", "id": "ROOT_ID", "children": ["GRID_ID"]},
        "GRID_ID": {"type": "GRID", "id": "GRID_ID", "children": names, "parents": ["ROOT_ID"]},
        "HEADER_ID": {"type": "HEADER", "id": "HEADER_ID", "meta": {"text": title}},
    }
    for name, row in zip(names, rows, strict=True):
        children = [f"CHART-{chart}" for chart, _ in row]
        meta: dict[str, Any] = {"background": "BACKGROUND_TRANSPARENT"}
        found[name] = {"type": "ROW", "id": name, "children": children, "parents": above, "meta": meta}
        for child, (chart, width) in zip(children, row, strict=True):
            meta = {"chartId": chart, "width": width, "height": 42}
            found[child] = {"type": "CHART", "id": child, "children": [], "parents": [*above, name], "meta": meta}
    return found
