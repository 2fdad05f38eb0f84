"""Spark's SQL as this Spark reads it, where the parser's own reading of it differs."""

from __future__ import annotations

from sqlglot.dialects.spark import Spark


class SparkText(Spark):
    """In a string a doubled quote is one quote (Spark 4; before, ``'it''s'`` was two strings, put together)."""

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES = ["\\", "'", '"']  # noqa: RUF012 - the parser's classes are made from plain lists
