"""Alembic's operations as the steps that Delta takes: defaults after columns, NOT NULL as a CHECK, properties before what needs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alembic.ddl.base import alter_table, format_server_default, format_table_name
from alembic.ddl.impl import DefaultImpl
from sqlalchemy import BigInteger, CheckConstraint, Column, Integer, MetaData, Table, exc
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import AddConstraint, DefaultClause, ExecutableDDLElement

from imp_sqlalchemy.constraints import is_checked, not_null_name
from imp_sqlalchemy.ddl import COLUMN_DEFAULTS, NAME_MAPPING
from imp_sqlalchemy.description import Description, describe
from imp_sqlalchemy.keys import identity_of
from imp_sqlalchemy.quoting import quoted
from imp_sqlalchemy.type_changes import Change, change_between

_WIDENING = {"delta.enableTypeWidening": "true"}
_NEEDED = {Change.WIDER: _WIDENING, Change.WITH_TIME: _WIDENING | {"delta.feature.timestampNtz": "supported"}}


class _Step(ExecutableDDLElement):
    """A statement that is sent as it is."""

    def __init__(self, text: str) -> None:
        self.text = text


@compiles(_Step, "imp")
def _written(element: _Step, compiler: Any, **options: Any) -> str:
    return element.text


class ImpImpl(DefaultImpl):
    """What Alembic knows about this dialect. Each step is a commit; what Delta refuses in any case is refused before the first."""

    __dialect__ = "imp"
    transactional_ddl = False
    type_synonyms = (
        *DefaultImpl.type_synonyms,
        {"STRING", "TEXT", "CLOB", "UUID", "JSON", "TIME"},
        {"INT", "INTEGER"},
        {"TIMESTAMP_NTZ", "DATETIME"},
        {"DOUBLE", "FLOAT", "DOUBLE PRECISION"},
        {"BINARY", "BLOB", "VARBINARY"},
    )

    def compare_type(self, inspector_column: Column[Any], metadata_column: Column[Any]) -> bool:
        """Say whether the types differ; an identity column is a BIGINT in Delta whichever integer the model names."""
        if identity_of(metadata_column) is not None and isinstance(inspector_column.type, BigInteger):
            return not isinstance(metadata_column.type, Integer)
        return bool(super().compare_type(inspector_column, metadata_column))

    def add_column(
        self, table_name: str, column: Column[Any], *, schema: Any = None, if_not_exists: bool | None = None, **options: Any
    ) -> None:
        """Add a column, then its default, which existing rows get where they may not be NULL, then NOT NULL as a CHECK.

        Raises:
            sqlalchemy.exc.CompileError: a generated or identity column, or NOT NULL without a default on a table with rows.
        """
        table = _Altered(self, table_name, schema)
        if if_not_exists and table.has(column.name):
            return
        if column.computed is not None or column.identity is not None:
            raise exc.CompileError(f"Delta cannot add {column.name}, whose values it would make, to {table.text}; make a new table.")
        checks = _checks(column, Table(table_name, MetaData(), schema=schema))
        default = self._default(column)
        if not column.nullable and default is None and table.has_rows():
            raise exc.CompileError(
                f"{table.text} has rows, which would have NULL in the new column {column.name}, and it is NOT NULL: "
                "give it a server_default."
            )
        bare: Column[Any] = Column(column.name, column.type, comment=column.comment)
        super().add_column(table_name, bare, schema=schema)
        if default is not None:
            table.set(COLUMN_DEFAULTS)
            table.alter(f"ALTER COLUMN {table.quoted(column.name)} SET DEFAULT {default}")
        if not column.nullable:
            if default is not None:
                name = table.quoted(column.name)
                self._exec(_Step(f"UPDATE {table.text} SET {name} = DEFAULT WHERE {name} IS NULL"))
            table.forbid_null(column.name)
        for check in checks:
            self._exec(AddConstraint(check))

    def compare_server_default(self, inspector_column: Any, metadata_column: Any, *rendered: Any) -> bool:
        """Say whether the defaults differ, as Delta keeps them: in SQL, texts with their quotes."""
        return self._default(inspector_column) != self._default(metadata_column)

    def _default(self, column: Column[Any]) -> str | None:
        if not isinstance(column.server_default, DefaultClause):
            return None
        return format_server_default(_compiler(self), column.server_default)

    def alter_column(self, table_name: str, column_name: str, *, nullable: bool | None = None, schema: Any = None, **options: Any) -> None:
        """Change a column.

        Raises:
            sqlalchemy.exc.CompileError: a type that Delta cannot give a column that is there.
        """
        table = _Altered(self, table_name, schema)
        new_type, new_name = options.get("type_"), options.get("name")
        needed: dict[str, str] = {} if new_type is None else self._needed(table, column_name, options.get("existing_type"), new_type)
        if options.get("server_default", False) not in (False, None):
            needed = needed | COLUMN_DEFAULTS
        table.set(needed | (NAME_MAPPING if new_name is not None else {}))
        forbids_null = table.forbids_null(column_name)
        if forbids_null and (nullable or new_type is not None or new_name is not None):
            # Delta changes no column that a CHECK names.
            table.allow_null(column_name)
        if nullable:
            table.alter(f"ALTER COLUMN {table.quoted(column_name)} DROP NOT NULL")
        super().alter_column(table_name, column_name, schema=schema, **options)
        is_wanted = forbids_null and nullable is None and (new_type is not None or new_name is not None)
        if is_wanted or (nullable is False and not table.is_never_null(column_name)):
            table.forbid_null(new_name or column_name)

    def _needed(self, table: _Altered, name: str, known: Any, wanted: Any) -> dict[str, str]:
        """Return the properties that a change of type needs."""
        described = table.column(name)
        old = known if described is None else described.kind
        if old is None:
            return {}
        compiler = self.dialect.type_compiler_instance
        before, after = (compiler.process(each() if isinstance(each, type) else each) for each in (old, wanted))
        change = change_between(before, after)
        if change is Change.REFUSED:
            raise exc.CompileError(
                f"Delta cannot change {table.text}.{name} from {before} to {after}: it makes numbers wider and texts longer. Add a column "
                "of the new type, fill it (op.execute('UPDATE ..')), drop the old one and rename the new one."
            )
        return _NEEDED.get(change, {})

    def drop_column(self, table_name: str, column: Column[Any], *, schema: str | None = None, **options: Any) -> None:
        """Drop a column, by Delta's column mapping: readers of the table must know it from then on."""
        table = _Altered(self, table_name, schema)
        table.set(NAME_MAPPING)
        if table.forbids_null(column.name):
            table.allow_null(column.name)
        super().drop_column(table_name, column, schema=schema, **options)


