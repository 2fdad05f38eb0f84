"""Whole processes: restart, a second process, death in the middle of a write, a machine that lacks something."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from deltalake import DeltaTable

ROOT = Path(__file__).parents[2]
Written = tuple[Path, subprocess.CompletedProcess[str]]


def _run(program: str, *arguments: object, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=_environment(environment))


def _environment(changes: dict[str, str] | None) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **(changes or {})}


_WRITE = """
import os, sys
os.umask(0o077)
import imp_driver
with imp_driver.connect(warehouse=sys.argv[1], cores=1, driver_memory="1g") as connection:
    connection.execute("CREATE SCHEMA sales")
    connection.execute("CREATE TABLE sales.t USING DELTA AS SELECT id DIV 10 AS g, id AS x FROM range(98)")
    connection.cursor().executemany("INSERT INTO sales.t VALUES (?, ?)", [(9, 98), (9, 99)])
    connection.execute("OPTIMIZE sales.t")
    connection.execute("CREATE VIEW v AS SELECT g, x FROM sales.t WHERE x > 90")
    connection.execute("CREATE TABLE plain (a INT) USING PARQUET")
"""
_READ = """
import sys, imp_driver
with imp_driver.connect(f"imp:///{sys.argv[1]}?schema=sales") as connection:
    print(connection.execute("SELECT count(*) FROM t").fetchall())
    print(connection.execute("SELECT count(*) FROM default.v").fetchall())
    print(connection.execute("SELECT g FROM t GROUP BY g HAVING sum(x) > 900").fetchall())
    print(sorted(row[1] for row in connection.execute("SHOW TABLES IN default").fetchall()))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A warehouse whose process has ended, in a folder whose name is as odd as names may be."""
    folder = tmp_path_factory.mktemp("written")
    warehouse, scratch = folder / 'od\'d "na`me" #%20 $x \u00e9\U0001f600', folder / "scratch folder"
    scratch.mkdir()
    # With Hadoop's own file system, which writes checksums beside the files.
    return warehouse, _run(_WRITE, warehouse, environment={"TMPDIR": str(scratch), "SPARK_CONF_DIR": ""})


def test_files_of_a_warehouse_are_the_users_alone_where_the_umask_says_so(written: Written) -> None:
    warehouse, process = written
    assert process.returncode == 0, process.stderr
    open_to_others = [str(each) for each in [warehouse, *warehouse.rglob("*")] if stat.S_IMODE(each.stat().st_mode) & 0o077]
    assert open_to_others == []
    assert {".parquet", ".crc"} <= {each.suffix for each in warehouse.rglob("*")}


def test_tables_and_views_survive_the_process_and_nothing_is_printed(written: Written) -> None:
    warehouse, process = written
    assert (process.returncode, process.stderr) == (0, "")
    read = _run(_READ, quote(str(warehouse)))
    assert read.stderr == ""
    assert read.stdout.splitlines() == ["[(100,)]", "[(9,)]", "[(9,)]", "['plain', 'v']"]
    litter = {path.name for path in Path.cwd().iterdir()} & {"metastore_db", "derby.log", "spark-warehouse"}
    assert litter == set()


_HOLD = """
import sys, time, imp_driver
connection = imp_driver.connect(warehouse=sys.argv[1])
connection.execute("CREATE TABLE IF NOT EXISTS t (x BIGINT) USING DELTA")
connection.execute("INSERT INTO t VALUES (1), (2)")
print("ready", flush=True)
connection.execute("INSERT INTO t SELECT id FROM range(400000000)")
"""
_OPEN = """
import sys, imp_driver
try:
    with imp_driver.connect(warehouse=sys.argv[1]) as connection:
        print(connection.execute("SELECT count(*) FROM t").fetchall())
except imp_driver.Error as error:
    print(type(error).__name__, error)
