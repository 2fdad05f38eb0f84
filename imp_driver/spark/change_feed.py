"""New tables of the embedded engine record their changes; where that is not possible they do not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from imp_driver.parse.column_mapping import is_mapped_table_of_a_query

DEFAULT = "spark.databricks.delta.properties.defaults.enableChangeDataFeed"


@contextmanager
def without_change_feed(spark: SparkSession, text: str) -> Iterator[None]:
    """Let a table with mapped columns that is made of a query record no changes: Delta refuses both together."""
    if not is_mapped_table_of_a_query(text):
        yield
        return
    before = spark.conf.get(DEFAULT, None)
    spark.conf.set(DEFAULT, "false")
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(DEFAULT)
        else:
            spark.conf.set(DEFAULT, before)
