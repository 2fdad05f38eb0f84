"""Where the embedded engine has its executors, and with which settings it starts: what a connection may choose."""

from __future__ import annotations

import os
from collections.abc import Mapping

from imp_driver.errors import InterfaceError, OperationalError
from imp_driver.values.options import Options

_OF_SPEED = (
    "spark.ui.enabled",
    "spark.ui.showConsoleProgress",
    "spark.sql.shuffle.partitions",
    "spark.sql.codegen.hugeMethodLimit",
    "spark.sql.codegen.maxFields",
    "spark.databricks.delta.snapshotPartitions",
)
"""Settings of the driver that a connection may replace."""


def cores_of(options: Options) -> int:
    """Return the threads of an engine in this process."""
    return options.cores or os.cpu_count() or 1


def master_of(options: Options) -> str:
    """Return Spark's name of the place where tasks run.

    Raises:
        InterfaceError: threads of this process are asked for as well.
    """
    if options.master is None:
        return f"local[{cores_of(options)}]"
    if options.cores is not None:
        raise InterfaceError("Option 'cores' is for an engine without master=; write master=local[4], or conf.spark.cores.max=4.")
    return options.master


def with_conf(own: Mapping[str, str], options: Options) -> dict[str, str]:
    """Return the settings of the driver with those of the connection.

    Raises:
        InterfaceError: a setting is none of Spark, or one that the driver needs as it is.
    """
    settings = dict(own)
    if options.master is not None and not options.master.startswith("local"):
        # As many partitions as threads would be too few on many machines; Spark's own default joins small ones again.
        del settings["spark.sql.shuffle.partitions"]
    for name, value in options.conf:
        if not name.startswith("spark."):
            raise InterfaceError(f"The setting {name!r} in conf is none of Spark's, whose names begin with 'spark.'.")
        if name == "spark.master" or (name in own and name not in _OF_SPEED):
            remedy = {"spark.master": "use master=.", "spark.driver.memory": "use driver_memory=."}.get(name, "leave it out.")
            raise InterfaceError(f"The setting {name!r} is set by the driver itself; {remedy}")
        settings[name] = value
    return settings


def explain_master(master: str, error: BaseException) -> OperationalError:
    """Return the error for an engine whose JVM came up but got no executors."""
    first = next((line.strip() for line in str(error).splitlines() if "xception" in line or "rror" in line), "it gave no reason")
    return OperationalError(
        f"Spark did not start at the master {master}: {first} Check the address, that the cluster runs the same version of Spark, and "
        "that it reaches this machine (conf.spark.driver.host)."
    )
