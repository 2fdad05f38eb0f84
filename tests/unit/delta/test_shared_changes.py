"""Columns of one step that are read one after the other, by several relations: as if each had been read from the files; no JVM."""

from __future__ import annotations

from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st

from imp_driver.delta import kept_changes, shared_changes
from imp_driver.delta.tables import DeltaTables
from tests.unit.delta.deleting import delete_rows
from tests.unit.delta.reads import counted_reads
from tests.unit.delta.signed import as_multiset

FEED = {"delta.enableChangeDataFeed": "true"}
SUBSETS = st.lists(st.sampled_from(["x", "p", "s"]), min_size=1, max_size=3, unique=True)


def append(folder: str, numbers: range, partitions: list[str], *, feed: bool) -> None:
    rows = {"x": list(numbers), "p": [number % 2 for number in numbers], "s": [str(number // 3) for number in numbers]}
    write_deltalake(folder, pa.table(rows), mode="append", partition_by=partitions, configuration=FEED if feed else None)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_columns_fit_together_however_they_are_asked_for(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_changes, "MOST_BYTES", data.draw(st.sampled_from([0, 100, 1 << 20]), "bytes"))
        patch.setattr(kept_changes, "MOST_BYTES", data.draw(st.sampled_from([0, 1 << 20]), "decoded"))
        partitions, feed = data.draw(st.sampled_from([[], ["p"], ["s"]])), data.draw(st.booleans(), "feed")
        for start in (0, 4):
            append(folder, range(start, start + 4), partitions, feed=feed)
        shared = DeltaTables()
        before = shared.snapshot(folder)
        if data.draw(st.booleans(), "vectors"):
            # delta-rs does not write to a table with deletion vectors.
            delete_rows(folder, "x", data.draw(st.sets(st.integers(0, 7), min_size=1)))
        else:
            for each in range(data.draw(st.integers(1, 2), "commits")):
                if data.draw(st.booleans(), "append"):
                    append(folder, range(8 + 2 * each, 10 + 2 * each), partitions, feed=feed)
                else:
                    DeltaTable(folder).delete(f"x = {data.draw(st.integers(0, 7))}")
        for _ in range(data.draw(st.integers(1, 5), "relations")):
            last = data.draw(st.integers(before.version, shared.snapshot(folder).version), "version")
            names = tuple(data.draw(SUBSETS))
            alone = DeltaTables()
            alone.snapshot(folder)
            plans = [each.plan(folder, before.table_id, before.version, last) for each in (shared, alone)]
            if plans[0].relation is not None:
                continue
            found, expected = (each.read(plan, names) for each, plan in zip((shared, alone), plans, strict=True))
            assert found.rows.schema == expected.rows.schema
            assert as_multiset(found.rows, found.weights) == as_multiset(expected.rows, expected.weights)


def test_a_second_relation_reads_no_file(tmp_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tmp_path)
    append(folder, range(4), [], feed=True)
    tables = DeltaTables()
    before = tables.snapshot(folder)
    DeltaTable(folder).delete("x = 1")
    monkeypatch.setattr(kept_changes, "MOST_BYTES", 0)
    pieces = counted_reads(monkeypatch)
    now = tables.snapshot(folder)
    for names in (("x", "s"), ("s",), ("x",), ("p",), ("s", "p")):
        assert len(tables.read(tables.plan(folder, now.table_id, before.version, now.version), names).weights) == 1
    assert len(pieces) == 2


def test_a_small_file_is_opened_once_for_all_that_was_asked_for_lately(tmp_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tmp_path)
    append(folder, range(4), [], feed=True)
    tables = DeltaTables()
    monkeypatch.setattr(kept_changes, "MOST_BYTES", 0)
    for number, opened in ((1, 3), (2, 1)):
        before = tables.snapshot(folder)
        DeltaTable(folder).delete(f"x = {number}")
        pieces = counted_reads(monkeypatch)
        now = tables.snapshot(folder)
        for name in ("x", "s", "p"):
            assert len(tables.read(tables.plan(folder, now.table_id, before.version, now.version), (name,)).weights) == 1
        assert len(pieces) == opened
