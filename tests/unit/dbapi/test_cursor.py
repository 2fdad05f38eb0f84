"""The surface on a fake pipeline: fetching in any mix, lifetime, errors, parameters."""

from __future__ import annotations

import datetime
import gc
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import imp_driver
from imp_driver.dbapi.connection import Connection
from imp_driver.dbapi.parameters import checked
from imp_driver.dbapi.rows import Rows
from imp_driver.ports import Outcome
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from tests.unit.dbapi.fakes import REPORT, FakePipeline, FakeStream, numbers


@given(
    count=st.integers(0, 3000),
    sizes=st.lists(st.integers(0, 1500), max_size=6),
    calls=st.lists(st.one_of(st.just("one"), st.just("batch"), st.integers(0, 1400)), max_size=12),
)
def test_any_mix_of_fetches_loses_and_repeats_nothing(count: int, sizes: list[int], calls: list[str | int]) -> None:
    rows = Rows(numbers(count, sizes))
    seen: list[int] = []
    batches = rows.batches()
    for call in calls:
        if call == "batch":
            batch = next(batches, None)
            seen += [] if batch is None else batch.column(0).to_pylist()
            batches = rows.batches()
        else:
            seen += [row[0] for row in rows.take(1 if call == "one" else int(call))]
        assert rows.position == len(seen)
    seen += [row[0] for row in rows.take(None)]
    assert seen == list(range(count))
    assert rows.take(5) == []


def test_fetches_and_description() -> None:
    connection = Connection(FakePipeline(numbers(10, [3, 0, 4])))
    cursor = connection.execute("select n", (1,))
    assert cursor.description == [("n", "int64", None, None, None, None, True)]
    assert cursor.rowcount == -1
    assert cursor.sketch_report is REPORT
    assert cursor.fetchone() == (0,)
    assert cursor.fetchmany() == [(1,)]
    cursor.arraysize = 2
    assert cursor.fetchmany() == [(2,), (3,)]
    assert cursor.rownumber == 4
    assert next(cursor) == (4,)
    assert [batch.num_rows for batch in cursor.fetch_record_batches()] == [2, 3]
    assert cursor.fetchall() == []
    assert cursor.fetchone() is None
    connection.close()


def test_arrow_and_pandas() -> None:
    with _open(numbers(5, [2])) as connection:
        cursor = connection.execute("select n")
        cursor.fetchone()
        assert cursor.fetch_arrow_table().column("n").to_pylist() == [1, 2, 3, 4]
    with _open(numbers(3, [])) as connection:
        assert list(connection.execute("select n").fetch_df()["n"]) == [0, 1, 2]
    with _open(numbers(3, [1])) as connection:
        assert pa.RecordBatchReader.from_stream(connection.execute("select n")).read_all().num_rows == 3


def _open(stream: FakeStream | None, **options: Any) -> Connection:
    return Connection(FakePipeline(stream, **options))


def test_nested_values_become_python_containers() -> None:
    kind = pa.struct([("m", pa.map_(pa.string(), pa.list_(pa.map_(pa.string(), pa.int64()))))])
    column = pa.array([{"m": [("a", [[("b", 1)], None])]}, None], kind)
    batch = pa.RecordBatch.from_arrays([column], names=["s"])
    rows = Rows(FakeStream(batch.schema, [batch]))
    assert rows.take(None) == [({"m": {"a": [{"b": 1}, None]}},), (None,)]


def test_statement_without_result() -> None:
    with _open(None, rowcount=7) as connection:
        cursor = connection.execute("delete from t")
        assert (cursor.rowcount, cursor.description, cursor.rownumber) == (7, None, None)
        with pytest.raises(imp_driver.ProgrammingError, match="no rows"):
            cursor.fetchone()
        with pytest.raises(imp_driver.ProgrammingError, match="no statement"):
            connection.cursor().fetchall()


def test_use_after_close() -> None:
    stream = numbers(3, [])
    connection = _open(stream)
    cursor = connection.execute("select n")
    connection.close()
    connection.close()
    assert stream.closed
    for call in (cursor.fetchone, cursor.fetchall, lambda: cursor.execute("q"), connection.cursor, connection.commit):
        with pytest.raises(imp_driver.InterfaceError):
            call()
    cursor.cancel()


@pytest.mark.parametrize("by_connection", [True, False])
def test_closing_stops_what_another_thread_runs(by_connection: bool) -> None:
    """The statement ends though it came to rows: nobody would fetch them."""
    stream = numbers(3, [])
    closing: list[Connection | imp_driver.Cursor] = []

    class ClosedMeanwhile(FakePipeline):
        def run(self, execution: Execution) -> Outcome:
            closing[0].close()
            return super().run(execution)

    pipeline = ClosedMeanwhile(stream)
    connection = Connection(pipeline)
    cursor = connection.cursor()
    closing.append(connection if by_connection else cursor)
    with pytest.raises(imp_driver.InterfaceError, match="closed"):
        cursor.execute("select long")
    assert pipeline.interrupted == [cursor.query_id]
    assert stream.closed
    cursor.cancel()
    assert len(pipeline.interrupted) == 1
    connection.close()


