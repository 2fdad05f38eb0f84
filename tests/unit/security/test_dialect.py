"""The dialect: hostile names, values, comments, defaults and paths stay one name or one text each, in queries, definitions, reflection."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import sqlalchemy as sa
import sqlglot
from sqlalchemy import exc
from sqlalchemy.schema import AddConstraint, CreateIndex, CreateTable, DropConstraint, SetColumnComment
from sqlalchemy.sql.compiler import DDLCompiler
from sqlglot import TokenType

import imp_driver
from imp_driver.parse.dialect import SparkText
from imp_driver.values.quoting import has_variable, quoted_name, quoted_text
from imp_sqlalchemy import STRUCT, ImpDialect
from imp_sqlalchemy.description import describe
from imp_sqlalchemy.json_paths import path_of
from imp_sqlalchemy.quoting import quoted
from imp_sqlalchemy.type_reader import read_type
from imp_sqlalchemy.types import UnreadType
from tests.hostile import spark_text, strings
from tests.seeds import WIDE

DIALECT = ImpDialect()
TEXTS = tuple(strings(10_000 if WIDE else 2_500))
NAMES = [text for text in TEXTS if text and not has_variable(text)]
FEW = [name for name in NAMES if len(name) < 200][:700]


def found(statement: Any, kind: TokenType) -> list[str]:
    options = {"literal_binds": True} if not isinstance(statement, sa.schema.ExecutableDDLElement) else {}
    text = str(statement.compile(dialect=DIALECT, compile_kwargs=options))
    return [token.text for token in sqlglot.tokenize(text, read=SparkText) if token.token_type is kind]


def test_the_dialect_writes_text_and_names_as_the_driver_does() -> None:
    for text in TEXTS:
        assert quoted(text) == quoted_text(text)
    for name in NAMES:
        assert DIALECT.identifier_preparer.quote_identifier(name) == quoted_name(name)


def test_a_literal_is_one_text() -> None:
    kind: Any = sa.String().dialect_impl(DIALECT)
    written = kind.literal_processor(DIALECT)
    assert [text for text in TEXTS if spark_text(written(text)) != text] == []


def test_a_name_that_begins_a_variable_is_an_error() -> None:
    for name in ("${x}", "a${env:HOME}"):
        with pytest.raises(exc.CompileError, match="variable"):
            sa.select(sa.column(name)).compile(dialect=DIALECT)


def test_a_query_keeps_its_shape() -> None:
    plain: Any = sa.select(sa.column("c").label("l")).select_from(sa.table("t", schema="s")).where(sa.column("c") == "v")
    count = len(found(plain, TokenType.STRING))
    for name in FEW:
        statement: Any = sa.select(sa.column(name).label(name)).select_from(sa.table(name, schema=name)).where(sa.column(name) == name)
        names = found(statement, TokenType.IDENTIFIER)
        assert found(statement, TokenType.STRING) == [name] * count
        # Plain names are written bare.
        assert set(names) == {name} or re.fullmatch(r"[a-z_][a-z0-9_]*", name)


def test_definitions_keep_their_shape() -> None:
    for name in FEW:
        column = sa.Column(name, sa.String, server_default=name, comment=name)
        table = sa.Table(
            name, sa.MetaData(), column, sa.Column("s", STRUCT({name: sa.Integer})), sa.CheckConstraint("1 = 1", name=f"c {name}"),
            comment=name, imp_properties={name: name}, imp_location=name, imp_partitioned_by=[name],
        )  # fmt: skip
        texts = found(CreateTable(table), TokenType.STRING)
        assert texts.count(name) == 6
        assert set(texts) - {name} <= {"delta.columnMapping.mode", "name", "delta.feature.allowColumnDefaults", "supported"} | {
            f"delta.constraints.c {name}",
            "1 = 1",
        }
        assert found(SetColumnComment(column), TokenType.STRING) == [name]
        kept, key = found(CreateIndex(sa.Index(f"i {name}", column)), TokenType.STRING)
        assert kept.endswith(f"i {name}")
        assert json.loads(key)["columns"] == [name]


@pytest.mark.parametrize("name", ["`a`", "``", "a`", "`; DROP TABLE t; --"])
def test_the_name_of_a_constraint_is_kept_whole(name: str) -> None:
    table = sa.Table("t", sa.MetaData(), sa.Column("a", sa.Integer), sa.UniqueConstraint("a", name=name))
    [constraint] = [each for each in table.constraints if isinstance(each, sa.UniqueConstraint)]
    for statement in (AddConstraint(constraint), DropConstraint(constraint)):
        assert any(text.endswith(name) for text in found(statement, TokenType.STRING))


@pytest.mark.parametrize("using", ["DELTA AS SELECT * FROM secret", "delta\nLOCATION '/x'", "", "a`b", "${x}"])
def test_the_format_of_a_table_is_a_word(using: str) -> None:
    table = sa.Table("t", sa.MetaData(), sa.Column("a", sa.Integer), imp_using=using)
    with pytest.raises(exc.CompileError, match="imp_using"):
        CreateTable(table).compile(dialect=DIALECT)


def test_a_type_that_was_not_understood_is_written_only_where_it_is_one() -> None:
    compiler: DDLCompiler = DIALECT.type_compiler_instance  # type: ignore[assignment]
    assert compiler.process(UnreadType("geometry(4326)")) == "geometry(4326)"
    for text in ("INT, evil STRING", "INT) USING csv --", "x'y", "${x}"):
        with pytest.raises(exc.CompileError):
            compiler.process(UnreadType(text))


def test_names_of_fields_are_read_whole() -> None:
    kind = read_type("struct<```a```:int,b:string>")
    assert isinstance(kind, STRUCT)
    assert [name for name, _ in kind.fields] == ["`a`", "b"]


def test_a_path_into_json_is_one_step() -> None:
    for text in NAMES:
        try:
            path = path_of([text])
        except exc.ArgumentError:
            continue
        if path.startswith("$["):
            quote = path[2]
            assert path == f"$[{quote}{text}{quote}]"
            assert quote not in text
        else:
            assert path == f"$.{text}"
            assert not set(".[") & set(text)


class _Definitions:
    """A connection of SQLAlchemy that knows no table and reports what it is asked."""

    dialect = DIALECT

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.connection = self.dbapi_connection = self

    def definition(self, table: str, schema: str | None) -> None:
        return None

    def exec_driver_sql(self, text: str, **options: Any) -> Any:
        self.asked.append(text)
        error = imp_driver.ProgrammingError("no such table", error_class="TABLE_OR_VIEW_NOT_FOUND")
        raise exc.DBAPIError.instance(text, None, error, imp_driver.Error)


def test_reflection_asks_for_the_name_as_it_is() -> None:
    for name in TEXTS[:3_000]:
        connection: Any = _Definitions()
        with pytest.raises(exc.NoSuchTableError):
            describe(connection, name, name)
        expected = [] if has_variable(name) or not name else [f"DESCRIBE TABLE {quoted_name(name)}.{quoted_name(name)}"]
        assert connection.asked == expected
