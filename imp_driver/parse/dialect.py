"""Spark's SQL as this Spark reads it, where the parser's own reading of it differs."""

from __future__ import annotations

from sqlglot.dialects.spark import Spark


class SparkText(Spark):
    """In a string a doubled quote is one quote (Spark 4; before, ``'it''s'`` was two strings, put together)."""

    class Tokenizer(Spark.Tokenizer):
        # Spark has no operators of these characters: what looks like one is a marker and what follows it.
        KEYWORDS = {text: kind for text, kind in Spark.Tokenizer.KEYWORDS.items() if "?" not in text}  # noqa: RUF012 - as below
        STRING_ESCAPES = ["\\", "'", '"']  # noqa: RUF012 - the parser's classes are made from plain lists
