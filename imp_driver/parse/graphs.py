"""CREATE GRAPH and DROP GRAPH as text -> their parts."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Token, TokenType

from imp_driver.errors import ProgrammingError
from imp_driver.parse.tokens import tokens_of

_CREATE = "CREATE GRAPH [IF NOT EXISTS] name [COMMENT 'text'] [FROM MAPPING 'R2RML' | FROM MAPPING FILE 'path']"
_DROP = "DROP GRAPH [IF EXISTS] name"


@dataclass(frozen=True, slots=True)
class NewGraph:
    """A graph to be made; ``mapping`` is R2RML, ``file`` a path of such, both None for a graph with triples of its own."""

    name: tuple[str, ...]
    may_exist: bool = False
    comment: str | None = None
    mapping: str | None = None
    file: str | None = None


def read_new_graph(text: str) -> NewGraph:
    """Read CREATE GRAPH. Raises ProgrammingError."""
    words = _Words(text, _CREATE)
    words.expect("CREATE", "GRAPH")
    may_exist = words.take("IF")
    if may_exist:
        words.expect("NOT", "EXISTS")
    name = words.name()
    comment = words.text() if words.take("COMMENT") else None
    mapping = file = None
    if words.take("FROM"):
        words.expect("MAPPING")
        if words.take("FILE"):
            file = words.text()
        else:
            mapping = words.text()
    words.end()
    return NewGraph(name, may_exist, comment, mapping, file)


def read_dropped_graph(text: str) -> tuple[tuple[str, ...], bool]:
    """Read DROP GRAPH: the name, and whether there need be none of it. Raises ProgrammingError."""
    words = _Words(text, _DROP)
    words.expect("DROP", "GRAPH")
    may_miss = words.take("IF")
    if may_miss:
        words.expect("EXISTS")
    name = words.name()
    words.end()
    return name, may_miss


def read_graph_name(text: str) -> tuple[str, ...]:
    """Read the name of a graph, and nothing else. Raises ProgrammingError."""
    words = _Words(text, "name or catalog.schema.name")
    name = words.name()
    words.end()
    return name


class _Words:
    """Reads tokens one after the other."""

    def __init__(self, text: str, form: str) -> None:
        self._form = form
        self._tokens = tokens_of(text, form)
        while self._tokens and self._tokens[-1].token_type is TokenType.SEMICOLON:
            self._tokens.pop()
        self._place = 0

    def take(self, word: str) -> bool:
        """Step over a word if it comes next."""
        token = self._peek()
        is_next = token is not None and token.token_type not in (TokenType.IDENTIFIER, TokenType.STRING) and token.text.upper() == word
        self._place += is_next
        return is_next

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.take(word):
                raise self._unexpected()

    def text(self) -> str:
        token = self._peek()
        if token is None or token.token_type is not TokenType.STRING:
            raise self._unexpected()
        self._place += 1
        return token.text

    def name(self) -> tuple[str, ...]:
        parts = [self._part()]
        while (token := self._peek()) is not None and token.token_type is TokenType.DOT:
            self._place += 1
            parts.append(self._part())
        return tuple(parts)

    def _part(self) -> str:
        token = self._peek()
        is_word = token is not None and (token.token_type is TokenType.IDENTIFIER or token.text.replace("_", "a").isalnum())
        if token is None or not is_word or token.token_type is TokenType.STRING:
            raise self._unexpected()
        self._place += 1
        return token.text

    def end(self) -> None:
        if self._peek() is not None:
            raise self._unexpected()

    def _peek(self) -> Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _unexpected(self) -> ProgrammingError:
        token = self._peek()
        return ProgrammingError(f"{'The end' if token is None else repr(token.text)} is not expected here. The form is {self._form}.")
