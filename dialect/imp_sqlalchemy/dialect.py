"""The dialect: what Spark and Delta can do, and how statements reach the driver."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any
from weakref import WeakSet

from sqlalchemy import exc, schema
from sqlalchemy.engine import URL
from sqlalchemy.engine.default import DefaultExecutionContext
from sqlalchemy.sql.compiler import IdentifierPreparer

import imp_driver
from imp_sqlalchemy import keys, reports, sparql
from imp_sqlalchemy.compiler import ImpCompiler
from imp_sqlalchemy.ddl import TABLE_OPTIONS, ImpDDLCompiler
from imp_sqlalchemy.identifiers import ImpIdentifierPreparer
from imp_sqlalchemy.reflection import Reflection
from imp_sqlalchemy.type_compiler import ImpTypeCompiler
from imp_sqlalchemy.types import COLUMN_TYPES
from imp_sqlalchemy.url import HidingURL, connect_arguments

AUTOCOMMIT = "AUTOCOMMIT"
_ASKED_WITHOUT_TASK = "VALUES ({})"
"""A question about the session; SELECT would need a task, and wait until a long query of another connection frees a core."""


_PARAMETERS = 5
"""The place of the application's parameters among the arguments of SQLAlchemy for a context of a compiled statement."""


class RollbackIgnored(UserWarning):
    """A rollback came after a statement that Delta had committed by itself; what it changed stays."""


class ImpExecutionContext(DefaultExecutionContext):
    """One statement: its options reach the cursor, its connection is noted where it may change something, and it keeps the report.

    Attributes:
        sketch_report: what the driver did about the statement, None until it has run; a result has it as ``result.context.sketch_report``.
    """

    cursor: Any
    dialect: ImpDialect
    sketch_report: imp_driver.SketchReport | None = None

    @classmethod
    def _init_compiled(cls, *arguments: Any, **options: Any) -> Any:
        context: Any = super()._init_compiled(*arguments, **options)
        given = arguments[_PARAMETERS]
        # The compiler knows no parameters of SPARQL, so that these would be dropped and the query would ask for all rows.
        if given and any(given) and sparql.is_sparql(context.unicode_statement):
            context.parameters = [dict(each) for each in given]
        return context

    def pre_exec(self) -> None:
        mode = self.execution_options.get("imp_sketch")
        if mode is not None:
            self.cursor.sketch = mode
        if self.isinsert:
            keys.check_values(getattr(self.invoked_statement, "table", None), self.unicode_statement, self.compiled_parameters)
        if sparql.is_sparql(self.unicode_statement):
            sparql.check_unbound(self.invoked_statement)
        self.dialect.note(self.cursor.connection, self.unicode_statement)

    def post_exec(self) -> None:
        self.sketch_report = self.cursor.sketch_report
        if self.sketch_report is not None:
            reports.note(self.root_connection, self.sketch_report)


