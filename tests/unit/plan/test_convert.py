"""Constants are read where Spark gives them the value that they are written with, and are Spark's to compute elsewhere."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
import sqlglot

from imp_driver.parse.dialect import SparkText
from imp_driver.plan.convert import constant
from imp_driver.values.expressions import Value

_MOMENT = datetime.datetime(2024, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("CAST(12 AS TINYINT)", 12),
        ("12S", 12),
        ("-128Y", -128),
        ("-2147483648", -2147483648),
        ("-9223372036854775808L", -(2**63)),
        ("CAST('2.46' AS DECIMAL(3, 2))", Decimal("2.46")),
        ("CAST('12' AS DECIMAL)", Decimal(12)),
        ("CAST('12' AS DECIMAL(2))", Decimal(12)),
        ("CAST('1.5' AS DOUBLE)", 1.5),
        ("1.5D", 1.5),
        ("-1.5D", -1.5),
        ("CAST('-Infinity' AS DOUBLE)", float("-inf")),
        ("DATE '2024-02-29'", datetime.date(2024, 2, 29)),
        ("TIMESTAMP_NTZ '2024-01-02 03:04:05'", _MOMENT),
        ("TIMESTAMP '2024-01-02 03:04:05Z'", _MOMENT.replace(tzinfo=datetime.UTC)),
    ],
)
def test_constants_with_the_value_that_is_written(text: str, value: Value) -> None:
    found = constant(sqlglot.parse_one(text, read=SparkText))
    assert found is not None
    assert (type(found.value), found.value) == (type(value), value)


@pytest.mark.parametrize(
    "text",
    [
        "CAST('2.46' AS DECIMAL(3, 1))",
        "CAST('12.6' AS DECIMAL(2, 0))",
        "CAST('6.96' AS DECIMAL)",
        "CAST('123' AS DECIMAL(2, 0))",
        "CAST('1_0' AS DECIMAL(5, 0))",
        "CAST('1_0' AS DOUBLE)",
        "CAST(' 1' AS DOUBLE)",
        "CAST('\u0661' AS DOUBLE)",
        "CAST('nan' AS DOUBLE)",
        "CAST(3000000000 AS INT)",
        "CAST(259 AS TINYINT)",
        "CAST(65546 AS SMALLINT)",
        "try_cast(300 AS TINYINT)",
        "CAST(TRUE AS INT)",
        "CAST(1.5 AS INT)",
        "CAST('12' AS INT)",
        "CAST('20240229' AS DATE)",
        "CAST('2024-W45-2' AS DATE)",
        "CAST('2024-02-30' AS DATE)",
        "TIMESTAMP '2024-01-02 03:04:05'",
        "TIMESTAMP '20240102T030405Z'",
        "TIMESTAMP_NTZ '2024-01-02 03:04:05Z'",
    ],
)
def test_other_constants_are_sparks_to_compute(text: str) -> None:
    assert constant(sqlglot.parse_one(text, read=SparkText)) is None
