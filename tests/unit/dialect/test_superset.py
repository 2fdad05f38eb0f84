"""What Superset is told, as far as it runs without Superset: grains, literals, messages and cancelling."""

from __future__ import annotations

import gc
from datetime import UTC, datetime

import pytest
import sqlglot

from imp_driver import Cursor
from imp_superset import running
from imp_superset.grains import COLUMN, EPOCH_MILLISECONDS, EPOCH_SECONDS, time_grains
from imp_superset.literals import literal
from imp_superset.messages import EXPLAINED

MOMENT = datetime(2024, 2, 1, 13, 5, 7, 250)


@pytest.mark.parametrize("text", [*time_grains().values(), EPOCH_SECONDS, EPOCH_MILLISECONDS])
def test_an_expression_has_the_column_once_and_is_spark_sql(text: str) -> None:
    assert text.count(COLUMN) == 1
    read = sqlglot.parse_one(text.replace(COLUMN, "`sold at`"), dialect="spark")
    assert [column.name for column in read.find_all(sqlglot.exp.Column)] == ["sold at"]


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (None, "{col}"),
        ("P1D", "date_trunc('DAY', {col})"),
        ("PT5M", "timestamp_seconds(floor(unix_timestamp({col}) / 300) * 300)"),
        ("1969-12-28T00:00:00Z/P1W", "date_trunc('WEEK', {col} + INTERVAL 1 DAY) - INTERVAL 1 DAY"),
    ],
)
def test_grains(duration: str | None, text: str) -> None:
    assert time_grains()[duration] == text


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("DATE", "DATE'2024-02-01'"),
        ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ'2024-02-01 13:05:07.000250'"),
        ("timestamp", "TIMESTAMP'2024-02-01 13:05:07.000250+00:00'"),
        ("STRING", None),
    ],
)
def test_literals(kind: str, text: str | None) -> None:
    assert literal(kind, MOMENT) == text


def test_a_moment_with_a_zone_keeps_it() -> None:
    assert literal("TIMESTAMP", MOMENT.replace(tzinfo=UTC)) == literal("TIMESTAMP", MOMENT)


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (
            "[TABLE_OR_VIEW_NOT_FOUND] The table or view `db`.`t` cannot be found. Verify the spelling and correctness of the schema.",
            "TABLE_DOES_NOT_EXIST_ERROR",
            "The table `db`.`t` does not exist. A valid table must be used to run this query.",
        ),
        (
            "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `prise` cannot be resolved. "
            "Did you mean one of the following? [`price`, `id`]. SQLSTATE: 42703; line 1 pos 7;",
            "COLUMN_DOES_NOT_EXIST_ERROR",
            "The column `prise` does not exist. Similar columns: `price`, `id`.",
        ),
        (
            "[UNRESOLVED_COLUMN.WITHOUT_SUGGESTION] A column, variable, or function parameter with name `prise` cannot be resolved. ",
            "COLUMN_DOES_NOT_EXIST_ERROR",
            "The column `prise` does not exist.",
        ),
        (
            "[SCHEMA_NOT_FOUND] The schema `spark_catalog`.`db` cannot be found. Verify the spelling and correctness of the schema.",
            "SCHEMA_DOES_NOT_EXIST_ERROR",
            "The schema `spark_catalog`.`db` does not exist. A valid schema must be used to run this query.",
        ),
        (
            "[PARSE_SYNTAX_ERROR] Syntax error at or near 'orders': extra input 'orders'. SQLSTATE: 42601 (line 3, pos 14)",
            "SYNTAX_ERROR",
            "Syntax error at or near 'orders': extra input 'orders', line 3.",
        ),
        (
            "The warehouse /w is in use by another process (process id 7); an embedded warehouse serves one process at a time.",
            "CONNECTION_DATABASE_PERMISSIONS_ERROR",
            "",
        ),
    ],
)
def test_messages(error: str, kind: str, message: str) -> None:
    explained, match = next((each, found) for each in EXPLAINED if (found := each.pattern.search(error)))
    assert explained.kind == kind
    assert (explained.message % match.groupdict() if explained.message else "") == message


class FakeCursor(Cursor):
    """Counts cancellations."""

    def __init__(self) -> None:
        self.cancelled = 0

    def cancel(self) -> None:
        self.cancelled += 1


def test_a_cursor_is_cancelled_while_it_lives() -> None:
    cursor = FakeCursor()
    key = running.remember(cursor)
    assert running.cancel(key)
    assert cursor.cancelled == 1
    del cursor
    gc.collect()
    assert not running.cancel(key)
    assert not running.cancel("of another process")
