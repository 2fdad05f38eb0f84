"""What a statement that Spark refuses was meant to be: several in one text, or a recursion without its word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from imp_driver.parse.dialect import SparkText
from imp_driver.parse.tokens import closing

_QUOTED = (TokenType.IDENTIFIER, TokenType.STRING)


def is_behind_a_semicolon(text: str, line: int, column: int) -> bool:
    """Say whether the word at a place (both from 1) is the first one behind a semicolon, comments left aside."""
    begin = sum(map(len, text.splitlines(keepends=True)[: line - 1])) + column - 1
    before = [token for token in _tokens(text) if token.start < begin]
    return bool(before) and before[-1].token_type is TokenType.SEMICOLON


def reads_itself(text: str, name: str) -> bool:
    """Say whether a WITH without RECURSIVE defines a name by a query that reads the name."""
    tokens = _tokens(text)
    words = [_word(token) for token in tokens]
    if "WITH" not in words or "RECURSIVE" in words:
        return False
    return any(_is_read(tokens[body], name) for body in _bodies(tokens, words, name))


def _bodies(tokens: Sequence[Token], words: Sequence[str], name: str) -> Iterator[slice]:
    """Go through what stands in brackets behind ``name AS`` or ``name (columns) AS``."""
    for place, token in enumerate(tokens):
        if token.text.lower() != name.lower() or token.token_type is TokenType.STRING:
            continue
        follows = place + 1
        if follows < len(tokens) and tokens[follows].token_type is TokenType.L_PAREN:
            follows = (closing(tokens, follows) or len(tokens)) + 1
        opening = follows + 1
        if opening < len(tokens) and words[follows] == "AS" and tokens[opening].token_type is TokenType.L_PAREN:
            yield slice(opening, closing(tokens, opening))


def _is_read(body: Sequence[Token], name: str) -> bool:
    return any(_word(before) in ("FROM", "JOIN", ",") and token.text.lower() == name.lower() for before, token in pairwise(body))


def _word(token: Token) -> str:
    return "" if token.token_type in _QUOTED else token.text.upper()


def _tokens(text: str) -> list[Token]:
    try:
        return sqlglot.tokenize(text, read=SparkText)
    except SqlglotError:
        return []
