"""What Spark and its JVM fail with becomes an error of this driver."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException

from imp_driver.errors import CONNECTION_LOST, IntegrityError, OperationalError
from imp_driver.spark.errors import mapped


class _Gone:
    """A Java exception behind a closed connection."""

    _target_id = "o1"

    def __getattr__(self, name: str) -> Any:
        raise ConnectionRefusedError(111, "Connection refused")


class _JavaError(Py4JJavaError):  # type: ignore[misc]
    def __init__(self) -> None:
        self.java_exception = _Gone()


def test_the_jvm_ends_while_its_error_is_read() -> None:
    with pytest.raises(OperationalError, match="JVM ended") as caught, mapped("tag"):
        raise _JavaError
    assert caught.value.error_class == CONNECTION_LOST


@pytest.mark.parametrize(("error", "is_lost"), [(Py4JNetworkError("gone"), True), (ConnectionResetError(), True), (ValueError("x"), False)])
def test_which_errors_mean_that_the_connection_is_lost(error: Exception, is_lost: bool) -> None:
    with pytest.raises(OperationalError) as caught, mapped("tag"):
        raise error
    assert (caught.value.error_class == CONNECTION_LOST) == is_lost


def test_the_name_of_a_java_class_is_no_part_of_a_message() -> None:
    text = "org.apache.spark.sql.delta.schema.DeltaInvariantViolationException: [DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint pos"
    with pytest.raises(IntegrityError) as caught, mapped("tag"):
        raise PySparkException(text)
    assert str(caught.value) == "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint pos"
    assert caught.value.error_class == "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[X] no. SQLSTATE: 42703; line 1 pos 14;\n'Aggregate [a#1]\n+- Range\n", "[X] no. SQLSTATE: 42703"),
        ("[X] no. SQLSTATE: 42703; line 1 pos 14", "[X] no. SQLSTATE: 42703"),
        ("[X] no. SQLSTATE: 42703;\nGlobalLimit 2\n+- LocalLimit 2\n", "[X] no. SQLSTATE: 42703"),
        ("[X] no. SQLSTATE: 42703;\nOneRowRelation\n", "[X] no. SQLSTATE: 42703"),
        ("[X] not allowed here:\nAggregate [a#4189], [sum(b#4190L) AS s#1]\n+- Range\n", "[X] not allowed here"),
        ("[X] not allowed here:\n!Filter (a#4189 > 1)\n:  +- Range\n", "[X] not allowed here"),
        ("[X] several lines:\nSome hint. SQLSTATE: 42K01", "[X] several lines:\nSome hint. SQLSTATE: 42K01"),
        (
            "[X] no\n== SQL (line 1, position 1) ==\nSelect 1;\nSelect 2\n^^^",
            "[X] no\n== SQL (line 1, position 1) ==\nSelect 1;\nSelect 2\n^^^",
        ),
        ("[X] no;\nDid you mean this? SQLSTATE: 42703", "[X] no;\nDid you mean this? SQLSTATE: 42703"),
        ("[X] no.\n\tat org.apache.Raw.open(Raw.java:1)", "[X] no."),
    ],
)
def test_neither_plan_nor_place_is_part_of_a_message(text: str, told: str) -> None:
    with pytest.raises(OperationalError) as caught, mapped("tag"):
        raise PySparkException(text)
    assert str(caught.value) == told
    position = caught.value.position
    assert (None if position is None else (position.line, position.column)) == ((1, 15) if "pos 14" in text else None)


def test_what_failed_in_a_python_worker_is_told_without_its_trace() -> None:
    text = (
        "\n  An exception was thrown from the Python worker. Please see the stack trace below.\n[PYTHON_EXCEPTION] Traceback:\n"
        "Traceback (most recent call last):\n"
        '  File "worker.py", line 3602, in main\n'
        "    func = read_udfs(\n"
        "           ^^^^^^^^^\n"
        "ModuleNotFoundError: No module named 'imp_driver'\n SQLSTATE: 38000"
    )
    with pytest.raises(OperationalError) as caught, mapped("tag"):
        raise PySparkException(text)
    assert str(caught.value) == "A Python worker of Spark failed: ModuleNotFoundError: No module named 'imp_driver'"


def test_a_view_that_is_too_long_for_the_catalog_is_told_in_words() -> None:
    text = "org.apache.hadoop.hive.ql.metadata.HiveException: A truncation error was encountered trying to shrink LONG VARCHAR 'SELECT ..."
    with pytest.raises(OperationalError, match="32,700 characters of a view"), mapped("tag"):
        raise PySparkException(text)


def test_a_missing_file_is_told_in_words() -> None:
    text = "java.io.FileNotFoundException: File file:/warehouse/t/part-0.parquet does not exist\n\tat org.apache.Raw.open(Raw.java:1)"
    with pytest.raises(OperationalError) as caught, mapped("tag"):
        raise PySparkException(text)
    assert str(caught.value) == "A file that the statement reads is missing: File file:/warehouse/t/part-0.parquet does not exist"
