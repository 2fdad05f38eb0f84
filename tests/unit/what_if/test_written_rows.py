"""INSERTs of literals, read without Spark: their rows where these have one meaning, nothing else."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from imp_driver.parse.what_if import read_what_if
from imp_driver.values.tables import SchemaColumn
from imp_driver.what_if.written_rows import written_rows

_SCHEMA = tuple(
    SchemaColumn(name, kind, nullable=True)
    for name, kind in {"i": "integer", "l": "long", "d": "double", "m": "decimal(6,2)", "s": "string", "t": "date", "b": "boolean"}.items()
)


def test_rows_are_typed_as_the_table_is() -> None:
    found = written_rows("INSERT INTO t VALUES (1, -2, 0.1, 12.5, 'it', DATE '2020-02-29', TRUE),\n(NULL,+3, -0.0 , 1.00,'',null, false)")
    assert found is not None
    rows = found.table([each.name for each in _SCHEMA], _SCHEMA)
    assert rows is not None
    assert [list(row.values()) for row in rows.to_pylist()] == [
        [1, -2, 0.1, Decimal("12.50"), "it", date(2020, 2, 29), True],
        [None, 3, 0.0, Decimal("1.00"), "", None, False],
    ]
    # A decimal has no zero below 0.
    assert str(rows.column("d")[1].as_py()) == "0.0"
    assert found.text.startswith("VALUES (1")


def test_columns_in_another_order_and_none() -> None:
    found = written_rows("INSERT INTO `ab`.t (S, i) VALUES ('x', 1)")
    assert found is not None
    rows = found.table(["S", "i"], _SCHEMA)
    assert rows is not None
    assert rows.to_pylist() == [{"i": 1, "l": None, "d": None, "m": None, "s": "x", "t": None, "b": None}]


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM t",
        "INSERT OVERWRITE t VALUES (1)",
        "INSERT INTO t VALUES ()",
        "INSERT INTO t VALUES (1",
        "INSERT INTO t VALUES (1),",
        "INSERT INTO t VALUES (1) AS x",
        "INSERT INTO t VALUES (1), (2, 3)",
        "INSERT INTO t VALUES (1), ('1')",
        "INSERT INTO t VALUES (1), (1.5)",
        "INSERT INTO t VALUES (1 + 1)",
        "INSERT INTO t VALUES (1L)",
        "INSERT INTO t VALUES (1e3)",
        "INSERT INTO t VALUES ('a' 'b')",
        "INSERT INTO t VALUES ('it''s')",
        "INSERT INTO t VALUES ('a\\nb')",
        "INSERT INTO t VALUES ('${x}')",
        "INSERT INTO t VALUES (r'a')",
        "INSERT INTO t VALUES (DATE '2020-13-01')",
        "INSERT INTO t VALUES (1) -- more",
        "INSERT INTO t VALUES (1234567890123456789)",
        "INSERT INTO t PARTITION (p = 1) VALUES (1)",
    ],
)
def test_anything_else_is_left_to_spark(text: str) -> None:
    assert written_rows(text) is None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("INSERT INTO t VALUES (2147483648)", ["i"]),
        ("INSERT INTO t VALUES ('1')", ["i"]),
        ("INSERT INTO t VALUES (1)", ["s"]),
        ("INSERT INTO t VALUES (1.5)", ["i"]),
        ("INSERT INTO t VALUES (1.555)", ["m"]),
        ("INSERT INTO t VALUES (12345)", ["m"]),
        ("INSERT INTO t VALUES (1)", ["b"]),
        ("INSERT INTO t VALUES (1)", ["nope"]),
        ("INSERT INTO t VALUES (1)", ["i", "l"]),
    ],
)
def test_values_that_a_column_does_not_have_are_left_to_spark(text: str, named: list[str]) -> None:
    found = written_rows(text)
    assert found is not None
    assert found.table(named, _SCHEMA) is None


def test_brackets_of_long_statements_are_found_as_those_of_short_ones() -> None:
    rows = ", ".join(f"({each}, 'x;)''{each}')" for each in range(2000))
    for comment in ("", " -- )\n"):
        found = read_what_if(f"WHAT IF (INSERT INTO t VALUES {rows}{comment}; DELETE FROM `a)`) SELECT ')'")
        assert [each.strip() for each in found.changes] == [f"INSERT INTO t VALUES {rows}", "DELETE FROM `a)`"]
        assert found.query == "SELECT ')'"
