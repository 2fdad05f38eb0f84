"""The table-format seam: a format of lists in memory is all that the driver needs to capture, maintain and use sketches."""

from __future__ import annotations

import inspect
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.delta.tables import DeltaTables
from imp_driver.errors import OperationalError
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.ports import ResultStream
from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from imp_driver.values.tables import (
    WEIGHT_COLUMN,
    ChangePlan,
    ChangeSource,
    ChangesUnavailable,
    SchemaColumn,
    TableSnapshot,
    ZSet,
    at_version,
)
from tests.soundness.engine import DuckSession, Row, Warehouse

COLUMNS = ("id", "g", "x", "a")
QUERY = "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > {}"
STEP = 10
"""Between the version numbers of two commits."""


@dataclass(frozen=True, slots=True)
class ListFiles:
    """Ten rows to a file; ``is_known`` False is a format that keeps no statistics."""

    parts: tuple[tuple[Row, ...], ...]
    is_known: bool

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        return np.array([100 * len(part) for part in self.parts], np.int64)

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        return np.array([len(part) if self.is_known else -1 for part in self.parts], np.int64)

    def bounds(self, column: str) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int64]]:
        if not self.is_known:
            return pa.nulls(len(self.parts), pa.int32()), pa.nulls(len(self.parts), pa.int32()), np.full(len(self.parts), -1)
        place = COLUMNS.index(column)
        values = [[row[place] for row in part if row[place] is not None] for part in self.parts]
        lower, upper = ([function(each, default=None) for each in values] for function in (min, max))  # type: ignore[type-var]
        nulls = [len(part) - len(each) for part, each in zip(self.parts, values, strict=True)]
        return pa.array(lower, pa.int32()), pa.array(upper, pa.int32()), np.array(nulls, np.int64)


