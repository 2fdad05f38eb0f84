"""Classes of commits, and the rows of those that are read in process; tables by delta-rs, no JVM."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field, write_deltalake
from deltalake.schema import PrimitiveType

from imp_driver.delta.history import Limits
from imp_driver.delta.tables import DeltaTables
from imp_driver.reasons import DeltaSource, RecaptureReason
from imp_driver.values.tables import WEIGHT_COLUMN, ChangePlan, ChangesUnavailable
from tests.unit.delta.signed import as_multiset, difference

FEED = {"delta.enableChangeDataFeed": "true"}
BY_SPARK = Limits(rows=-1, bytes=-1)


def rows(*values: int | None) -> pa.Table:
    return pa.table({"a": pa.array(values, pa.int64()), "s": pa.array([None if value is None else f"v{value}" for value in values])})


def write(folder: Path, table: pa.Table, **options: Any) -> None:
    write_deltalake(str(folder), table, **{"mode": "append", **options})


def plan_all(folder: Path, after: int, limits: Limits | None = None) -> tuple[DeltaTables, ChangePlan]:
    tables = DeltaTables(limits)
    snapshot = tables.snapshot(str(folder))
    return tables, tables.plan(str(folder), snapshot.table_id, after, snapshot.version)


def assert_exact(folder: Path, after: int, source: DeltaSource) -> None:
    tables, plan = plan_all(folder, after)
    assert plan.source is source
    before, now = DeltaTable(str(folder), version=after).to_pyarrow_table(), DeltaTable(str(folder)).to_pyarrow_table()
    signed = tables.read(plan, tuple(now.column_names))
    assert signed.rows.num_rows == len(signed.weights)
    assert plan.rows is None or (
        plan.rows >= len(signed.weights) if source is DeltaSource.CHANGED_FILES else plan.rows == len(signed.weights)
    )
    assert difference(as_multiset(before), as_multiset(signed.rows, signed.weights.tolist()), as_multiset(now)) == {}


def assert_unavailable(folder: Path, after: int, reason: RecaptureReason, limits: Limits | None = None) -> None:
    with pytest.raises(ChangesUnavailable) as caught:
        plan_all(folder, after, limits)
    assert caught.value.reason is reason


@pytest.mark.parametrize("configuration", [{}, FEED])
def test_appends(tmp_path: Path, configuration: dict[str, str]) -> None:
    write(tmp_path, rows(1, 1, None), configuration=configuration)
    write(tmp_path, rows(1, 2, None))
    write(tmp_path, rows(3))
    source = DeltaSource.CHANGE_FEED if configuration else DeltaSource.ADDED_FILES
    for after in range(2):
        assert_exact(tmp_path, after, source)


def test_only_asked_columns_in_their_order_and_standard_types(tmp_path: Path) -> None:
    write(tmp_path, rows(1))
    write(tmp_path, pa.table({"a": pa.array([2], pa.int64()), "s": pa.array(["x"], pa.string_view())}))
    tables, plan = plan_all(tmp_path, 0)
    assert tables.read(plan, ("s", "a")).rows.schema == pa.schema([("s", pa.string()), ("a", pa.int64())])
    nothing = tables.read(plan, ())
    assert nothing.rows.num_columns == 0
    assert nothing.weights.tolist() == [1]


def test_delete_and_update_with_change_feed(tmp_path: Path) -> None:
    write(tmp_path, rows(1, 1, 2, None, 5), configuration=FEED)
    DeltaTable(str(tmp_path)).delete("a = 1")
    DeltaTable(str(tmp_path)).update(updates={"a": "a + 10"}, predicate="a = 2")
    DeltaTable(str(tmp_path)).delete()
    for after in range(3):
        assert_exact(tmp_path, after, DeltaSource.CHANGE_FEED)


def test_overwrite_with_change_feed(tmp_path: Path) -> None:
    write(tmp_path, rows(1, 2), configuration=FEED)
    write(tmp_path, rows(2, 3), mode="overwrite")
    assert_exact(tmp_path, 0, DeltaSource.CHANGE_FEED)


def test_overwrite_without_change_feed(tmp_path: Path) -> None:
    write(tmp_path, rows(1, 2))
    write(tmp_path, rows(2, 3), mode="overwrite")
    assert_exact(tmp_path, 0, DeltaSource.CHANGED_FILES)
    assert_unavailable(tmp_path, 0, RecaptureReason.RESTORED, BY_SPARK)


def test_partial_overwrite_is_told_by_its_files(tmp_path: Path) -> None:
    write(tmp_path, rows(1, 2))
    write(tmp_path, rows(2, 2), mode="overwrite", predicate="a = 2")
    assert_exact(tmp_path, 0, DeltaSource.CHANGED_FILES)
    _, plan = plan_all(tmp_path, 0, BY_SPARK)
    assert plan.source is DeltaSource.SPARK_FILES


def test_large_ranges_go_to_spark(tmp_path: Path) -> None:
    write(tmp_path, rows(1), configuration=FEED)
    write(tmp_path, rows(*range(11)))
    _, plan = plan_all(tmp_path, 0, Limits(rows=10))
    assert (plan.source, plan.rows) == (DeltaSource.SPARK_CHANGE_FEED, 11)
    assert plan.relation is not None
    assert WEIGHT_COLUMN in plan.relation
    assert plan_all(tmp_path, 0, Limits(rows=11))[1].source is DeltaSource.CHANGE_FEED


def test_rows_that_a_writer_copied_are_no_change(tmp_path: Path) -> None:
    write(tmp_path, rows(1, 2, 2, None, 3))
    DeltaTable(str(tmp_path)).delete("a = 1")
    DeltaTable(str(tmp_path)).update(updates={"s": "'new'"}, predicate="a = 3")
    write(tmp_path, rows(2))
    DeltaTable(str(tmp_path)).optimize.compact()
    for after in range(4):
        assert_exact(
            tmp_path, after, DeltaSource.ADDED_FILES if after == 2 else DeltaSource.NONE if after == 3 else DeltaSource.CHANGED_FILES
        )
    tables, plan = plan_all(tmp_path, 0)
    signed = tables.read(plan, ("s",))
    assert sorted(zip(signed.rows.column("s").to_pylist(), signed.weights.tolist(), strict=True)) == [
        ("new", 1),
        ("v1", -1),
        ("v2", 1),
        ("v3", -1),
    ]
    other, plan = plan_all(tmp_path, 0)
    assert as_multiset(other.read(plan, ("a",)).rows) == {(1,): 1, (2,): 1}


def test_what_is_too_much_to_compare_goes_to_spark(tmp_path: Path) -> None:
    write(tmp_path, rows(1, 2))
    DeltaTable(str(tmp_path)).delete("a = 1")
    tables, plan = plan_all(tmp_path, 0, BY_SPARK)
    assert plan.source is DeltaSource.SPARK_FILES
    with pytest.raises(ChangesUnavailable) as caught:
        tables.read(plan, ("a",))
    assert caught.value.reason is RecaptureReason.CHANGES_UNREADABLE


def test_many_files_are_too_many_for_a_relation(tmp_path: Path) -> None:
    write(tmp_path, pa.table({"p": list(range(6)), "v": [0] * 6}), partition_by=["p"])
    DeltaTable(str(tmp_path)).delete("p > 0")
    assert_unavailable(tmp_path, 0, RecaptureReason.DELTA_TOO_LARGE, replace(BY_SPARK, files=4))
    assert plan_all(tmp_path, 0, replace(BY_SPARK, files=5))[1].source is DeltaSource.SPARK_FILES


def test_commits_that_change_no_rows(tmp_path: Path) -> None:
    write(tmp_path, rows(1))
    write(tmp_path, rows(2))
    table = DeltaTable(str(tmp_path))
    table.optimize.compact()
    table.alter.set_table_properties({"delta.logRetentionDuration": "interval 40 days"})
    table.alter.set_table_description("harmless")
    newest = DeltaTable(str(tmp_path)).version()
    (tmp_path / "_delta_log" / f"{newest + 1:020d}.json").write_text('{"commitInfo":{"timestamp":1,"operation":"WRITE"}}\n')
    tables, plan = plan_all(tmp_path, 1)
    assert (plan.source, plan.rows) == (DeltaSource.NONE, 0)
    empty = tables.read(plan, ("s",))
    assert empty.rows.schema == pa.schema([("s", pa.string())])
    assert len(empty.weights) == 0
    same = tables.plan(str(tmp_path), tables.snapshot(str(tmp_path)).table_id, 2, 2)
    assert same.source is DeltaSource.NONE


def test_compaction_between_changes_counts_nothing_twice(tmp_path: Path) -> None:
    write(tmp_path, rows(1, 2), configuration=FEED)
    write(tmp_path, rows(2))
    DeltaTable(str(tmp_path)).optimize.compact()
    DeltaTable(str(tmp_path)).delete("a = 2")
    for after in range(3):
        assert_exact(tmp_path, after, DeltaSource.CHANGE_FEED)


def test_change_feed_switched_on_in_the_middle(tmp_path: Path) -> None:
    write(tmp_path, rows(1))
    write(tmp_path, rows(2))
    DeltaTable(str(tmp_path)).alter.set_table_properties(FEED)
    write(tmp_path, rows(3))
    assert_exact(tmp_path, 0, DeltaSource.ADDED_FILES)
    assert_exact(tmp_path, 1, DeltaSource.CHANGE_FEED)


def test_new_column_and_older_plan_of_a_newer_table(tmp_path: Path) -> None:
    write(tmp_path, rows(1))
    write(tmp_path, rows(2))
    DeltaTable(str(tmp_path)).alter.add_columns(Field("n", PrimitiveType("integer")))
    write(tmp_path, pa.table({"a": [3], "s": ["v3"], "n": pa.array([None], pa.int32())}))
    tables, plan = plan_all(tmp_path, 1)
    assert plan.columns == frozenset({"a", "s"})
    assert as_multiset(tables.read(plan, ("s",)).rows) == {("v3",): 1}
    with pytest.raises(ChangesUnavailable) as caught:
        tables.read(plan, ("s", "n"))
    assert caught.value.reason is RecaptureReason.TABLE_REPLACED
    assert_exact(tmp_path, 2, DeltaSource.ADDED_FILES)
    tables = DeltaTables()
    older = tables.plan(str(tmp_path), tables.snapshot(str(tmp_path)).table_id, 0, 1)
    assert as_multiset(tables.read(older, ("a",)).rows) == {(2,): 1}
    with pytest.raises(ChangesUnavailable):
        tables.read(older, ("n",))


def test_files_without_a_new_column_give_null(tmp_path: Path) -> None:
    write(tmp_path, rows(1), configuration=FEED)
    DeltaTable(str(tmp_path)).alter.add_columns(Field("n", PrimitiveType("integer")))
    DeltaTable(str(tmp_path)).delete()
    tables, plan = plan_all(tmp_path, 1)
    signed = tables.read(plan, ("n", "a"))
    assert signed.rows.to_pydict() == {"n": [None], "a": [1]}
    assert signed.weights.tolist() == [-1]


@pytest.mark.parametrize("configuration", [{}, FEED])
def test_restore(tmp_path: Path, configuration: dict[str, str]) -> None:
    write(tmp_path, rows(1), configuration=configuration)
    write(tmp_path, rows(2))
    DeltaTable(str(tmp_path)).restore(0)
    assert_unavailable(tmp_path, 1, RecaptureReason.RESTORED)


def test_replaced_table(tmp_path: Path) -> None:
    write(tmp_path, rows(1))
    write(tmp_path, pa.table({"other": [1]}), mode="overwrite", schema_mode="overwrite")
    assert_unavailable(tmp_path, 0, RecaptureReason.TABLE_REPLACED)


def test_recreated_table_is_not_the_one_meant(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    write(folder, rows(1))
    tables = DeltaTables()
    table_id = tables.snapshot(str(folder)).table_id
    shutil.rmtree(folder)
    for value in range(3):
        write(folder, rows(value))
    with pytest.raises(ChangesUnavailable) as caught:
        tables.plan(str(folder), table_id, 0, 2)
    assert caught.value.reason is RecaptureReason.TABLE_REPLACED
    shutil.rmtree(folder)
    with pytest.raises(ChangesUnavailable) as caught:
        tables.plan(str(folder), table_id, 0, 2)
    assert caught.value.reason is RecaptureReason.TABLE_REPLACED


def test_cleaned_log(tmp_path: Path) -> None:
    for value in range(4):
        write(tmp_path, rows(value))
    DeltaTable(str(tmp_path)).create_checkpoint()
    for version in range(2):
        (tmp_path / "_delta_log" / f"{version:020d}.json").unlink()
    assert_unavailable(tmp_path, 0, RecaptureReason.HISTORY_GONE)
    tables, plan = plan_all(tmp_path, 1)
    assert sorted(tables.read(plan, ("a",)).rows.column("a").to_pylist()) == [2, 3]


def test_damaged_commit(tmp_path: Path) -> None:
    for value in range(3):
        write(tmp_path, rows(value))
    tables = DeltaTables()
    snapshot = tables.snapshot(str(tmp_path))
    (tmp_path / "_delta_log" / f"{1:020d}.json").write_text('{"add": {')
    with pytest.raises(ChangesUnavailable) as caught:
        tables.plan(str(tmp_path), snapshot.table_id, 0, 2)
    assert caught.value.reason is RecaptureReason.CHANGES_UNREADABLE


def test_vacuumed_files(tmp_path: Path) -> None:
    write(tmp_path, rows(1, 2), configuration=FEED)
    DeltaTable(str(tmp_path)).delete("a = 1")
    tables, plan = plan_all(tmp_path, 0)
    for file in tmp_path.rglob("*.parquet"):
        file.unlink()
    with pytest.raises(ChangesUnavailable) as caught:
        tables.read(plan, ("a",))
    assert caught.value.reason is RecaptureReason.HISTORY_GONE
    assert_unavailable(tmp_path, 0, RecaptureReason.HISTORY_GONE)


def test_damaged_file(tmp_path: Path) -> None:
    write(tmp_path, rows(1))
    write(tmp_path, rows(2))
    tables, plan = plan_all(tmp_path, 0)
    for file in tmp_path.rglob("*.parquet"):
        file.write_bytes(b"no parquet")
    with pytest.raises(ChangesUnavailable) as caught:
        tables.read(plan, ("a",))
    assert caught.value.reason is RecaptureReason.CHANGES_UNREADABLE


def test_partition_values_are_typed(tmp_path: Path) -> None:
    keys = pa.table(
        {
            "p x": pa.array(["a/b c%20", None]),
            "d": [dt.date(2024, 1, 1), dt.date(1, 1, 1)],
            "i": pa.array([-1, 2], pa.int32()),
            "b": [True, False],
            "v": [1, 2],
        }
    )
    write(tmp_path, keys, partition_by=["p x", "d", "i", "b"], configuration=FEED)
    write(tmp_path, keys)
    assert_exact(tmp_path, 0, DeltaSource.CHANGE_FEED)
    DeltaTable(str(tmp_path)).delete("v = 1")
    assert_exact(tmp_path, 0, DeltaSource.CHANGE_FEED)


def test_partition_timestamp_without_zone_is_refused(tmp_path: Path) -> None:
    """Old writers wrote the wall clock of a zone that nobody recorded."""
    key = pa.array([dt.datetime(2024, 1, 1, tzinfo=dt.UTC)], pa.timestamp("us", "UTC"))
    write(tmp_path, pa.table({"v": [1], "t": key}), partition_by=["t"])
    write(tmp_path, pa.table({"v": [2], "t": key}))
    log = tmp_path / "_delta_log" / f"{1:020d}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if "add" in action:
            action["add"]["partitionValues"]["t"] = "2024-01-01 00:00:00"
    log.write_text("\n".join(map(json.dumps, actions)))
    tables, plan = plan_all(tmp_path, 0)
    assert tables.read(plan, ("v",)).rows.to_pydict() == {"v": [2]}
    with pytest.raises(ChangesUnavailable) as caught:
        tables.read(plan, ("t",))
    assert caught.value.reason is RecaptureReason.CHANGES_UNREADABLE


def test_commit_metrics_are_whole_numbers(tmp_path: Path) -> None:
    write(tmp_path, rows(1, 2, 3))
    DeltaTable(str(tmp_path)).delete("a = 1")
    tables = DeltaTables()
    assert tables.commit_metrics(str(tmp_path), 1)["num_deleted_rows"] == 1
    assert tables.commit_metrics(str(tmp_path), 99) == {}


def test_vector_that_cannot_be_located(tmp_path: Path) -> None:
    for value in range(3):
        write(tmp_path, rows(value))
    tables = DeltaTables()
    snapshot = tables.snapshot(str(tmp_path))
    log = tmp_path / "_delta_log" / f"{1:020d}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if "add" in action:
            action["add"]["deletionVector"] = {"storageType": "u", "pathOrInlineDv": "~" * 20, "sizeInBytes": 1, "cardinality": 1}
    log.write_text("\n".join(map(json.dumps, actions)))
    with pytest.raises(ChangesUnavailable) as caught:
        tables.plan(str(tmp_path), snapshot.table_id, 0, 2)
    assert caught.value.reason is RecaptureReason.CHANGES_UNREADABLE
