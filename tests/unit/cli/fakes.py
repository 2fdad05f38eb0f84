"""A connection of a shell, without an engine: answers by the text of the statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from imp_driver.dbapi.connection import Connection
from imp_driver.ports import Outcome
from imp_driver.reasons import Decision, Reason
from imp_driver.values.execution import Execution
from imp_driver.values.report import SketchReport
from tests.unit.dbapi.fakes import FakePipeline, FakeStream

REPORT = SketchReport(Decision.NOT_USED, Reason.SKETCH_OFF)
NO_QUERY = SketchReport(Decision.NOT_USED, Reason.NOT_A_QUERY)
SALES = pa.table({"shop": pa.array([1, 2, None]), "name": ["Nord", "NULL", None]})
_SPARK = {"int64": "bigint", "int32": "int", "bool": "boolean"}
"""Names that Spark has for types of Arrow."""


class Warehouse(FakePipeline):
    """``answers`` are tables, streams, numbers of affected rows and errors; other statements change nothing.

    Its catalog has the tables ``sales`` (shop, name) and ``odd name`` (n).
    """

    def __init__(self, answers: Mapping[str, object] | None = None) -> None:
        super().__init__()
        self.answers: dict[str, object] = {
            "SHOW VIEWS": pa.table({"namespace": ["default"], "viewName": ["odd name"], "isTemporary": [False]}),
            "SHOW TABLES": pa.table(
                {"namespace": ["default"] * 2, "tableName": ["sales", "odd name"], "isTemporary": [False, False]},
            ),
            "DESCRIBE TABLE sales": _columns(("shop", "int"), ("name", "string"), ("# Partition Information", ""), ("shop", "int")),
            "DESCRIBE TABLE `odd name`": _columns(("n", "int")),
            "SELECT * FROM sales": SALES,
            **(answers or {}),
        }

    @property
    def texts(self) -> list[str]:
        """What was asked, in order."""
        return [text for text, _ in self.asked]

    def run(self, execution: Execution) -> Outcome:
        """Answer, and raise what is an error."""
        self.asked.append((execution.text, execution.parameters))
        answer = self.answers.get(execution.text)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, pa.Table):
            answer = FakeStream(answer.schema, answer.to_batches())
        if isinstance(answer, FakeStream):
            answer.columns = tuple(replace(each, type_name=_SPARK.get(each.type_name, each.type_name)) for each in answer.columns)
            return Outcome(answer, -1, REPORT)
        return Outcome(None, answer if isinstance(answer, int) else -1, NO_QUERY)


def connection(answers: Mapping[str, object] | None = None) -> tuple[Connection, Warehouse]:
    """Return a connection, to be closed, and what it asks."""
    warehouse = Warehouse(answers)
    return Connection(warehouse), warehouse


def _columns(*described: tuple[str, str]) -> pa.Table:
    return pa.table(
        {
            "col_name": [name for name, _ in described],
            "data_type": [kind for _, kind in described],
            "comment": pa.array([None for _ in described], pa.string()),
        }
    )
