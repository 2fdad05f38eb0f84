"""Signed rows of tables that Spark wrote: version + changes = later version, as multisets, whoever reads the changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from imp_driver.delta.history import Limits
from imp_driver.delta.tables import DeltaTables
from imp_driver.reasons import DeltaSource, RecaptureReason
from imp_driver.values.tables import WEIGHT_COLUMN, ChangesUnavailable
from tests.seeds import WIDE, of_today
from tests.unit.delta.signed import Rows, as_multiset, difference

IN_PROCESS = (DeltaSource.CHANGE_FEED, DeltaSource.ADDED_FILES, DeltaSource.CHANGED_FILES, DeltaSource.NONE)
NEVER_IN_PROCESS = Limits(rows=-1, bytes=-1)

COLUMNS = "id int, k string, x double, m decimal(12,2), t timestamp, n timestamp_ntz, y date, `odd.na-me` bigint"
HISTORY = [
    "insert into {t} select /*+ repartition(1) */ cast(id as int), if(id % 7 = 0, null, concat('k', id % 5)), "
    "if(id % 11 = 0, double('NaN'), id / 3), "
    "cast(id / 4 as decimal(12,2)), timestamp'2024-03-31 01:30:00.123456' + make_interval(0, 0, 0, 0, cast(id as int)), "
    "timestamp_ntz'0001-01-01 00:00:00.000001', date'1970-01-01' - cast(id * 1000 as int), id * 1000000007 from range(40)",
    "insert into {t} select * from {t} where id >= 30",
    "delete from {t} where id between 3 and 8",
    "update {t} set id = id + 100, x = -0.0 where id in (21, 35)",
    "merge into {t} t using (select cast(id as int) id from range(30, 60)) u on t.id = u.id "
    "when matched and u.id % 3 = 0 then update set k = 'm' when matched and u.id % 3 = 1 then delete "
    "when not matched then insert (id, k) values (u.id, 'new')",
    "delete from {t} where id < 20",
    "insert into {t} select * from {t} where id = 45",
    "optimize {t}",
    "alter table {t} set tblproperties ('a' = 'b')",
    "delete from {t} where id = 45",
]


class Table:
    """A table of the test, read by Spark at each version."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self._spark = spark
        self.folder = str(folder)
        self.name = f"delta.`{folder}`"
        self._versions: dict[int, Rows] = {}

    def run(self, text: str) -> None:
        self._spark.sql(text.format(t=self.name)).collect()

    def read(self, relation: str) -> Any:
        return self._spark.sql(f"select * from {relation}").toArrow()

    def read_all(self, relations: Sequence[str]) -> list[Any]:
        """Read relations of equal columns in one statement."""
        parts = " union all ".join(f"select {place} as place, * from {relation}" for place, relation in enumerate(relations))
        found = self._spark.sql(parts).toArrow()
        return [found.filter(pc.equal(found["place"], place)).drop_columns(["place"]) for place in range(len(relations))]

    def play(self, *statements: str) -> None:
        """Run statements that make one version each, the first one version 0, and read each version while it is the newest.

        Spark reads that one faster than earlier ones.
        """
        for version, statement in enumerate(statements):
            self.run(statement)
            self._versions[version] = as_multiset(self.read(self.name))

    def at(self, version: int) -> Rows:
        if version not in self._versions:
            self._versions[version] = as_multiset(self.read(f"{self.name} version as of {version}"))
        return self._versions[version]


def all_changes(table: Table, windows: Sequence[tuple[int, int]], limits: Limits | None = None) -> list[tuple[DeltaSource, Rows]]:
    """Return the source and the signed rows of each window of versions (after, up to), read by whom the plan names."""
    tables = DeltaTables(limits)
    snapshot = tables.snapshot(table.folder)
    plans = [tables.plan(table.folder, snapshot.table_id, *window) for window in windows]
    relations = [plan.relation for plan in plans if plan.source not in IN_PROCESS]
    assert None not in relations
    by_spark = iter(table.read_all([str(relation) for relation in relations]) if relations else [])
    found = []
    for plan in plans:
        if plan.source in IN_PROCESS:
            signed = tables.read(plan, tuple(column.name for column in snapshot.schema))
            found.append((plan.source, as_multiset(signed.rows, signed.weights.tolist())))
        else:
            rows = next(by_spark)
            found.append((plan.source, as_multiset(rows.drop_columns([WEIGHT_COLUMN]), rows.column(WEIGHT_COLUMN).to_pylist())))
    return found


