"""The fragments that Spark computes are those of the partition, for hundreds of ranges of every type, and are used in such numbers."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import imp_driver
from imp_driver.capture.buckets import CutColumn
from imp_driver.reasons import Decision, Reason
from imp_driver.values.ranges import equi_depth
from imp_driver.values.types import arrow_type
from tests.seeds import SEED
from tests.spark.reports import report_of
from tests.unit.capture.test_buckets import MANY, RANDOM, SPECIAL

SETTINGS = {"codegen.wholeStage": "true", "codegen.factoryMode": "CODEGEN_ONLY", "ansi.enabled": "true", "session.timeZone": "Asia/Tokyo"}
"""As users have it: with code that is generated for each plan."""


def test_fragments_are_those_of_the_partition(spark: SparkSession) -> None:
    session = spark.newSession()
    for name, value in SETTINGS.items():
        session.conf.set(f"spark.sql.{name}", value)
    chance = random.Random(SEED)
    for type_name, one in RANDOM.items():
        kind = arrow_type(type_name)
        special: list[float] = {"double": SPECIAL, "float": SPECIAL[:5]}.get(type_name, [])
        cut_from, others = (pa.array([*(one(chance) for _ in range(MANY)), *special, None], type=kind) for _ in range(2))
        partition = equi_depth(cut_from, np.ones(len(cut_from), dtype=np.int64), MANY)
        values = pa.concat_arrays([others, pa.array(partition.bounds, type=kind)])
        session.createDataFrame(pa.table({"value": values, "place": range(len(values))})).createOrReplaceTempView("valued")
        query = CutColumn("value", type_name, partition).located_sql("SELECT * FROM valued", "found", "value")
        found = session.sql(f"SELECT place, found FROM ({query}) ORDER BY place").toArrow()
        assert found.column("found").to_pylist() == partition.locate(values).tolist(), type_name


def test_a_column_that_is_no_key_is_cut_into_as_many_ranges_as_its_files_give(cursor: imp_driver.Cursor) -> None:
    """110 files of days 10 * n to 10 * n + 8 begin and end at 220 days; customer 1 buys in the first file alone, the others everywhere."""
    cursor.execute("SET spark.sql.files.maxRecordsPerFile = 5")
    cursor.execute(
        "CREATE TABLE many_ranges USING DELTA AS SELECT /*+ REPARTITION(1) */ CAST(id * 2 AS INT) AS day, "
        "CAST(IF(id < 5, 1, 2 + id % 3) AS INT) AS c, IF(id < 5, 100, 1) AS price FROM range(0, 550, 1, 1)"
    )
    text = "SELECT c, sum(price) FROM many_ranges GROUP BY c HAVING sum(price) > 400"
    cursor.execute(text).fetchall()
    assert report_of(cursor).reason is Reason.CAPTURE_DEFERRED
    cursor.execute(text).fetchall()
    report = report_of(cursor)
    assert (report.decision, report.reason, report.attribute) == (Decision.CAPTURED, Reason.FILTERED, "day")
    assert report.fragments_total is not None
    assert report.fragments_total > 201
    assert (report.files_kept, report.files_total) == (1, 110)
    # Rows that come later lie in the same ranges, whoever numbers them.
    cursor.execute("INSERT INTO many_ranges VALUES (777, 1, 3), (NULL, 1, 1), (5000, 2, 1), (-5, 3, 1)")
    cursor.execute(text).fetchall()
    after = report_of(cursor)
    assert (after.decision, after.reason) == (Decision.MAINTAINED, Reason.FILTERED)
