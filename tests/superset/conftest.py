"""One Superset with one warehouse for all tests of the run. Superset and Chromium with its driver have to be installed."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.superset.client import PASSWORD, USER, Client

REPOSITORY = Path(__file__).parents[2]
DATA = """
import json
import imp_driver
with imp_driver.connect(warehouse={warehouse!r}, sketch="off") as connection:
    connection.execute('''
        CREATE TABLE sales USING DELTA AS SELECT
            id, CAST(pmod(hash(id), 500) AS INT) AS shop,
            element_at(array('north', 'east', 'south', 'west'), CAST(pmod(id, 4) + 1 AS INT)) AS region,
            CAST(1 + pmod(hash(id, 1), 5) AS INT) AS pieces,
            CAST(pmod(hash(id, 2), 10000) / 100 AS DECIMAL(10, 2)) AS price,
            TIMESTAMP_NTZ'2024-01-01 00:00:00' + make_dt_interval(0, 0, id) AS sold,
            DATE'2024-01-01' + CAST(id DIV 1440 AS INT) AS day
        FROM range({rows})''')
    connection.execute("CLUSTER SKETCH TABLE sales BY shop FILES 64")
    answers = {{name: [list(row) for row in connection.execute(query).fetchall()] for name, query in {queries!r}.items()}}
with open({answers!r}, "w") as file:
    json.dump(answers, file, default=str)
"""
QUERIES = {
    "top": "SELECT shop, CAST(sum(pieces * price) AS DOUBLE) FROM sales GROUP BY shop ORDER BY 2 DESC LIMIT 10",
    "big": "SELECT shop, sum(pieces), CAST(sum(pieces * price) AS DOUBLE) FROM sales GROUP BY shop HAVING sum(pieces) > 1290",
    "weeks": "SELECT unix_millis(date_trunc('WEEK', sold)), sum(pieces) FROM sales "
    "WHERE sold >= TIMESTAMP_NTZ'2024-02-01 00:00:00' AND sold < TIMESTAMP_NTZ'2024-05-01 00:00:00' GROUP BY ALL ORDER BY 1",
}
"""The plain answers, asked without Superset and without sketches."""
ROWS = 200_000


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("superset")


@pytest.fixture(scope="session")
def warehouse(home: Path) -> Path:
    """A clustered table, made in a process that ends: Superset has the warehouse open afterwards."""
    folder = home / "warehouse"
    script = DATA.format(warehouse=str(folder), rows=ROWS, queries=QUERIES, answers=str(home / "answers.json"))
    subprocess.run([sys.executable, "-c", script], check=True, cwd=REPOSITORY)
    return folder


@pytest.fixture(scope="session")
def address(home: Path, warehouse: Path) -> Iterator[str]:
    """A running Superset: one process with threads, since one process has the warehouse open."""
    settings = {
        "SUPERSET_HOME": str(home),
        "SUPERSET_CONFIG_PATH": str(Path(__file__).with_name("superset_config.py")),
        "FLASK_APP": "superset",
    }
    environment = {**os.environ, **settings, "TZ": "UTC"}
    superset = [str(Path(sys.executable).with_name("superset"))]
    named = ["--username", USER, "--password", PASSWORD, "--firstname", "A", "--lastname", "B", "--email", "admin@example.org"]
    with open(home / "superset.log", "w", encoding="utf-8") as log:
        for command in (["db", "upgrade"], ["fab", "create-admin", *named], ["init"]):
            subprocess.run([*superset, *command], check=True, env=environment, stdout=log, stderr=log)
        port = _free_port()
        server = subprocess.Popen([*superset, "run", "--with-threads", "-p", str(port)], env=environment, stdout=log, stderr=log)
        try:
            _wait(f"http://127.0.0.1:{port}", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(60)


@pytest.fixture(scope="session")
def client(address: str) -> Client:
    return Client(address)


@pytest.fixture(scope="session")
def database(client: Client, warehouse: Path) -> int:
    return client.add("database", database_name="warehouse", sqlalchemy_uri=f"imp:///{warehouse}", expose_in_sqllab=True)


@pytest.fixture(scope="session")
def dataset(client: Client, database: int) -> int:
    return client.add("dataset", database=database, schema="default", table_name="sales")


@pytest.fixture(scope="session")
def expected(home: Path, warehouse: Path) -> dict[str, Any]:
    """The rows of QUERIES."""
    found: dict[str, Any] = json.loads((home / "answers.json").read_text(encoding="utf-8"))
    return found


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(240):
        assert server.poll() is None, "Superset ended; see superset.log."
        try:
            if requests.get(f"{address}/health", timeout=5).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.5)
    raise AssertionError("Superset does not answer.")
