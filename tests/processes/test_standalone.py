"""The embedded engine with its executors on a standalone cluster; shadow mode compares each answer with the plain one."""

from __future__ import annotations

import os
import time
from pathlib import Path
from urllib.parse import quote

import imp_driver
from imp_driver.spark import local
from imp_driver.values.options import Options
from tests.processes.cluster import standalone_cluster

_CONF = "conf.spark.executor.memory=512m&conf.spark.driver.host=127.0.0.1&conf.spark.sql.shuffle.partitions=2"
_QUERY = "SELECT shop, sum(price) FROM sales GROUP BY shop HAVING sum(price) > 85"


def _executors() -> str:
    return f"conf.spark.executor.extraJavaOptions={quote(os.environ['SPARK_DAEMON_JAVA_OPTS'])}"


def test_sketches_on_two_workers(tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    with (
        standalone_cluster(tmp_path) as master,
        imp_driver.connect(f"imp+spark:///{warehouse}?sketch=shadow&driver_memory=1g&master={master}&{_CONF}&{_executors()}") as connection,
    ):
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE sales (shop INT, price INT) USING DELTA")
        for part in range(2):
            cursor.execute(f"INSERT INTO sales SELECT CAST(id % 10 + {part * 10} AS INT), CAST(id % 10 AS INT) FROM range(100)")
        decisions = []
        for change in ("", "INSERT INTO sales VALUES (3, 1000)"):
            if change:
                cursor.execute(change)
            found = cursor.execute(_QUERY).fetchall()
            assert cursor.sketch_report is not None
            decisions.append((cursor.sketch_report.decision.name, len(found)))
        assert decisions == [("CAPTURED", 2), ("MAINTAINED", 3)]
        context = local.open_session(Options(warehouse=str(warehouse))).spark.sparkContext
        assert context.master == master
        # This process and an executor on each worker; a slow machine starts the second one after the first has done all jobs.
        deadline = time.monotonic() + 60
        while context._jsc.sc().getExecutorMemoryStatus().size() < 3 and time.monotonic() < deadline:
            time.sleep(0.2)
        assert context._jsc.sc().getExecutorMemoryStatus().size() == 3
        local._shut_down()
