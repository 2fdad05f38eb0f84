"""``WHAT IF (change; ..) query`` -> the texts of the changes and of the query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from imp_driver.errors import ProgrammingError
from imp_driver.parse.dialect import SparkText

_BEGINNING = re.compile(r"\s*WHAT\s+IF\b", re.IGNORECASE)
_FORM = "WHAT IF (INSERT .. | UPDATE .. | DELETE .. | MERGE ..; ..) SELECT .."


@dataclass(frozen=True, slots=True)
class WhatIf:
    """``changes`` are in the order in which they are made."""

    changes: tuple[str, ...]
    query: str


def read_what_if(text: str) -> WhatIf:
    """Read a statement that begins with WHAT IF. Raises ProgrammingError where it is of another form."""
    found = _BEGINNING.match(text)
    assert found is not None
    rest = text[found.end() :]
    try:
        tokens = sqlglot.tokenize(rest, read=SparkText)
    except SqlglotError as error:
        raise ProgrammingError(f"The statement cannot be read: {str(error).splitlines()[0]} Its form is {_FORM}.") from error
    if not tokens or tokens[0].token_type is not TokenType.L_PAREN:
        raise ProgrammingError(f"The changes are to be in brackets: {_FORM}.")
    last = _closing(tokens)
    if last is None:
        raise ProgrammingError(f"The bracket of the changes does not end: {_FORM}.")
    if any(token.token_type in (TokenType.PLACEHOLDER, TokenType.PARAMETER) for token in tokens[1:last]):
        raise ProgrammingError("The changes of a WHAT IF have no markers for values; write the values into them.")
    changes = _changes(rest, tokens[1:last])
    query = rest[tokens[last].end + 1 :].strip().rstrip(";").rstrip()
    if not changes or not query:
        raise ProgrammingError(f"There is no {'query' if changes else 'change'}. The form is {_FORM}.")
    return WhatIf(changes, query)


def _closing(tokens: Sequence[Token]) -> int | None:
    depth = 0
    for place, token in enumerate(tokens):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0)
        if depth == 0:
            return place
    return None


def _changes(text: str, tokens: Sequence[Token]) -> tuple[str, ...]:
    found: list[str] = []
    own: list[Token] = []
    for token in [*tokens, None]:
        if token is not None and token.token_type is not TokenType.SEMICOLON:
            own.append(token)
        elif own:
            found.append(text[own[0].start : own[-1].end + 1])
            own = []
    return tuple(found)