def _checks(column: Column[Any], table: Table) -> list[CheckConstraint]:
    """Return the CHECKs of a column as those of its table. Raises CompileError for one without a name."""
    found = [each for each in column.constraints if isinstance(each, CheckConstraint)]
    if any(each.name is None for each in found):
        raise exc.CompileError(f"The CHECK of the new column {column.name} needs a name: CheckConstraint(.., name='..').")
    made = [CheckConstraint(each.sqltext, name=each.name) for each in found]
    for each in made:
        table.append_constraint(each)
    return made


def _compiler(impl: ImpImpl) -> Any:
    made: Any = impl.dialect.ddl_compiler
    return made(impl.dialect, None)


class _Altered:
    """A table that is being changed. Without a connection (``--sql``) nothing is known of it."""

    def __init__(self, impl: ImpImpl, name: str, schema: str | None) -> None:
        self._impl = impl
        self._compiler = _compiler(impl)
        self._begin = alter_table(self._compiler, name, schema)
        self.text = format_table_name(self._compiler, name, schema)
        self._described: Description | None = None
        if not impl.as_sql and impl.connection is not None:
            self._described = describe(impl.connection, name, schema)

    def quoted(self, name: str) -> str:
        return str(self._compiler.preparer.quote(name))

    def alter(self, change: str) -> None:
        self._impl._exec(_Step(f"{self._begin} {change}"))

    def set(self, properties: Mapping[str, str]) -> None:
        """Set those properties that the table has not."""
        known = {} if self._described is None else self._described.properties
        missing = {name: value for name, value in properties.items() if known.get(name) != value}
        if missing:
            listed = ", ".join(f"{quoted(name)} = {quoted(value)}" for name, value in missing.items())
            self.alter(f"SET TBLPROPERTIES ({listed})")

    def column(self, name: str) -> Any:
        columns = () if self._described is None else self._described.columns
        return next((column for column in columns if column.name.lower() == name.lower()), None)

    def has(self, name: str) -> bool:
        """Raises sqlalchemy.exc.CompileError where that is not known."""
        if self._described is None:
            raise exc.CompileError("Spark has no ADD COLUMN IF NOT EXISTS, and without a connection nobody knows what there is.")
        return self.column(name) is not None

    def has_rows(self) -> bool:
        """Say whether the table has rows; no where that is not known."""
        connection = None if self._described is None else self._impl.connection
        return connection is not None and connection.exec_driver_sql(f"SELECT 1 FROM {self.text} LIMIT 1").first() is not None

    def is_never_null(self, name: str) -> bool:
        column = self.column(name)
        return column is not None and not column.is_nullable

    def forbids_null(self, name: str) -> bool:
        """Say whether a CHECK does what NOT NULL would."""
        return self._described is not None and is_checked(name, self._described.properties)

    def forbid_null(self, name: str) -> None:
        """Delta gives NOT NULL only to the columns of a new table; a CHECK refuses the same rows."""
        self.alter(f"ADD CONSTRAINT {self.quoted(not_null_name(name))} CHECK ({self.quoted(name)} IS NOT NULL)")

    def allow_null(self, name: str) -> None:
        self.alter(f"DROP CONSTRAINT {self.quoted(not_null_name(name))}")
