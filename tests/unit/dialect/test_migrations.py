"""Alembic's operations as the statements that Delta takes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

from imp_driver.ports import TableDefinition
from imp_sqlalchemy import ImpDialect, migrations
from imp_sqlalchemy.type_changes import Change, change_between
from tests.unit.dbapi.fakes import numbers
from tests.unit.dialect.fakes import FakeDriver, FakePipeline

COLUMNS = {"id": "integer", "name": "string", "Checked": "integer"}
MAPPED = {"delta.columnMapping.mode": "name"}
CHECKED = {"delta.constraints.imp_not_null_checked": "Checked IS NOT NULL"}


class Pipeline(FakePipeline):
    """Of a warehouse with one table ``t``."""

    properties: Mapping[str, str]

    def definition(self, name: tuple[str, ...]) -> TableDefinition:
        fields = [{"name": each, "type": kind, "nullable": each != "id", "metadata": {}} for each, kind in COLUMNS.items()]
        return TableDefinition(json.dumps({"type": "struct", "fields": fields}), (), self.properties, None, None)


class Driver(FakeDriver):
    """Opens one connection to it."""

    def __init__(self, properties: Mapping[str, str], rows: int) -> None:
        super().__init__()
        self.pipeline = Pipeline()
        self.pipeline.properties = properties
        self.pipeline.stream = numbers(rows, [])
        self.pipelines = [self.pipeline]

    def connect(self, **options: Any) -> Any:
        from imp_driver import Connection

        return Connection(self.pipeline)


MADE: list[str] = []
"""The statements of the newest migration, also where it failed."""


def online(migrate: Callable[[Operations], None], properties: Mapping[str, str] = {}, rows: int = 5) -> list[str]:
    """Return the statements of a migration that change something."""
    assert migrations.ImpImpl.__dialect__ == "imp"
    driver = Driver(properties, rows)
    engine = sa.create_engine("imp:///house", module=driver, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            migrate(Operations(MigrationContext.configure(connection)))
    finally:
        engine.dispose()
        MADE[:] = [text for text in driver.pipeline.asked if not text.startswith(("VALUES", "SELECT"))]
    return list(MADE)


def offline(migrate: Callable[[Operations], None]) -> list[str]:
    """Return the statements of a migration that is only written (``--sql``)."""
    text = io.StringIO()
    migrate(Operations(MigrationContext.configure(dialect=ImpDialect(), opts={"as_sql": True, "output_buffer": text})))
    return [" ".join(each.split()) for each in text.getvalue().split(";\n") if each.strip()]


DEFAULTS = "ALTER TABLE t SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"
NAMES = "ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
WIDENING = "ALTER TABLE t SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"


def test_a_column_with_a_default() -> None:
    column = sa.Column("b", sa.Integer, server_default="3", comment="it's")
    steps = ["ALTER TABLE t ADD COLUMN b INT COMMENT 'it\\'s'", DEFAULTS, "ALTER TABLE t ALTER COLUMN b SET DEFAULT '3'"]
    assert online(lambda op: op.add_column("t", column)) == steps
    assert offline(lambda op: op.add_column("t", column)) == steps
    known = {"delta.feature.allowColumnDefaults": "supported"}
    assert online(lambda op: op.add_column("t", column), known) == [steps[0], steps[2]]


def test_a_column_that_is_not_null() -> None:
    column = sa.Column("order", sa.Integer, nullable=False, server_default=sa.text("1 + 2"))
    steps = [
        "ALTER TABLE s.t ADD COLUMN `order` INT",
        DEFAULTS.replace(" t ", " s.t "),
        "ALTER TABLE s.t ALTER COLUMN `order` SET DEFAULT 1 + 2",
        "UPDATE s.t SET `order` = DEFAULT WHERE `order` IS NULL",
        "ALTER TABLE s.t ADD CONSTRAINT imp_not_null_order CHECK (`order` IS NOT NULL)",
    ]
    assert online(lambda op: op.add_column("t", column, schema="s")) == steps
    bare = sa.Column("b", sa.Integer, nullable=False)
    check = ["ALTER TABLE t ADD COLUMN b INT", "ALTER TABLE t ADD CONSTRAINT imp_not_null_b CHECK (b IS NOT NULL)"]
    assert online(lambda op: op.add_column("t", bare), rows=0) == check
    assert offline(lambda op: op.add_column("t", bare)) == check


def test_a_column_with_constraints() -> None:
    column = sa.Column("b", sa.Integer, sa.CheckConstraint("b > 0", name="positive"), sa.ForeignKey("u.id", name="to_u"))
    added, check, key = offline(lambda op: op.add_column("t", column))
    assert (added, check) == ("ALTER TABLE t ADD COLUMN b INT", "ALTER TABLE t ADD CONSTRAINT positive CHECK (b > 0)")
    assert "'imp.foreign_key.to_u'" in key


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (sa.Column("b", sa.Integer, nullable=False), "has rows, which would have NULL in the new column b"),
        (sa.Column("b", sa.Integer, sa.Computed("id + 1")), "cannot add b"),
        (sa.Column("b", sa.Integer, sa.Identity()), "cannot add b"),
        (sa.Column("b", sa.Integer, sa.CheckConstraint("b > 0")), "needs a name"),
    ],
)
def test_columns_that_delta_does_not_add_are_refused_before_the_first_step(column: Any, message: str) -> None:
    with pytest.raises(sa.exc.CompileError, match=message):
        online(lambda op: op.add_column("t", column))
    assert MADE == []


def test_a_column_if_there_is_none() -> None:
    assert online(lambda op: op.add_column("t", sa.Column("NAME", sa.Text), if_not_exists=True)) == []
    assert online(lambda op: op.add_column("t", sa.Column("b", sa.Text), if_not_exists=True)) == ["ALTER TABLE t ADD COLUMN b STRING"]
    with pytest.raises(sa.exc.CompileError, match="IF NOT EXISTS"):
        offline(lambda op: op.add_column("t", sa.Column("b", sa.Text), if_not_exists=True))


def test_defaults() -> None:
    assert online(lambda op: op.alter_column("t", "name", server_default=sa.text("'x'"))) == [
        DEFAULTS,
        "ALTER TABLE t ALTER COLUMN name SET DEFAULT 'x'",
    ]
    assert online(lambda op: op.alter_column("t", "name", server_default=None)) == ["ALTER TABLE t ALTER COLUMN name DROP DEFAULT"]


def test_null_or_not() -> None:
    check = "ALTER TABLE t ADD CONSTRAINT imp_not_null_name CHECK (name IS NOT NULL)"
    assert online(lambda op: op.alter_column("t", "name", nullable=False)) == [check]
    assert offline(lambda op: op.alter_column("t", "name", nullable=False)) == [check]
    assert online(lambda op: op.alter_column("t", "id", nullable=False)) == []
    assert online(lambda op: op.alter_column("t", "id", nullable=True)) == ["ALTER TABLE t ALTER COLUMN id DROP NOT NULL"]
    assert online(lambda op: op.alter_column("t", "Checked", nullable=False), CHECKED) == []
    assert online(lambda op: op.alter_column("t", "Checked", nullable=True), CHECKED) == [
        "ALTER TABLE t DROP CONSTRAINT imp_not_null_checked",
        "ALTER TABLE t ALTER COLUMN `Checked` DROP NOT NULL",
    ]


def test_names_and_drops() -> None:
    rename = "ALTER TABLE t RENAME COLUMN name TO title"
    assert online(lambda op: op.alter_column("t", "name", new_column_name="title")) == [NAMES, rename]
    assert online(lambda op: op.alter_column("t", "name", new_column_name="title"), MAPPED) == [rename]
    assert offline(lambda op: op.drop_column("t", "name")) == [NAMES, "ALTER TABLE t DROP COLUMN name"]
    assert online(lambda op: op.drop_column("t", "name", if_exists=True), MAPPED) == ["ALTER TABLE t DROP COLUMN IF EXISTS name"]
    # Delta changes no column that a CHECK names.
    assert online(lambda op: op.drop_column("t", "Checked"), MAPPED | CHECKED) == [
        "ALTER TABLE t DROP CONSTRAINT imp_not_null_checked",
        "ALTER TABLE t DROP COLUMN `Checked`",
    ]
    assert online(lambda op: op.alter_column("t", "Checked", new_column_name="c"), MAPPED | CHECKED) == [
        "ALTER TABLE t DROP CONSTRAINT imp_not_null_checked",
        "ALTER TABLE t RENAME COLUMN `Checked` TO c",
        "ALTER TABLE t ADD CONSTRAINT imp_not_null_c CHECK (c IS NOT NULL)",
    ]


def test_types() -> None:
    wide = "ALTER TABLE t ALTER COLUMN id TYPE BIGINT"
    assert online(lambda op: op.alter_column("t", "id", type_=sa.BigInteger())) == [WIDENING, wide]
    assert online(lambda op: op.alter_column("t", "id", type_=sa.BigInteger), {"delta.enableTypeWidening": "true"}) == [wide]
    assert offline(lambda op: op.alter_column("t", "id", type_=sa.BigInteger(), existing_type=sa.Integer())) == [WIDENING, wide]
    assert offline(lambda op: op.alter_column("t", "id", type_=sa.BigInteger())) == [wide]


@pytest.mark.parametrize("is_online", [True, False])
def test_types_that_delta_refuses_are_refused_before_the_first_step(is_online: bool) -> None:
    run = online if is_online else offline
    MADE.clear()
    with pytest.raises(sa.exc.CompileError, match=r"t\.name from STRING to INT.*Add a column"):
        run(lambda op: op.alter_column("t", "name", type_=sa.Integer(), existing_type=sa.Text(), nullable=False))
    assert MADE == []


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("INT", "INT", Change.NONE),
        ("INT", "BIGINT", Change.WIDER),
        ("TINYINT", "INT", Change.WIDER),
        ("BIGINT", "INT", Change.REFUSED),
        ("FLOAT", "DOUBLE", Change.WIDER),
        ("INT", "DOUBLE", Change.WIDER),
        ("BIGINT", "DOUBLE", Change.REFUSED),
        ("DOUBLE", "FLOAT", Change.REFUSED),
        ("DECIMAL(9, 2)", "DECIMAL(12, 2)", Change.WIDER),
        ("DECIMAL(9, 2)", "DECIMAL(11, 4)", Change.WIDER),
        ("DECIMAL(9, 2)", "DECIMAL(10, 4)", Change.REFUSED),
        ("DECIMAL(9, 2)", "DECIMAL(9, 1)", Change.REFUSED),
        ("INT", "DECIMAL(12, 2)", Change.WIDER),
        ("INT", "DECIMAL(11, 2)", Change.REFUSED),
        ("BIGINT", "DECIMAL(20)", Change.WIDER),
        ("VARCHAR(5)", "VARCHAR(9)", Change.LONGER),
        ("VARCHAR(5)", "STRING", Change.LONGER),
        ("VARCHAR(5)", "VARCHAR(4)", Change.REFUSED),
        ("VARCHAR(5)", "INT", Change.REFUSED),
        ("STRING", "VARCHAR(5)", Change.REFUSED),
        ("DATE", "TIMESTAMP_NTZ", Change.WITH_TIME),
        ("DATE", "TIMESTAMP", Change.REFUSED),
        ("ARRAY<INT>", "ARRAY<BIGINT>", Change.UNKNOWN),
    ],
)
def test_which_types_delta_gives_a_column_that_is_there(old: str, new: str, change: Change) -> None:
    assert change_between(old, new) is change


def test_a_check_for_null_is_reflected_as_not_null() -> None:
    engine = sa.create_engine("imp:///house", module=Driver(CHECKED | {"delta.constraints.other": "id > 0"}, 0))
    inspector = sa.inspect(engine)
    assert {each["name"]: each["nullable"] for each in inspector.get_columns("t")} == {"id": False, "name": True, "Checked": False}
    assert [each["name"] for each in inspector.get_check_constraints("t")] == ["other"]
    engine.dispose()
