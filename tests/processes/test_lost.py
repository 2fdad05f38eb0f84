"""The JVM is killed: the open connection says so, the next one starts another JVM and finds the rows. In a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import os, signal, sys
import sqlalchemy as sa
from pyspark import SparkContext

engine = sa.create_engine(f"imp:///{sys.argv[1]}/lost", isolation_level="AUTOCOMMIT")
connection = engine.connect()
connection.exec_driver_sql("CREATE TABLE kept AS SELECT 1 AS a")
os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
SparkContext._gateway.proc.wait()
try:
    connection.exec_driver_sql("SELECT * FROM kept")
except sa.exc.OperationalError as error:
    print(error.orig.error_class, error.connection_invalidated, "open a new connection" in str(error))
connection.close()
with engine.connect() as again:
    print(again.exec_driver_sql("SELECT * FROM kept").fetchall())
engine.dispose()
"""


def test_the_next_connection_starts_another_jvm(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, cwd=ROOT, timeout=600)
    assert ran.stdout.splitlines() == ["CONNECTION_LOST True True", "[(1,)]"], ran.stderr[-2000:]
