"""New tables of the embedded engine record their changes; where that is not possible they do not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

DEFAULT = "spark.databricks.delta.properties.defaults.enableChangeDataFeed"
_OF_A_QUERY = re.compile(r"\b(?:CREATE|REPLACE)\b.*\bcolumnMapping\.mode\b.*\bAS\b", re.IGNORECASE | re.DOTALL)


@contextmanager
def without_change_feed(spark: SparkSession, text: str) -> Iterator[None]:
    """Let a table with mapped columns that is made of a query record no changes: Delta refuses both together."""
    if "columnmapping" not in text.lower() or _OF_A_QUERY.search(text) is None:
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
