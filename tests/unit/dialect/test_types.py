"""Names of types, both ways."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.types import TypeEngine

from imp_driver.parse.statement import parse
from imp_sqlalchemy import INTERVAL, MAP, STRING, STRUCT, TIMESTAMP_NTZ, TINYINT, VARIANT, ImpDialect, UnreadType
from imp_sqlalchemy.quoting import quoted
from imp_sqlalchemy.type_reader import read_delta_type, read_type

DIALECT = ImpDialect()


def name_of(kind: TypeEngine[Any]) -> str:
    return DIALECT.type_compiler_instance.process(kind)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (sa.Integer(), "INT"),
        (sa.BigInteger(), "BIGINT"),
        (sa.SmallInteger(), "SMALLINT"),
        (sa.String(), "STRING"),
        (sa.String(20), "VARCHAR(20)"),
        (sa.CHAR(3), "CHAR(3)"),
        (sa.Text(), "STRING"),
        (sa.Unicode(7), "VARCHAR(7)"),
        (sa.Enum("a", "bcd"), "STRING"),
        (sa.Uuid(), "STRING"),
        (sa.JSON(), "STRING"),
        (sa.Time(), "STRING"),
        (sa.Numeric(), "DECIMAL(38, 18)"),
        (sa.Numeric(12, 2), "DECIMAL(12, 2)"),
        (sa.Numeric(12), "DECIMAL(12, 0)"),
        (sa.Float(), "DOUBLE"),
        (sa.Float(20), "FLOAT"),
        (sa.Float(53), "DOUBLE"),
        (sa.REAL(), "FLOAT"),
        (sa.Double(), "DOUBLE"),
        (sa.Boolean(), "BOOLEAN"),
        (sa.Date(), "DATE"),
        (sa.DateTime(), "TIMESTAMP_NTZ"),
        (sa.DateTime(timezone=True), "TIMESTAMP"),
        (sa.TIMESTAMP(), "TIMESTAMP_NTZ"),
        (sa.TIMESTAMP(timezone=True), "TIMESTAMP"),
        (sa.LargeBinary(), "BINARY"),
        (sa.ARRAY(sa.String()), "ARRAY<STRING>"),
        (sa.ARRAY(sa.Integer(), dimensions=2), "ARRAY<ARRAY<INT>>"),
        (MAP(sa.String, sa.Integer), "MAP<STRING, INT>"),
        (STRUCT({"city": sa.String(), "odd name": sa.Numeric(4, 1)}), "STRUCT<`city`: STRING, `odd name`: DECIMAL(4, 1)>"),
        (VARIANT(), "VARIANT"),
        (INTERVAL(), "INTERVAL DAY TO SECOND"),
    ],
)
def test_names(kind: TypeEngine[Any], name: str) -> None:
    assert name_of(kind) == name


SIMPLE: st.SearchStrategy[TypeEngine[Any]] = st.sampled_from(
    [
        sa.INTEGER(),
        sa.BIGINT(),
        sa.SMALLINT(),
        TINYINT(),
        sa.BOOLEAN(),
        sa.DATE(),
        sa.TIMESTAMP(timezone=True),
        TIMESTAMP_NTZ(),
        STRING(),
        sa.BINARY(),
        sa.DOUBLE(),
        sa.REAL(),
        VARIANT(),
        sa.DECIMAL(38, 0),
        sa.DECIMAL(10, 2),
        sa.VARCHAR(5),
        sa.CHAR(4),
    ]
)
NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=5)


def nested(inner: st.SearchStrategy[TypeEngine[Any]]) -> st.SearchStrategy[TypeEngine[Any]]:
    return st.one_of(
        inner.filter(lambda kind: not isinstance(kind, sa.ARRAY)).map(lambda kind: sa.ARRAY(kind)),
        SIMPLE.map(lambda kind: sa.ARRAY(kind, dimensions=2)),
        st.builds(MAP, SIMPLE, inner),
        st.builds(STRUCT, st.dictionaries(NAMES, inner, min_size=1, max_size=3)),
    )


KINDS: st.SearchStrategy[TypeEngine[Any]] = st.recursive(SIMPLE, nested, max_leaves=6)


@given(KINDS)
def test_a_name_is_read_as_the_type_that_wrote_it(kind: TypeEngine[Any]) -> None:
    assert name_of(read_type(name_of(kind))) == name_of(kind)


def test_a_type_that_is_not_known_keeps_its_name() -> None:
    kind = read_type("geometry(4326)")
    assert isinstance(kind, UnreadType)
    assert name_of(kind) == "geometry(4326)"


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("it's a \\ path", sa.String(), r"'it\'s a \\ path'"),
        (dt.date(2020, 1, 2), sa.Date(), "DATE'2020-01-02'"),
        (dt.datetime(2020, 1, 2, 3, 4, 5, 6), sa.DateTime(), "TIMESTAMP_NTZ'2020-01-02 03:04:05.000006'"),
        (dt.datetime(2020, 1, 2, tzinfo=dt.UTC), sa.DateTime(timezone=True), "TIMESTAMP'2020-01-02 00:00:00+00:00'"),
        (dt.time(1, 2), sa.Time(), "'01:02:00.000000'"),
        (1.5, sa.Float(), "1.5D"),
        (float("inf"), sa.Float(), "double('inf')"),
        (Decimal("1E+3"), sa.Numeric(), "1000"),
        (b"\x00\xff", sa.LargeBinary(), "X'00ff'"),
        (True, sa.Boolean(), "true"),
        (None, sa.String(), "NULL"),
    ],
)
def test_literals(value: Any, kind: TypeEngine[Any], text: str) -> None:
    compiled = sa.literal(value, kind).compile(dialect=DIALECT, compile_kwargs={"literal_binds": True})
    assert str(compiled) == text


@given(st.text(st.sampled_from("a'\\\\\"`?:%\n é"), max_size=8))
def test_a_quoted_text_is_read_by_the_driver_as_it_was(text: str) -> None:
    statement = parse(f"SELECT {quoted(text)}")
    assert statement.tree is not None
    [found] = statement.tree.expressions
    assert (found.is_string, found.this, statement.markers) == (True, text, ())


@pytest.mark.parametrize(
    ("stored", "metadata", "name"),
    [
        ("integer", {}, "INT"),
        ("byte", {"comment": "small"}, "TINYINT"),
        ("string", {"__CHAR_VARCHAR_TYPE_STRING": "varchar(10)"}, "VARCHAR(10)"),
        ({"type": "array", "elementType": "long", "containsNull": True}, {}, "ARRAY<BIGINT>"),
        (
            {"type": "map", "keyType": "string", "valueType": {"type": "array", "elementType": "date", "containsNull": True}},
            {},
            "MAP<STRING, ARRAY<DATE>>",
        ),
        (
            {"type": "struct", "fields": [{"name": "a b,c", "type": "short", "nullable": True, "metadata": {}}]},
            {},
            "STRUCT<`a b,c`: SMALLINT>",
        ),
        (
            {"type": "array", "elementType": "string", "containsNull": True},
            {"__CHAR_VARCHAR_TYPE_STRING": "array<char(3)>"},
            "ARRAY<CHAR(3)>",
        ),
    ],
)
def test_types_of_a_stored_schema(stored: Any, metadata: dict[str, Any], name: str) -> None:
    assert name_of(read_delta_type(stored, metadata)) == name


def test_a_stored_type_that_is_not_known_keeps_its_name() -> None:
    kind = read_delta_type({"type": "udt", "class": "x"}, {})
    assert isinstance(kind, UnreadType)
    assert kind.text == "udt"
