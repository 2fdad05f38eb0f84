"""A drop-in database driver (PEP 249) for Spark that answers repeated SQL sooner, with exactly the same rows."""

import logging as _logging
from importlib.metadata import PackageNotFoundError as _PackageNotFoundError
from importlib.metadata import version as _version

from imp_driver.dbapi.connection import Connection, connect
from imp_driver.dbapi.cursor import Cursor
from imp_driver.dbapi.typeobjects import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)
from imp_driver.errors import (
    CANCELLED,
    CONNECTION_LOST,
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    QueryPosition,
    Warning,
)
from imp_driver.observe.registry import metrics
from imp_driver.ports import TableDefinition
from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason, ServedBy
from imp_driver.values.redaction import LOGGERS as _LOGGERS
from imp_driver.values.redaction import RedactingFilter as _RedactingFilter
from imp_driver.values.refusal import Grounds
from imp_driver.values.report import SketchReport

try:
    # setup.cfg has it.
    __version__ = _version("imp_driver")
except _PackageNotFoundError:
    # Sources on the path that were installed nowhere.
    __version__ = "0+unknown"
apilevel = "2.0"
threadsafety = 1
paramstyle = "qmark"

# Where log records go is the application's to say.
_logging.getLogger(__name__).addHandler(_logging.NullHandler())
for _name in _LOGGERS:
    _logging.getLogger(_name).addFilter(_RedactingFilter())

__all__ = [
    "BINARY",
    "CANCELLED",
    "CONNECTION_LOST",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Decision",
    "DeltaSource",
    "Error",
    "Grounds",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "QueryPosition",
    "Reason",
    "RecaptureReason",
    "ServedBy",
    "SketchReport",
    "TableDefinition",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "metrics",
    "paramstyle",
    "threadsafety",
]
