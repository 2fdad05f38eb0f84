"""Open sessions of Spark Connect: one of the driver's own at a server, or the application's."""

from __future__ import annotations

import atexit
import concurrent.futures
import importlib.util
import logging
import socket
import warnings
import weakref
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from imp_driver.errors import Error, InterfaceError, NotSupportedError
from imp_driver.ports import Session
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from imp_driver.values.quoting import quoted_name

_NEEDED = ("grpc", "grpc_status", "google.rpc", "zstandard", "pandas")
_VERSION = "4.2."
"""What the version of the server begins with: what the driver knows of the meaning of queries is of this Spark."""
LONGEST_RELEASE = 1.0
"""Seconds to wait until the server knows which results were read."""
RETRIES = 4
"""Attempts after the first to reach a server, five seconds in all; PySpark alone would try for ten minutes."""


def open_session(options: Options) -> Session:
    """Open a session of its own at a server; it is released when the connection is closed, or at the end of the process.

    Raises:
        OperationalError: no server answers, or it refuses the user.
        NotSupportedError: the packages of the extra ``connect`` are missing, or the server runs another version of Spark.
    """
    _check_packages()
    from imp_driver.spark.errors import at_address

    try:
        return _open(options)
    except Error as error:
        # The address is asked for once, and so may be named.
        message = at_address(str(error), options.server)
        raise type(error)(message, error_class=error.error_class, sqlstate=error.sqlstate) from error.__cause__


def _open(options: Options) -> Session:
    with warnings.catch_warnings():
        # PySpark warns of the newest pandas, which this driver never hands to it.
        warnings.simplefilter("ignore", FutureWarning)
        from pyspark.sql.connect.session import SparkSession

    from imp_driver.spark.errors import mapped

    with mapped():
        spark = SparkSession(connection=connection_string(options))
    # At the end of the process PySpark would ask a server that is gone again and again; left open, gRPC's channel would hang that end.
    atexit.unregister(spark.client._on_exit)
    end = weakref.finalize(spark, end_session, spark.client)
    try:
        return _opened(spark, options, end)
    except BaseException:
        end()
        raise


def open_owned(spark: Any, options: Options) -> Session:
    """Wrap the application's session; its temporary views and current schema are visible.

    Raises:
        InterfaceError: a stopped session.
        NotSupportedError: the server runs another version of Spark.
    """
    if spark.is_stopped:
        raise InterfaceError("The SparkSession given as session= is stopped.")
    return _wrapped(spark, options, owned_by_application=True, on_close=lambda: None)


def _check_packages() -> None:
    missing = [name for name in _NEEDED if not _is_there(name)]
    if missing:
        raise NotSupportedError(f"Spark Connect needs packages that are missing ({', '.join(missing)}): pip install 'imp_driver[connect]'.")


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


def connection_string(options: Options) -> str:
    """Return the address of a server as PySpark reads it, with every value quoted."""
    given = {"user_id": options.user_id, "token": options.token, "use_ssl": "true" if options.use_ssl else None, "user_agent": "imp_driver"}
    return f"sc://{options.server}/;" + ";".join(f"{name}={quote(value, safe='')}" for name, value in given.items() if value)


def _opened(spark: Any, options: Options, end: Callable[[], object]) -> Session:
    from pyspark.sql.connect.client.retries import DefaultPolicy

    spark.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES)])
    # Where warnings are errors, this one would take the place of the error that follows it.
    warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]", UserWarning)
    session = _wrapped(spark, options, owned_by_application=False, on_close=end)
    if options.schema:
        session.execute(Execution(f"USE {quoted_name(options.schema)}")).close()
    return session


def _wrapped(spark: Any, options: Options, *, owned_by_application: bool, on_close: Callable[[], object]) -> Session:
    from imp_driver.spark.errors import mapped, quieten

    quieten()
    with mapped():
        version = str(spark.version)
    if not version.startswith(_VERSION):
        raise NotSupportedError(f"The server runs Spark {version}; this driver is for Spark {_VERSION}x, whose rules it knows.")
    from imp_driver.spark.remote import ConnectSession

    return ConnectSession(spark, owned_by_application=owned_by_application, on_machine=on_machine_of(spark, options), on_close=on_close)


def on_machine_of(spark: Any, options: Options) -> Callable[[str], str]:
    """Return what spells a local folder of the server with its scheme, and with its machine where that is not this one.

    A plain path would be one of the server's default file system wherever the driver gives it back to the server.
    """
    machine = _other_machine(spark, options)

    def on_machine(location: str) -> str:
        if not location.startswith("/"):
            return location
        # The other readers of such a URI decode it, Hadoop does not: a folder with a percent sign keeps its plain path.
        return f"file://{machine}{location}" if machine else location if "%" in location else f"file:{location}"

    return on_machine


def _other_machine(spark: Any, options: Options) -> str:
    """Return the server's name where a folder of it may be another one here; a stale copy under the same path would give old answers."""
    if options.shared_files:
        return ""
    try:
        host = str(spark.client.host).strip("[]")
    except Exception:
        # A channel of the application's own need not say where it leads.
        host = "unknown"
    is_here = host in ("localhost", "::1", socket.gethostname(), socket.getfqdn()) or host.startswith("127.")
    return "" if is_here else host.replace(":", "-")


def end_session(client: Any) -> None:
    """Release the session at the server and close the channel; a server that is gone has nothing to release."""
    if client.is_closed:
        return
    # PySpark tells the server of every result that it has read, beside the work. What is told of a released session gets no answer, and
    # closing the channel would wait ten seconds for that.
    told: Any = getattr(client, "_release_futures", set())
    concurrent.futures.wait(list(told), timeout=LONGEST_RELEASE)
    try:
        client.set_retry_policies([])
        client.release_session()
    except Exception as error:
        logging.getLogger("imp_driver").debug("The session was not released: %s", type(error).__name__)
    told.clear()
    try:
        client.close()
    except Exception as error:
        logging.getLogger("imp_driver").debug("The channel was not closed: %s", type(error).__name__)
