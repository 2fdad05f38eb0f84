"""Texts as tokens, for statements that are read word by word: every other character stays where it was written."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from imp_driver.errors import ProgrammingError
from imp_driver.parse.dialect import SparkText

_DEPTHS = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}


def tokens_of(text: str, form: str) -> list[Token]:
    """Return the tokens of what stands in a statement of the driver. Raises ProgrammingError, which names the statement's form."""
    try:
        return sqlglot.tokenize(text, read=SparkText)
    except SqlglotError as error:
        raise ProgrammingError(f"The statement cannot be read: {str(error).splitlines()[0]} Its form is {form}.") from error


def beyond(tokens: Sequence[Token], inside: int) -> int | None:
    """Return the place of the bracket that closes those around ``inside``; None where it is in none."""
    depth = 0
    for place in range(inside, len(tokens)):
        depth += _DEPTHS.get(tokens[place].token_type, 0)
        if depth < 0:
            return place
    return None


def closing(tokens: Sequence[Token], opening: int) -> int | None:
    """Return the place of the bracket that closes the one at ``opening``; None where there is none."""
    depth = 0
    for place in range(opening, len(tokens)):
        depth += _DEPTHS.get(tokens[place].token_type, 0)
        if depth == 0:
            return place
    return None
