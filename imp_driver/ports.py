"""The seams: what the other folders need from the engine, and the values that cross them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Protocol

import pyarrow as pa

from imp_driver.values.buckets import BucketEngine
from imp_driver.values.execution import Execution, Parameters
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.report import SketchReport
from imp_driver.values.view_policy import ViewPolicy

CHAR_WIDTH = b"char width"
"""Key in the metadata of a field of Arrow rows: the characters of a CHAR column, in ASCII digits."""
COLLATED = "collated string"
"""Type name of text that Spark compares by a collation."""
NESTED_CHAR = "nested char"
"""Type name of a nested column with CHAR in it."""


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """One column of a result: ``type_name`` is Spark's simple name (``int``, ``decimal(10,2)``, ``array<string>`` ...)."""

    name: str
    type_name: str
    precision: int | None
    scale: int | None
    nullable: bool


@dataclass(frozen=True, slots=True, eq=False)
class ResultShape:
    """Names and types of the columns of a result, as Spark and as Arrow name them."""

    columns: tuple[ResultColumn, ...]
    schema: pa.Schema


class ResultTooLarge(Exception):
    """A result has more bytes than were to be read; ``row_bytes`` is what a row of it takes."""

    def __init__(self, row_bytes: float) -> None:
        super().__init__("the result has more bytes than were to be read")
        self.row_bytes = row_bytes


class ResultStream(Protocol):
    """Rows of one statement, analysed and started; batches arrive in order, each once."""

    @property
    def columns(self) -> tuple[ResultColumn, ...]:
        """Empty for a statement without a result set."""

    @property
    def schema(self) -> pa.Schema: ...

    def next_batch(self) -> pa.RecordBatch | None:
        """Return the next batch, None at the end. Raises an Error of this driver."""

    def close(self) -> None:
        """Stop what still runs; harmless when called twice or at the end."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one statement: ``stream`` is None without rows to fetch; ``rowcount`` is -1 where unknown.

    ``generated`` tells, after an INSERT of one row, the value in the table's identity column; None where there is none or it is unknown.
    """

    stream: ResultStream | None
    rowcount: int
    report: SketchReport
    generated: Callable[[], int | None] | None = None


class RelationKind(Enum):
    DELTA_TABLE = "Delta table"
    OTHER_TABLE = "table of another format"
    VIEW = "view"
    TEMPORARY_VIEW = "temporary view"


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """``source`` is the column of the view's query, ``name`` what the view calls it.

    It is converted to the type ``type_name``, named as in a Delta schema, or by its SQL form where it has no name there.
    """

    source: str
    name: str
    type_name: str


@dataclass(frozen=True, slots=True)
class View:
    """Definition of a permanent view.

    Attributes:
        namespace: catalog and schema against which the unqualified names of ``text`` resolve.
        is_ansi: whether a conversion that loses something raises in the session, as it does in a view.
        problem: why ``text`` in brackets would mean something else in the session than the view's name; empty when it does not.
        policy: of an incremental view; None for other views.
        is_recursive: whether Spark does not run ``text``, and only the driver has its rows.
        has_provenance: whether it is kept why each of its rows is there.
    """

    text: str
    namespace: tuple[str, ...]
    columns: tuple[ViewColumn, ...]
    is_ansi: bool
    problem: str = ""
    policy: ViewPolicy | None = None
    is_recursive: bool = False
    has_provenance: bool = False

    @property
    def definition(self) -> tuple[object, ...]:
        """What every session of the catalog reads of it."""
        return self.text, self.namespace, self.columns, self.policy


@dataclass(frozen=True, slots=True)
class Relation:
    """What a name stands for in a session: ``location`` is a plain path or URI, ``name`` the fully qualified, unquoted parts.

    ``table_id`` is the identifier of a Delta table's log where the engine told it: another machine may have another folder of this name.
    """

    kind: RelationKind
    name: tuple[str, ...]
    location: str | None
    view: View | None = None
    table_id: str | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """When a query begins: the instant, at UTC, and the day that it is then in the session's zone."""

    day: date
    instant: datetime


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """What the catalog says of a permanent table or view.

    Attributes:
        schema: Spark's JSON form of a struct. Metadata of its fields hold comments, declared lengths and defaults (``CURRENT_DEFAULT``),
            in a Delta table also ``delta.generationExpression`` and ``delta.identity.*``.
        properties: properties of the table with some facts that Spark adds, such as ``clusteringColumns``.
        view_text: query of a view, of a recursive one its own; None for a table.
    """

    schema: str
    partition_columns: tuple[str, ...]
    properties: Mapping[str, str]
    comment: str | None
    view_text: str | None


