"""What a statement that Spark refuses was meant to be: several in one text, a recursion without its word, or one with a bound."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from imp_driver.parse.dialect import SparkText
from imp_driver.parse.tokens import closing
from imp_driver.parse.within import with_recursive

_QUOTED = (TokenType.IDENTIFIER, TokenType.STRING)
_RECURSIVE: Final = "RECURSIVE"
_NEAR: Final = 0.75
"""Share of the letters that a word and RECURSIVE have in common."""
_BOUND: Final = ["MAX", "RECURSION", "LEVEL"]


def is_behind_a_semicolon(text: str, line: int, column: int) -> bool:
    """Say whether the word at a place (both from 1) is the first one behind a semicolon, comments left aside."""
    begin = sum(map(len, text.splitlines(keepends=True)[: line - 1])) + column - 1
    before = [token for token in _tokens(text) if token.start < begin]
    return bool(before) and before[-1].token_type is TokenType.SEMICOLON


def reads_itself(text: str, name: str) -> bool:
    """Say whether a WITH without RECURSIVE defines a name by a query that reads the name."""
    tokens = _tokens(text)
    words = [_word(token) for token in tokens]
    if "WITH" not in words or _RECURSIVE in words:
        return False
    return any(_is_read(tokens[body], name) for body in _bodies(tokens, words, name))


def misspells_recursive(text: str) -> bool:
    """Say whether a WITH has a word that is nearly RECURSIVE before the name of its first table."""
    tokens = _tokens(text)
    words = [_word(token) for token in tokens]
    return any(
        words[place] == "WITH" and _is_nearly_recursive(words[place + 1]) and words[place + 2] != "AS" and words[place + 3] in ("AS", "(")
        for place in range(len(words) - 3)
    )


def _is_nearly_recursive(word: str) -> bool:
    return word != _RECURSIVE and bool(difflib.get_close_matches(word, (_RECURSIVE,), 1, _NEAR))


def bounds_recursion(text: str) -> bool:
    """Say whether a WITH RECURSIVE has MAX RECURSION LEVEL, which makes it a text that the driver does not know."""
    for each in with_recursive(text):
        words = [_word(token) for token in _tokens(each)]
        if any(words[place : place + 3] == _BOUND for place in range(len(words))):
            return True
    return False


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
