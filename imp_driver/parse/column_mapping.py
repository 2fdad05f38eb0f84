"""Statements that make a table with mapped columns."""

from __future__ import annotations

import sqlglot
from sqlglot import TokenType
from sqlglot.errors import SqlglotError

from imp_driver.parse.dialect import SparkText

_MODE = "delta.columnmapping.mode"


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
