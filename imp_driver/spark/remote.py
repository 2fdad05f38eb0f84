"""One session of a Spark Connect server as the driver sees it: statements in, Arrow out, without a JVM in this process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.connect.proto import ConfigRequest
from pyspark.sql.connect.session import SparkSession
from pyspark.sql.types import StructType

from imp_driver.errors import CONNECTION_LOST, Error, cancelled
from imp_driver.parse.literals import bind_text
from imp_driver.ports import Moment, Relation, ResultShape, TableDefinition
from imp_driver.spark.cancellation import Cancellation
from imp_driver.spark.errors import mapped
from imp_driver.spark.locations import is_open_folder, plain_path
from imp_driver.spark.meaning import CHANGES_NO_DEFINITION, NAMED_SETTINGS, SETTINGS_OF_TIMES, SETTINGS_WITHOUT_MEANING
from imp_driver.spark.own_queries import OwnQueries
from imp_driver.spark.remote_catalog import Row, find_relation, read_definition
from imp_driver.spark.stream import BatchStream, arrow_schema, described
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified

_OWN = Execution("", tag="imp_driver")
"""Under which the statements run that ask the server about names and settings."""


class _Operations:
    """The tagged operations of one session at the server."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def add(self, tag: str) -> None:
        self._client.add_tag(tag)

    def remove(self, tag: str) -> None:
        # Leaving the tag away twice would raise, and after an interrupt it may be gone.
        if tag in self._client.get_tags():
            self._client.remove_tag(tag)

    def cancel(self, tag: str) -> None:
        self._client.interrupt_tag(tag)

    @property
    def has_ended(self) -> bool:
        return bool(self._client.is_closed)


