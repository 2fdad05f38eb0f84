"""Eager maintenance on the embedded engine: answers are those of plain queries while the worker runs, and it ends with its connections."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.cli.answers import same
from tests.spark.reports import report_of

SUMS = "SELECT g, sum(x) AS f, max(x) AS m FROM eager_r GROUP BY g HAVING sum(x) > ?"
TOP = "SELECT g, count(*) AS f FROM eager_r GROUP BY g ORDER BY f DESC, g LIMIT 3"
JOIN = "SELECT r.g, count(*) AS f FROM eager_r r JOIN eager_s s ON r.g = s.k GROUP BY r.g HAVING count(*) > ?"
PATIENT = 60.0
RESTING = 3.0


def _workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "imp-eager"]


@pytest.fixture
def eager(engine: imp_driver.Connection, warehouse: Path) -> Iterator[imp_driver.Connection]:
    for name, column in (("eager_r", "g"), ("eager_s", "k")):
        engine.execute(f"DROP TABLE IF EXISTS {name}").close()
        rows = f"SELECT CAST(id DIV 20 AS INT) AS {column}, CAST(id % 7 AS INT) AS x FROM range(2000)"
        engine.execute(f"CREATE TABLE {name} AS SELECT /*+ REPARTITION_BY_RANGE(10, {column}) */ * FROM ({rows})").close()
    with imp_driver.connect(warehouse=str(warehouse), sketch="eager", answers="off", eager_batch=1) as connection:
        connection.execute("DROP SKETCH ALL").close()
        yield connection
    assert _workers() == []


def _shown(connection: imp_driver.Connection) -> list[dict[str, Any]]:
    with connection.execute("SHOW SKETCHES") as cursor:
        names = [name for name, *_ in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _wait_until_even(connection: imp_driver.Connection) -> None:
    deadline = time.monotonic() + PATIENT
    while any(row["behind_versions"] for row in _shown(connection)) and time.monotonic() < deadline:
        time.sleep(0.05)


def _wait_until_at_rest(connection: imp_driver.Connection) -> None:
    """Wait until all states are even, or the worker leaves them as they are: not every one is worth its work."""
    shown, since = _shown(connection), time.monotonic()
    while any(row["behind_versions"] for row in shown) and time.monotonic() - since < RESTING:
        time.sleep(0.05)
        now = _shown(connection)
        if now != shown:
            shown, since = now, time.monotonic()


def _compare(connection: imp_driver.Connection, plain: imp_driver.Connection, text: str, values: list[int]) -> str:
    """Ask both; return the decision."""
    with connection.execute(text, values) as cursor:
        rows, decision = cursor.fetchall(), report_of(cursor).decision.name
    with plain.execute(text, values) as cursor:
        assert same(rows, cursor.fetchall()), (text, values)
    return decision


def test_the_query_after_a_change_finds_its_sketch_fresh(eager: imp_driver.Connection, engine: imp_driver.Connection) -> None:
    assert _compare(eager, engine, SUMS, [65]) == "CAPTURED"
    for change in (
        "INSERT INTO eager_r VALUES (5, 100), (99, 4), (NULL, 3)",
        "UPDATE eager_r SET x = 50 WHERE g = 40",
        "DELETE FROM eager_r WHERE g BETWEEN 10 AND 12",
    ):
        eager.execute(change).close()
        _wait_until_even(eager)
        [row] = _shown(eager)
        assert (row["behind_versions"], row["eager_problem"]) == (0, None)
        assert _compare(eager, engine, SUMS, [65]) == "FRESH"
    [row] = _shown(eager)
    assert row["eager_steps"] >= 3
    assert row["captures"] == 1


def test_commits_of_another_connection_are_noticed(eager: imp_driver.Connection, engine: imp_driver.Connection) -> None:
    _compare(eager, engine, TOP, [])
    engine.execute("INSERT INTO eager_r SELECT 77, 1 FROM range(30)").close()
    _wait_until_even(eager)
    assert _compare(eager, engine, TOP, []) == "FRESH"


def test_what_needs_a_new_capture_is_left_to_the_query(eager: imp_driver.Connection, engine: imp_driver.Connection) -> None:
    _compare(eager, engine, SUMS, [65])
    eager.execute("INSERT INTO eager_r VALUES (5, 100)").close()
    eager.execute("RESTORE TABLE eager_r TO VERSION AS OF 0").close()
    deadline = time.monotonic() + PATIENT
    while _shown(eager)[0]["eager_problem"] is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _shown(eager)[0]["eager_problem"].startswith("left to the next query")
    assert _compare(eager, engine, SUMS, [65]) == "RECAPTURED"


def test_answers_are_those_of_plain_queries_while_the_worker_runs(eager: imp_driver.Connection, engine: imp_driver.Connection) -> None:
    chance = random.Random(5)
    changes = (
        "INSERT INTO eager_r SELECT CAST(rand() * 110 AS INT), CAST(id AS INT) FROM range(5)",
        "UPDATE eager_r SET x = x + 1 WHERE g = {group}",
        "DELETE FROM eager_r WHERE g = {group} AND x < 3",
        "INSERT INTO eager_s VALUES ({group}, 1), ({group}, 2)",
        "DELETE FROM eager_s WHERE k = {group} AND x = 1",
    )
    decisions = set()
    for step in range(24):
        eager.execute(chance.choice(changes).format(group=chance.randint(0, 99))).close()
        if step % 2:
            text = (SUMS, TOP, JOIN)[step // 2 % 3]
            values = [] if text is TOP else [chance.choice((60, 70) if text is SUMS else (420, 440))]
            decisions.add(_compare(eager, engine, text, values))
    _wait_until_at_rest(eager)
    problems = [row["eager_problem"] for row in _shown(eager) if row["eager_problem"]]
    assert all(problem.startswith("left to the next query") for problem in problems)
    assert "INTERNAL" not in decisions
    assert decisions & {"FRESH", "MAINTAINED"}


def test_two_connections_share_the_worker(eager: imp_driver.Connection, warehouse: Path) -> None:
    with imp_driver.connect(warehouse=str(warehouse), sketch="eager", answers="off"):
        assert len(_workers()) == 1
    assert len(_workers()) == 1
