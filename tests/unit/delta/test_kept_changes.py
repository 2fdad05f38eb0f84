"""Rows that deletion vectors take away, from kept columns and from files, against the rows that were deleted; no JVM."""

from __future__ import annotations

from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imp_driver.delta import kept_changes
from imp_driver.delta.tables import DeltaTables
from tests.unit.delta.deleting import delete_rows
from tests.unit.delta.reads import counted_reads
from tests.unit.delta.signed import as_multiset

FEED = {"delta.enableChangeDataFeed": "true"}
FILES = 3
ROWS = 5


def written(folder: str, partitions: list[str]) -> pa.Table:
    for file in range(FILES):
        numbers = range(file * ROWS, file * ROWS + ROWS)
        rows = {
            "x": list(numbers),
            "p": [number % 2 for number in numbers],
            "s": [None if number % 3 else str(number) for number in numbers],
        }
        write_deltalake(
            folder, pa.table(rows), mode="append", partition_by=partitions, configuration={"delta.enableChangeDataFeed": "true"}
        )
    return DeltaTable(folder).to_pyarrow_table()


@pytest.mark.parametrize("most", [0, 1_000_000])
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_deleted_rows_come_with_weight_minus_one(most: int, data: st.DataObject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_changes, "MOST_ROWS", most)
    tables = DeltaTables()
    with TemporaryDirectory() as folder:
        every = written(folder, data.draw(st.sampled_from([[], ["p"]])))
        before = tables.snapshot(folder)
        gone: set[int] = set()
        for _ in range(data.draw(st.integers(1, 3))):
            gone |= data.draw(st.sets(st.integers(0, FILES * ROWS - 1)))
            delete_rows(folder, "x", gone)
            now = tables.snapshot(folder)
            signed = tables.read(tables.plan(folder, now.table_id, before.version, now.version), ("s", "x", "p"))
            deleted = every.filter(pc.is_in(every.column("x"), value_set=pa.array(gone, pa.int64()))).select(["s", "x", "p"])
            assert as_multiset(signed.rows, signed.weights) == as_multiset(deleted, [-1] * len(deleted))


def test_a_file_is_decoded_once_for_deletes_that_follow_each_other(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tmp_path_factory.mktemp("differences"))
    written(folder, [])
    pieces = counted_reads(monkeypatch)

    tables = DeltaTables()
    for number in range(3):
        before = tables.snapshot(folder)
        delete_rows(folder, "x", set(range(number + 1)))
        now = tables.snapshot(folder)
        assert len(tables.read(tables.plan(folder, now.table_id, before.version, now.version), ("s",)).weights) == 1
    assert len(pieces) == 1
