"""Rows of tables -> the triples that a mapping makes of them, with the text that the view of the mapping has (``mapping_sql.py``).

Only values whose text is the same whatever makes it: whole numbers, decimals, truth values, texts, dates and times. The triples of some
rows are a bag, one for each row and kind of triple; the graph is the set of them.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from imp_driver.sparql.mapping import Column, TermMap, TripleMap
from imp_driver.sparql.templates import Row
from imp_driver.sparql.terms import STRING, XSD, Term, TermKind

Values: TypeAlias = Mapping[str, Sequence[Any]]
"""Columns of rows by name, None for NULL."""
Wanted: TypeAlias = Sequence[tuple[Term | None, Term | None, Term | None]]
"""Subjects, predicates and objects that are asked for; None stands for any."""

_PLANES = "".join(f"{chr(plane << 16)}-{chr((plane << 16) + 0xFFFD)}" for plane in range(1, 14))
_KEPT = re.compile(
    rf"[A-Za-z0-9._~\-\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF{_PLANES}\U000E1000-\U000EFFFD]"  # as _SAFE of mapping_sql.py
)
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>\"{}|\\^`]*")
_LINE_END = re.compile("[\n\r\u0085\u2028\u2029]$")


class NotAlike(Exception):
    """Values of a column are text in a way that is the engine's own; the message says which."""


def columns_of(maps: Sequence[TripleMap], types: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the columns that are read, as the table has them. Raises NotAlike.

    Args:
        types: Delta's names of the types of the table's columns.
    """
    found = dict.fromkeys(column for each in maps for term in _terms(each) for column in term.columns)
    return tuple(dict.fromkeys(_Column(column, types).name for column in found))


def matching(maps: Sequence[TripleMap], wanted: Wanted) -> tuple[TripleMap, ...]:
    """Return the kinds of triples that may be asked for."""

    def may_be(triple: TripleMap, asked: tuple[Term | None, ...]) -> bool:
        pairs = zip((triple.subject, triple.predicate, triple.object), asked, strict=True)
        return all(term is None or own.constant is None or own.constant == term for own, term in pairs)

    return tuple(each for each in maps if any(may_be(each, terms) for terms in wanted))


def triples(maps: Sequence[TripleMap], types: Mapping[str, str], rows: Values, count: int) -> Iterator[tuple[int, Row]]:
    """Yield the places of rows with the triples that each of them makes. Raises NotAlike."""
    made: dict[TermMap, Sequence[Term | None]] = {}

    def values(term: TermMap) -> Sequence[Term | None]:
        if term not in made:
            made[term] = _values(term, types, rows, count)
        return made[term]

    for each in maps:
        graphs = [None] * count if each.graph is None else values(each.graph)
        quads = zip(values(each.subject), values(each.predicate), values(each.object), graphs, strict=True)
        for place, (subject, predicate, object_, graph) in enumerate(quads):
            if subject is None or predicate is None or object_ is None or (graph is None and each.graph is not None):
                continue
            yield place, (subject, predicate, object_, graph)


def _terms(triple: TripleMap) -> Iterator[TermMap]:
    yield from (triple.subject, triple.predicate, triple.object)
    if triple.graph is not None:
        yield triple.graph


def _values(term: TermMap, types: Mapping[str, str], rows: Values, count: int) -> Sequence[Term | None]:
    """Return the term that each row makes, None where a column of it is NULL."""
    if term.constant is not None:
        return [term.constant] * count
    columns = {column: _Column(column, types) for column in term.columns}
    texts = {column: each.texts(rows) for column, each in columns.items()}
    if term.column is None:
        own = [_joined(term, dict(zip(texts, row, strict=True))) for row in zip(*texts.values(), strict=True)]
        natural = STRING
    else:
        own, natural = texts[term.column], columns[term.column].datatype
    whole = _whole(term, natural)
    return [None if value is None else whole(value) for value in own]


def _joined(term: TermMap, texts: Mapping[Column, str | None]) -> str | None:
    if None in texts.values():
        return None
    within = encoded if term.kind is TermKind.IRI else str
    return "".join(part if isinstance(part, str) else within(str(texts[part])) for part in term.template)


def _whole(term: TermMap, natural: str) -> Callable[[str], Term]:
    """Return what makes a term of its text."""
    if term.kind is TermKind.BLANK:
        return lambda value: f"_:b{value.encode().hex()}"
    if term.kind is TermKind.IRI:
        return (lambda value: f"<{value}>") if term.column is None else _checked_iri
    datatype = term.datatype or natural
    end = f'"@{term.language}' if term.language is not None else '"' if datatype == STRING else f'"^^<{datatype}>'
    return lambda value: f'"{value}{end}'


def _checked_iri(value: str) -> Term:
    if _IRI.fullmatch(value) is None:
        raise NotAlike(f"{value!r} of a column that is to be an IRI is none")
    return f"<{value}>"


def encoded(value: str) -> str:
    """Percent-encode all characters of a text but those that IRIs have without a meaning of their own. Raises NotAlike."""
    if _LINE_END.search(value):
        raise NotAlike("a text that ends with the end of a line, in an IRI")
    return "".join(each if _KEPT.fullmatch(each) else quote(each, safe="") for each in value)


class _Column:
    """A column of a table: its own name, the datatype of its values and their text. Raises NotAlike for types that are not read here."""

    def __init__(self, column: Column, types: Mapping[str, str]) -> None:
        found = next(((name, kind) for name, kind in types.items() if name.lower() == column.name.lower()), None)
        if found is None or found[1].split("(")[0] not in _NATURAL:
            what = "is not there" if found is None else f"is of type {found[1]}"
            raise NotAlike(f"the column {column.name} {what}, whose text is the engine's")
        self.name = found[0]
        self.datatype, self._form = _NATURAL[found[1].split("(")[0]]

    def texts(self, rows: Values) -> list[str | None]:
        form = self._form
        return [None if value is None else form(value) for value in rows[self.name]]


def _decimal(value: Decimal) -> str:
    text = f"{value:f}"
    if "." not in text:
        return f"{text}.0"
    text = text.rstrip("0")
    return f"{text}0" if text.endswith(".") else text


def _time(value: datetime.datetime) -> str:
    text = value.replace(tzinfo=None).isoformat(timespec="microseconds").rstrip("0").rstrip(".") if value.microsecond else ""
    return text or value.replace(tzinfo=None).isoformat(timespec="seconds")


_NATURAL: Final[Mapping[str, tuple[str, Callable[[Any], str]]]] = {
    "string": (STRING, str),
    **dict.fromkeys(("byte", "short", "integer", "long"), (f"{XSD}integer", str)),
    "decimal": (f"{XSD}decimal", _decimal),
    "boolean": (f"{XSD}boolean", lambda value: "true" if value else "false"),
    "date": (f"{XSD}date", datetime.date.isoformat),
    "timestamp": (f"{XSD}dateTime", lambda value: f"{_time(value.astimezone(datetime.UTC))}Z"),
    "timestamp_ntz": (f"{XSD}dateTime", _time),
}
"""By Delta's types: datatypes, and lexical forms of values."""
