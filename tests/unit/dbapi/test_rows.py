"""Rows that Python cannot hold."""

from __future__ import annotations

import pyarrow as pa
import pytest

from imp_driver.dbapi.rows import Rows
from imp_driver.errors import DataError
from tests.soundness.engine import TableStream


def test_a_date_that_python_has_not_is_an_error_of_the_driver_and_loses_no_row() -> None:
    days = pa.array([0, 2_932_897], pa.int32()).cast(pa.date32())
    rows = Rows(TableStream(pa.schema([("d", pa.date32())]), [pa.record_batch([days], names=["d"])]))
    for _ in range(2):
        with pytest.raises(DataError, match=r"Column .d. .* years 1 to 9999"):
            rows.take(None)
    assert [batch.column(0).equals(days) for batch in rows.batches()] == [True]
