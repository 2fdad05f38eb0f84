"""The embedded engine: one Spark in this process, a warehouse folder with its own catalog, a child session per connection.

The catalog is Hive's over an embedded Derby database inside the warehouse, so that tables and views outlive the process. Hive keeps its
client per thread in static fields, so each start of the engine loads Hive's classes anew: otherwise a thread that had used one warehouse
would go on reading and writing that one's catalog in the next. One process has one warehouse open at a time; when no connection is left,
the next may open another.
"""

from __future__ import annotations

import atexit
import fcntl
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from imp_driver.errors import OperationalError
from imp_driver.spark.change_feed import DEFAULT
from imp_driver.spark.classes import java_class
from imp_driver.spark.errors import mapped, quieten
from imp_driver.spark.java import explain_failed_start, find_java
from imp_driver.spark.locations import process_umask
from imp_driver.spark.master import cores_of, explain_master, master_of, with_conf
from imp_driver.spark.meaning import DELTA_EXTENSION
from imp_driver.spark.packages import pyspark_jars, resolve_jars
from imp_driver.spark.session import SparkChildSession
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from imp_driver.values.quoting import quoted_name


@dataclass(slots=True)
class _Engine:
    """``connections`` counts the open ones; ``lock_file`` keeps other processes out. It was started with ``options``."""

    warehouse: Path
    root: SparkSession
    lock_file: IO[str]
    options: Options
    connections: int = 0


_LOG = logging.getLogger("imp_driver")
_lock = threading.Lock()
_engine: _Engine | None = None


def open_session(options: Options) -> SparkChildSession:
    """Open a child session on the embedded engine, which starts with the first.

    Raises:
        OperationalError: no fit Java, no such folder, another process or another warehouse of this process holds the engine.
    """
    warehouse = _folder(str(options.warehouse))
    with _lock:
        engine = _running(warehouse, options)
        with mapped():
            child = engine.root.newSession()
        engine.connections += 1
    session = SparkChildSession(child, owned_by_application=False, binds_natively=True, on_close=lambda: _release(engine))
    try:
        if options.schema:
            session.execute(Execution(f"USE {quoted_name(options.schema)}")).close()
    except BaseException:
        session.close()
        raise
    return session


def _folder(text: str) -> Path:
    warehouse = Path(text).expanduser().absolute()
    if warehouse.exists() and not warehouse.is_dir():
        raise OperationalError(f"The warehouse {warehouse} is a file; a warehouse is a folder.")
    if not warehouse.parent.is_dir():
        raise OperationalError(f"The warehouse {warehouse} cannot be made: the folder {warehouse.parent} does not exist.")
    try:
        (warehouse / "_imp").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OperationalError(f"The warehouse {warehouse} cannot be written: {error.strerror}.") from error
    return warehouse.resolve()


def _running(warehouse: Path, options: Options) -> _Engine:
    global _engine
    if _engine is not None and _has_died(_engine):
        _forget(_engine)
        _engine = None
    if _engine is not None and _engine.warehouse != warehouse:
        if _engine.connections:
            raise OperationalError(
                f"This process has the warehouse {_engine.warehouse} open; close its {_engine.connections} connection(s) "
                f"before opening {warehouse}."
            )
        _shut_down()
    if _engine is None:
        lock_file = _locked(warehouse)
        try:
            _engine = _Engine(warehouse, _start(warehouse, options), lock_file, options)
        except BaseException:
            lock_file.close()
            raise
    elif unheard := options.unheard_by(_engine.options):
        message = "%s: not used here, Spark runs in this process as the first connection to %s has started it."
        _LOG.warning(message, ", ".join(unheard), warehouse)
    return _engine


def _locked(warehouse: Path) -> IO[str]:
    """Take the warehouse for this process; the system gives it back when the process ends, however it ends."""
    file = open(warehouse / "_imp" / "lock", "a+", encoding="utf-8")  # noqa: SIM115 - held for as long as the engine runs
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise OperationalError(
            f"The warehouse {warehouse} is in use by another process (process id {holder}); an embedded warehouse serves one process "
            "at a time. Close that process, or share one Spark session."
        ) from error
    file.seek(0)
    file.truncate()
    file.write(str(os.getpid()))
    file.flush()
    return file