class _Checkpoints:
    """Those of a session at the server, which frees them itself once its client has no frame of them any more."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def checkpoint(self, frame: Any) -> Any:
        # PySpark (4.2) makes the frame in whatever session is this thread's, and an application may have others.
        places = SparkSession._active_session
        before = getattr(places, "session", None)
        places.session = self._spark
        try:
            return frame.localCheckpoint(eager=False)
        finally:
            places.session = before

    def release(self, frame: Any) -> None:
        """Do nothing: whoever gives the frame away tells the server."""


class ConnectSession(OwnQueries):
    """A Session over a session of Spark Connect.

    Attributes:
        spark: the SparkSession, for tests; the driver does not touch it.
    """

    def __init__(
        self, spark: SparkSession, *, owned_by_application: bool, on_machine: Callable[[str], str], on_close: Callable[[], object]
    ) -> None:
        self.spark = spark
        self._client = spark.client
        self._owned_by_application = owned_by_application
        self._on_machine = on_machine
        self._on_close = on_close
        self._cancellation = Cancellation(_Operations(spark.client))
        self._checkpoints = _Checkpoints(spark)
        self._settings: tuple[tuple[str, str], ...] = ()
        self._closed = False

    def execute(self, execution: Execution) -> BatchStream:
        """Analyse, start, and read the first batch, so that errors of the statement come from here."""
        with self._running(execution):
            # Delta's parser loses parameters that are sent beside the text, and only the server's administrator could mend it.
            bound = bind_text(execution.text, execution.parameters) if execution.parameters else execution.text
            try:
                plan = self.spark.sql(bound)._plan.to_proto(self._client)
            finally:
                if not execution.text.lstrip().lower().startswith(CHANGES_NO_DEFINITION):
                    self._settings = ()
            # A command has run by now, and may have committed: a cancel that comes too late must not deny that.
            has_run = plan.root.WhichOneof("rel_type") != "sql"
            if not has_run and execution.token.is_cancelled:
                raise cancelled(execution.tag)
            responses = self._client.to_table_as_iterator(plan, {})
            struct = _schema(responses)
            schema = arrow_schema(struct)
            is_over = _never if has_run else (lambda: execution.token.is_cancelled)
            return BatchStream(described(struct), schema, _batches(responses, schema), responses.close, is_over, execution.tag)

    def describe(self, execution: Execution) -> ResultShape:
        """Have Spark analyse a query."""
        with self._running(execution):
            schema = self.spark.sql(bind_text(execution.text, execution.parameters) if execution.parameters else execution.text).schema
            return ResultShape(described(schema), arrow_schema(schema))

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        """Say what a name stands for. Asked anew each time: other users of the server may have changed it."""
        return find_relation(name, self._ask, self._on_machine)

    def may_read(self, name: tuple[str, ...]) -> bool:
        """Have the server analyse a SELECT, which starts nothing there."""
        relation = self.resolve(name)
        if relation is None or not is_open_folder(plain_path(relation.location or "") or None):
            return False
        try:
            self._schema_of(qualified(name))
        except Error as error:
            if error.error_class == CONNECTION_LOST:
                raise
            return False
        return True

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        """Read what the catalog holds under a name; None where it holds nothing or another catalog is the current one."""
        return read_definition(name, self._ask, self._schema_of)

    def _ask(self, text: str) -> list[Row]:
        found: list[Row] = self.read(text, _OWN).to_pylist(maps_as_pydicts="strict")
        return found

    def _schema_of(self, name: str) -> str:
        with mapped():
            return str(self.spark.table(name).schema.json())

    def has_row_rules(self) -> bool:
        """What a server shows to whom is not to be seen from here."""
        return True

    def parallelism(self) -> int:
        """Return how many tasks run side by side: into as many parts the server divides a range."""
        return int(self._ask("SELECT max(spark_partition_id()) + 1 AS parts FROM range(1000)")[0]["parts"])

    def moment(self) -> Moment | None:
        """None: a server has a clock of its own."""
        return None

    def knows_zone(self, name: str) -> bool:
        """False: the rules of zones are the server's."""
        return False

    def settings(self) -> tuple[tuple[str, str], ...]:
        """Return the settings that change the meaning of a query."""
        settings = () if self._owned_by_application else self._settings
        if not settings:
            settings = self._settings = self._read_settings()
        return settings

    def _read_settings(self) -> tuple[tuple[str, str], ...]:
        with mapped():
            named = self._client.config(ConfigRequest.Operation(get_option=ConfigRequest.GetOption(keys=NAMED_SETTINGS))).pairs
            times = self._client.config(ConfigRequest.Operation(get=ConfigRequest.Get(keys=SETTINGS_OF_TIMES))).pairs
            every = self._client.config(ConfigRequest.Operation(get_all=ConfigRequest.GetAll(prefix="spark.sql."))).pairs
        # Which settings matter to a query is Spark's to know, so all count but a few. The server leaves the prefix away.
        kept = sorted((name, value) for name, value in every if f"spark.sql.{name}" not in SETTINGS_WITHOUT_MEANING)
        current = self._ask("SELECT current_catalog() AS catalog, current_schema() AS schema")[0]
        digest = hashlib.blake2s(repr(kept).encode(), digest_size=8).hexdigest()
        values = ((name, str(value)) for name, value in (*named, *times))
        return (*values, *((name, str(current[name])) for name in current), ("set", digest))

    def version_at(self, name: tuple[str, ...], time: str, execution: Execution) -> int | None:
        """Return None: a server shows no plan in which the version stands."""
        return None

    def last_commit_version(self) -> int | None:
        """Return the version of the last Delta commit of this session."""
        with mapped():
            value = self.spark.conf.get("spark.databricks.delta.lastCommitVersionInSession", None)
            return int(value) if value else None

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._on_close()


def _never() -> bool:
    return False


def _schema(responses: Iterator[Any]) -> StructType:
    """Read the schema, which the server sends before the first rows."""
    first = next(responses)
    if not isinstance(first, StructType):
        raise TypeError(f"the server sent {type(first).__name__} before the schema of the result")
    return first


def _batches(responses: Iterator[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows as they arrive, with timestamps in UTC: the server sends them in the session's time zone."""
    for response in responses:
        if isinstance(response, pa.Table):
            for batch in response.to_batches():
                columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)