@pytest.mark.parametrize("size", [-1, "a", 1.5, [1]])
def test_fetchmany_needs_a_size(size: Any) -> None:
    with _open(numbers(3, [])) as connection:
        cursor = connection.execute("select n")
        with pytest.raises(imp_driver.ProgrammingError, match="needs a size"):
            cursor.fetchmany(size)
        assert cursor.fetchmany(np.int64(2)) == [(0,), (1,)]


def test_a_new_statement_frees_the_old_result() -> None:
    stream = numbers(3, [])
    with _open(stream) as connection:
        cursor = connection.execute("one")
        cursor.execute("two")
        assert stream.closed


def test_unclosed_connection_warns() -> None:
    def forget() -> None:
        _open(None)
        gc.collect()

    with pytest.warns(ResourceWarning, match="not closed"):
        forget()


def test_transactions_are_honest() -> None:
    with _open(None) as connection:
        connection.commit()
        assert connection.autocommit
        with pytest.raises(imp_driver.NotSupportedError):
            connection.rollback()
        with pytest.raises(imp_driver.NotSupportedError):
            connection.autocommit = False


def test_interruption_cancels_the_run() -> None:
    pipeline = FakePipeline(error=KeyboardInterrupt())
    with Connection(pipeline) as connection:
        cursor = connection.cursor()
        with pytest.raises(KeyboardInterrupt):
            cursor.execute("select long")
        assert pipeline.interrupted == [cursor.query_id]


def test_a_cursor_says_how_its_statements_use_sketches() -> None:
    pipeline = FakePipeline()
    with Connection(pipeline) as connection:
        cursor = connection.cursor()
        assert cursor.sketch is None
        cursor.execute("select 1")
        cursor.sketch = "off"
        cursor.execute("select 2")
        cursor.executemany("insert into t values (?)", [(1,)])
        cursor.sketch = None
        cursor.execute("select 3")
        assert pipeline.modes == [SketchMode.OFF, SketchMode.OFF]
        assert len(pipeline.asked) == 4
        for wrong in ("eager", "sometimes"):
            with pytest.raises(imp_driver.InterfaceError, match=wrong):
                cursor.sketch = wrong


def test_unsupported_calls() -> None:
    with _open(None) as connection:
        cursor = connection.cursor()
        with pytest.raises(imp_driver.NotSupportedError):
            cursor.callproc("p")
        with pytest.raises(imp_driver.NotSupportedError):
            cursor.nextset()
        with pytest.raises(imp_driver.NotSupportedError):
            cursor.scroll(1)
        cursor.setinputsizes([1])
        cursor.setoutputsize(1)


def test_executemany_of_nothing_runs_nothing() -> None:
    pipeline = FakePipeline()
    with Connection(pipeline) as connection:
        cursor = connection.cursor().executemany("insert into t values (?)", [])
        assert cursor.rowcount == 0
        assert pipeline.asked == []
        assert cursor.executemany("insert into t values (?)", iter([(1,), (2,)])).rowcount == 2
        assert pipeline.asked == [("insert into t values (?)", [[1], [2]])]


def test_fetchmany_without_a_size_needs_an_arraysize() -> None:
    with _open(numbers(5, [2])) as connection:
        cursor = connection.execute("select 1")
        cursor.arraysize = 0
        assert cursor.fetchmany(0) == []
        with pytest.raises(imp_driver.ProgrammingError, match="an arraysize above 0, not 0"):
            cursor.fetchmany()


def test_executemany_says_what_it_needs() -> None:
    with Connection(FakePipeline()) as connection, pytest.raises(imp_driver.ProgrammingError, match=r"a sequence of parameters.*not int"):
        connection.cursor().executemany("insert into t values (?)", 5)  # type: ignore[arg-type]


def test_exceptions_are_attributes_of_the_connection() -> None:
    for name in ("Warning", "Error", "InterfaceError", "DatabaseError", "DataError", "OperationalError", "IntegrityError", "InternalError"):
        assert getattr(Connection, name) is getattr(imp_driver, name)


