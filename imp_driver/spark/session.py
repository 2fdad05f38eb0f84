"""One session of Spark as the driver sees it: statements in, Arrow out, names resolved, runs cancelled."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from imp_driver.errors import CONNECTION_LOST, Error, cancelled
from imp_driver.parse.literals import bind_text
from imp_driver.parse.markers import by_name
from imp_driver.ports import Moment, Relation, RelationKind, ResultShape, TableDefinition
from imp_driver.spark.cancellation import Cancellation, ContextJobs, log_no_interrupts, undone
from imp_driver.spark.change_feed import without_change_feed
from imp_driver.spark.classes import java_class
from imp_driver.spark.clock import moment, zone_rules
from imp_driver.spark.definition import identifier_of, read_definition
from imp_driver.spark.errors import converted, is_denial, mapped
from imp_driver.spark.locations import is_open_folder, plain_path
from imp_driver.spark.meaning import (
    CHANGES_NO_DEFINITION,
    DELTA_EXTENSION,
    NAMED_SETTINGS,
    SETTINGS_OF_TIMES,
    SETTINGS_WITHOUT_MEANING,
)
from imp_driver.spark.own_queries import OwnQueries
from imp_driver.spark.parameters import are_native, native
from imp_driver.spark.stream import BatchStream, OptimizedPlan, arrow_schema, described, rows_at_once, rows_of_partitions
from imp_driver.spark.views import read_view
from imp_driver.values import zones
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified

_MOST_IN_ORDER = 4
"""Values of ``?`` markers that Spark 4.2 keeps in order; tests/spark/test_session.py notices when it keeps more."""


class Epoch:
    """Counts the statements of a process that may have changed definitions or settings; what was read before is then out of date."""

    def __init__(self) -> None:
        self._counter = itertools.count(1)
        self.value = 0

    def advance(self) -> None:
        self.value = next(self._counter)


_EPOCH = Epoch()


class SparkChildSession(OwnQueries):
    """A Session over a SparkSession.

    Attributes:
        spark: the SparkSession, for tests; the driver does not touch it.
    """

    def __init__(self, spark: SparkSession, *, owned_by_application: bool, binds_natively: bool, on_close: Callable[[], None]) -> None:
        self.spark = spark
        self._owned_by_application = owned_by_application
        self._binds_natively = binds_natively
        self._on_close = on_close
        self._cancellation = Cancellation(ContextJobs(spark.sparkContext))
        self._checkpoints = _Checkpoints()
        log_no_interrupts()
        self._epoch = -1
        self._settings: tuple[tuple[str, str], ...] = ()
        self._relations: dict[tuple[str, ...], Relation] = {}
        self._readable: dict[tuple[str, ...], bool] = {}
        self._closed = False
        with mapped(), self._active():
            # Delta's catalog keeps the session that is active when it is made, which decides what a time in a text means. A statement makes
            # it in its own session; what the driver asks about names and settings would make it in any other.
            spark._jsparkSession.sessionState().catalogManager().currentCatalog()

    def execute(self, execution: Execution) -> BatchStream:
        """Analyse, start, and read the first batch, so that errors of the statement come from here."""
        with self._running(execution):
            frame = self._frame(execution)
            schema = arrow_schema(frame.schema)
            # A command has run by now, and may have committed: a cancel that comes too late must not deny that.
            plan = OptimizedPlan(frame)
            has_run = plan.is_command
            is_over = _never if has_run else (lambda: execution.token.is_cancelled)
            if is_over():
                raise cancelled(execution.tag)
            rows = rows_at_once if has_run or plan.has_few_rows else rows_of_partitions
            batches = rows(frame, schema, lambda: self._jobs(execution))
            return BatchStream(described(frame.schema), schema, batches, lambda: None, is_over, execution.tag)

    def describe(self, execution: Execution) -> ResultShape:
        """Have Spark analyse a query."""
        with self._running(execution):
            schema = self._frame(execution).schema
            return ResultShape(described(schema), arrow_schema(schema))

    def _frame(self, execution: Execution) -> DataFrame:
        text, parameters = execution.text, execution.parameters
        if parameters and not (self._binds_natively and are_native(parameters)):
            text, parameters = bind_text(text, parameters), None
        elif not isinstance(parameters, Mapping) and len(parameters or ()) > _MOST_IN_ORDER:
            text, parameters = by_name(text, parameters or ())
        try:
            with nullcontext() if self._owned_by_application else without_change_feed(self.spark, text):
                return self.spark.sql(text, args=native(parameters, self._jvm) if parameters else None)
        finally:
            if not text.lstrip().lower().startswith(CHANGES_NO_DEFINITION):
                _EPOCH.advance()

    @cached_property
    def _java(self) -> tuple[Any, Any, Any]:
        """The context, the class of sessions and the live settings of this one, asked for once: each part is an exchange with the JVM."""
        settings = self.spark._jsparkSession.sessionState().conf().settings()
        return self.spark.sparkContext._jsc.sc(), java_class(self._jvm, "org.apache.spark.sql.classic.SparkSession"), settings

    @property
    def _jvm(self) -> Any:
        return self.spark.sparkContext._jvm

    @contextmanager
    def _jobs(self, execution: Execution) -> Iterator[None]:
        """Give the jobs that this thread starts inside their tag and the session's settings.

        Spark makes the session active, and hands its settings to tasks, only in its own actions. Reading partitions as Arrow is none:
        what generated code and tasks read for themselves (time parser policy, duplicate map keys ...) would have its default, and rows
        would differ from plain Spark's.
        """
        core, _, settings = self._java
        before = core.getLocalProperties()
        inside = before.clone()
        inside.putAll(settings)
        with undone(lambda: core.setLocalProperties(before)), self._active():
            core.setLocalProperties(inside)
            with self._cancellation.running(execution.tag):
                yield

    @contextmanager
    def _active(self) -> Iterator[None]:
        """Make this session the active one of this thread in Java."""
        _, sessions, _ = self._java
        active = sessions.getActiveSession()

        def undo() -> None:
            if active.isDefined():
                sessions.setActiveSession(active.get())
            else:
                sessions.clearActiveSession()

        with undone(undo):
            sessions.setActiveSession(self.spark._jsparkSession)
            yield

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        """Say what a name stands for; answers are kept until a statement of this process may have changed them."""
        with mapped():
            self._refresh()
            found = self._relations.get(name)
            if found is None:
                found = self._look_up(name)
                if found is not None and not self._owned_by_application:
                    self._relations[name] = found
            return found

    def _look_up(self, name: tuple[str, ...]) -> Relation | None:
        if len(name) == 2 and name[0].lower() == "delta":
            return Relation(RelationKind.DELTA_TABLE, name, plain_path(name[1]))
        state = self.spark._jsparkSession.sessionState()
        try:
            if self._is_elsewhere(name, state):
                return None
            identifier = identifier_of(name, state)
            if state.catalog().isTempView(identifier):
                return Relation(RelationKind.TEMPORARY_VIEW, name, None)
            if str(state.catalogManager().currentCatalog().name()) != "spark_catalog" and len(name) < 3:
                return None
            table = state.catalog().getTableMetadata(identifier)
        except Exception as error:
            failure = converted(error)
            if is_denial(failure):
                # Another catalog, or no such table: Spark itself will say so when the statement runs.
                return None
            raise failure from error
        full = ("spark_catalog", str(table.database()), str(table.identifier().table()))
        if table.isViewLike():
            return Relation(RelationKind.VIEW, full, None, read_view(table, state, self._jvm))
        provider = table.provider()
        is_delta = provider.isDefined() and str(provider.get()).lower() == "delta"
        return Relation(
            RelationKind.DELTA_TABLE if is_delta else RelationKind.OTHER_TABLE, full, plain_path(str(table.location().toString()))
        )

    @staticmethod
    def _is_elsewhere(name: tuple[str, ...], state: Any) -> bool:
        """Say whether Spark looks elsewhere than in the current or the named schema: along a path, in a catalog, among temporary views."""
        if len(name) == 1:
            return str(state.conf().getConfString("spark.sql.path.enabled", "false")) == "true"
        first = name[0].lower()
        return first == "session" or (first != "spark_catalog" and bool(state.catalogManager().isCatalogRegistered(name[0])))

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        """Read what the catalog holds under a name; None where it holds nothing or another catalog is the current one."""
        with mapped():
            return read_definition(self.spark, name)

    def may_read(self, name: tuple[str, ...]) -> bool:
        """Analyse a SELECT, which starts nothing; the engine's answer is kept as that of ``resolve`` is, the system's is not."""
        relation = self.resolve(name)
        if relation is None or not is_open_folder(relation.location):
            return False
        found = self._readable.get(name)
        if found is None:
            found = self._analyses(name)
            if not self._owned_by_application:
                self._readable[name] = found
        return found

    def _analyses(self, name: tuple[str, ...]) -> bool:
        try:
            with mapped():
                self.spark.sql(f"SELECT * FROM {qualified(name)}")
        except Error as error:
            if error.error_class == CONNECTION_LOST:
                raise
            return False
        return True

    def has_row_rules(self) -> bool:
        """Say whether the session has extensions beside Delta's, which may change what a query reads."""
        with mapped():
            return self._has_other_extensions

    @cached_property
    def _has_other_extensions(self) -> bool:
        extensions = str(self.spark.conf.get("spark.sql.extensions", None) or "")
        return not {name.strip() for name in extensions.split(",") if name.strip()} <= {DELTA_EXTENSION}

    def parallelism(self) -> int:
        """Return how many tasks run side by side."""
        with mapped():
            return int(self.spark.sparkContext.defaultParallelism)

    def moment(self) -> Moment | None:
        """Return the time, and the day in the session's zone."""
        with mapped():
            return moment(self._jvm, str(self.spark.conf.get(SETTINGS_OF_TIMES[0])))

    def knows_zone(self, name: str) -> bool:
        """Say whether the rules of the session's zone are known; the JVM tells them once for all sessions of the process.

        Executors in other JVMs may have other rules.
        """
        if not str(self.spark.sparkContext.master).startswith("local"):
            return False
        if zones.known(name) is None:
            with mapped():
                zones.learn(zone_rules(self._jvm, name))
        return True

    def settings(self) -> tuple[tuple[str, str], ...]:
        """Return the settings that change the meaning of a query."""
        with mapped():
            self._refresh()
            if not self._settings:
                self._settings = self._read_settings()
            return self._settings

    def _read_settings(self) -> tuple[tuple[str, str], ...]:
        manager = self.spark._jsparkSession.sessionState().catalogManager()
        # Without a default an unset entry would raise, and PySpark checks even an empty default against the entry's type.
        values = [(name, str(self.spark.conf.get(name, None))) for name in NAMED_SETTINGS]
        values += [(name, str(self.spark.conf.get(name))) for name in SETTINGS_OF_TIMES]
        values.append(("catalog", str(manager.currentCatalog().name())))
        values.append(("schema", ".".join(str(part) for part in manager.currentNamespace())))
        values.append(("set", self._digest_of_set_entries()))
        return tuple(values)

    def _digest_of_set_entries(self) -> str:
        """Digest every SQL setting that is set: which of them matter to a query is Spark's to know, so all count but a few."""
        return hashlib.blake2s(self._set_entries().encode(), digest_size=8).hexdigest()

    def _set_entries(self) -> str:
        converters = java_class(self._jvm, "scala.jdk.javaapi.CollectionConverters")
        every = converters.asJava(self.spark._jsparkSession.sessionState().conf().getAllConfs())
        entries = java_class(self._jvm, "java.util.TreeMap")(every).subMap("spark.sql.", "spark.sql/")
        for name in SETTINGS_WITHOUT_MEANING:
            entries.remove(name)
        return str(entries.toString())

    def _refresh(self) -> None:
        if self._owned_by_application or self._epoch != _EPOCH.value:
            self._epoch = _EPOCH.value
            self._settings = ()
            self._relations = {}
            self._readable = {}

    def version_at(self, name: tuple[str, ...], time: str, execution: Execution) -> int | None:
        """Have Spark analyse a read at this time, and return the version that its plan reads; None for a plan of another form."""
        with self._running(execution):
            frame = self.spark.sql(f"SELECT * FROM {qualified(name)} TIMESTAMP AS OF {time}")
            relation: Any = frame._jdf.queryExecution().analyzed().collectLeaves().head()
            if relation.getClass().getSimpleName() != "LogicalRelation":
                return None
            files = relation.relation().location()
            return int(files.getSnapshot().version()) if files.getClass().getSimpleName() == "TahoeLogFileIndex" else None

    def last_commit_version(self) -> int | None:
        """Return the version of the last Delta commit of this session."""
        with mapped():
            # PySpark checks another default than None against the entry's type, and raises.
            value = self.spark.conf.get("spark.databricks.delta.lastCommitVersionInSession", None)
            return int(value) if value else None

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._on_close()


class _Checkpoints:
    """Those of the JVM of this process, which are freed at once and not when Java next collects what it no longer needs."""

    def checkpoint(self, frame: DataFrame) -> DataFrame:
        return frame.localCheckpoint(eager=False)

    def release(self, frame: Any) -> None:
        frame._jdf.queryExecution().logical().rdd().unpersist(False)


def _never() -> bool:
    return False
