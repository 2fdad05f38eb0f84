"""A standalone cluster on this machine: one master and two workers, each a process, from the distribution inside PySpark."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from imp_driver.spark.packages import pyspark_jars
from tests.connect.server import free_port

_PATIENCE = 120.0
"""Seconds until a cluster that does not come up is given up."""


@contextmanager
def standalone_cluster(folder: Path) -> Iterator[str]:
    """Yield the URL of a master with two workers of one core each; they end with the block. Raises RuntimeError."""
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    processes = [_start(folder, "master", f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")]
    try:
        for name in ("one", "two"):
            options = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(folder / name), url]
            processes.append(_start(folder, name, f"{deploy}.worker.Worker", *options))
        _wait(folder / "master.log")
        yield url
    finally:
        for process in reversed(processes):
            # A worker that is asked to end takes its executors along.
            process.terminate()
            process.wait()


def _start(folder: Path, name: str, *command: str) -> subprocess.Popen[bytes]:
    home = Path(pyspark_jars()).parent
    environment = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
    with (folder / f"{name}.log").open("wb") as output:
        return subprocess.Popen([str(home / "bin" / "spark-class"), *command], stdout=output, stderr=output, cwd=folder, env=environment)


def _wait(log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if log.read_text(errors="replace").count("Registering worker") >= 2:
            return
        time.sleep(0.1)
    raise RuntimeError(f"The workers did not come up:\n{log.read_text(errors='replace')[-3000:]}")
