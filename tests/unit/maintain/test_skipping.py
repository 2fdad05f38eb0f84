"""Which files the query's own conditions leave, and what is learnt from captures that were of no use."""

from __future__ import annotations

import datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from imp_driver.maintain.data_skipping import kept_by_conditions
from imp_driver.plan.bind import bind
from imp_driver.state.admission import Admission
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import analysis_of

SCHEMA = (SchemaColumn("a", "integer", True), SchemaColumn("d", "date", True), SchemaColumn("s", "string", True))
DAYS = [datetime.date(2024, month, 1) for month in range(1, 6)]


class _Files:
    """Four files: a from 0, 10, 20, 30 to 9, 19, 29, 39, NULL in the last; d from month to month; nothing known of s."""

    sizes = np.array([100, 100, 100, 700], np.int64)
    rows = np.array([10, 10, 10, 10], np.int64)

    def bounds(self, column: str) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int64]]:
        if column == "a":
            return pa.array([0, 10, 20, 30], pa.int32()), pa.array([9, 19, 29, 39], pa.int32()), np.array([0, 0, 0, 3], np.int64)
        if column == "d":
            return pa.array(DAYS[:4], pa.date32()), pa.array(DAYS[1:], pa.date32()), np.zeros(4, np.int64)
        return pa.nulls(4, pa.string()), pa.nulls(4, pa.string()), np.full(4, -1, np.int64)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("a = 17", [1]),
        ("a IN (3, 35)", [0, 3]),
        ("a BETWEEN 5 AND 12", [0, 1]),
        ("a > 25 AND s = 'x'", [2, 3]),
        ("a > 25 OR s = 'x'", [0, 1, 2, 3]),
        ("NOT a > 15", [0, 1]),
        ("a IS NULL", [3]),
        ("a + 10 > 45", [3]),
        ("d >= DATE'2024-03-15'", [2, 3]),
        ("upper(s) = 'X'", [0, 1, 2, 3]),
        ("a > 1000", []),
    ],
)
def test_files_that_conditions_leave(condition: str, expected: list[int]) -> None:
    analysis = analysis_of(f"SELECT a FROM r WHERE {condition}", SCHEMA)
    block = bind(analysis.block, None, analysis.columns)
    kept = kept_by_conditions(_Files(), block.where, analysis.columns, {each.name: each.name for each in SCHEMA})
    assert np.flatnonzero(kept).tolist() == expected


def test_without_conditions_every_file_is_left() -> None:
    assert kept_by_conditions(_Files(), None, {}, {}).all()


def test_captures_that_were_of_no_use_become_rarer() -> None:
    admission = Admission()
    assert not any(admission.is_tired("t") for _ in range(5))
    for _ in range(3):
        admission.learn("t", is_useful=False)
    assert [admission.is_tired("t") for _ in range(2)] == [True, False]
    admission.learn("t", is_useful=False)
    assert [admission.is_tired("t") for _ in range(4)] == [True, True, True, False]
    assert not admission.is_tired("other")
    admission.learn("t", is_useful=True)
    assert not admission.is_tired("t")
