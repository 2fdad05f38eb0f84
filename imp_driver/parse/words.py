"""Reads the tokens of a statement of the driver one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import Token, TokenType

from imp_driver.errors import ProgrammingError


class Words:
    """A place among tokens; ``form`` is that of the statement, for who wrote another one."""

    def __init__(self, tokens: Sequence[Token], form: str) -> None:
        self._form = form
        self._tokens = tokens
        self._place = 0

    @property
    def is_at_end(self) -> bool:
        return all(each.token_type is TokenType.SEMICOLON for each in self._tokens[self._place :])

    def take(self, word: str) -> bool:
        """Step over a word if it comes next."""
        token = self._peek()
        is_next = token is not None and token.token_type not in (TokenType.IDENTIFIER, TokenType.STRING) and token.text.upper() == word
        self._place += is_next
        return is_next

    def expect(self, *words: str) -> None:
        """Step over words. Raises ProgrammingError where others come next."""
        for word in words:
            if not self.take(word):
                raise self.unexpected()

    def unexpected(self) -> ProgrammingError:
        token = self._peek()
        return ProgrammingError(f"{'The end' if token is None else repr(token.text)} is not expected here. The form is {self._form}.")

    def _peek(self) -> Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _next(self) -> Token:
        token = self._peek()
        if token is None:
            raise self.unexpected()
        self._place += 1
        return token

    def _next_text(self) -> Token:
        """Step over a text. Raises ProgrammingError where none comes next."""
        token = self._next()
        if token.token_type is not TokenType.STRING:
            self._place -= 1
            raise self.unexpected()
        return token