"""


def test_second_process_is_refused_and_a_killed_one_loses_nothing_committed(tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    command = [sys.executable, "-c", _HOLD, str(warehouse)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment(None)) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "ready\n"
            committed = DeltaTable(warehouse / "t").file_uris()
            refused = _run(_OPEN, warehouse)
            assert refused.stdout.startswith("OperationalError")
            assert f"process id {holder.pid}" in refused.stdout
            while holder.poll() is None and len(list((warehouse / "t").glob("*.parquet"))) <= len(committed):
                time.sleep(0.05)
        finally:
            holder.send_signal(signal.SIGKILL)
    opened = _open_after_death(warehouse)
    assert opened.stdout == "[(2,)]\n"


def _open_after_death(warehouse: Path) -> subprocess.CompletedProcess[str]:
    """The killed process's JVM notices that its parent is gone a moment later; until then Derby's own lock may still be held."""
    end = time.monotonic() + 60
    while not (opened := _run(_OPEN, warehouse)).stdout.startswith("[") and time.monotonic() < end:
        time.sleep(0.05)
    return opened


@pytest.mark.parametrize("home", ["", "/nowhere"])
def test_missing_java_says_what_to_install(tmp_path: Path, home: str) -> None:
    environment = {"PATH": str(tmp_path), "JAVA_HOME": home}
    result = _run(_OPEN, tmp_path / "warehouse", environment=environment)
    assert result.stdout.startswith("OperationalError")
    assert "Java 17" in result.stdout
    assert "JAVA_HOME" in result.stdout


def test_missing_jars_without_network_name_what_is_missing(tmp_path: Path) -> None:
    settings = tmp_path / "settings.xml"
    settings.write_text(
        f'<ivysettings><settings defaultResolver="none"/><caches defaultCacheDir="{tmp_path}/ivy"/>'
        f'<resolvers><filesystem name="none"><artifact pattern="{tmp_path}/[artifact].[ext]"/></filesystem></resolvers></ivysettings>'
    )
    environment = {"IMP_DRIVER_CACHE": str(tmp_path / "cache"), "IMP_DRIVER_IVY_SETTINGS": str(settings)}
    result = _run(_OPEN, tmp_path / "warehouse", environment=environment)
    assert result.stdout.startswith("OperationalError")
    assert "io.delta:delta-spark_4.2_2.13:4.4.0" in result.stdout
    assert str(tmp_path / "cache") in result.stdout


_TWO_WAREHOUSES = """
import sys, concurrent.futures, imp_driver
def names(connection, statement):
    connection.execute(statement)
    return sorted(row[1] for row in connection.execute("SHOW TABLES").fetchall())
with concurrent.futures.ThreadPoolExecutor(1) as worker:
    for name in ("a", "b", "a"):
        # Opened and closed here, used there: only the worker's own thread keeps what Hive remembers of the one before.
        with imp_driver.connect(warehouse=f"{sys.argv[1]}/{name}") as connection:
            made = names(connection, f"CREATE TABLE IF NOT EXISTS only_{name} (x INT) USING DELTA")
            print(made, worker.submit(names, connection, f"CREATE TABLE IF NOT EXISTS worker_{name} (x INT)").result())
            try:
                imp_driver.connect(warehouse=f"{sys.argv[1]}/other")
            except imp_driver.OperationalError as error:
                print("refused" if "close its 1 connection" in str(error) else error)
"""


def test_one_warehouse_at_a_time_and_the_next_after_the_last_connection_in_every_thread(tmp_path: Path) -> None:
    result = _run(_TWO_WAREHOUSES, tmp_path)
    assert result.stdout.splitlines() == [
        "['only_a'] ['only_a', 'worker_a']",
        "refused",
        "['only_b'] ['only_b', 'worker_b']",
        "refused",
        "['only_a', 'worker_a'] ['only_a', 'worker_a']",
        "refused",
    ], result.stderr


def test_wrong_folders(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert "is a file" in _run(_OPEN, file).stdout
    assert "does not exist" in _run(_OPEN, tmp_path / "missing" / "warehouse").stdout


_INTERRUPT = """
import os, signal, sys, threading, time, imp_driver
from pyspark import SparkContext

def press():
    while not SparkContext._active_spark_context.statusTracker().getActiveJobsIds():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

# A process that a shell has put in the background ignores the key from the start.
signal.signal(signal.SIGINT, signal.default_int_handler)
with imp_driver.connect(warehouse=sys.argv[1]) as connection:
    cursor = connection.cursor()
    threading.Thread(target=press).start()
    try:
        cursor.execute("SELECT count(*) FROM range(100000000000) a WHERE hash(id) = 7")
    except KeyboardInterrupt:
        print("interrupted")
    print(connection.execute("SELECT 1").fetchall())
