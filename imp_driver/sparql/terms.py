"""Terms of RDF as text: what graphs keep in their tables, and by which solutions are told apart.

    <http://example.org/a>     an IRI
    _:b0                       a blank node
    "lexical form"             a text (xsd:string)
    "lexical form"@en          a text of a language, in lower case
    "5"^^<http://..#integer>   a literal of a datatype

The lexical form stands as it is, without escapes: neither a language nor a datatype has a quotation mark, so it ends at the last one.
Two terms are the same when their texts are; that ``"1"`` and ``"01"`` are equal numbers is a matter of expressions.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, TypeAlias

Term: TypeAlias = str

XSD: Final = "http://www.w3.org/2001/XMLSchema#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
STRING: Final = f"{XSD}string"
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
LANGUAGE_TEXT: Final = f"{RDF}langString"


class TermKind(Enum):
    IRI = "iri"
    BLANK = "blank"
    LITERAL = "literal"


def iri(text: str) -> Term:
    return f"<{text}>"


def blank(label: str) -> Term:
    return f"_:{label}"


def literal(lexical: str, datatype: str = STRING, language: str | None = None) -> Term:
    """Return a literal; ``datatype`` is an IRI without brackets, without meaning where there is a language."""
    if language:
        return f'"{lexical}"@{language.lower()}'
    return f'"{lexical}"' if datatype == STRING else f'"{lexical}"^^<{datatype}>'


def kind(term: Term) -> TermKind:
    match term[0]:
        case "<":
            return TermKind.IRI
        case "_":
            return TermKind.BLANK
        case _:
            return TermKind.LITERAL


def lexical(term: Term) -> str:
    """Return an IRI without brackets, the label of a blank node, the lexical form of a literal."""
    match term[0]:
        case "<":
            return term[1:-1]
        case "_":
            return term[2:]
        case _:
            return term[1 : term.rindex('"')]


def datatype(term: Term) -> str | None:
    """Return the datatype of a literal as an IRI without brackets; None of other terms."""
    if term[0] != '"':
        return None
    rest = term[term.rindex('"') + 1 :]
    if not rest:
        return STRING
    return LANGUAGE_TEXT if rest[0] == "@" else rest[3:-1]


def language(term: Term) -> str:
    """Return the language of a literal, empty where it has none."""
    rest = term[term.rindex('"') + 1 :] if term[0] == '"' else ""
    return rest[1:] if rest[:1] == "@" else ""


def n_triples(term: Term) -> str:
    """Return a term as N-Triples and SPARQL have it, with escapes."""
    if kind(term) is not TermKind.LITERAL:
        return term
    own = lexical(term)
    return f'"{own.translate(_ESCAPES)}"{term[len(own) + 2 :]}'


def shown(term: Term) -> str:
    """Return a term as people read it: an IRI without brackets, a literal's lexical form, a blank node with ``_:``."""
    return term if term[0] == "_" else lexical(term)
