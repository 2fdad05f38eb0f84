"""CREATE GRAPH and DROP GRAPH as text -> their parts."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import TokenType

from imp_driver.errors import ProgrammingError
from imp_driver.parse.tokens import tokens_of
from imp_driver.parse.words import Words
from imp_driver.values.excerpt import excerpt

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


class _Words(Words):
    """Of a statement about a graph."""

    def __init__(self, text: str, form: str) -> None:
        super().__init__(tokens_of(text, form), form)
        self._text = text

    def unexpected(self) -> ProgrammingError:
        token = self._peek()
        return ProgrammingError(f"{super().unexpected()}\n{excerpt(self._text, len(self._text) if token is None else token.start)}")

    def text(self) -> str:
        return self._next_text().text

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
            raise self.unexpected()
        self._place += 1
        return token.text

    def end(self) -> None:
        if not self.is_at_end:
            raise self.unexpected()
