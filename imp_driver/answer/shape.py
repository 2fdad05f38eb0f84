"""Names and types of a query's columns, as Spark gives them: it is asked once for all queries that can differ in values only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa

from imp_driver.dataflow.expression.project import cast
from imp_driver.parse.template import typed_text
from imp_driver.ports import ResultColumn, ResultShape, Session
from imp_driver.snapshot.reading import Reading
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.codes import one_array
from imp_driver.values.execution import Execution

MOST_SHAPES = 2_000
_Key: TypeAlias = tuple[object, ...]


class Shapes:
    """The shapes of one connection's queries."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: BoundedCache[_Key, ResultShape] = BoundedCache(MOST_SHAPES)

    def of(self, reading: Reading, described: Callable[[], Execution], execution: Execution) -> ResultShape:
        """Return the shape of a query. Raises Error where Spark does not accept it.

        Args:
            described: gives the query as Spark is to analyse it: at its versions, where these are asked for, columns may be others.
        """
        tables = tuple((name, table.snapshot.table_id, table.snapshot.schema) for name, table in reading.tables.items())
        key = (typed_text(reading.statement, execution.parameters, reading.constants), reading.text.views_text, tables, reading.settings)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._session.describe(described())
        return found


class ShapedRows:
    """A ResultStream of rows that are there."""

    def __init__(self, rows: pa.Table, shape: ResultShape) -> None:
        """Take rows over in a shape. Raises NotEvaluable where a value of theirs is not one of Spark's type."""
        self.columns: tuple[ResultColumn, ...] = shape.columns
        self.schema: pa.Schema = shape.schema
        arrays = [cast(one_array(column), field.type) for column, field in zip(rows.columns, shape.schema, strict=True)]
        self.rows = pa.Table.from_arrays(arrays, schema=shape.schema)
        self._batches = iter(self.rows.to_batches())

    def next_batch(self) -> pa.RecordBatch | None:
        return next(self._batches, None)

    def close(self) -> None:
        self._batches = iter(())