@dataclass(slots=True)
class Lists:
    """A table format: every version of one table is a list of rows.

    ``is_known`` says that there are statistics, ``oldest`` from which version changes are kept, ``by_engine`` that the engine reads them.
    """

    versions: list[list[Row]] = field(default_factory=list)
    table_id: str = "first"
    is_known: bool = True
    oldest: int = 0
    by_engine: bool = False
    read_rows: int = 0

    def snapshot(self, location: str) -> TableSnapshot:
        if location != "/r":
            raise OperationalError(f"There is no list at {location}.")
        rows = sorted(self.versions[-1], key=lambda row: row[1] or 0)
        files = ListFiles(tuple(tuple(rows[start : start + 10]) for start in range(0, len(rows), 10)), self.is_known)
        schema = tuple(SchemaColumn(column, "integer", True) for column in COLUMNS)
        return TableSnapshot(location, self.table_id, (len(self.versions) - 1) * STEP, schema, len(rows) if self.is_known else None, files)

    def snapshot_at(self, location: str, version: int) -> TableSnapshot:
        raise OperationalError("This format keeps no versions.")

    def version_at(self, location: str, moment: float) -> int:
        raise OperationalError("This format keeps no times.")

    def plan(self, location: str, table_id: str, from_version: int, to_version: int) -> ChangePlan:
        if table_id != self.table_id:
            raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, "another list")
        if from_version < self.oldest:
            raise ChangesUnavailable(RecaptureReason.HISTORY_GONE, "forgotten")
        signed = self._signed(from_version, to_version)
        if not self.by_engine:
            return ChangePlan(location, from_version, to_version, DeltaSource.ADDED_FILES, len(signed))
        values = ", ".join(f"({', '.join(map(str, row))}, {weight})" for row, weight in signed)
        relation = f"(SELECT * FROM (VALUES {values}) AS v ({', '.join(COLUMNS)}, {WEIGHT_COLUMN}))"
        return ChangePlan(location, from_version, to_version, DeltaSource.SPARK_FILES, len(signed), relation)

    def read(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet:
        signed = self._signed(plan.from_version, plan.to_version)
        self.read_rows += len(signed)
        rows = {name: pa.array([row[COLUMNS.index(name)] for row, _ in signed], pa.int32()) for name in columns}
        return ZSet(pa.table(rows), np.array([weight for _, weight in signed], np.int64))

    def rows_with(self, snapshot: TableSnapshot, columns: tuple[str, ...], key: str, values: pa.Array) -> ZSet | None:
        return None

    def commit_digest(self, location: str, version: int) -> str | None:
        return f"{self.table_id} {version}"

    def commit_metrics(self, location: str, version: int) -> dict[str, int]:
        return {}

    def _signed(self, after: int, up_to: int) -> list[tuple[Row, int]]:
        before, then = (Counter(self.versions[version // STEP]) for version in (after, up_to))
        return [(row, 1) for row in (then - before).elements()] + [(row, -1) for row in (before - then).elements()]


class Engine(DuckSession):
    """The engine knows the format's version numbers."""

    def execute(self, execution: Execution) -> ResultStream:
        return super().execute(execution.with_text(_own_versions(execution.text)))

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        return super().read(_own_versions(text), execution, most_bytes)


def _own_versions(text: str) -> str:
    return re.sub(r"(?<=VERSION AS OF )\d+", lambda found: str(int(found[0]) // STEP), text)


class House:
    """A warehouse of the format with one connection."""

    def __init__(self) -> None:
        self.lists, self.warehouse = Lists(), Warehouse()
        self.warehouse.commit("s", [])
        chance = random.Random(5)
        self.commit([(number, number // 10, number % 7, chance.randint(0, 9)) for number in range(400)])
        self.driver = Middleware(Engine(self.warehouse), self.lists, Sketches(Relations(self.lists, 1 << 20)), Options(answers=False))

    def commit(self, rows: list[Row]) -> None:
        self.lists.versions.append(rows)
        self.warehouse.commit("r", rows)

    def change(self) -> None:
        rows = self.lists.versions[-1]
        self.commit([*rows[5:], (900 + len(self.lists.versions), 3, 1, 40)])

    def asked(self, low: int = 55) -> tuple[Decision, Reason]:
        """Ask, compare the rows with plain ones, and return what was done about the sketch."""
        outcome = self.driver.run(Execution(QUERY.format(low)))
        rows: list[dict[str, object]] = []
        while outcome.stream is not None and (batch := outcome.stream.next_batch()) is not None:
            rows += batch.to_pylist()
        plain = self.warehouse.query(QUERY.format(low)).to_pylist()
        assert sorted(map(repr, rows)) == sorted(map(repr, plain))
        assert plain
        return outcome.report.decision, outcome.report.reason


def members(kind: type) -> dict[str, str]:
    own = {name: value for name, value in vars(kind).items() if inspect.isfunction(value) and not name.startswith("_")}
    return {name: str(inspect.signature(value)) for name, value in own.items()}


def test_the_seam_is_eight_methods_which_delta_brings() -> None:
    assert Protocol in ChangeSource.__mro__
    assert set(members(ChangeSource)) == {
        "snapshot",
        "snapshot_at",
        "version_at",
        "plan",
        "read",
        "rows_with",
        "commit_metrics",
        "commit_digest",
    }
    for kind in (DeltaTables, Lists):
        assert {name: text for name, text in members(kind).items() if name in members(ChangeSource)} == members(ChangeSource)


def test_a_round_of_capture_maintenance_and_use() -> None:
    house = House()
    assert house.asked() == (Decision.CAPTURED, Reason.FILTERED)
    assert house.asked(58) == (Decision.FRESH, Reason.FILTERED)
    for _ in range(3):
        house.change()
        assert house.asked() == (Decision.MAINTAINED, Reason.FILTERED)
    assert house.lists.read_rows == 3 * 6


def test_changes_that_the_engine_reads() -> None:
    house = House()
    house.lists.by_engine = True
    house.asked()
    house.change()
    assert house.asked() == (Decision.MAINTAINED, Reason.FILTERED)
    assert house.lists.read_rows == 0


def test_changes_that_are_not_to_be_had() -> None:
    house = House()
    house.asked()
    house.change()
    house.lists.oldest = STEP
    decisions = [house.asked()[0] for _ in range(2)]
    assert Decision.RECAPTURED in decisions
    assert Decision.MAINTAINED not in decisions


def test_another_table_in_the_same_place() -> None:
    house = House()
    house.asked()
    house.lists.table_id = "second"
    house.change()
    assert house.asked()[0] is Decision.CAPTURED


def test_a_format_without_statistics_runs_unchanged() -> None:
    house = House()
    house.lists.is_known = False
    assert house.asked()[0] is Decision.NOT_USED


def test_time_travel_is_in_the_words_of_the_engine() -> None:
    assert at_version("`a`.`t`", 3) == "`a`.`t` VERSION AS OF 3"
    house = House()
    house.change()
    house.asked()
    report = house.driver.run(Execution(QUERY.format(60))).report
    assert f"VERSION AS OF {STEP}" in report.executed_sql
    assert report.version == STEP