class ImpDialect(Reflection):
    """Spark SQL over Delta tables, through imp_driver."""

    name = "imp"
    driver = "spark"
    supports_statement_cache = True
    default_paramstyle = "qmark"

    statement_compiler = ImpCompiler
    ddl_compiler = ImpDDLCompiler
    type_compiler_cls = ImpTypeCompiler
    preparer: type[IdentifierPreparer] = ImpIdentifierPreparer
    execution_ctx_cls = ImpExecutionContext
    colspecs = COLUMN_TYPES
    construct_arguments = [(schema.Table, TABLE_OPTIONS)]  # noqa: RUF012 - SQLAlchemy's classes have plain values

    max_identifier_length = 255
    supports_alter = True
    supports_comments = True
    inline_comments = True
    supports_native_boolean = True
    supports_native_decimal = True
    returns_native_bytes = True
    supports_identity_columns = True
    supports_multivalues_insert = True
    supports_default_metavalue = True
    supports_empty_insert = False
    supports_sane_rowcount = True
    supports_sane_multi_rowcount = True
    supports_is_distinct_from = True
    cte_follows_insert = True
    div_is_floordiv = False
    requires_name_normalize = False

    _dialect_specific_select_one = _ASKED_WITHOUT_TASK.format("1")

    def __init__(
        self, json_serializer: Callable[[Any], str] | None = None, json_deserializer: Callable[[str], Any] | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self._json_serializer = json_serializer
        self._json_deserializer = json_deserializer
        self._changed: WeakSet[imp_driver.Connection] = WeakSet()

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        return imp_driver

    def create_connect_args(self, url: URL) -> tuple[Sequence[Any], dict[str, Any]]:
        return (), connect_arguments(url)

    @classmethod
    def engine_created(cls, engine: Any) -> None:
        """Let the engine show its URL without secrets; the connections are opened with them."""
        engine.url = HidingURL._make(engine.url)

    def _get_server_version_info(self, connection: Any) -> tuple[int, ...]:
        text = connection.exec_driver_sql(_ASKED_WITHOUT_TASK.format("version()")).scalar_one()
        return tuple(int(part) for part in text.split()[0].split(".") if part.isdigit())

    def _get_default_schema_name(self, connection: Any) -> str:
        return str(connection.exec_driver_sql(_ASKED_WITHOUT_TASK.format("current_schema()")).scalar_one())

    def get_isolation_level_values(self, dbapi_conn: Any) -> Sequence[Any]:
        return (AUTOCOMMIT,)

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        return AUTOCOMMIT

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> None:
        if level != AUTOCOMMIT:
            raise exc.ArgumentError(f"Delta commits every statement by itself: the isolation level is {AUTOCOMMIT}, not {level}.")

    def note(self, connection: imp_driver.Connection, statement: str) -> None:
        """Remember, until the next commit or rollback, that a statement may have changed something."""
        words = statement.lstrip(" \t\r\n(").split(None, 1)
        if words and words[0].upper() not in _READING and not sparql.is_query(statement):
            self._changed.add(connection)

    def do_begin(self, dbapi_connection: Any) -> None:
        self._changed.discard(_raw(dbapi_connection))

    def do_commit(self, dbapi_connection: Any) -> None:
        self._changed.discard(_raw(dbapi_connection))
        _end_transaction(_raw(dbapi_connection))

    def do_rollback(self, dbapi_connection: Any) -> None:
        """End a reader's transaction; of changes say that there is nothing to take back: each was committed when it ended."""
        connection = _raw(dbapi_connection)
        _end_transaction(connection)
        if connection not in self._changed:
            return
        self._changed.discard(connection)
        if self._on_connect_isolation_level != AUTOCOMMIT:
            message = (
                "Rolling back changes nothing: Delta committed every statement when it ended. RESTORE TABLE brings an earlier version "
                "back; create_engine(.., isolation_level='AUTOCOMMIT') says that this is known."
            )
            warnings.warn(message, RollbackIgnored, stacklevel=2)

    def do_savepoint(self, connection: Any, name: str) -> None:
        raise imp_driver.NotSupportedError("Delta has no savepoints: every statement is committed when it ends.")

    def is_disconnect(self, e: Exception, connection: Any, cursor: Any) -> bool:
        if isinstance(e, imp_driver.InterfaceError):
            return connection is not None and _raw(connection).closed
        return isinstance(e, imp_driver.Error) and e.error_class == imp_driver.CONNECTION_LOST


_READING = frozenset(
    ("SELECT", "WITH", "FROM", "VALUES", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "SET", "USE", "BEGIN", "START", "COMMIT", "ROLLBACK")
)
"""First words of statements after which there is nothing to take back."""


def _end_transaction(connection: imp_driver.Connection) -> None:
    """A connection that goes back to its pool must not hold the next user to an old moment."""
    if not connection.closed:
        connection.commit()


def _raw(connection: Any) -> imp_driver.Connection:
    """Return the driver's connection below SQLAlchemy's proxies and adapters."""
    while not isinstance(connection, imp_driver.Connection):
        connection = connection.dbapi_connection
    return connection
