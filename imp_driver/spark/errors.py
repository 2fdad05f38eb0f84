"""Spark's and py4j's exceptions -> the PEP 249 tree, with error class, SQLSTATE and position kept and the JVM's stack left out."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import convert_exception

from imp_driver import errors
from imp_driver.errors import CONNECTION_LOST, Error, QueryPosition

_BY_SQLSTATE: tuple[tuple[str, type[Error]], ...] = (
    ("0A", errors.NotSupportedError),
    ("22", errors.DataError),
    ("23", errors.IntegrityError),
    ("42", errors.ProgrammingError),
    ("54", errors.ProgrammingError),
    ("07", errors.ProgrammingError),
    ("21", errors.ProgrammingError),
    ("2B", errors.ProgrammingError),
    ("2D", errors.OperationalError),
    ("40", errors.OperationalError),
    ("53", errors.OperationalError),
    ("57", errors.OperationalError),
    ("58", errors.OperationalError),
    ("08", errors.OperationalError),
    ("XX", errors.InternalError),
)
_BY_CLASS: tuple[tuple[str, type[Error]], ...] = (
    ("DELTA_VIOLATE_CONSTRAINT", errors.IntegrityError),
    ("DELTA_NOT_NULL_CONSTRAINT", errors.IntegrityError),
    ("DELTA_NEW_CHECK_CONSTRAINT", errors.IntegrityError),
    ("DELTA_NEW_NOT_NULL_VIOLATION", errors.IntegrityError),
    ("NOT_NULL_ASSERT_VIOLATION", errors.IntegrityError),
    ("DELTA_CONCURRENT", errors.OperationalError),
    ("DELTA_METADATA_CHANGED", errors.OperationalError),
    ("DELTA_FAILED_TO_MERGE", errors.ProgrammingError),
    ("UNBOUND_SQL_PARAMETER", errors.ProgrammingError),
)
_BY_NAME: tuple[tuple[str, type[Error]], ...] = (
    ("InvariantViolation", errors.IntegrityError),
    ("Concurrent", errors.OperationalError),
    # Spark wraps what the metastore fails with into an AnalysisException.
    ("HiveException", errors.OperationalError),
    ("MetaException", errors.OperationalError),
    ("ParseException", errors.ProgrammingError),
    ("AnalysisException", errors.ProgrammingError),
    ("IllegalArgumentException", errors.ProgrammingError),
    ("ArithmeticException", errors.DataError),
    ("DateTimeException", errors.DataError),
    ("NumberFormatException", errors.DataError),
    ("UnsupportedOperationException", errors.NotSupportedError),
)


_PLACE_AT_END = re.compile(r"; line (\d+) pos (\d+);?$")
"""What the analyser adds to its message; a semicolon more says that the plan that it had reached follows."""
_BRANCH = re.compile(r"[ :]*[+:]- ")
"""Beginning of each line of a plan but the first."""
_ROOT = re.compile(r"[!']?[A-Z][A-Za-z]*[a-z][A-Za-z]*(?: .*)?")
"""The first line of a plan, among other things: an operator and what it has."""
_LEAF = re.compile(r"(?:'[A-Z]\w*|\w*Relation)\b.*")
"""The only line of a plan."""
_ATTRIBUTE = re.compile(r"\w#\d+")
_JAVA_CLASS = re.compile(r"^(?:(?:[\w$]+\.)+[\w$]*(?:Exception|Error): |\((?:[\w$]+\.)+[\w$]+\) )(?=\[)")
_TOO_LONG_FOR_CATALOG = "A truncation error was encountered trying to shrink"
_MISSING_FILE = re.compile(r"^(?:[\w$]+\.)+FileNotFoundException: ")
_PARSER_POSITION = re.compile(r"\(line (\d+), pos (\d+)\)")
_SERVER: tuple[tuple[str, str | None, str], ...] = (
    (
        "UNAVAILABLE",
        CONNECTION_LOST,
        "The Spark Connect server does not answer. Check that the host and the port are right, that the server runs and listens there, "
        "and that no firewall is between; then connect again.",
    ),
    ("UNAUTHENTICATED", None, "The Spark Connect server does not accept the token. Check token= and use_ssl=."),
    ("PERMISSION_DENIED", None, "The Spark Connect server denies access. Check user_id= and token=."),
)
"""Status of gRPC, error class and message."""
_OF_SERVER = re.compile(r"The Spark Connect server(?: at \S+)?")
_UNREACHED = re.compile(r"\bipv[46]:(\S+:\d+)\b")
_SESSION_IS_GONE = re.compile(r"INVALID_HANDLE\.SESSION|NO_ACTIVE_SESSION|incorrect (server side )?session identifier|closed channel")
_TRACE_OF_PYTHON = re.compile(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(?P<last>\S.*)", re.MULTILINE)
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")


def quieten() -> None:
    """Switch off the loggers to which PySpark writes every error of a statement as well; the driver raises it."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextmanager
