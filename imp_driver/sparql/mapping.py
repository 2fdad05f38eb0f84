"""R2RML -> the maps of a document, of those terms of the language that are followed here.

Source: R2RML: RDB to RDF Mapping Language (W3C Recommendation, 2012); numbers of sections are those of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.sparql.files import term_of
from imp_driver.sparql.terms import RDF, Term, TermKind, kind, lexical

R2RML: Final = "http://www.w3.org/ns/r2rml#"
TYPE: Final = f"<{RDF}type>"
_DEFAULT_GRAPH = f"<{R2RML}defaultGraph>"
_KINDS = {"IRI": TermKind.IRI, "BlankNode": TermKind.BLANK, "Literal": TermKind.LITERAL}
_TERM_MAP = frozenset(("template", "column", "constant", "termType"))
_KNOWN: Mapping[str, frozenset[str]] = {
    "triples map": frozenset(("logicalTable", "subjectMap", "subject", "predicateObjectMap")),
    "logical table": frozenset(("tableName", "sqlQuery", "sqlVersion")),
    "subject map": _TERM_MAP | {"class", "graph", "graphMap"},
    "predicate map": _TERM_MAP,
    "graph map": _TERM_MAP,
    "object map": _TERM_MAP | {"datatype", "language"},
    "predicate-object map": frozenset(("predicate", "predicateMap", "object", "objectMap", "graph", "graphMap")),
}
_PART = re.compile(r"\{((?:\\[{}\\]|[^{}\\])+)\}|((?:\\[{}\\]|[^{}\\])+)")


@dataclass(frozen=True, slots=True)
class Column:
    """A column's name as it is, without quotes."""

    name: str


@dataclass(frozen=True, slots=True)
class TermMap:
    """What makes a term of a row (section 7): a constant, a column, or a template of texts and columns.

    ``datatype`` is an IRI without brackets; ``language`` is in lower case.
    """

    kind: TermKind
    constant: Term | None = None
    column: Column | None = None
    template: tuple[str | Column, ...] = ()
    datatype: str | None = None
    language: str | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        own = () if self.column is None else (self.column,)
        return (*own, *(part for part in self.template if isinstance(part, Column)))


@dataclass(frozen=True, slots=True)
class TripleMap:
    """Triples of each row; ``graph`` None is the default graph."""

    subject: TermMap
    predicate: TermMap
    object: TermMap
    graph: TermMap | None


@dataclass(frozen=True, slots=True)
class RowMap:
    """A triples map (section 6): rows, of ``table`` or of a ``query``, and what each of them says."""

    table: str | None
    query: str | None
    triples: tuple[TripleMap, ...]


def read_mapping(text: str) -> tuple[RowMap, ...]:
    """Read a document in Turtle.

    Raises:
        ProgrammingError: it is no R2RML.
        NotSupportedError: it uses a term of R2RML that is not followed here, or the library is not installed.
    """
    document = _Document(text)
    found = tuple(_row_map(document, node) for node in document.nodes if document.values(node, "logicalTable"))
    if not found:
        raise ProgrammingError("The mapping has no triples map: nothing in it has rr:logicalTable.")
    return found


class _Document:
    """The triples of a document by subject and property."""

    def __init__(self, text: str) -> None:
        self._values: dict[Term, dict[str, list[Term]]] = {}
        for subject, predicate, value in _parsed(text):
            self._values.setdefault(subject, {}).setdefault(predicate, []).append(value)
        self.nodes = tuple(self._values)

    def values(self, node: Term, name: str) -> list[Term]:
        return self._values.get(node, {}).get(f"{R2RML}{name}", [])

    def one(self, node: Term, name: str) -> Term | None:
        """Return the value of a property that has one at most. Raises ProgrammingError."""
        found = self.values(node, name)
        if len(found) > 1:
            raise ProgrammingError(f"The mapping gives rr:{name} of {_shown(node)} {len(found)} values; it has one.")
        return found[0] if found else None

    def text(self, node: Term, name: str) -> str | None:
        value = self.one(node, name)
        if value is not None and kind(value) is not TermKind.LITERAL:
            raise ProgrammingError(f"The mapping has {value} as rr:{name} of {_shown(node)}, which is a text.")
        return None if value is None else lexical(value)

    def check(self, node: Term, what: str) -> None:
        """Raise NotSupportedError for terms of the language that are not those of this kind of node."""
        for predicate in self._values.get(node, {}):
            name = predicate.removeprefix(R2RML)
            if name != predicate and name not in _KNOWN[what]:
                known = ", ".join(f"rr:{each}" for each in sorted(_KNOWN[what]))
                raise NotSupportedError(f"rr:{name} of {_with_article(what)} is not followed here ({_shown(node)}); what is: {known}.")


def _parsed(text: str) -> Iterator[tuple[Term, str, Term]]:
    try:
        from pyoxigraph import RdfFormat, parse
    except ImportError as error:
        raise NotSupportedError("Mappings need pyoxigraph: pip install 'imp_driver[sparql]'.") from error
    try:
        for subject, predicate, value, _ in parse(text, format=RdfFormat.TURTLE, base_iri=f"{R2RML}mapping/"):
            yield term_of(subject), str(predicate.value), term_of(value)
    except SyntaxError as error:
        raise ProgrammingError(f"The mapping cannot be read: {error.msg}.") from error