def changes(table: Table, after: int, up_to: int, limits: Limits | None = None) -> tuple[DeltaSource, Rows]:
    return all_changes(table, [(after, up_to)], limits)[0]


def assert_all_exact(table: Table, windows: Sequence[tuple[int, int]], limits: Limits | None = None) -> list[DeltaSource]:
    sources = []
    for (after, up_to), (source, signed) in zip(windows, all_changes(table, windows, limits), strict=True):
        assert difference(table.at(after), signed, table.at(up_to)) == {}, (after, up_to, source)
        sources.append(source)
    return sources


def assert_exact(table: Table, after: int, up_to: int, limits: Limits | None = None) -> DeltaSource:
    return assert_all_exact(table, [(after, up_to)], limits)[0]


def unavailable(table: Table, after: int, up_to: int, limits: Limits | None = None) -> RecaptureReason:
    with pytest.raises(ChangesUnavailable) as caught:
        changes(table, after, up_to, limits)
    return caught.value.reason


KINDS = {"plain": (False, False), "vectors-feed": (True, True), "feed": (False, True), "vectors": (True, False)}
"""Deletion vectors, change feed. What the last two have beside the first two test_commit_streams.py has too."""
_TRIED = list(KINDS) if WIDE else of_today(list(KINDS)[:2])


@pytest.fixture(params=[KINDS[name] for name in _TRIED], ids=_TRIED)
def history(request: pytest.FixtureRequest, spark: Any, tmp_path: Path) -> tuple[Table, bool, int]:
    vectors, feed = request.param
    table = Table(spark, tmp_path / "a table é")
    properties = f"delta.enableDeletionVectors = {str(vectors).lower()}, delta.enableChangeDataFeed = {str(feed).lower()}"
    table.play(f"create table {{t}} ({COLUMNS}) using delta tblproperties ({properties})", *HISTORY)
    return table, feed, DeltaTables().snapshot(table.folder).version


def test_every_kind_of_commit(history: tuple[Table, bool, int]) -> None:
    table, feed, newest = history
    assert newest == len(HISTORY)
    assert DeltaTables().snapshot(table.folder).row_count == sum(table.at(newest).values())
    sources = Counter(assert_all_exact(table, list(pairwise(range(newest + 1)))))
    assert sources[DeltaSource.NONE] == 2  # OPTIMIZE and ALTER TABLE
    if feed:
        assert sources[DeltaSource.CHANGE_FEED] == newest - sources[DeltaSource.NONE]
        assert_all_exact(table, [(after, newest) for after in range(newest - 1)])
        assert assert_exact(table, 1, newest, NEVER_IN_PROCESS) is DeltaSource.SPARK_CHANGE_FEED
    else:
        assert sources[DeltaSource.ADDED_FILES] >= 2
        assert sources[DeltaSource.CHANGED_FILES] >= 4
        assert_all_exact(table, [(after, newest) for after in range(newest - 1)])
        assert assert_exact(table, 2, newest, NEVER_IN_PROCESS) is DeltaSource.SPARK_FILES
    table.run("insert overwrite {t} select * from {t} where id % 2 = 0")
    if feed:
        assert assert_exact(table, 3, newest + 1) is DeltaSource.CHANGE_FEED
    else:
        assert assert_exact(table, 3, newest + 1) is DeltaSource.CHANGED_FILES
        assert unavailable(table, 3, newest + 1, NEVER_IN_PROCESS) is RecaptureReason.RESTORED


@pytest.mark.parametrize("feed", [False, True])
def test_partitions_with_odd_values(spark: Any, tmp_path: Path, feed: bool) -> None:
    table = Table(spark, tmp_path / "p q")
    table.play(
        "create table {t} (v int, `p-1` string, d date, `t.t` timestamp, c char(4)) using delta partitioned by (`p-1`, d, `t.t`) "
        f"tblproperties (delta.enableDeletionVectors = true, delta.enableChangeDataFeed = {str(feed).lower()})",
        "insert into {t} select /*+ repartition(1) */ cast(id as int), case id % 4 when 0 then null when 1 then 'a b/c%20=ü' else '' end, "
        "date'2024-01-01' + cast(id % 2 as int), timestamp'2024-01-01 00:00:00.5', 'ab' from range(12)",
        "delete from {t} where v = 5",
        "update {t} set `p-1` = 'moved' where v in (1, 4)",
        "delete from {t} where d = '2024-01-02'",
    )
    windows = [*pairwise(range(5)), (1, 4)]
    for (after, _), source in zip(windows, assert_all_exact(table, windows), strict=True):
        assert source is (DeltaSource.CHANGE_FEED if feed else DeltaSource.CHANGED_FILES if after else DeltaSource.ADDED_FILES)
    assert DeltaTables().snapshot(table.folder).row_count == sum(table.at(4).values())


