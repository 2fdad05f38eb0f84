"""How the tests start Java: many short lives on tiny data. ``python -m tests.jvm`` makes the archive of classes that they share.

A start reads and checks some 20,000 classes of Spark, which takes longer than most tests; from an archive of this environment's jars the
JVM maps them into memory (class data sharing). Without the archive everything works as well, only later.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from imp_driver.spark.java import find_java
from imp_driver.spark.packages import pyspark_jars
from tests.seeds import WIDE

_ONE_COMPILER = "-XX:TieredStopAtLevel=1"
_FLAGS = (
    # The optimising compiler and parallel collection cost the second core more than short programs get back. With one compiler the JVM
    # would reserve a fifth of the space for code, and then spend more time on sweeping it than on tests.
    _ONE_COMPILER,
    "-XX:ReservedCodeCacheSize=256m",
    "-XX:-UseCodeCacheFlushing",
    "-XX:+UseSerialGC",
    "-XX:MetaspaceSize=512m",
    # Without native code Hadoop starts chmod for each file that it makes; this is the cheapest way to start a process.
    "-Djdk.lang.Process.launchMechanism=VFORK",
)
_STREAMING = "org.apache.spark.sql.execution.streaming"
SETTINGS = {
    # Code is generated and compiled for each plan, which pays from millions of rows on.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    # VACUUM and listings would be 10,000 tasks.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    # A table that is not read any more need not keep what Delta knows of it.
    "spark.databricks.delta.delta.log.cacheSize": "20",
    # What a commit writes and reads beside itself takes a tenth of its time.
    "spark.databricks.delta.writeChecksumFile.enabled": "false",
    # A commit through Hadoop's newer interface asks a process about each end of a renaming, whether it is a link.
    "spark.delta.logStore.file.impl": "io.delta.storage.LocalLogStore",
    "spark.sql.streaming.checkpointFileManagerClass": f"{_STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager",
    # What the pages of the web interface would show, kept in memory although there is none.
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.ui.retainedTasks": "1",
}
"""Settings of Spark for tables of a few hundred rows, given to each JVM, whoever starts it. Rows do not depend on them; a wide run makes
sure of that with the settings that users have."""
if WIDE:
    SETTINGS = {}
_OPTIONS = " ".join([*_FLAGS, *(f"-D{name}={value}" for name, value in SETTINGS.items())])
_DEFAULTS = Path(sys.prefix) / "hadoop-defaults.jar"
"""Stands before Hadoop's own defaults, whose 2,000 settings would be sent along with each task; in a jar, since classes that are found
behind a folder are not archived. A wide run has Hadoop as users have it."""
_FILE_SYSTEMS = {
    # No second file with a checksum beside each file.
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
}
_ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"
_PROGRAM = """
import sys, imp_driver
from pyspark import SparkContext
with imp_driver.connect(warehouse=sys.argv[1], sketch="shadow") as connection:
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE t USING DELTA AS SELECT id DIV 10 AS g, id AS x FROM range(100)")
    for change in ("INSERT INTO t VALUES (1, 2)", "UPDATE t SET x = 1 WHERE g = 3", "DELETE FROM t WHERE g = 4"):
        cursor.execute(change)
        cursor.execute("SELECT g, sum(x) FROM t GROUP BY g HAVING sum(x) > 5").fetchall()
java = SparkContext._gateway.proc
java.stdin.close()
java.wait()
"""


def tune() -> None:
    """Have every JVM that Spark's scripts start from here on, also from processes below, start for short lives."""
    shared = f" -XX:SharedArchiveFile={_ARCHIVE} -Xlog:disable" if _ARCHIVE.exists() else ""
    os.environ.setdefault("SPARK_SUBMIT_OPTS", _OPTIONS + shared)
    # Masters, workers and executors of a cluster.
    os.environ.setdefault("SPARK_DAEMON_JAVA_OPTS", f"{_FLAGS[0]} -XX:+UseSerialGC{shared}")
    if not WIDE:
        os.environ.setdefault("SPARK_CONF_DIR", str(_DEFAULTS))


def optimise() -> None:
    """Have the JVMs that start from here on use the optimising compiler as well: it pays for those that work for more than four minutes."""
    os.environ["SPARK_SUBMIT_OPTS"] = os.environ["SPARK_SUBMIT_OPTS"].replace(_ONE_COMPILER, "")


def make_archive() -> bool:
    """Make the archive unless it is there for these jars; return whether it is there now."""
    note, key = _ARCHIVE.with_suffix(".key"), _key()
    if _ARCHIVE.exists() and note.exists() and note.read_text() == key:
        return True
    _ARCHIVE.unlink(missing_ok=True)
    with zipfile.ZipFile(_DEFAULTS, "w") as defaults:
        entries = "".join(f"<property><name>{name}</name><value>{value}</value></property>" for name, value in _FILE_SYSTEMS.items())
        for part in ("core", "hdfs", "mapred", "yarn"):
            defaults.writestr(f"{part}-default.xml", f"<configuration>{entries if part == 'core' else ''}</configuration>")
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "classes.jsa"
        options = f"{_OPTIONS} -XX:ArchiveClassesAtExit={written}"
        environment = os.environ | {"SPARK_SUBMIT_OPTS": options, "SPARK_CONF_DIR": str(_DEFAULTS)}
        subprocess.run([sys.executable, "-c", _PROGRAM, f"{folder}/warehouse"], check=True, env=environment)
        if written.exists():
            shutil.move(written, _ARCHIVE)
            note.write_text(key)
    return _ARCHIVE.exists()


def _key() -> str:
    jars = [f"{jar.name} {jar.stat().st_mtime_ns}" for jar in sorted(Path(pyspark_jars()).glob("*.jar"))]
    java = subprocess.run([find_java(), "-version"], capture_output=True, text=True, check=True).stderr
    return hashlib.sha256("\n".join([java, _OPTIONS, *_FILE_SYSTEMS.values(), *jars]).encode()).hexdigest()


if __name__ == "__main__":
    print("The JVMs share an archive of classes." if make_archive() else "No archive of classes was written; JVMs start without.")