"""


def test_interrupt_key_stops_the_query_and_the_connection_lives(tmp_path: Path) -> None:
    result = _run(_INTERRUPT, tmp_path / "warehouse")
    assert result.stdout.splitlines() == ["interrupted", "[(1,)]"], result.stderr


_BESIDE = """
import os, signal, sys, threading, imp_driver

signal.signal(signal.SIGINT, signal.default_int_handler)
one, other = (imp_driver.connect(warehouse=sys.argv[1]) for _ in range(2))
one.execute("CREATE TABLE t USING DELTA AS SELECT id % 50 AS a, id AS b FROM range(60000)")
heavy = "SELECT a, sum(b + {0}), max(length(sha2(repeat(cast(b AS STRING), {1}), 512))) FROM t GROUP BY a HAVING count(*) > 3"
for number in range(2):
    text, rows = heavy.format(number, 3000 + number), []
    thread = threading.Thread(target=lambda: rows.extend(one.execute(text).fetchall()))
    thread.start()
    threading.Timer(0.3 + 0.15 * number, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        other.execute(text).fetchall()
        threading.Event().wait(5)
    except KeyboardInterrupt:
        thread.join(60)
        print(thread.is_alive(), len(rows), other.execute("SELECT 1").fetchall(), flush=True)
os._exit(0)
"""


def test_interrupt_key_leaves_the_statements_of_other_threads_alone(tmp_path: Path) -> None:
    """The gateway shuts down the connections of all threads where the key ends one of its calls; some of these then wait for ever."""
    result = _run(_BESIDE, tmp_path / "warehouse")
    assert result.stdout.splitlines() == ["False 50 [(1,)]"] * 2, result.stderr


_OWNED = """
import sys, warnings
warnings.simplefilter("ignore")
from pathlib import Path
from pyspark.sql import SparkSession
from imp_driver.spark.java import find_java
from imp_driver.spark.packages import resolve_jars
import imp_driver
jars = ",".join(str(jar) for jar in resolve_jars(find_java()))
spark = (
    SparkSession.builder.master("local[2]").config("spark.jars", jars).config("spark.ui.enabled", "false")
    .config("spark.sql.warehouse.dir", sys.argv[1]).config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.shuffle.partitions", "3").config("spark.databricks.delta.snapshotPartitions", "2")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog").getOrCreate()
)
before = {row.key: row.value for row in spark.sql("SET").collect()}
spark.range(3).createOrReplaceTempView("mine")
with imp_driver.connect(session=spark, sketch="shadow") as connection:
    cursor = connection.cursor()
    properties = "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    cursor.execute(f"CREATE TABLE t USING DELTA {properties} AS SELECT id DIV 10 AS g, id AS x FROM range(100)")
    for change in (None, "INSERT INTO t VALUES (1, 5000)"):
        if change:
            cursor.execute(change)
        print(sorted(cursor.execute("SELECT g FROM t GROUP BY g HAVING sum(x) > ?", (900,)).fetchall()), cursor.sketch_report.decision.name)
    cursor.executemany("INSERT INTO t VALUES (:g, :x)", [{"g": 1, "x": 2}, {"g": 2, "x": 3}])
    print(cursor.rowcount, cursor.execute("SELECT count(*) FROM mine WHERE id < :n", {"n": 2}).fetchall())
    try:
        imp_driver.connect(warehouse=sys.argv[1])
    except imp_driver.OperationalError as error:
        print("refused" if "session=spark" in str(error) else error)
after = {row.key: row.value for row in spark.sql("SET").collect()}
changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
print(changed - {"spark.databricks.delta.lastCommitVersionInSession"})
print(spark.range(1).count())
for wrong in ("text", 5):
    try:
        imp_driver.connect(session=wrong)
    except imp_driver.InterfaceError as error:
        print(error)
"""


def test_session_of_the_application_is_neither_configured_nor_stopped(tmp_path: Path) -> None:
    result = _run(_OWNED, tmp_path / "warehouse")
    assert result.stdout.splitlines() == [
        "[(9,)] CAPTURED",
        "[(1,), (9,)] MAINTAINED",
        "2 [(2,)]",
        "refused",
        "set()",
        "1",
        "session= must be a SparkSession, not str.",
        "session= must be a SparkSession, not int.",
    ], result.stderr[-2000:]
