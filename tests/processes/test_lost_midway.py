"""The JVM is killed while a query, a capture and the transfer of a result are under way: open connections say so, the next one starts
another JVM and finds the rows. In a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SCRIPT = """
import json, sys, threading, time
import imp_driver
import sqlalchemy as sa
from imp_driver.maintain import relations
from pyspark import SparkContext

QUERY = "SELECT g, sum(v) AS total FROM sales GROUP BY g HAVING sum(v) > 200080000 ORDER BY g"
# Each row of one side meets each of the other: the capture has 40 billion pairs to group.
SLOW = "SELECT a.g, sum(b.v) AS total FROM sales a JOIN sales b ON a.one = b.one GROUP BY a.g HAVING sum(b.v) > 5"
CROSS = "SELECT max(a.id * b.id % 7) FROM range(1000000) a CROSS JOIN range(1000000) b"
# One partition in four parts, more than waits in the buffers of a socket, less than lets the driver ask Spark how to go on.
LARGE = "SELECT id, repeat('x', 180) FROM range(0, 40000, 1, 1)"
captures = []
capture = relations.capture_into

def noted(*arguments, **named):
    captures.append("begun")
    found = capture(*arguments, **named)
    captures.append("ended")
    return found

relations.capture_into = noted

def say(*what):
    print(json.dumps(what), flush=True)

def open_cursor():
    return imp_driver.connect(warehouse=sys.argv[1], sketch="lazy", policy="incremental").cursor()

def told(act):
    try:
        return ["no error", act()]
    except imp_driver.Error as error:
        return [type(error).__name__, error.error_class, str(error)]

def under_way(cursor, text, jobs):
    # Start a statement in a thread, and return when so many jobs run: Spark itself says so.
    outcome = []
    thread = threading.Thread(target=lambda: outcome.extend(told(lambda: len(cursor.execute(text).fetchall()))), daemon=True)
    thread.start()
    while thread.is_alive() and len(SparkContext._active_spark_context.statusTracker().getActiveJobsIds()) < jobs:
        time.sleep(0.05)
    return thread, outcome

def ask(cursor):
    rows = cursor.execute(QUERY).fetchall()
    report = cursor.sketch_report
    say("asked", report.decision.name, report.reason.name, len(rows))

cursors = [open_cursor() for _ in range(3)]
rows = "SELECT /*+ REPARTITION_BY_RANGE(20, g) */ CAST(id % 100 AS INT) AS g, id AS v, 1 AS one FROM range(200000)"
cursors[0].execute(f"CREATE TABLE sales USING DELTA AS {rows}")
ask(cursors[0])
del captures[:]
engine = sa.create_engine(f"imp:///{sys.argv[1]}", isolation_level="AUTOCOMMIT")
by_engine = engine.connect()
by_engine.exec_driver_sql("SELECT 1")
say("first rows", len(cursors[0].execute(LARGE).fetchmany(10)))
running = [under_way(cursors[1], CROSS, 1), under_way(cursors[2], SLOW, 2)]
say("captures", *captures)
SparkContext._gateway.proc.kill()
SparkContext._gateway.proc.wait()
for thread, outcome in running:
    thread.join(60)
    say("statement", thread.is_alive(), *outcome)
say("captures", *captures)
say("transfer", *told(lambda: len(cursors[0].fetchall())))
for cursor in cursors:
    say("again", *told(lambda: cursor.execute("SELECT 1").fetchall()))
    cursor.connection.close()
try:
    by_engine.exec_driver_sql("SELECT * FROM sales")
except sa.exc.OperationalError as error:
    say("engine", error.orig.error_class, error.connection_invalidated, "open a new connection" in str(error))
by_engine.close()

with engine.connect() as by_engine:
    say("rows", by_engine.exec_driver_sql("SELECT count(*) FROM sales").scalar())
cursor = open_cursor()
ask(cursor)
cursor.execute("INSERT INTO sales VALUES (7, 3000000, 1)")
ask(cursor)
say("rows", *cursor.execute("SELECT count(*) FROM sales").fetchone())
engine.dispose()
cursor.connection.close()
"""


def _killed(folder: Path) -> list[list[Any]]:
    ran = subprocess.run([sys.executable, "-c", SCRIPT, str(folder)], capture_output=True, text=True, cwd=ROOT, timeout=600)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_what_was_under_way_raises_and_the_next_connection_goes_on(tmp_path: Path) -> None:
    told = _killed(tmp_path / "lost")
    errors = [line for line in told if line[0] in ("statement", "transfer", "again")]
    texts = {line[-1] for line in errors}
    assert [line[:-1] for line in errors] == [
        *[["statement", False, "OperationalError", "CONNECTION_LOST"]] * 2,
        ["transfer", "OperationalError", "CONNECTION_LOST"],
        *[["again", "OperationalError", "CONNECTION_LOST"]] * 3,
    ]
    assert all(text.startswith("Spark") and text.endswith((": open a new connection.", "Connect again.")) for text in texts), texts
    assert not any("\n" in text or "java" in text.lower() for text in texts), texts
    assert [line for line in told if line not in errors] == [
        ["asked", "CAPTURED", "ANSWERED", 9],
        ["first rows", 10],
        ["captures", "begun"],
        ["captures", "begun"],
        # The pool makes a new connection in the place of this one, which starts another JVM.
        ["engine", "CONNECTION_LOST", True, True],
        ["rows", 200_000],
        # What was captured before needs no Spark to be kept.
        ["asked", "FRESH", "ANSWERED", 9],
        ["asked", "MAINTAINED", "ANSWERED", 10],
        ["rows", 200_001],
    ]