def mapped(tag: str | None = None) -> Iterator[None]:
    """Let only errors of this driver out."""
    try:
        yield
    except (PySparkException, Py4JError, pa.ArrowException, ConnectionError, EOFError, RuntimeError, ValueError, TypeError) as error:
        raise converted(error, tag) from error


def converted(error: BaseException, tag: str | None = None) -> Error:
    """Return our error for a foreign one."""
    if isinstance(error, Error):
        return error
    if isinstance(error, Py4JJavaError):
        try:
            error = _from_java(error)
        except Exception:
            message = "Spark's JVM ended while the statement ran. Connect again."
            return errors.OperationalError(message, error_class=CONNECTION_LOST, query_id=tag)
    condition = _asked(error, "getCondition") or _named(error)
    if (lost := _from_server(error, condition, tag)) is not None:
        return lost
    if not isinstance(error, PySparkException):
        message = f"Spark did not answer: {_first_line(str(error))}. It was stopped or has ended: open a new connection."
        is_lost = isinstance(error, (Py4JError, ConnectionError, EOFError))
        return errors.OperationalError(message, error_class=CONNECTION_LOST if is_lost else None, query_id=tag)
    sqlstate = _asked(error, "getSqlState")
    kind = _kind(condition, sqlstate, error)
    return kind(_message(error), error_class=condition, sqlstate=sqlstate, position=_position(error), query_id=tag)


def is_denial(error: Error) -> bool:
    """Say whether the engine answered that there is no such thing, or not in this way; a failure of its catalog is no answer."""
    return isinstance(error, (errors.ProgrammingError, errors.NotSupportedError))


def _from_server(error: BaseException, condition: str | None, tag: str | None) -> Error | None:
    """Return the error of a Spark Connect server that is gone, has lost the session, or does not let the user in; None for any other."""
    if _SESSION_IS_GONE.search(condition or _first_line(str(error))):
        message = "The Spark Connect server no longer has this session: it ended, was idle for too long, or the server was restarted."
        return errors.OperationalError(f"{message} Connect again.", error_class=CONNECTION_LOST, query_id=tag)
    status = (_asked(error, "getGrpcStatusCode") or "").removeprefix("StatusCode.")
    for name, error_class, message in _SERVER:
        if condition is None and status == name:
            return errors.OperationalError(at_address(message, _address(error)), error_class=error_class, query_id=tag)
    return None


def at_address(message: str, address: str | None) -> str:
    """Return the message about a server with its address, ``host:port``; as it is where there is none."""
    return message if address is None else _OF_SERVER.sub(lambda _: f"The Spark Connect server at {address}", message, count=1)


def _address(error: BaseException) -> str | None:
    """Return the address that gRPC could not reach, as its text has it; None where it has none."""
    found = _UNREACHED.search(str(error))
    return None if found is None else unquote(found[1])


def _from_java(error: Py4JJavaError) -> BaseException:
    """Read the JVM's exception, or the cause below it that has an error class (a failed task wraps the true one)."""
    java = error.java_exception
    for _ in range(10):
        found: BaseException = convert_exception(java)
        if _asked(found, "getCondition") or java.getCause() is None:
            return found
        java = java.getCause()
    outer: BaseException = convert_exception(error.java_exception)
    return outer


def _asked(error: Any, name: str) -> str | None:
    try:
        value = getattr(error, name)()
    except Exception:
        return None
    return None if value is None else str(value)