def test_column_mapping_and_renamed_columns(spark: Any, tmp_path: Path) -> None:
    table = Table(spark, tmp_path / "t")
    table.run(
        "create table {t} (a int, `b b` string) using delta "
        "tblproperties (delta.columnMapping.mode = 'name', delta.enableChangeDataFeed = true)"
    )
    table.run("insert into {t} values (1, 'x'), (2, null)")
    table.run("alter table {t} rename column `b b` to `c.c`")
    table.run("update {t} set `c.c` = 'y' where a = 2")
    tables = DeltaTables()
    renamed = tables.plan(table.folder, tables.snapshot(table.folder).table_id, 1, 2)
    assert (renamed.source, renamed.columns) == (DeltaSource.NONE, frozenset({"a"}))
    assert assert_exact(table, 2, 3) is DeltaSource.CHANGE_FEED
    snapshot = DeltaTables().snapshot(table.folder)
    assert [column.name for column in snapshot.schema] == ["a", "c.c"]
    assert max(snapshot.files.bounds("a")[1].to_pylist()) == 2


def test_restore_replace_and_vacuum(spark: Any, tmp_path: Path) -> None:
    table = Table(spark, tmp_path / "t")
    table.run("create table {t} (a int) using delta tblproperties (delta.enableChangeDataFeed = true, delta.enableDeletionVectors = false)")
    table.run("insert into {t} select cast(id as int) from range(5)")
    table.run("delete from {t} where a = 3")
    table.run("restore table {t} to version as of 1")
    table.run("delete from {t} where a = 4")
    assert unavailable(table, 1, 3) is RecaptureReason.RESTORED
    assert assert_exact(table, 3, 4) is DeltaSource.CHANGE_FEED
    key = "spark.databricks.delta.retentionDurationCheck.enabled"
    spark.conf.set(key, "false")
    try:
        table.run("vacuum {t} retain 0 hours")
    finally:
        spark.conf.unset(key)
    assert unavailable(table, 3, 4) is RecaptureReason.HISTORY_GONE
    newest = DeltaTables().snapshot(table.folder).version
    assert changes(table, 4, newest) == (DeltaSource.NONE, Counter())
    table.run("create or replace table {t} (a int) using delta")
    assert unavailable(table, newest, newest + 1) is RecaptureReason.TABLE_REPLACED


def test_what_spark_records_in_statistics(spark: Any, tmp_path: Path) -> None:
    """NaN is the maximum, timestamps lose their microseconds, long strings are cut: the bounds still hold."""
    table = Table(spark, tmp_path / "t")
    table.run("create table {t} (x double, t timestamp, s string, c char(5)) using delta")
    table.run(
        "insert into {t} select /*+ repartition(1) */ * from values (1.0D, timestamp'2024-01-01 00:00:00.123456', repeat('é', 100), 'ab'), "
        "(double('NaN'), timestamp'2023-01-01 00:00:00.000999', repeat('z', 32) || 'a', 'ab')"
    )
    files = DeltaTables().snapshot(table.folder).files
    rows = table.read(table.name)
    for name in ("t", "s", "c"):
        minimum, maximum, _ = files.bounds(name)
        values = rows.column(name).to_pylist()
        assert minimum[0].as_py() <= min(values)
        assert maximum[0].as_py() >= max(values)
    assert str(files.bounds("x")[1][0].as_py()) == "nan"


def test_dates_that_the_change_feed_of_spark_shifts(spark: Any, tmp_path: Path) -> None:
    table = Table(spark, tmp_path / "t")
    table.run("create table {t} (y date) using delta tblproperties (delta.enableChangeDataFeed = true)")
    table.run("insert into {t} values (date'1582-10-10')")
    assert assert_exact(table, 0, 1) is DeltaSource.CHANGE_FEED
    with pytest.raises(Exception, match="1582-10-15"):
        changes(table, 0, 1, NEVER_IN_PROCESS)
