"""SQL text -> statement: one parse per text, its class, the commands of the driver itself, and markers numbered in text order.

The parse serves analysis only. What Spark runs is always the caller's own text, at most with one table reference replaced
(rewrite/splice.py), so that a difference between the parser's reading and Spark's can never change an expression of the query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from imp_driver.errors import ProgrammingError
from imp_driver.parse.cache import TextCache
from imp_driver.parse.commands import SPARQL, VIEWS, SketchCommand, command_of
from imp_driver.parse.dialect import SparkText
from imp_driver.parse.patterns import Instance, Patterns
from imp_driver.values.execution import Parameters

FoundT = TypeVar("FoundT")

DIALECT = SparkText
_MARKER_PREFIX = "__imp_"
_LARGEST_TEXT = 200_000
"""Characters; longer statements are sent to Spark without a parse, they are bulk loads, not dashboard queries."""
LARGEST_CHANGE = 10_000
"""Characters; of a longer change only the target is looked for, which stands at its beginning."""
_FIRST_LOOK, _ENOUGH_TOKENS = 500, 30
"""Characters in which the target of a long change is looked for at first, and tokens after which it has been seen."""
_TREE_BYTES = 90
"""Of a tree for each character of its text (measured)."""
_MOST_BYTES = 64 << 20


class StatementKind(Enum):
    """Class of a statement: rows out, rows changed, anything else that may change definitions or settings, or a command of ours."""

    QUERY = "query"
    CHANGE = "change"
    DEFINITION = "definition"
    INSPECTION = "inspection"
    SKETCH_COMMAND = "sketch command"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Statement:
    """One text, parsed.

    Attributes:
        parsed: the tree of a text that was parsed at once.
        markers: places of the ``?`` markers.
        target: name parts of the table that an INSERT, UPDATE, DELETE or MERGE changes; None when unknown.
        instance: the text as one of many that differ in constants of conditions; it is parsed itself when its own tree is asked for.
    """

    text: str
    kind: StatementKind
    parsed: exp.Expr | None = None
    markers: tuple[int, ...] = ()
    target: tuple[str, ...] | None = None
    command: SketchCommand | None = None
    instance: Instance[Statement] | None = None

    @property
    def tree(self) -> exp.Expr | None:
        """The parse tree with markers ``?`` renamed to numbered named ones; None when the text was not parsed, as a long change is not."""
        return self.parsed if self.instance is None else _own_tree(self)

    @property
    def alike(self) -> Statement:
        """The statement of all texts that are like this one: that with markers for their constants, or this one."""
        return self if self.instance is None else self.instance.pattern.made

    def position_in_text(self, position: int) -> int:
        """Translate a position in the numbered text, which the tree's nodes know, to the caller's own text."""
        shift = 0
        for number, place in enumerate(self.markers):
            if place + shift >= position:
                break
            shift += len(_marker(number)) - 1
        return position - shift


_AFTER_A_NAME = {".", "(", "VALUES", "SELECT", "WITH", "FROM", "TABLE", "USING", "SET", "WHERE", "PARTITION", "AS"}
"""What may follow the name of a table, so that TABLE before it is the name."""
_QUERY_WORDS = {"SELECT", "WITH", "FROM", "VALUES", "TABLE", "("}
_CHANGE_WORDS = {"INSERT", "UPDATE", "DELETE", "MERGE"}
_INSPECTION_WORDS = {"SHOW", "DESCRIBE", "DESC", "EXPLAIN"}


def parse(text: str) -> Statement:
    """Parse a statement; never raises: what the parser does not know has no tree and goes to Spark unchanged."""
    return _parsed(text) if len(text) <= _LARGEST_TEXT else _parse(text)


def check_query(text: str, whose: str) -> None:
    """Raise ProgrammingError where a text is no query: a change in the place of one would be made."""
    statement = parse(text)
    first = text.lstrip("( \n\t").partition(" ")[0].upper()
    is_certain = isinstance(statement.tree, exp.Query) or (statement.tree is None and first not in ("WITH", "FROM"))
    if statement.kind is not StatementKind.QUERY or not is_certain:
        raise ProgrammingError(f"{whose} is to be a query, not {text.strip()[:100]!r}.")


def check_kept(statement: Statement, values: object) -> None:
    """Raise ProgrammingError where values come with the query of a view, which is kept as text and would be another one without them."""
    if values and statement.command is not None and statement.command.kind in VIEWS:
        raise ProgrammingError("A view has no parameters, since it keeps its query as text: write the values into the query.")


def may_have_markers(statement: Statement, values: object) -> bool:
    """Say whether a statement's markers are to be compared with its values.

    A question mark in a command need not be a marker; a long change has its values in it, unless some are given.
    """
    if statement.command is not None and statement.command.kind in SPARQL:
        return False
    if statement.kind not in (StatementKind.QUERY, StatementKind.CHANGE):
        return bool(values) and _LIKE_A_MARKER.search(statement.text) is None
    return bool(values) or (len(statement.text) <= LARGEST_CHANGE and _LIKE_A_MARKER.search(statement.text) is not None)


_LIKE_A_MARKER = re.compile(r"\?|:[^\W\d]")


def per_statement(find: Callable[[Statement], FoundT]) -> Callable[[Statement], FoundT]:
    """Have something found out once about each statement, and forgotten with it."""
    known: WeakKeyDictionary[Statement, FoundT] = WeakKeyDictionary()

    @wraps(find)
    def once(statement: Statement) -> FoundT:
        if statement not in known:
            known[statement] = find(statement)
        return known[statement]

    return once


def _parse(text: str) -> Statement:
    command = command_of(text)
    if command is not None:
        return Statement(text, StatementKind.SKETCH_COMMAND, command=command)
    first_words = text.lstrip()[:10].split(None, 1)
    if first_words and len(text) > LARGEST_CHANGE:
        kind = _kind_by_word(first_words[0].upper())
        if kind is StatementKind.CHANGE:
            return Statement(text, kind, target=_target_at_the_beginning(text))
        if len(text) > _LARGEST_TEXT:
            return Statement(text, kind)
    instance = _patterns.at_a_look(text)
    if instance is not None:
        return Statement(text, StatementKind.QUERY, instance=instance)
    try:
        tokens = sqlglot.tokenize(text, read=DIALECT)
    except SqlglotError:
        return Statement(text, StatementKind.DEFINITION)
    word = tokens[0].text.upper() if tokens else ""
    kind = _kind_by_word(word)
    if kind not in (StatementKind.QUERY, StatementKind.CHANGE) or word == "TABLE":
        return Statement(text, kind)
    markers = tuple(token.start for token in tokens if token.token_type is TokenType.PLACEHOLDER)
    instance = _patterns.find(text, tokens) if kind is StatementKind.QUERY else None
    if instance is not None:
        return Statement(text, kind, markers=markers, instance=instance)
    tree = _tree(_number_markers(text, markers))
    if tree is None or isinstance(tree, exp.Values):
        return Statement(text, kind, target=_target_by_words(tokens), markers=markers)
    if kind is StatementKind.QUERY and not isinstance(tree, exp.Query):
        kind = StatementKind.CHANGE
    if kind is StatementKind.QUERY and not markers:
        _patterns.learn(text, tokens, tree)
    return Statement(text, kind, tree, markers, _target(tree) if kind is StatementKind.CHANGE else None)


def _kind_by_word(word: str) -> StatementKind:
    if word in _QUERY_WORDS:
        return StatementKind.QUERY
    if word in _CHANGE_WORDS:
        return StatementKind.CHANGE
    if word in _INSPECTION_WORDS:
        return StatementKind.INSPECTION
    return StatementKind.DEFINITION


def _marker(number: int) -> str:
    return f":{_MARKER_PREFIX}{number}"


def marker_number(name: str) -> int | None:
    """Return the position of a ``?`` marker from its numbered name, None for a named marker of the caller."""
    return int(name[len(_MARKER_PREFIX) :]) if name.startswith(_MARKER_PREFIX) else None


def with_named(parameters: Parameters, values: Mapping[str, object]) -> Parameters:
    """Return values of markers with those of named markers beside."""
    return {**named(parameters), **values} if values else parameters


def named(parameters: Parameters) -> Mapping[str, object]:
    """Return values of markers by the names that these have in trees."""
    if isinstance(parameters, Mapping):
        return parameters
    return {_marker(each)[1:]: value for each, value in enumerate(parameters or ())}


def _number_markers(text: str, markers: tuple[int, ...]) -> str:
    pieces: list[str] = []
    end = 0
    for number, place in enumerate(markers):
        pieces += [text[end:place], _marker(number)]
        end = place + 1
    return "".join([*pieces, text[end:]])


def _tree(text: str) -> exp.Expr | None:
    try:
        trees = sqlglot.parse(text, read=DIALECT)
    except (SqlglotError, RecursionError, ValueError):
        return None
    found = [tree for tree in trees if tree is not None and not isinstance(tree, exp.Semicolon)]
    if len(found) != 1 or isinstance(found[0], exp.Command):
        return None
    return found[0] if isinstance(found[0], exp.Expr) else None


def _target(tree: exp.Expr) -> tuple[str, ...] | None:
    place = tree.this
    if isinstance(place, exp.Schema):
        place = place.this
    return table_name(place) if isinstance(place, exp.Table) else None


def tables_in(tree: exp.Expr) -> Iterator[exp.Table]:
    """Yield the tables that a tree reads. Names in hints are no tables, and have places in the text of their hint."""
    for table in tree.find_all(exp.Table):
        if table.find_ancestor(exp.Hint) is None:
            yield table


def table_name(table: exp.Table) -> tuple[str, ...]:
    """Return the unquoted parts of a table's name as written, outermost first."""
    return tuple(part.name for part in table.parts)


