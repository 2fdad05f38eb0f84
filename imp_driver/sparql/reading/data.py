"""INSERT DATA and DELETE DATA of triples that are written out, read without the parser, which takes a millisecond for each.

What is anything else, errors among it, is left to the parser.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from imp_driver.sparql.reading.tokens import Token, said, tokens
from imp_driver.sparql.reading.tree import Blank, Iri, Leaf, Text, Tree, name_of, number_of
from imp_driver.sparql.terms import RDF, XSD

_END = Token("end", "", -1)


class _Other(Exception):
    """The text is not of this kind."""


def data_tree(operation: str) -> tuple[Sequence[Tree], Tree] | None:
    """Return the prologue and the tree of an operation, as the parser would; None where it is to be asked."""
    try:
        return _Reader(operation).read()
    except _Other:
        return None


class _Reader:
    def __init__(self, operation: str) -> None:
        self._tokens: Iterator[Token] = (token for token in tokens(operation) if token.kind not in ("space", "comment"))
        self._next = next(self._tokens, _END)

    def read(self) -> tuple[Sequence[Tree], Tree]:
        prologue = []
        while self._word() in ("PREFIX", "BASE"):
            prologue.append(self._declaration())
        rule = {"INSERT": "InsertData", "DELETE": "DeleteData"}.get(self._word())
        self._take()
        if rule is None or self._word() != "DATA":
            raise _Other
        self._take()
        quads = self._quads()
        if self._next is not _END:
            raise _Other
        return prologue, Tree(rule, {"quads": quads})

    def _take(self) -> Token:
        token, self._next = self._next, next(self._tokens, _END)
        return token

    def _word(self) -> str:
        return self._next.text.upper() if self._next.kind == "word" else ""

    def _sign(self, sign: str) -> None:
        if self._take().text != sign:
            raise _Other

    def _declaration(self) -> Tree:
        if self._take().text.upper() == "BASE":
            return Tree("Base", {"iri": self._iri()})
        name = self._take()
        if name.kind != "name" or name.text[-1] != ":" or name.text.count(":") != 1:
            raise _Other
        return Tree("PrefixDecl", {"prefix": name.text[:-1], "iri": self._iri()})

    def _iri(self) -> Iri:
        token = self._take()
        if token.kind != "iri":
            raise _Other
        return Iri(token.text[1:-1])

    def _quads(self) -> Tree:
        self._sign("{")
        blocks, graphs = [self._triples()], []
        while self._word() == "GRAPH":
            self._take()
            if self._next.kind not in ("iri", "name"):
                raise _Other
            term = name_of(self._take().text)
            self._sign("{")
            graphs.append(Tree("QuadsNotTriples", {"term": term, "triples": [self._triples()]}))
            self._sign("}")
            if self._next.text == ".":
                self._take()
            blocks.append(self._triples())
        self._sign("}")
        return Tree("Quads", {"triples": blocks, "quadsNotTriples": graphs})

    def _triples(self) -> list[Leaf]:
        found: list[Leaf] = []
        while self._next.text != "}" and self._word() != "GRAPH":
            subject = self._node()
            self._of_subject(subject, found)
            if self._next.text != ".":
                break
            self._take()
        return found

    def _of_subject(self, subject: Leaf, found: list[Leaf]) -> None:
        """Read predicates and objects: a semicolon may have nothing behind it, the first place has one."""
        while True:
            predicate = self._predicate()
            found += (subject, predicate, self._node())
            while self._next.text == ",":
                self._take()
                found += (subject, predicate, self._node())
            if self._next.text != ";":
                return
            while self._next.text == ";":
                self._take()
            if self._next.text in (".", "}") or self._word() == "GRAPH":
                return

    def _predicate(self) -> Leaf:
        token = self._take()
        if token.text == "a":
            return Iri(f"{RDF}type")
        if token.kind not in ("iri", "name"):
            raise _Other
        return name_of(token.text)

    def _node(self) -> Leaf:
        token = self._take()
        match token.kind:
            case "iri" | "name":
                return name_of(token.text)
            case "blank":
                return Blank(token.text[2:], is_named=True)
            case "number":
                return number_of(token.text)
            case "string" if (lexical := said(token.text)) is not None:
                return self._literal(lexical)
            case "word" if token.text.lower() in ("true", "false"):
                return Text(token.text.lower(), datatype=Iri(f"{XSD}boolean"))
            case _:
                raise _Other

    def _literal(self, lexical: str) -> Text:
        if self._next.kind == "language":
            return Text(lexical, self._take().text[1:])
        if self._next.text != "^^":
            return Text(lexical)
        self._take()
        datatype: Any = self._take()
        if datatype.kind not in ("iri", "name"):
            raise _Other
        return Text(lexical, datatype=name_of(datatype.text))
