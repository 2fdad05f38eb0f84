"""The whole process is killed; the next one answers its first query by maintaining what the store has. In processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SETUP = """
import json, os, signal, sys, time
import imp_driver

connection = imp_driver.connect(warehouse=sys.argv[1], sketch="shadow", answers="off")
cursor = connection.cursor()
QUERY = "SELECT g, sum(v) AS total FROM sales GROUP BY g HAVING sum(v) > ? ORDER BY g"

def ask(constant):
    cursor.execute(QUERY, (constant,))
    rows = cursor.fetchall()
    report = cursor.sketch_report
    print(json.dumps([report.decision.name, report.reason.name, report.from_version, report.detail, rows]))

def lives_in():
    cursor.execute("SHOW SKETCHES")
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row))["lives_in"] for row in cursor.fetchall()]
"""
FIRST = """
rows = "SELECT /*+ REPARTITION_BY_RANGE(20, g) */ CAST(id % 100 AS INT) AS g, id AS v FROM range(20000)"
cursor.execute(f"CREATE TABLE sales USING DELTA AS {rows}")
ask(2_000_000)
deadline = time.monotonic() + 60
while lives_in() != ["memory and store"] and time.monotonic() < deadline:
    time.sleep(0.1)
print(json.dumps(lives_in()))
cursor.execute("INSERT INTO sales VALUES (99, 1000000), (7, 5)")
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""
SECOND = """
print(json.dumps(lives_in()))
ask(2_000_000)
ask(2_001_000)
cursor.execute("DELETE FROM sales WHERE g = 98")
ask(2_000_000)
connection.close()
"""
THIRD = """
ask(2_000_000)
print(json.dumps(lives_in()))
connection.close()
"""


def _run(warehouse: Path, program: str) -> tuple[int, list[Any]]:
    command = [sys.executable, "-c", SETUP + program, str(warehouse)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600)
    assert "Traceback" not in ran.stderr, ran.stderr[-3000:]
    return ran.returncode, [json.loads(line) for line in ran.stdout.splitlines()]


def test_a_killed_process_leaves_its_sketches_behind(tmp_path: Path) -> None:
    code, (captured, places) = _run(tmp_path, FIRST)
    assert code == -9
    assert captured[0] == "CAPTURED"
    assert places == ["memory and store"]

    code, (places, first, other, changed) = _run(tmp_path, SECOND)
    assert code == 0
    assert places == ["store"]
    assert first[:4] == ["MAINTAINED", "FILTERED", 0, "read back from the store"]
    assert first[4][-1] == [99, 200 * 99 + 100 * 199 * 100 + 1_000_000]
    assert other[0] == "FRESH"
    assert changed[0] == "MAINTAINED"

    code, (again, places) = _run(tmp_path, THIRD)
    assert code == 0
    assert again[0] == "FRESH"
    assert again[4] == changed[4]
    assert places == ["store"]