def _target_at_the_beginning(text: str) -> tuple[str, ...] | None:
    """Find the target of a long change by its first words."""
    end = _FIRST_LOOK
    while True:
        try:
            tokens = sqlglot.tokenize(text[:end], read=DIALECT)
        except SqlglotError:
            # The cut went through a text or a comment, say.
            tokens = []
        if len(tokens) >= _ENOUGH_TOKENS or end >= len(text):
            return _target_by_words(tokens)
        end += end // 2


def _target_by_words(tokens: list[Token]) -> tuple[str, ...] | None:
    """Find the target without a tree: the dotted name after INTO, UPDATE, FROM or OVERWRITE [TABLE]."""
    for position, token in enumerate(tokens[:6]):
        if token.text.upper() in {"INTO", "UPDATE", "FROM", "OVERWRITE"}:
            rest = tokens[position + 1 :]
            if len(rest) > 1 and rest[0].text.upper() == "TABLE" and rest[1].text.upper() not in _AFTER_A_NAME:
                rest = rest[1:]
            parts = [rest[0].text] if rest else []
            following = rest[1:]
            while len(following) >= 2 and following[0].token_type is TokenType.DOT:
                parts.append(following[1].text)
                following = following[2:]
            return tuple(parts) or None
    return None


@per_statement
def _own_tree(statement: Statement) -> exp.Expr | None:
    return _tree(_number_markers(statement.text, statement.markers))


_patterns: Patterns[Statement] = Patterns(_tree, lambda text, tree: Statement(text, StatementKind.QUERY, tree))
_parsed: TextCache[Statement] = TextCache(_parse, _TREE_BYTES, _MOST_BYTES)