class Session(Protocol):
    """One connection's child session of the engine. All methods raise only errors of this driver."""

    def execute(self, execution: Execution) -> ResultStream:
        """Run any statement; analysis errors and errors before the first batch are raised here."""

    def describe(self, execution: Execution) -> ResultShape:
        """Analyse a query, which starts nothing. Raises an Error where the engine would not run it."""

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        """Run a query of the driver's own on behalf of a run and return all its rows. Raises ResultTooLarge beyond ``most_bytes``."""

    def read_with(self, text: str, view: str, rows: pa.Table, execution: Execution) -> pa.Table:
        """Run a query of the driver's own while ``rows`` are visible as the temporary view named ``view``."""

    def execute_with(self, execution: Execution, views: Mapping[str, pa.Table]) -> ResultStream:
        """Run a query of the driver's own while rows are visible as temporary views of these names."""

    def buckets(self, execution: Execution) -> BucketEngine | None:
        """Return the engine as a holder of states, None where it cannot be one; what it runs is cancelled with ``run``."""

    def kept_rows(self, execution: Execution) -> KeptRows:
        """Return what keeps rows of the driver's own queries in the engine for a run; the caller closes it."""

    def append(self, text: str, view: str, rows: pa.Table, execution: Execution) -> None:
        """Run ``text`` while ``rows`` are visible as the temporary view named ``view``."""

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        """Say what a name stands for now; None when nothing has this name."""

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        """Read a definition now; None for temporary views, other catalogs and names that stand for nothing."""

    def may_read(self, name: tuple[str, ...]) -> bool:
        """Say whether a SELECT on a table or view would be let through now, by the engine and, for local files, by the system.

        False also where nothing has this name. What may not be read is not told: no sketch of it is listed or explained, no view unfolded.
        """

    def has_row_rules(self) -> bool:
        """Say whether the engine may show other rows or values of a table than its files have, by filters or masks of its own."""

    def parallelism(self) -> int:
        """Return how many tasks the engine runs side by side. Raises an Error where it fails."""

    def moment(self) -> Moment | None:
        """Return what ``current_date()`` and ``now()`` are in a query that starts now; None where only the engine can tell."""

    def knows_zone(self, name: str) -> bool:
        """Say whether the rules of the session's zone are known (``values/zones.py``), after the engine was asked for them."""

    def settings(self) -> tuple[tuple[str, str], ...]:
        """Settings that change the meaning of a query: ANSI, time zone, case sensitivity, current catalog and schema."""

    def version_at(self, name: tuple[str, ...], time: str, execution: Execution) -> int | None:
        """Return the version of a Delta table that ``FROM name TIMESTAMP AS OF time`` reads, ``time`` being a literal of SQL.

        None where the engine does not tell. Raises an Error where it refuses the time.
        """

    def last_commit_version(self) -> int | None:
        """Version of the last Delta commit made in this session; None before the first."""

    def interrupt(self, execution: Execution) -> None:
        """Cancel a run, from any thread."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class KeptSize:
    """How many rows are kept, and about how many bytes they take; ``is_handed_over``: each task gets all of them, through the driver."""

    rows: int
    bytes: int
    is_handed_over: bool


class KeptRows(Protocol):
    """Rows of queries that the engine keeps, each under a name that queries of its session read, for a run or for several."""

    def for_run(self, execution: Execution) -> KeptRows:
        """Return rows that rest for another run, under the same names; this object is of no use then. Raises an Error of this driver."""

    def rest(self) -> None:
        """Have no names until another run has the rows, so that nobody who lists those of the session sees them. Raises nothing."""

    def hand_over(self, name: str, rows: pa.Table) -> KeptSize:
        """Have a few rows of this process under a new name. Raises an Error of this driver; nothing is kept then."""

    def show(self, name: str, query: str) -> None:
        """Have a query under a new name, its tables looked up now, its rows not computed before they are read. Raises as ``keep``."""

    def keep(self, name: str, query: str) -> KeptSize:
        """Run a query and keep its rows under a new name. Raises an Error of this driver; nothing is kept then."""

    def sort(self, name: str, query: str, by: str) -> None:
        """Run a query and keep its rows under a new name, of which who asks for few values of a column reads few. Raises as ``keep``."""

    def drop(self, name: str) -> None:
        """Let rows go that no query reads any more. Raises nothing."""

    def close(self) -> None:
        """Let all rows go; harmless when called twice. Raises nothing, also where the run was cancelled or the engine is gone."""


class SparkReader(Protocol):
    """Reads a query of the driver's own; with ``rows``, these are visible under the name ``view``."""

    def __call__(self, text: str, view: str | None = None, rows: pa.Table | None = None, most_bytes: int | None = None) -> pa.Table:
        """Raises Error, ResultTooLarge beyond ``most_bytes``."""


class Pipeline(Protocol):
    """Runs statements of one connection. Raises only errors of this driver."""

    def run(self, execution: Execution) -> Outcome: ...

    def run_many(self, execution: Execution, rows: Sequence[Parameters]) -> Outcome:
        """Run one statement for many rows."""

    def using(self, sketch: SketchMode) -> Pipeline:
        """Return the path of the same connection with another way to use sketches."""

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        """Return what the catalog holds under a name."""

    def end_transaction(self) -> None:
        """Let the statements that follow read the newest versions; harmless outside a reader's transaction."""

    def interrupt(self, execution: Execution) -> None:
        """Cancel a run, from any thread."""

    def close(self) -> None: ...