def _kind(condition: str | None, sqlstate: str | None, error: BaseException) -> type[Error]:
    for prefix, kind in _BY_CLASS:
        if condition is not None and condition.startswith(prefix):
            return kind
    for prefix, kind in _BY_SQLSTATE:
        if sqlstate is not None and sqlstate.startswith(prefix):
            return kind
    text = f"{type(error).__name__} {str(error)[:300]}"
    for name, kind in _BY_NAME:
        if name in text:
            return kind
    return errors.OperationalError


def _message(error: BaseException) -> str:
    """Return Spark's own text without the JVM's frames and plans; of a failed Python worker what its exception says."""
    if (traces := list(_TRACE_OF_PYTHON.finditer(str(error)))) and "Python worker" in str(error):
        return f"A Python worker of Spark failed: {traces[-1]['last']}"
    if _TOO_LONG_FOR_CATALOG in str(error):
        return (
            "A text is too long for the embedded catalog, which takes 32,700 characters of a view or a property. "
            "Make two views of it, one over the other."
        )
    lines = _without_plan(str(error).split("JVM stacktrace:")[0].splitlines())
    text = _PLACE_AT_END.sub("", "\n".join(lines).strip()) or _first_line(str(error)) or type(error).__name__
    return _MISSING_FILE.sub("A file that the statement reads is missing: ", _JAVA_CLASS.sub("", text))


def _without_plan(lines: Sequence[str]) -> list[str]:
    """Return the lines before those of a plan or of the JVM's frames."""
    kept: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith(("\tat ", "\t... ", "Caused by:")) or "org.apache.spark.sql.catalyst" in line:
            break
        if kept and _is_root(line, following, kept):
            kept[-1] = kept[-1] if _PLACE_AT_END.search(kept[-1]) else kept[-1].rstrip(";: ")
            break
        kept.append(line)
        if _PLACE_AT_END.search(line) and line.endswith(";"):
            break
    return kept


def _is_root(line: str, following: str, before: Sequence[str]) -> bool:
    """Say whether a plan begins with a line. A statement that is quoted may have lines that look like its first one."""
    if _BRANCH.match(line):
        return True
    if _ROOT.fullmatch(line) is None or any(each.startswith("== SQL") for each in before):
        return False
    is_leaf = before[-1].endswith(";") and _LEAF.fullmatch(line)
    return bool(_BRANCH.match(following) or _ATTRIBUTE.search(line) or is_leaf)


def _named(error: BaseException) -> str | None:
    """Return the error class that the text of an exception without one begins with."""
    match = _CONDITION.match(_JAVA_CLASS.sub("", str(error)))
    return None if match is None else match[1]


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no message"


def _position(error: PySparkException) -> QueryPosition | None:
    origin = getattr(error, "_origin", None)
    try:
        contexts = error.getQueryContext() or []
        for context in contexts:
            start, stop = int(context.startIndex()), int(context.stopIndex())
            if start >= 0:
                before = str(context.fragment()) and _before(error, start)
                return QueryPosition(*before, start, stop) if before else QueryPosition(1, start + 1, start, stop)
        if origin is not None and hasattr(origin, "line") and origin.line().isDefined():
            return QueryPosition(int(origin.line().get()), int(origin.startPosition().get()) + 1)
        if found := (_PARSER_POSITION.search(str(error)) if origin is None else None) or _place_at_end(error):
            # Over Spark Connect a syntax error has its place in the text alone.
            return QueryPosition(int(found[1]), int(found[2]) + 1)
    except Exception:
        return None
    return None


def _place_at_end(error: PySparkException) -> re.Match[str] | None:
    """Return the place that the message leaves out."""
    return next((found for line in str(error).splitlines() if (found := _PLACE_AT_END.search(line))), None)


def _before(error: PySparkException, start: int) -> tuple[int, int] | None:
    """Read line and column from Spark's summary, which has the form ``(line 2, position 7)``."""
    match = re.search(r"\(line (\d+), position (\d+)\)|line (\d+),? pos(?:ition)? (\d+)", str(error))
    if match is None:
        return None
    line, column = (match.group(1), match.group(2)) if match.group(1) else (match.group(3), match.group(4))
    return int(line), int(column) + (0 if match.group(1) else 1)