@pytest.mark.parametrize(
    ("given_value", "bound"),
    [
        (None, None),
        ((), None),
        ({}, None),
        ((1, 1.5, "a", None, True), [1, 1.5, "a", None, True]),
        ([Decimal("1.50")], [Decimal("1.50")]),
        ([bytearray(b"x"), memoryview(b"y")], [b"x", b"y"]),
        ([2**63], [Decimal(2**63)]),
        ([uuid.UUID(int=1)], [str(uuid.UUID(int=1))]),
        ([np.int32(3), np.float64(0.5)], [3, 0.5]),
        ({"a": (1, 2.5), "b": [[1], None], "c": {1: "x", 2: None}}, {"a": [1, 2.5], "b": [[1], None], "c": {1: "x", 2: None}}),
        ([datetime.date(2024, 1, 2)], [datetime.date(2024, 1, 2)]),
    ],
)
def test_parameters(given_value: Any, bound: Any) -> None:
    result = checked(given_value)
    assert result == bound
    if isinstance(result, Mapping) or result is None:
        return
    assert [type(value) for value in result] == [type(value) for value in bound]


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ("text", imp_driver.ProgrammingError),
        (5, imp_driver.ProgrammingError),
        ({1: 2}, imp_driver.ProgrammingError),
        ([object()], imp_driver.NotSupportedError),
        ([datetime.time(1)], imp_driver.NotSupportedError),
        ([10**40], imp_driver.DataError),
        ([[1, "a"]], imp_driver.DataError),
        ([[1, [2]]], imp_driver.DataError),
        ([{"a": 1, "b": "x"}], imp_driver.DataError),
        ([{"a": 1, 2: 1}], imp_driver.DataError),
        ([Decimal("1e50")], imp_driver.DataError),
        ([Decimal("1e-50")], imp_driver.DataError),
        ([Decimal("NaN")], imp_driver.DataError),
    ],
)
def test_bad_parameters(parameters: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        checked(parameters)


def test_statement_must_be_text() -> None:
    with _open(None) as connection, pytest.raises(imp_driver.ProgrammingError, match="must be text"):
        connection.cursor().execute(b"select 1")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "family"),
    [
        ("decimal(10,2)", "NUMBER"),
        ("int", "NUMBER"),
        ("string", "STRING"),
        ("varchar(3)", "STRING"),
        ("timestamp_ntz", "DATETIME"),
        ("binary", "BINARY"),
    ],
)
def test_type_codes(code: str, family: str) -> None:
    equal = [name for name in ("STRING", "BINARY", "NUMBER", "DATETIME", "ROWID") if getattr(imp_driver, name) == code]
    assert equal == [family]


def test_an_error_says_of_which_run_it_is() -> None:
    pipeline = FakePipeline()
    pipeline.error = imp_driver.ProgrammingError("there is no such sketch")
    with Connection(pipeline) as connection:
        cursor = connection.cursor()
        with pytest.raises(imp_driver.ProgrammingError) as caught:
            cursor.execute("DROP SKETCH none")
    assert caught.value.query_id == cursor.query_id is not None


def test_fetching_after_a_statement_that_failed_names_its_failure() -> None:
    pipeline = FakePipeline(numbers(3, []))
    told = "There is nothing to fetch: the last statement failed. no such table: `slaes`"
    with Connection(pipeline) as connection:
        cursor = connection.execute("SELECT 1")
        pipeline.error = imp_driver.ProgrammingError("no such table: `slaes`\nand more")
        with pytest.raises(imp_driver.ProgrammingError, match="no such table"):
            cursor.execute("SELECT * FROM slaes")
        for fetch in (cursor.fetchall, cursor.fetchone, cursor.fetch_arrow_table):
            with pytest.raises(imp_driver.ProgrammingError) as caught:
                fetch()
            assert str(caught.value) == told
        assert cursor.description is None
        pipeline.error = pipeline.stream = None
        with pytest.raises(imp_driver.ProgrammingError, match="the statement returned no rows"):
            cursor.execute("UPDATE sales SET price = 1").fetchall()


@pytest.mark.parametrize("wrong", [(5, None), ("SELECT ?", 5)])
def test_a_statement_that_never_began_leaves_no_rows_of_the_one_before(wrong: tuple[Any, Any]) -> None:
    with Connection(FakePipeline(numbers(3, []))) as connection:
        cursor = connection.execute("SELECT 1")
        with pytest.raises(imp_driver.ProgrammingError):
            cursor.execute(*wrong)
        with pytest.raises(imp_driver.ProgrammingError, match="the last statement failed"):
            cursor.fetchall()
        with pytest.raises(imp_driver.ProgrammingError):
            cursor.execute("SELECT 1").executemany("INSERT INTO t VALUES (?)", 5)  # type: ignore[arg-type]
        with pytest.raises(imp_driver.ProgrammingError, match=r"the last statement failed\. executemany needs a sequence"):
            cursor.fetchall()


def test_a_cursor_that_is_shown_fetches_nothing() -> None:
    schema = pa.schema([("<b>n</b>", pa.int64())])
    stream = FakeStream(schema, [pa.RecordBatch.from_arrays([pa.array([1, 2], pa.int64())], schema=schema)])
    with Connection(FakePipeline(stream)) as connection:
        cursor = connection.cursor()
        assert repr(cursor) == "<imp_driver.Cursor state: no rows to fetch>"
        cursor.execute("SELECT 1")
        cursor.fetchone()
        assert repr(cursor) == "<imp_driver.Cursor columns: <b>n</b> int64; rows fetched: 1>"
        html = cursor._repr_html_()
        assert "&lt;b&gt;n&lt;/b&gt; int64" in html
        assert "SKETCH_OFF" in html
        assert cursor.fetchall() == [(2,)]
        cursor.close()
        assert repr(cursor) == "<imp_driver.Cursor state: closed>"
        assert "closed" in cursor._repr_html_()


def test_a_cursor_says_how_many_rows_it_has_changed() -> None:
    with Connection(FakePipeline(rowcount=1200)) as connection:
        assert repr(connection.execute("DELETE FROM t")) == "<imp_driver.Cursor rows changed: 1,200>"
