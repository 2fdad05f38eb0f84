"""Advice in another process than the one whose queries were recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_WRITE = """
import sys, imp_driver
with imp_driver.connect(warehouse=sys.argv[1], answers="off") as connection:
    connection.execute("CREATE TABLE t USING DELTA AS SELECT /*+ REPARTITION(16) */ id % 100 AS g, id % 100 AS x, "
        "concat('Alice ', uuid()) AS name FROM range(20000)")
    for number in range(11):
        connection.execute("SELECT g, sum(x), 'in the list' FROM t WHERE name > 'Alice' GROUP BY g HAVING sum(x) > ?",
            (19000 + number,)).fetchall()
"""


def test_another_process_is_advised_and_no_value_is_written(tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}

    def run(*arguments: object) -> str:
        command = [sys.executable, *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, env=environment)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    run("-W", "error", "-c", _WRITE, warehouse)
    written = (warehouse / "_imp" / "workload.jsonl").read_text(encoding="utf-8")
    assert not any(value in written for value in ("Alice", "in the list", "19000", "19010"))
    assert sum(json.loads(line)["runs"] for line in written.splitlines()) == 11
    printed = run("-m", "imp_driver", "advise", f"imp:///{warehouse}")
    assert "ALTER TABLE `spark_catalog`.`default`.`t` CLUSTER BY (`g`)" in printed
    assert "?" not in printed
