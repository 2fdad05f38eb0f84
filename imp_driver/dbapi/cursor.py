"""Cursor of PEP 249: run, fetch, cancel. It knows no SQL.

Extensions beyond PEP 249: sketch_report, query_id, cancel, and fetches as Arrow or pandas.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypeVar

import pyarrow as pa

from imp_driver.dbapi.interrupts import interruptible
from imp_driver.dbapi.parameters import checked
from imp_driver.dbapi.rows import Row, Rows
from imp_driver.dbapi.typeobjects import Description, describe
from imp_driver.errors import Error, InterfaceError, NotSupportedError, ProgrammingError
from imp_driver.ports import Outcome, Pipeline
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.option_reader import read_mode
from imp_driver.values.report import SketchReport
from imp_driver.values.shown import html_table

if TYPE_CHECKING:
    import pandas

    from imp_driver.dbapi.connection import Connection

ResultT = TypeVar("ResultT")


class Cursor:
    """One statement at a time of a connection.

    Attributes:
        arraysize: rows of a fetchmany without size.
        rowcount: affected rows of INSERT, UPDATE, DELETE and MERGE; -1 for queries, whose rows are streamed, and where unknown.
        messages: always empty; warnings go to the logger ``imp_driver``.
        query_id: identifier of the newest run, known as soon as it begins.
        sketch_report: what the driver did about a sketch for the newest statement; None before the first.
    """

    def __init__(self, connection: Connection, pipeline: Pipeline) -> None:
        self._closed = False
        self._connection = connection
        self._pipeline = pipeline
        self._execution: Execution | None = None
        self._is_running = False
        self._rows: Rows | None = None
        self._generated: Callable[[], int | None] | None = None
        self.arraysize = 1
        self.rowcount = -1
        self.description: list[Description] | None = None
        self.messages: list[Any] = []
        self.query_id: str | None = None
        self.sketch_report: SketchReport | None = None
        self._sketch: SketchMode | None = None
        self._failure: str | None = None

    @property
    def sketch(self) -> str | None:
        """How sketches are used for the statements of this cursor: off, lazy or shadow; None as the connection says.

        Raises:
            InterfaceError: set to another value.
        """
        return None if self._sketch is None else self._sketch.value

    @sketch.setter
    def sketch(self, value: str | None) -> None:
        mode = None if value is None else read_mode(value)
        if mode is SketchMode.EAGER:
            raise InterfaceError("sketch='eager' is a mode of connections; a cursor can have off, lazy or shadow.")
        self._sketch = mode

    @property
    def connection(self) -> Connection:
        return self._connection

    @property
    def lastrowid(self) -> int | None:
        """The value of the identity column of the row that an INSERT of one row has stored; None after all else."""
        return None if self._generated is None else self._generated()

    @property
    def rownumber(self) -> int | None:
        """Index of the next row, None without a result set."""
        return None if self._rows is None else self._rows.position

    def execute(self, operation: str, parameters: Any = None) -> Cursor:
        """Run one statement and return this cursor.

        Args:
            operation: SQL with ``?`` markers for a sequence or ``:name`` markers for a mapping.
            parameters: their values, bound by Spark.
        """
        with self._noting_failure():
            execution = Execution(_text(operation), checked(parameters))
            return self._executed(execution, lambda pipeline: pipeline.run(execution))

    def executemany(self, operation: str, seq_of_parameters: Iterable[Any]) -> Cursor:
        """Run one statement for many parameters; an INSERT of VALUES is one append and one commit."""
        with self._noting_failure():
            if not isinstance(seq_of_parameters, Iterable):
                found = type(seq_of_parameters).__name__
                raise ProgrammingError(f"executemany needs a sequence of parameters, one for each run, not {found}.")
            text, rows = _text(operation), [checked(parameters) for parameters in seq_of_parameters]
            if not rows:
                self._begin(Execution(text))
                self.rowcount = 0
                return self
            execution = Execution(text)
            return self._executed(execution, lambda pipeline: pipeline.run_many(execution, rows))

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """Run a statement; where it fails nothing is left of the one before, and fetching says what happened."""
        try:
            yield
        except BaseException as error:
            # The text alone: a traceback would keep parameters and sessions alive.
            self._failure = next(iter(str(error).splitlines()), "") or type(error).__name__
            self._discard()
            self._forget_outcome()
            raise

    def _executed(self, execution: Execution, call: Callable[[Pipeline], Outcome]) -> Cursor:
        self._begin(execution)
        pipeline = self._pipeline if self._sketch is None else self._pipeline.using(self._sketch)
        outcome = self._guarded(lambda: self._interruptible(lambda: call(pipeline)))
        if outcome.stream is not None and (self._closed or self._connection.closed):
            outcome.stream.close()
        self._check_open()
        self.rowcount, self.sketch_report, self._generated = outcome.rowcount, outcome.report, outcome.generated
        if outcome.stream is not None and outcome.stream.columns:
            self.description = describe(outcome.stream.columns)
            self._rows = Rows(outcome.stream, self._interruptible)
        elif outcome.stream is not None:
            outcome.stream.close()
        return self

    def _begin(self, execution: Execution) -> None:
        self._check_open()
        self._discard()
        self._forget_outcome()
        self._failure = None
        self._execution, self.query_id = execution, execution.tag

    def _forget_outcome(self) -> None:
        self.rowcount, self.description, self.sketch_report, self._generated = -1, None, None, None

    def _guarded(self, call: Callable[[], ResultT]) -> ResultT:
        """Call; on Ctrl-C stop the run in Spark too, then let the interruption through. An error says of which run it is."""
        self._is_running = True
        try:
            return call()
        except KeyboardInterrupt:
            self.cancel()
            self._discard()
            raise
        except Error as error:
            error.query_id = error.query_id or self.query_id
            raise
        finally:
            self._is_running = False

    def _interruptible(self, call: Callable[[], ResultT]) -> ResultT:
        """Call what may take the engine's time."""
        with interruptible(self.cancel):
            return call()

    def fetchone(self) -> Row | None:
        rows = self._fetch(1)
        return rows[0] if rows else None

    def fetchmany(self, size: SupportsIndex | None = None) -> list[Row]:
        """Return the next ``size`` rows (``arraysize`` when not given)."""
        wanted = self.arraysize if size is None else size
        try:
            number = operator.index(wanted)
        except TypeError:
            number = -1
        if number < int(size is None):
            what = "an arraysize above 0" if size is None else "a size of 0 or more"
            raise ProgrammingError(f"fetchmany needs {what}, not {wanted!r}.")
        return self._fetch(number)

    def fetchall(self) -> list[Row]:
        return self._fetch(None)

    def _fetch(self, count: int | None) -> list[Row]:
        rows = self._result()
        return self._guarded(lambda: rows.take(count))

    def fetch_record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that are left as Arrow batches, as they arrive."""
        iterator = self._result().batches()
        while (batch := self._guarded(lambda: next(iterator, None))) is not None:
            yield batch

    def fetch_record_batch(self) -> pa.RecordBatchReader:
        """Return a reader over the rows that are left, streamed."""
        return pa.RecordBatchReader.from_batches(self._result().schema, self.fetch_record_batches())

    def fetch_arrow_table(self) -> pa.Table:
        """Return the rows that are left as one Arrow table."""
        return pa.Table.from_batches(list(self.fetch_record_batches()), self._result().schema)

    def fetch_df(self) -> pandas.DataFrame:
        """Return the rows that are left as a pandas data frame."""
        try:
            import pandas  # noqa: F401
        except ImportError as error:
            raise NotSupportedError("fetch_df needs pandas: pip install 'imp_driver[pandas]'.") from error
        return self.fetch_arrow_table().to_pandas()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand the rows that are left to another Arrow library."""
        stream: object = self.fetch_record_batch().__arrow_c_stream__(requested_schema)
        return stream

    def _result(self) -> Rows:
        self._check_open()
        if self._rows is None:
            if self._failure is not None:
                raise ProgrammingError(f"There is nothing to fetch: the last statement failed. {self._failure}")
            reason = "no statement was executed" if self.query_id is None else "the statement returned no rows"
            raise ProgrammingError(f"There is nothing to fetch: {reason}.")
        return self._rows

    def cancel(self) -> None:
        """Stop the run, from any thread; harmless when nothing runs."""
        if self._execution is not None and (self._is_running or not self._closed):
            self._pipeline.interrupt(self._execution)

    def close(self) -> None:
        """Free the result, and stop what another thread runs here; harmless when called twice."""
        if not self._closed:
            self._closed = True
            if self._is_running:
                self.cancel()
            self._discard()

    def _discard(self) -> None:
        rows, self._rows = self._rows, None
        if rows is not None:
            rows.close()

    def _check_open(self) -> None:
        if self._closed:
            raise InterfaceError("The cursor is closed.")
        self._connection.check_open()

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Do nothing, as PEP 249 allows: values carry their types."""
        self._check_open()

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Do nothing, as PEP 249 allows: results are streamed."""
        self._check_open()

    def callproc(self, procname: str, parameters: Sequence[Any] | None = None) -> NoReturn:
        raise NotSupportedError("Spark has no stored procedures.")

    def nextset(self) -> NoReturn:
        raise NotSupportedError("A statement has one result set at most.")

    def scroll(self, value: int, mode: str = "relative") -> NoReturn:
        raise NotSupportedError("Rows are streamed forward only.")

    def __repr__(self) -> str:
        told = "; ".join(f"{name}: {text}" for name, text in self._shown().items())
        return f"<imp_driver.Cursor{' ' if told else ''}{told}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows of a cursor: its columns and its report. No row is fetched."""
        report = "" if self.sketch_report is None else self.sketch_report._repr_html_()
        return f"{html_table(self._shown())}{report}"

    def _shown(self) -> dict[str, str]:
        if self._closed:
            return {"state": "closed"}
        if self._rows is None:
            return {"state": "no rows to fetch"} if self.rowcount < 0 else {"rows changed": f"{self.rowcount:,}"}
        columns = ", ".join(f"{name} {type_code}" for name, type_code, *_ in self.description or ())
        return {"columns": columns, "rows fetched": f"{self._rows.position:,}"}

    def __iter__(self) -> Cursor:
        return self

    def __next__(self) -> Row:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


def _text(operation: object) -> str:
    if not isinstance(operation, str):
        raise ProgrammingError(f"A statement must be text, not {type(operation).__name__}.")
    try:
        operation.encode()
    except UnicodeEncodeError as error:
        raise ProgrammingError(f"The statement has half of a character (a lone surrogate) at {error.start}.") from None
    return operation
