"""Expressions over one row with the value and the type that Spark 4.2 gave, and expressions that are Spark's to compute."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import sqlglot

from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.parse.statement import DIALECT
from imp_driver.plan.convert import row_expression
from imp_driver.plan.types import infer

COLUMNS = {
    "y": pa.int8(),
    "a": pa.int32(),
    "b": pa.int64(),
    "m": pa.decimal128(12, 2),
    "q": pa.decimal128(38, 4),
    "f": pa.float64(),
    "s": pa.string(),
    "d": pa.date32(),
    "n": pa.timestamp("us"),
}
ROW = (
    -128,
    -7,
    5,
    Decimal("12.35"),
    Decimal("1234.5678"),
    2.5,
    " abc ",
    datetime.date(2024, 2, 29),
    datetime.datetime(1969, 12, 31, 23, 59, 58),
)


def value(text: str, row: tuple[Any, ...] = ROW) -> tuple[Any, pa.DataType]:
    rows = pa.table([pa.array([each], kind) for each, kind in zip(row, COLUMNS.values(), strict=True)], names=list(COLUMNS))
    node = sqlglot.parse_one(text, read=DIALECT)
    found = computed(rows, row_expression(node, COLUMNS))
    assert infer(node, COLUMNS) == found.type
    return found[0].as_py(), found.type


VALUES: tuple[tuple[str, Any, pa.DataType], ...] = (
    ("100.00 * q / q", Decimal("100.000000"), pa.decimal128(38, 6)),
    ("m / 7.0", Decimal("1.764286"), pa.decimal128(17, 6)),
    ("m / 3", Decimal("4.116667"), pa.decimal128(16, 6)),
    ("0.2 * m", Decimal("2.470"), pa.decimal128(14, 3)),
    ("1 - m", Decimal("-11.35"), pa.decimal128(13, 2)),
    ("m * a", Decimal("-86.45"), pa.decimal128(23, 2)),
    ("m / f", 12.35 / 2.5, pa.float64()),
    ("m % 0.7", Decimal("0.45"), pa.decimal128(2, 2)),
    ("a % 4", -3, pa.int32()),
    ("pmod(a, 4)", 1, pa.int32()),
    ("a div 2", -3, pa.int64()),
    ("round(m, 1)", Decimal("12.4"), pa.decimal128(12, 1)),
    ("bround(m, 1)", Decimal("12.4"), pa.decimal128(12, 1)),
    ("round(a, -1)", -10, pa.int32()),
    ("round(f)", 3.0, pa.float64()),
    ("bround(f)", 2.0, pa.float64()),
    ("floor(m)", Decimal("12"), pa.decimal128(11, 0)),
    ("ceil(f)", 3, pa.int64()),
    ("-m", Decimal("-12.35"), pa.decimal128(12, 2)),
    ("abs(a)", 7, pa.int32()),
    ("sign(a)", -1.0, pa.float64()),
    ("greatest(a, b)", 5, pa.int64()),
    ("least(m, a)", Decimal("-7.00"), pa.decimal128(12, 2)),
    ("upper(s)", " ABC ", pa.string()),
    ("trim(s) || '!'", "abc!", pa.string()),
    ("substring(s, -9, 6)", " a", pa.string()),
    ("left(s, 2)", " a", pa.string()),
    ("right(s, 2)", "c ", pa.string()),
    ("lpad(s, 7, '*')", "** abc ", pa.string()),
    ("length(s)", 5, pa.int32()),
    ("replace(s, ' ')", "abc", pa.string()),
    ("contains(s, 'bc')", True, pa.bool_()),
    ("d + INTERVAL '1' YEAR", datetime.date(2025, 2, 28), pa.date32()),
    ("d - INTERVAL '90' DAY", datetime.date(2023, 12, 1), pa.date32()),
    ("n + INTERVAL '1' DAY", datetime.datetime(1970, 1, 1, 23, 59, 58), pa.timestamp("us")),
    ("n - INTERVAL 26 HOURS", datetime.datetime(1969, 12, 30, 21, 59, 58), pa.timestamp("us")),
    ("INTERVAL 2 WEEKS + n", datetime.datetime(1970, 1, 14, 23, 59, 58), pa.timestamp("us")),
    ("date_sub(d, 1)", datetime.date(2024, 2, 28), pa.date32()),
    ("add_months(d, -12)", datetime.date(2023, 2, 28), pa.date32()),
    ("last_day(d)", datetime.date(2024, 2, 29), pa.date32()),
    ("trunc(d, 'WEEK')", datetime.date(2024, 2, 26), pa.date32()),
    ("trunc(d, 'quarter')", datetime.date(2024, 1, 1), pa.date32()),
    ("datediff(d, DATE'2023-12-31')", 60, pa.int32()),
    ("dayofweek(d)", 5, pa.int32()),
    ("weekday(d)", 3, pa.int32()),
    ("EXTRACT(WEEK FROM d)", 9, pa.int32()),
    ("quarter(n)", 4, pa.int32()),
    ("hour(n) * 100 + second(n)", 2358, pa.int32()),
    ("CAST(n AS DATE)", datetime.date(1969, 12, 31), pa.date32()),
    ("CAST(d AS TIMESTAMP_NTZ)", datetime.datetime(2024, 2, 29), pa.timestamp("us")),
    ("date_trunc('MON', n)", datetime.datetime(1969, 12, 1), pa.timestamp("us")),
    ("date_trunc('week', n)", datetime.datetime(1969, 12, 29), pa.timestamp("us")),
    ("date_trunc('DD', n)", datetime.datetime(1969, 12, 31), pa.timestamp("us")),
    ("date_trunc('hour', n)", datetime.datetime(1969, 12, 31, 23), pa.timestamp("us")),
    ("date_trunc('MINUTE', n)", datetime.datetime(1969, 12, 31, 23, 59), pa.timestamp("us")),
    ("date_format(n, 'yyyy-MM-dd HH:mm:ss')", "1969-12-31 23:59:58", pa.string()),
    ("date_format(n, 'E, dd MMM yyyy')", "Wed, 31 Dec 1969", pa.string()),
    ("date_format(n, 'EEEE_MMMM.dd/')", "Wednesday_December.31/", pa.string()),
    ("CAST(m AS INT)", 12, pa.int32()),
    ("CAST(m AS DECIMAL(5, 1))", Decimal("12.4"), pa.decimal128(5, 1)),
    ("CAST(m AS STRING)", "12.35", pa.string()),
    ("CAST(d AS STRING)", "2024-02-29", pa.string()),
    ("CAST(NULL AS INT)", None, pa.int32()),
    ("CASE WHEN b = 5 THEN 0 ELSE a / (b - 5) END", 0.0, pa.float64()),
    ("q = m", False, pa.bool_()),
    ("(0 - m) % 0.7", Decimal("-0.45"), pa.decimal128(2, 2)),
    ("bround(m - 0.1, 1)", Decimal("12.2"), pa.decimal128(13, 1)),
    ("CAST(0 - m AS INT)", -12, pa.int32()),
    ("greatest(CAST(NULL AS INT), a)", -7, pa.int32()),
    ("substring(s, 2, 2)", "ab", pa.string()),
    ("regexp_extract(s, '(a)(x?)b', 2)", "", pa.string()),
    ("regexp_extract(s, 'b(?=c)(c?)', 0)", "bc", pa.string()),
    ("regexp_extract(s, 'z', 0)", "", pa.string()),
    ("try_cast(CAST(a AS STRING) || '.55' AS DECIMAL(8, 1))", Decimal("-7.6"), pa.decimal128(8, 1)),
    ("try_cast(CAST(a AS STRING) || '99.55' AS DECIMAL(3, 1))", None, pa.decimal128(3, 1)),
    ("try_cast(left(s, 0) AS DOUBLE)", None, pa.float64()),
    ("try_cast(left(s, 0) || '-Infinity' AS DOUBLE)", -math.inf, pa.float64()),
    ("try_cast(left(s, 0) || '0.1' AS FLOAT)", 0.10000000149011612, pa.float32()),
    ("try_cast(left(s, 0) || '2023-02-29' AS DATE)", None, pa.date32()),
    ("try_cast(CAST(d AS STRING) || 'T01:02:03.5' AS TIMESTAMP_NTZ)", datetime.datetime(2024, 2, 29, 1, 2, 3, 500000), pa.timestamp("us")),
    ("try_cast(CAST(a AS STRING) || '00000000000000000000' AS BIGINT)", None, pa.int64()),
    ("isnan(f)", False, pa.bool_()),
)
LEFT_TO_SPARK: tuple[str, ...] = (
    "regexp_extract(s, 'a.c', 0)",
    "regexp_extract(s, '(a|b)+', 0)",
    "regexp_extract(s, '[a[b]]', 0)",
    "regexp_extract(s, '(a)', 2)",
    "try_cast(s AS DOUBLE)",
    "try_cast(CAST(a AS STRING) || 'd' AS DOUBLE)",
    "try_cast(left(s, 0) || '1.000000059604644775390625' AS FLOAT)",
    "try_cast(left(s, 0) || '2024-2-9' AS DATE)",
    "try_cast(left(s, 0) || 'yes' AS BOOLEAN)",
    "m / 0",
    "a % 0",
    "pmod(b, 0)",
    "a div (b - 5)",
    "-y",
    "abs(y)",
    "y - 1Y",
    "m * 1L",
    "NULL / m",
    "q * 10000000000000000000000000000000",
    "upper('ä' || s)",
    "round(2.675D, 2)",
    "CAST(a * 2 AS DECIMAL(1, 0))",
    "CAST(b * 100 AS TINYINT)",
    "CAST(f AS DECIMAL(10, 2))",
    "CAST(f AS STRING)",
    "CAST(s AS INT)",
    "CAST(a AS TIMESTAMP_NTZ)",
    "concat(s, a)",
    "d + INTERVAL '8000' YEAR",
    "d + INTERVAL '1' HOUR",
    "d + INTERVAL '1' WEEK",
    "n + INTERVAL '1' MONTH",
    "n + INTERVAL 500000 WEEKS",
    "n - INTERVAL '1 2' DAY TO HOUR",
    "d - d",
    "d + b",
    "trunc(d, 'day')",
    "EXTRACT(SECOND FROM n)",
    "date_trunc('month', d)",
    "date_trunc('decade', n)",
    "date_format(d, 'yyyy')",
    "date_format(n, 'yy')",
    "date_format(n, 'yyyyy')",
    "date_format(n, 'hh:mm a')",
    "date_format(n, s)",
    "date_format(n - INTERVAL '400' YEAR, 'yyyy')",
    "substring(s, a, 1)",
    "year(CAST(d AS TIMESTAMP))",
    "a IN (1, 2.5D)",
    "s LIKE 'a/%' ESCAPE '/'",
    "CAST('1.5' AS DECIMAL(2, 1)) / m",
    "ceil(f * 1e30D)",
)


def differences() -> list[str]:
    """Return what is not as it should be, for wrong versions of the evaluator."""
    found = []
    for text, expected, kind in VALUES:
        try:
            got: object = value(text)
        except Exception as error:
            got = error
        if got != (expected, kind):
            found.append(f"{text}: {got}")
    for text in LEFT_TO_SPARK:
        try:
            found.append(f"{text}: {value(text)}")
        except NotEvaluable:
            continue
        except Exception as error:
            found.append(f"{text}: {error}")
    return found
