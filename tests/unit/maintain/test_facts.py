"""Facts from file statistics, and what a cut on a column that is no group key must cover with and without them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from imp_driver.maintain.facts import SnapshotFacts
from imp_driver.safety.intervals import UNKNOWN
from imp_driver.safety.partial import candidates, judge_partial
from imp_driver.values.tables import SchemaColumn, TableSnapshot
from tests.unit.tables import analysis_of

SCHEMA = (SchemaColumn("g", "integer", True), SchemaColumn("x", "long", True), SchemaColumn("day", "date", True))
File = tuple[int | None, int | None, int]
"""Least and greatest x, and NULLs among ten rows."""


@dataclass(frozen=True, slots=True)
class Files:
    files: tuple[File, ...]

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        return np.ones(len(self.files), np.int64)

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        return np.full(len(self.files), 10, np.int64)

    def bounds(self, column: str) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int64]]:
        lower, upper, nulls = zip(*self.files, strict=True)
        return pa.array(lower, pa.int64()), pa.array(upper, pa.int64()), np.array(nulls, np.int64)


def _facts(*files: File) -> SnapshotFacts:
    return SnapshotFacts({("t",): TableSnapshot("/t", "id", 3, SCHEMA, None, Files(files))})


def test_interval_is_that_of_all_files() -> None:
    found = _facts((3, 9, 0), (-2, 4, 1)).interval(("t",), "x")
    assert (found.low, found.high) == (Decimal(-2), Decimal(9))
    assert found.facts == {"x >= -2 AND x <= 9 in t"}


def test_a_file_of_nothing_but_nulls_matters_not() -> None:
    assert _facts((3, 9, 0), (None, None, 10)).interval(("t",), "x").low == 3


@pytest.mark.parametrize("files", [((3, 9, 0), (None, None, 9)), ((3, 9, 0), (None, None, -1)), ((None, None, 10),)])
def test_a_file_without_bounds_leaves_the_column_unknown(files: tuple[File, ...]) -> None:
    assert _facts(*files).interval(("t",), "x") == UNKNOWN


def test_other_types_and_tables_are_unknown() -> None:
    assert _facts((3, 9, 0)).interval(("t",), "day") == UNKNOWN
    assert _facts((3, 9, 0)).interval(("s",), "x") == UNKNOWN


@pytest.mark.parametrize(
    ("having", "least", "covered"),
    [
        ("sum(x) > 5", 0, {0}),
        ("sum(x) > 5", -1, None),
        ("sum(x) > 5 AND avg(x) < 3", 0, {0}),
        ("avg(x) < 3 AND sum(x) > 5 AND count(*) < 9", 0, {1}),
        ("count(*) BETWEEN 3 AND 5", -1, {0}),
        ("count(*) < 5", 0, None),
        ("max(x) > 5 OR count(*) > 2", -1, {0}),
    ],
)
def test_conditions_that_part_of_a_group_could_satisfy_are_not_covered(having: str, least: int, covered: set[int] | None) -> None:
    block = analysis_of(f"SELECT g FROM t GROUP BY g HAVING {having}", SCHEMA).plan
    day = next(cut for cut in candidates(block) if cut.attribute.name == "day")
    found = judge_partial(block, [day], _facts((least, 9, 0)), checks_overflow=True)
    assert (None if found is None else set(found.conditions)) == covered


def test_an_overflow_that_raises_no_error_proves_nothing() -> None:
    block = analysis_of("SELECT g FROM t GROUP BY g HAVING sum(x) > 5", SCHEMA).plan
    day = next(cut for cut in candidates(block) if cut.attribute.name == "day")
    assert judge_partial(block, [day], _facts((0, 9, 0)), checks_overflow=False) is None


@pytest.mark.parametrize(("order", "has_limit"), [("sum(x) DESC, g", True), ("sum(x), g", None)])
def test_first_groups_are_covered_when_no_part_moves_ahead(order: str, has_limit: bool | None) -> None:
    block = analysis_of(f"SELECT g FROM t GROUP BY g ORDER BY {order} LIMIT 3", SCHEMA).plan
    day = next(cut for cut in candidates(block) if cut.attribute.name == "day")
    found = judge_partial(block, [day], _facts((0, 9, 0)), checks_overflow=True)
    assert (None if found is None else found.has_limit) is has_limit
