"""Two processes at one Spark Connect server, with one store: both write and read one table, each answer compared with the plain one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from tests.connect.client import GROUPS, Client
from tests.connect.server import Server

SUMS = "SELECT g, CAST(sum(v) AS INT) AS total FROM common GROUP BY g HAVING sum(v) > 300 ORDER BY g"
MOST = "SELECT g, max(v) AS most FROM common GROUP BY g HAVING max(v) > 34 ORDER BY g"
PATIENCE = 60.0
"""Seconds until a save in the background is given up."""


@pytest.fixture
def clients(server: Server, tmp_path: Path) -> Iterator[list[Client]]:
    """Two processes, and a table of forty groups with ten rows each."""
    with imp_driver.connect(server.url, sketch="off") as connection:
        connection.execute("CREATE TABLE common (id INT, g INT, v INT) USING DELTA")
        rows = f"SELECT CAST(id AS INT), CAST(id DIV 10 AS INT), CAST(id DIV 10 AS INT) FROM range({GROUPS * 10})"
        connection.execute(f"INSERT INTO common SELECT /*+ REPARTITION_BY_RANGE(8, id) */ * FROM ({rows})")
    url = f"{server.url}?sketch=shadow&store={tmp_path / 'store'}"
    with ExitStack() as stack:
        yield [stack.enter_context(Client(url, tmp_path / f"{name}.log")) for name in ("one", "other")]


def _saved(client: Client) -> None:
    end = time.monotonic() + PATIENCE
    while client.do("places") != ["memory and store"]:
        assert time.monotonic() < end, "nothing was saved"
        time.sleep(0.1)


def test_two_processes_share_what_they_save(clients: list[Client]) -> None:
    one, other = clients
    decision, _, rows = one.do("ask", SUMS)
    assert (decision, len(rows)) == ("CAPTURED", 9)
    _saved(one)
    assert one.do("change", "INSERT INTO common VALUES (1000, 7, 500)") == 1
    # What the first has captured the second maintains: from the store, without a capture of its own.
    decision, detail, rows = other.do("ask", SUMS)
    assert (decision, len(rows)) == ("MAINTAINED", 10)
    assert detail.startswith("read back from the store")
    assert other.do("change", "DELETE FROM common WHERE g = 39") == 10
    assert [client.do("ask", SUMS)[::2] for client in clients] == [["MAINTAINED", rows[:-1]]] * 2

    base = 390 * 10 * 2 - 390 + 500
    for number, client in enumerate(clients):
        client.tell("mix", "common", [SUMS, MOST], 10_000 * (number + 1), 4)
    mixed: list[Any] = [client.answer() for client in clients]
    for decisions, _, _ in mixed:
        assert set(decisions) <= {"CAPTURED", "MAINTAINED", "FRESH"}, decisions
        assert decisions["MAINTAINED"] >= 3, decisions
    totals = [client.do("ask", "SELECT CAST(count(*) AS INT), CAST(sum(v) AS INT) FROM common")[2] for client in clients]
    assert totals == [[[391 + sum(rows for _, rows, _ in mixed), base + sum(total for _, _, total in mixed)]]] * 2
    asked = [[client.do("ask", query)[2] for query in (SUMS, MOST)] for client in clients]
    assert asked[0] == asked[1]
