"""Queries within statements that nothing is read of beside: those that begin with WITH RECURSIVE."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import sqlglot
from sqlglot import TokenType
from sqlglot.errors import SqlglotError

from imp_driver.parse.dialect import SparkText
from imp_driver.parse.tokens import beyond

_WORD = re.compile(r"\bRECURSIVE\b", re.IGNORECASE)
_COMMAND = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*EXPLAIN\b", re.IGNORECASE | re.DOTALL)
"""To the tokenizer all that follows such a word is one token."""


def with_recursive(text: str) -> Iterator[str]:
    """Yield what begins with WITH RECURSIVE in a text, up to the end of the brackets around it; nothing where it has no tokens."""
    if _WORD.search(text) is None:
        return
    command = _COMMAND.match(text)
    text = text if command is None else text[command.end() :]
    try:
        tokens = sqlglot.tokenize(text, read=SparkText)
    except SqlglotError:
        return
    for place, (one, other) in enumerate(pairwise(tokens)):
        if one.token_type is TokenType.WITH and other.token_type is TokenType.RECURSIVE:
            end = beyond(tokens, place)
            yield text[one.start : len(text) if end is None else tokens[end].start]
