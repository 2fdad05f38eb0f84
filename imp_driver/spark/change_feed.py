"""New tables of the embedded engine record their changes; where that is not possible they do not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlglot
from pyspark.sql import SparkSession
from sqlglot import TokenType
from sqlglot.errors import SqlglotError

from imp_driver.parse.dialect import SparkText

DEFAULT = "spark.databricks.delta.properties.defaults.enableChangeDataFeed"
_MODE = "delta.columnmapping.mode"


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


def is_mapped_table_of_a_query(text: str) -> bool:
    """Say whether a statement is CREATE or REPLACE TABLE .. AS SELECT with ``delta.columnMapping.mode``; AS may be left out."""
    if _MODE not in text.lower():
        return False
    try:
        tokens = sqlglot.tokenize(text, read=SparkText)
    except SqlglotError:
        return False
    words = [token.text.upper() for token in tokens]
    is_text = [token.token_type in (TokenType.STRING, TokenType.IDENTIFIER) for token in tokens]
    plain = [word for word, quoted in zip(words, is_text, strict=True) if not quoted]
    modes = [words[place + 2] for place in range(len(words) - 2) if words[place] == _MODE.upper() and words[place + 1] == "="]
    is_of_a_query = not {"SELECT", "FROM", "VALUES"}.isdisjoint(plain) or plain.count("TABLE") > 1
    return plain[:1] in (["CREATE"], ["REPLACE"]) and is_of_a_query and any(mode != "NONE" for mode in modes)