def _with_article(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


def _shown(node: Term) -> str:
    return node if kind(node) is TermKind.IRI else "a node without a name"


def _row_map(document: _Document, node: Term) -> RowMap:
    document.check(node, "triples map")
    logical = document.one(node, "logicalTable")
    assert logical is not None
    document.check(logical, "logical table")
    table, query = document.text(logical, "tableName"), document.text(logical, "sqlQuery")
    if (table is None) == (query is None):
        raise ProgrammingError(f"The logical table of {_shown(node)} has one of rr:tableName and rr:sqlQuery.")
    subjects = _term_maps(document, node, "subject", "subject map")
    if len(subjects) != 1:
        raise ProgrammingError(f"The triples map {_shown(node)} has one rr:subjectMap or rr:subject, not {len(subjects)}.")
    [subject] = subjects
    own = document.one(node, "subjectMap")
    graphs = [] if own is None else _graphs(document, own)
    classes = [] if own is None else document.values(own, "class")
    typed = TermMap(TermKind.IRI, TYPE)
    triples = [TripleMap(subject, typed, TermMap(TermKind.IRI, each), graph) for each in classes for graph in (graphs or [None])]
    for each in document.values(node, "predicateObjectMap"):
        triples += _predicate_objects(document, each, subject, graphs)
    return RowMap(table, query, tuple(triples))


def _predicate_objects(document: _Document, node: Term, subject: TermMap, graphs: list[TermMap | None]) -> list[TripleMap]:
    document.check(node, "predicate-object map")
    predicates = _term_maps(document, node, "predicate", "predicate map")
    objects = _term_maps(document, node, "object", "object map")
    if not predicates or not objects:
        raise ProgrammingError("A predicate-object map of the mapping has a predicate and an object at least.")
    places = [*graphs, *_graphs(document, node)] or [None]
    return [TripleMap(subject, predicate, each, place) for predicate in predicates for each in objects for place in places]


def _graphs(document: _Document, node: Term) -> list[TermMap | None]:
    return [None if each.constant == _DEFAULT_GRAPH else each for each in _term_maps(document, node, "graph", "graph map")]


def _term_maps(document: _Document, node: Term, name: str, what: str) -> list[TermMap]:
    """Return the maps of a node under a property, whose short form has the constants alone (section 7.1)."""
    constants = [_constant(value, what) for value in document.values(node, name)]
    return [*constants, *(_term_map(document, each, what) for each in document.values(node, f"{name}Map"))]


def _constant(value: Term, what: str) -> TermMap:
    found = kind(value)
    if found is TermKind.BLANK or (found is TermKind.LITERAL and what != "object map"):
        raise ProgrammingError(f"The constant {value} of the mapping cannot be that of {_with_article(what)}.")
    return TermMap(found, value)


def _term_map(document: _Document, node: Term, what: str) -> TermMap:
    document.check(node, what)
    constant, column, template = document.one(node, "constant"), document.text(node, "column"), document.text(node, "template")
    if sum(each is not None for each in (constant, column, template)) != 1:
        raise ProgrammingError(f"A {what} of the mapping has one of rr:constant, rr:column and rr:template.")
    if constant is not None:
        return _constant(constant, what)
    type_, language = document.one(node, "datatype"), document.text(node, "language")
    wanted = document.one(node, "termType")
    found = _kind(wanted, what, is_literal=column is not None or type_ is not None or language is not None)
    if type_ is not None and language is not None:
        raise ProgrammingError("An object map of the mapping has rr:datatype and rr:language; it has one of them.")
    if type_ is not None and kind(type_) is not TermKind.IRI:
        raise ProgrammingError(f"The mapping has {type_} as rr:datatype, which is an IRI.")
    return TermMap(
        found,
        None,
        None if column is None else Column(_name(column)),
        () if template is None else _template(template),
        None if type_ is None else lexical(type_),
        None if language is None else language.lower(),
    )


def _kind(wanted: Term | None, what: str, *, is_literal: bool) -> TermKind:
    """Return the kind of the terms of a map (section 7.4)."""
    if wanted is None:
        return TermKind.LITERAL if is_literal and what == "object map" else TermKind.IRI
    found = _KINDS.get(lexical(wanted).removeprefix(R2RML))
    is_wrong = (found is TermKind.LITERAL and what != "object map") or (found is TermKind.BLANK and what in ("predicate map", "graph map"))
    if found is None or is_wrong:
        raise ProgrammingError(f"The mapping has {wanted} as rr:termType of {_with_article(what)}, which it cannot be.")
    return found


def _name(text: str) -> str:
    """Return the name of a column, which may stand in double quotes, or in backticks as Spark has it."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in '"`':
        return text[1:-1].replace(text[0] * 2, text[0])
    return text


def _template(text: str) -> tuple[str | Column, ...]:
    """Read a template, in which a backslash stands before braces that are meant as such (section 7.3). Raises ProgrammingError."""
    parts: list[str | Column] = []
    place = 0
    while place < len(text):
        match = _PART.match(text, place)
        if match is None:
            raise ProgrammingError(f"The template {text!r} of the mapping cannot be read at {text[place:]!r}.")
        column, plain = (None if part is None else re.sub(r"\\(.)", r"\1", part) for part in match.groups())
        parts.append(Column(_name(column)) if column is not None else plain or "")
        place = match.end()
    if not any(isinstance(part, Column) for part in parts):
        raise ProgrammingError(f"The template {text!r} of the mapping has no column; rr:constant is for a term that is always the same.")
    return tuple(parts)
