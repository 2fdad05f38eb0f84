"""The parse tree of SPARQL text, as rdflib's parser finds it: with ``expected.py`` what knows this parser.

Names are not yet resolved, literals as they were written.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, TypeAlias

from imp_driver.errors import NotSupportedError, ProgrammingError, QueryPosition
from imp_driver.sparql.algebra import Variable
from imp_driver.sparql.functions.names import meant
from imp_driver.sparql.reading.brackets import without_brackets
from imp_driver.sparql.reading.expected import Expectations
from imp_driver.sparql.reading.tokens import FIRST_NUMBER, INVERSE, WRITTEN, Prepared, Token, prepared, tokens
from imp_driver.sparql.terms import RDF, XSD
from imp_driver.values.excerpt import excerpt, line_and_column

_LOCK = threading.Lock()
"""Held while the parser works: its grammar is shared by all threads."""
_OF_A_PREFIX = "a prefixed name"
"""What is expected behind a word that the grammar does not know."""
_NO_IRI = "; what stands between < and > without spaces is an IRI, so write a space behind < to compare"
_WORDS: Final = (
    *("SELECT", "CONSTRUCT", "DESCRIBE", "PREFIX", "BASE", "INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "WHERE", "FROM", "OPTIONAL"),
    *("FILTER", "UNION", "MINUS", "GRAPH", "BIND", "VALUES", "ORDER", "GROUP", "HAVING", "LIMIT", "OFFSET", "DISTINCT"),
)
"""What begins a clause: beside a word that is nearly one of these stands which."""
_DEEP = 30_000
"""Calls that a long text may nest: the grammar recurs for each triple of a block."""


@dataclass(frozen=True, slots=True)
class Iri:
    """``text`` between the brackets."""

    text: str


@dataclass(frozen=True, slots=True)
class Prefixed:
    prefix: str
    local: str


@dataclass(frozen=True, slots=True)
class Text:
    """A string, or a literal of a language or a datatype."""

    lexical: str
    language: str | None = None
    datatype: Iri | Prefixed | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """``sign`` is the one next to the digits; unless ``has_sign``, an expression may have taken it for its operator."""

    sign: str
    digits: str
    has_sign: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class Blank:
    """``is_named``: the text has its label."""

    label: str
    is_named: bool


Leaf: TypeAlias = Variable | Iri | Prefixed | Text | Number | Blank


@dataclass(frozen=True, slots=True)
class Tree:
    """A rule of the grammar with its parts: trees, leaves, words, and lists of these."""

    rule: str
    parts: dict[str, Any] = field(default_factory=dict)

    def one(self, name: str) -> Any:
        """Return a part, None where there is none."""
        return self.parts.get(name)

    def many(self, name: str) -> Sequence[Any]:
        """Return the parts of a name, none where there are none."""
        found = self.parts.get(name)
        if found is None:
            return ()
        return found if isinstance(found, list) else (found,)


def query_tree(text: str) -> tuple[Sequence[Tree], Tree]:
    """Return the prologue and the query of text.

    Raises:
        ProgrammingError: the text is no query of SPARQL 1.1.
    """
    prologue, query = _parsed(text, text, 0, "Query")
    return prologue, query


def update_tree(operation: str, whole: str, offset: int) -> tuple[Sequence[Tree], Tree | None]:
    """Return the prologue and the update of one operation, which stands at ``offset`` of the whole text; None where there is none.

    Raises:
        ProgrammingError: the text is no update of SPARQL 1.1.
    """
    (update,) = _parsed(operation, whole, offset, "UpdateUnit")
    requests = update.many("request")
    return update.many("prologue")[0], requests[0] if requests else None


def _parsed(text: str, whole: str, offset: int, rule: str) -> list[Any]:
    try:
        from pyparsing import ParseBaseException
        from rdflib.plugins.sparql import parser
    except ImportError as missing:
        raise NotSupportedError("SPARQL needs a parser that is not installed: pip install 'imp_driver[sparql]'") from missing
    ready = prepared(text)
    if ready.has_service:
        raise NotSupportedError("SERVICE asks another server, which this driver does not: load its triples into a graph first")
    grammar = getattr(parser, rule)
    try:
        with _LOCK:
            found = _recursing(lambda: grammar.parse_string(ready.text, parse_all=True))
    except ParseBaseException as problem:
        place, expected = _expectations(grammar).of(ready.text) or (problem.loc, "something else")
        raise _refusal(whole, offset + ready.original(place), expected) from problem
    except RecursionError as problem:
        raise NotSupportedError("this SPARQL text is nested too deeply; take it apart") from problem
    converted: list[Any] = _Conversion(ready).of(found)
    return converted


@cache
def _expectations(grammar: Any) -> Expectations:
    return Expectations(grammar)


def _recursing(parse: Any) -> Any:
    limit = sys.getrecursionlimit()
    try:
        return parse()
    except RecursionError:
        sys.setrecursionlimit(max(limit, _DEEP))
        try:
            return parse()
        finally:
            sys.setrecursionlimit(limit)


def _refusal(text: str, offset: int, expected: str) -> ProgrammingError:
    offset = min(offset, len(text))
    offset += len(text[offset:]) - len(text[offset:].lstrip())
    called = _called(text, offset) if expected == _OF_A_PREFIX else None
    if (bare := without_brackets(text, offset)) is not None:
        offset, told = bare
    elif called is not None:
        offset, told = called.start, f"{called.text} is no function of SPARQL 1.1{meant(called.text)}"
    else:
        token = next(tokens(text[offset:]), None)
        found = "the end of the text" if token is None else repr(token.text[:30])
        is_less = token is not None and token.kind == "iri" and "'&&'" in expected
        told = f"expected {expected}; found {found}{_NO_IRI if is_less else _meant_word(token)}"
    line, column = line_and_column(text, offset)
    message = f"this is no SPARQL 1.1: line {line}, column {column}: {told}\n{excerpt(text, offset)}"
    return ProgrammingError(message, position=QueryPosition(line, column, offset))


def _meant_word(token: Token | None) -> str:
    """Return a question for the word that a token is nearly."""
    if token is None or token.kind != "word" or token.text.upper() in _WORDS:
        return ""
    near = get_close_matches(token.text.upper(), _WORDS, 1, 0.75)
    return f". Did you mean {near[0]}?" if near else ""


def _called(text: str, offset: int) -> Token | None:
    """Return the word that stands before a bracket as the name of a function does, which the grammar takes for a prefix."""
    before = [token for token in tokens(text[:offset]) if token.kind not in ("space", "comment")]
    return before[-1] if text[offset : offset + 1] == "(" and before and before[-1].kind == "word" else None


class _Conversion:
    def __init__(self, ready: Prepared) -> None:
        self._ready = ready

    def of(self, found: Any) -> Any:
        from pyparsing import ParseResults
        from rdflib.plugins.sparql.parserutils import CompValue
        from rdflib.term import BNode, Literal, URIRef
        from rdflib.term import Variable as Named

        match found:
            case CompValue():
                return self._tree(found)
            case ParseResults() | list() | tuple():
                return [self.of(one) for one in found]
            case Named():
                return Variable(str(found))
            case URIRef():
                return self._iri(str(found))
            case BNode():
                return Blank(str(found), str(found) in self._ready.labels)
            case Literal():
                return self._literal(found)
            case _:
                return found

    def _tree(self, found: Any) -> Any:
        parts = {name: self.of(part) for name, part in found.items()}
        if found.name == "pname":
            return Prefixed(parts.get("prefix") or "", parts.get("localname") or "")
        if found.name == "literal":
            return Text(parts["string"].lexical, parts.get("lang"), parts.get("datatype"))
        return Tree(found.name, parts)

    def _iri(self, text: str) -> Any:
        for scheme in (INVERSE, WRITTEN):
            if text.startswith(scheme):
                name = name_of(self._ready.names[int(text.removeprefix(scheme))])
                return name if scheme == WRITTEN else Tree("InversePath", {"part": name})
        return Iri(text)

    def _literal(self, found: Any) -> Text | Number:
        lexical = str(found)
        kind = str(found.datatype or "").removeprefix(XSD)
        if not kind:
            return Text(self._ready.strings[int(lexical)])
        if kind == "boolean":
            return Text(lexical, datatype=Iri(f"{XSD}boolean"))
        return replace(number_of(self._ready.numbers[abs(int(lexical)) - FIRST_NUMBER]), has_sign=lexical[0] in "+-")


def number_of(written: str) -> Number:
    """Return the leaf of a number."""
    return Number(written[0].strip(".0123456789"), written.lstrip("+-"))


def name_of(written: str) -> Iri | Prefixed:
    """Return the leaf of an IRI, a prefixed name or ``a``."""
    if written == "a":
        return Iri(f"{RDF}type")
    if written[0] == "<":
        return Iri(written[1:-1])
    prefix, _, local = written.partition(":")
    return Prefixed(prefix, local)
