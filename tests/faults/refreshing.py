"""The life of a materialized view in one process that is killed somewhere in it: refreshed after each change of the table below.

Run as a program it has one process killed at each point.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from imp_driver.delta.tables import DeltaTables
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.ports import ResultStream, TableDefinition
from imp_driver.reasons import ServedBy
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from imp_driver.values.view_policy import NAMESPACE, PROPERTY, QUERY
from tests.faults.lake import Lake, LakeSession
from tests.faults.scenario import CHANGES, Point, armed
from tests.forks import run_forked
from tests.soundness.engine import TableStream

VIEW = "m"
TEXT = "SELECT g, sum(a) AS f FROM r GROUP BY g"
OWN = CHANGES[:3]
_WHAT = "__imp_what"


def _both(module: str, name: str, *numbers: int) -> list[Point]:
    return [Point("refresh", f"imp_driver.{module}", name, number, is_after) for number in numbers for is_after in (False, True)]


POINTS = (
    *_both("commands.materialized", "MaterializedViews._properties", 2),
    *_both("commands.materialized", "MaterializedViews._rows", 1, 2),
    *_both("commands.materialized", "rows_of_stream", 1, 3),
    *_both("commands.materialized", "bag_changes", 1, 2, 3),
    *_both("commands.materialized", "_merging", 1, 2, 3),
    *_both("changes", "Changes.write", 1, 2, 3),
    *_both("changes", "Changes._affected", 1, 2),
    *_both("maintain.step", "read_rows", 1),
    *_both("maintain.step", "apply_rows", 2),
    *[
        Point("refresh", "tests.faults.refreshing", "RefreshingSession.append", number, is_after)
        for number in (1, 2, 3)
        for is_after in (False, True)
    ],
)


@dataclass(slots=True)
class RefreshingSession(LakeSession):
    """A session in which one table is a materialized view. It is written as Spark does it: in one commit, or not at all."""

    def execute(self, execution: Execution) -> ResultStream:
        if re.match("(SET|RESET) ", execution.text):
            return TableStream(pa.schema([]), [])
        return LakeSession.execute(self, execution)

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        if "current_schema" in text:
            return pa.table({"catalog": ["c"], "name": ["s"]})
        return LakeSession.read(self, text, execution, most_bytes)

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        properties = {PROPERTY: "STRICT", QUERY: TEXT, NAMESPACE: json.dumps(["c", "s"])}
        return TableDefinition("", (), properties, None, None) if name[-1] == VIEW else None

    def append(self, text: str, view: str, rows: pa.Table, execution: Execution) -> None:
        assert text.startswith(("MERGE INTO `m`", "INSERT INTO `m`"))
        table = DeltaTable(self.lake.location(VIEW))
        old = table.to_pyarrow_table()
        every = [(row[_WHAT], [row[name] for name in old.column_names], [*row.values()]) for row in rows.to_pylist()]
        gone = {tuple(values) for mark, values, _ in every if mark != "I"}
        kept = [row for row in old.to_pylist() if tuple(row.values()) not in gone]
        come = [values if mark == "I" else both[-len(values) :] for mark, values, both in every if mark != "D"]
        new = [dict(zip(old.column_names, values, strict=True)) for values in come]
        write_deltalake(table, pa.Table.from_pylist([*kept, *new], old.schema), mode="overwrite")


@dataclass(slots=True)
class Refreshing:
    """A process with one connection to the lake in a folder."""

    lake: Lake
    path: Middleware

    @classmethod
    def at(cls, folder: Path) -> Refreshing:
        lake, source = Lake(folder), DeltaTables()
        return cls(lake, Middleware(RefreshingSession(lake), source, Sketches(Relations(source, 1 << 30)), Options()))

    def refresh(self) -> ServedBy:
        return self.path.run(Execution(f"REFRESH MATERIALIZED VIEW {VIEW}")).report.served_by


def die_at(tables: Path, folder: Path, number: int) -> None:
    shutil.copytree(tables, folder, dirs_exist_ok=True)
    armed(POINTS[number])
    process = Refreshing.at(folder)
    process.refresh()
    for _, change in OWN:
        change(process.lake)
        process.refresh()


if __name__ == "__main__":
    tables, *places = map(Path, sys.argv[1:])
    # By the name under which its points are.
    own = import_module("tests.faults.refreshing")
    codes = run_forked(partial(own.die_at, tables, place, number) for number, place in enumerate(places))
    sys.stdout.write(json.dumps(codes))
