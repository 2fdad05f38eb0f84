"""A real Spark Connect server in a process of its own, with Delta's jars, as an administrator would start one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from imp_driver.spark.java import find_java
from imp_driver.spark.packages import pyspark_jars, resolve_jars

_PATIENCE = 120.0
"""Seconds until a server that does not come up is given up."""
SETTINGS = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.sources.default": "delta",
    "spark.databricks.delta.properties.defaults.enableChangeDataFeed": "true",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "1",
}


@dataclass(slots=True)
class Server:
    """``port`` is that of the server on this machine; its tables lie below ``folder``."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"imp+connect://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """End the process and wait for its end; harmless when called twice."""
        self.process.kill()
        self.process.wait()


def start_server(folder: Path) -> Server:
    """Start a server and wait until it takes connections. Raises RuntimeError when it does not come up."""
    home, port = Path(pyspark_jars()).parent, free_port()
    settings = SETTINGS | {"spark.connect.grpc.binding.port": str(port), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    command = [str(home / "bin" / "spark-submit"), "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += ["--master", "local[2]", "--driver-memory", "1g", "--jars", ",".join(map(str, resolve_jars(find_java())))]
    command += [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    command.append(next(str(jar) for jar in Path(pyspark_jars()).glob("spark-connect_*.jar")))
    log = folder / "server.log"
    with log.open("wb") as output:
        environment = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder, env=environment)
    server = Server(folder, port, process)
    try:
        _wait(server, log)
    except BaseException:
        server.stop()
        raise
    return server


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _wait(server: Server, log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and server.process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", server.port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"The Spark Connect server did not come up:\n{log.read_text(errors='replace')[-3000:]}")