def _start(warehouse: Path, options: Options) -> SparkSession:
    if SparkContext._active_spark_context is not None:
        raise OperationalError(
            "This process already runs a Spark session of its own; give it as connect(session=spark) instead of a warehouse."
        )
    java = find_java()
    master = master_of(options)
    jars = resolve_jars(java)
    scratch = Path(tempfile.mkdtemp(prefix="imp_driver_"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    configuration = SparkConf(loadDefaults=False).setMaster(master).setAppName("imp_driver")
    for name, value in with_conf(_settings(warehouse, jars, options, scratch), options).items():
        configuration.set(name, value)
    quieten()
    output = scratch / "java.log"
    try:
        with _own_interrupt_handler(), warnings.catch_warnings(), output.open("w") as log:
            warnings.simplefilter("ignore")
            if SparkContext._gateway is None:
                gateway = launch_gateway(configuration, {"stderr": log, "stdout": log})
                context = SparkContext(conf=configuration, gateway=gateway)
            else:
                context = SparkContext(conf=configuration)
            if "PYSPARK_PYTHON" not in os.environ and master.startswith("local"):
                # Workers on this machine must have what this process has; the first python3 of the path may have not.
                context.pythonExec = sys.executable
            return SparkSession(context)
    except Exception as error:
        if options.master is not None and SparkContext._gateway is not None:
            raise explain_master(master, error) from error
        raise explain_failed_start(java, f"{output.read_text(errors='replace')}\n{error}") from error


@contextmanager
def _own_interrupt_handler() -> Iterator[None]:
    """Keep the application's: PySpark installs one that cancels every job of the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


_LOG4J = """status = off
rootLogger.level = off
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %m%n
"""


_SHARED_WITH_HIVE = (
    "org.apache.derby.", "org.apache.commons.", "com.fasterxml.", "org.antlr.", "com.esotericsoftware.", "org.objenesis.", "com.google.",
    "javax.", "org.xml.", "org.w3c.", "org.json.", "com.zaxxer.",
)  # fmt: skip
"""Packages that Hive uses and that hold no state of a warehouse; loading them anew would only cost time."""


def _hive_jars() -> list[str]:
    """Return Hive's own jars first, so that its classes are found at once, then all that PySpark ships."""
    folder = Path(pyspark_jars())
    first = [jar.as_uri() for kind in ("hive-*", "datanucleus-*", "*jdo*", "libthrift*") for jar in sorted(folder.glob(kind + ".jar"))]
    return [*first, folder.as_uri() + "/*"]


def _settings(warehouse: Path, jars: tuple[Path, ...], options: Options, scratch: Path) -> dict[str, str]:
    log4j = scratch / "log4j2.properties"
    log4j.write_text(_LOG4J, encoding="utf-8")
    properties = {"log4j2.configurationFile": log4j, "derby.stream.error.file": scratch / "derby.log", "derby.system.home": scratch}
    java_options = " ".join(f'"-D{name}={value}"' for name, value in properties.items())
    return {
        "spark.jars": ",".join(str(jar) for jar in jars),
        "spark.driver.memory": options.driver_memory,
        "spark.driver.extraJavaOptions": java_options,
        "spark.sql.extensions": DELTA_EXTENSION,
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={warehouse}/_imp/catalog;create=true",
        "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
        "spark.hadoop.hive.metastore.schema.verification": "false",
        # Hive's classes in a class loader of this start's own; Derby stays shared, so that its database can be shut down.
        "spark.sql.hive.metastore.jars": "path",
        "spark.sql.hive.metastore.jars.path": ",".join(_hive_jars()),
        "spark.sql.hive.metastore.sharedPrefixes": ",".join(_SHARED_WITH_HIVE),
        # Hadoop has a umask of its own, 022, and gives every file it makes the rights that this one leaves.
        "spark.hadoop.fs.permissions.umask-mode": f"{process_umask():03o}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(cores_of(options)),
        "spark.databricks.delta.snapshotPartitions": "1",
        # CREATE TABLE without USING makes a Delta table.
        "spark.sql.sources.default": "delta",
        # New tables record their changes: the driver maintains sketches from them.
        DEFAULT: "true",
        # With Delta's parser Spark 4.2 loses parameter markers; tests/spark/test_session.py notices when this is no longer so.
        "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
        # A generated method beyond this many bytes is never compiled by the JVM and runs many times slower.
        "spark.sql.codegen.hugeMethodLimit": "8000",
        # Groups of a dozen sums of doubles are captured with more columns than Spark's own limit, beyond which it generates no code.
        "spark.sql.codegen.maxFields": "2000",
    }


def _release(engine: _Engine) -> None:
    with _lock:
        engine.connections -= 1


def _has_died(engine: _Engine) -> bool:
    """Say whether the JVM has ended by itself or was killed: its connections are lost, the next one starts another."""
    process = getattr(engine.root.sparkContext._gateway, "proc", None)
    return process is not None and process.poll() is not None


def _forget(engine: _Engine) -> None:
    """Make PySpark forget a JVM that is gone, so that it launches a new one."""
    gateway = SparkContext._gateway
    SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = None
    if gateway is not None:
        gateway.shutdown()
    engine.lock_file.close()


def _shut_down() -> None:
    """Stop the engine so that another warehouse may be opened, and let other processes have this one."""
    global _engine
    engine, _engine = _engine, None
    if engine is None:
        return
    with mapped():
        jvm = engine.root.sparkContext._jvm
        engine.root.stop()
        # Hive's client and Derby's database belong to the JVM, not to Spark; left open they would serve the old warehouse.
        java_class(jvm, "org.apache.hadoop.hive.ql.metadata.Hive").closeCurrent()
        _shut_derby(jvm, engine.warehouse)
    engine.lock_file.close()


def _shut_derby(jvm: object, warehouse: Path) -> None:
    try:
        java_class(jvm, "java.sql.DriverManager").getConnection(f"jdbc:derby:{warehouse}/_imp/catalog;shutdown=true")
    except Exception as error:
        # Derby reports a database that was shut down as an error, 08006; anything else shows when the next warehouse opens.
        logging.getLogger("imp_driver.spark").debug("Derby: %s", error)
