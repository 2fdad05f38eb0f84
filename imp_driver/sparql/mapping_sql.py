"""Maps of R2RML -> a view with the rows of a graph: a SELECT for each kind of triple, of the tables as they are.

NULL in a column makes no term, and so no triple. Values have the lexical forms that R2RML gives to their types (section 10.2), which are
canonical ones of XML Schema 1.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.parse.graphs import read_graph_name
from imp_driver.parse.statement import check_query
from imp_driver.sparql.graph_table import COLUMNS, MAPPING, MAPPING_TEXT, PROPERTY
from imp_driver.sparql.mapping import Column, RowMap, TermMap, TripleMap
from imp_driver.sparql.terms import STRING, XSD, TermKind
from imp_driver.values.quoting import qualified, quoted_name, quoted_text

Types: TypeAlias = Callable[[str], Mapping[str, str]]
"""Gives the columns of a query with Spark's names of their types."""

_SAFE = (
    "A-Za-z0-9._~\\-\\x{A0}-\\x{D7FF}\\x{F900}-\\x{FDCF}\\x{FDF0}-\\x{FFEF}"
    + "".join(f"\\x{{{plane:X}0000}}-\\x{{{plane:X}FFFD}}" for plane in range(1, 14))
    + "\\x{E1000}-\\x{EFFFD}"
)
"""Characters that templates leave as they are, as the inside of a class of Java (section 7.3: iunreserved of RFC 3987)."""
_IRI = '[A-Za-z][A-Za-z0-9+.\\-]*:[^\\x00-\\x20<>"{}|\\\\^`]*'


def view_text(name: tuple[str, ...], maps: tuple[RowMap, ...], mapping: str, comment: str | None, types: Types) -> str:
    """Return the statement that makes the view of a mapping.

    Raises:
        ProgrammingError: a table or column is not there.
        NotSupportedError: a column is of a type that has no form in RDF.
    """
    said = f" COMMENT {quoted_text(comment)}" if comment is not None else ""
    properties = f"'{PROPERTY}' = '{MAPPING}', '{MAPPING_TEXT}' = {quoted_text(mapping)}"
    head = f"CREATE VIEW {qualified(name)} ({', '.join(COLUMNS)}){said} TBLPROPERTIES ({properties})"
    return f"{head} AS {query_text(maps, types)}"


def query_text(maps: tuple[RowMap, ...], types: Types) -> str:
    """Return the query of the view of a mapping. Raises as ``view_text``."""
    selects = [text for each in maps for text in _selects(each, types)]
    if not selects:
        raise ProgrammingError("The mapping makes no triple: it has neither rr:class nor rr:predicateObjectMap.")
    # Rows that differ in other columns alone make the same triple, and a graph is a set.
    return f"SELECT DISTINCT {', '.join(COLUMNS)} FROM ({' UNION ALL '.join(selects)}) AS triples"


def _selects(rows: RowMap, types: Types) -> list[str]:
    if rows.query is not None:
        check_query(rows.query, "What rr:sqlQuery says")
        # A comment at its end must not hide the bracket.
        relation = f"({rows.query.strip().rstrip(';')}\n)"
    else:
        relation = qualified(table_of(rows))
    known = {column.lower(): (column, kind) for column, kind in types(f"SELECT * FROM {relation} AS r").items()}
    return [_select(each, relation, _Terms(known)) for each in rows.triples]


def table_of(rows: RowMap) -> tuple[str, ...]:
    """Return the name of a map's table, as it is written. Raises ProgrammingError."""
    return read_graph_name((rows.table or "").replace('"', "`"))


def _select(triple: TripleMap, relation: str, terms: _Terms) -> str:
    maps = (triple.subject, triple.predicate, triple.object, triple.graph)
    pairs = zip(COLUMNS, maps, strict=True)
    values = [f"{'CAST(NULL AS STRING)' if each is None else terms.term(each)} AS {column}" for column, each in pairs]
    columns = dict.fromkeys(column for each in maps if each is not None for column in each.columns)
    conditions = [f"{terms.name(column)} IS NOT NULL" for column in columns]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {', '.join(values)} FROM {relation} AS r{where}"


class _Terms:
    """Expressions over the columns of one relation, by their names in lower case with their own names and Spark's types."""

    def __init__(self, known: Mapping[str, tuple[str, str]]) -> None:
        self._known = known

    def name(self, column: Column) -> str:
        return f"r.{quoted_name(self._found(column)[0])}"

    def _found(self, column: Column) -> tuple[str, str]:
        found = self._known.get(column.name.lower())
        if found is None:
            there = ", ".join(name for name, _ in self._known.values())
            raise ProgrammingError(f"The mapping names the column {column.name!r}, which is not there. There are {there}.")
        return found

    def term(self, term: TermMap) -> str:
        """Return the expression of a term."""
        if term.constant is not None:
            return quoted_text(term.constant)
        if term.kind is TermKind.LITERAL:
            return self._literal(term)
        value = self._joined(term, is_safe=term.kind is TermKind.IRI)
        if term.kind is TermKind.BLANK:
            return f"concat('_:b', lower(hex({value})))"
        if term.column is None:
            return f"concat('<', {value}, '>')"
        problem = f"concat({quoted_text(f'The mapping makes an IRI of the column {term.column.name}, but this is none: ')}, {value})"
        is_iri = f"{value} IS NULL OR {value} RLIKE {quoted_text(f'^{_IRI}$')}"
        return f"CASE WHEN {is_iri} THEN concat('<', {value}, '>') ELSE CAST(raise_error({problem}) AS STRING) END"

    def _joined(self, term: TermMap, *, is_safe: bool) -> str:
        if term.column is not None:
            return self._value(term.column)[0]
        values = [quoted_text(part) if isinstance(part, str) else self._within(part, is_safe=is_safe) for part in term.template]
        return values[0] if len(values) == 1 else f"concat({', '.join(values)})"

    def _within(self, column: Column, *, is_safe: bool) -> str:
        value, _ = self._value(column)
        return encoded(value) if is_safe else value

    def _literal(self, term: TermMap) -> str:
        value, natural = (self._joined(term, is_safe=False), STRING) if term.column is None else self._value(term.column)
        kind = term.datatype or natural
        end = f'"@{term.language}' if term.language is not None else '"' if kind == STRING else f'"^^<{kind}>'
        return f"concat('\"', {value}, {quoted_text(end)})"

    def _value(self, column: Column) -> tuple[str, str]:
        """Return the lexical form of a column's values, and their datatype (section 10.2)."""
        kind = self._found(column)[1].split("(")[0]
        if kind not in _NATURAL:
            raise NotSupportedError(f"The column {column.name!r} is of type {self._found(column)[1]}, which has no form in RDF. CAST it.")
        datatype, form = _NATURAL[kind]
        return form(self.name(column)), datatype


def encoded(value: str) -> str:
    """Return the expression of a text with all characters percent-encoded but those that IRIs have without a meaning of their own."""
    each = f"CASE WHEN c RLIKE {quoted_text(f'^[{_SAFE}]$')} THEN c WHEN c = ' ' THEN '%20' WHEN c = '*' THEN '%2A' ELSE url_encode(c) END"
    parts = f"transform(regexp_extract_all({value}, '(?s).', 0), c -> {each})"
    return f"CASE WHEN {value} RLIKE {quoted_text(f'^[{_SAFE}]*$')} THEN {value} ELSE array_join({parts}, '') END"


def _text(value: str) -> str:
    return f"CAST({value} AS STRING)"


def _let(value: str, expression: str) -> str:
    """Return an expression over ``t``, which stands for a value."""
    return f"element_at(transform(array({value}), t -> {expression}), 1)"


def _decimal(value: str) -> str:
    """Return the canonical form of a number that Spark writes as ``1.50``, or as ``1.5E-7`` outside of its ANSI mode."""
    digits = "replace(regexp_extract(t, '^-?([0-9.]+)E', 1), '.', '')"
    small = f"concat(regexp_extract(t, '^-?', 0), '0.', repeat('0', CAST(regexp_extract(t, 'E-([0-9]+)$', 1) AS INT) - 1), {digits})"
    plain = _let(_text(value), f"CASE WHEN contains(t, 'E-') THEN {small} ELSE t END")
    return _let(
        plain, "CASE WHEN contains(t, '.') THEN regexp_replace(regexp_replace(t, '0+$', ''), '[.]$', '.0') ELSE concat(t, '.0') END"
    )


def _double(value: str) -> str:
    """Return the canonical form of a number that Spark writes as ``123.4``, or as ``1.234E10`` where it is large or small."""
    sign, whole, fraction = (f"regexp_extract(t, '{pattern}', 1)" for pattern in ("^(-?)", "^-?([0-9]+)", "[.]([0-9]+)$"))
    zeros = f"length(regexp_extract({fraction}, '^0*', 0))"

    def written(first: str, rest: str, exponent: str) -> str:
        return f"concat({sign}, {first}, '.', coalesce(nullif(regexp_replace({rest}, '0+$', ''), ''), '0'), 'E', {exponent})"

    large = written(f"left({whole}, 1)", f"concat(substring({whole}, 2), {fraction})", f"length({whole}) - 1")
    small = written(f"substring({fraction}, {zeros} + 1, 1)", f"substring({fraction}, {zeros} + 2)", f"-1 - {zeros}")
    cases = (
        "WHEN t = 'NaN' OR contains(t, 'E') THEN t WHEN endswith(t, 'Infinity') THEN replace(t, 'Infinity', 'INF') "
        f"WHEN t RLIKE '^-?0[.]0$' THEN concat(t, 'E0') WHEN t RLIKE '^-?0[.]' THEN {small} ELSE {large}"
    )
    return _let(_text(f"CAST({value} AS DOUBLE)"), f"CASE {cases} END")


def _date(value: str) -> str:
    return f"regexp_replace({_text(value)}, '^[+]', '')"


def _time(value: str) -> str:
    return f"replace({_date(value)}, ' ', 'T')"


def _instant(value: str) -> str:
    """Return a time at UTC, whatever the session's zone is when the view is read."""
    since = f"make_dt_interval(0, 0, 0, CAST(unix_micros({value}) / 1000000BD AS DECIMAL(18, 6)))"
    at_utc = _time(f"(TIMESTAMP_NTZ '1970-01-01 00:00:00' + {since})")
    return f"concat({at_utc}, 'Z')"


_INTEGER = f"{XSD}integer", _text
_NATURAL: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    **dict.fromkeys(("string", "char", "varchar"), (STRING, _text)),
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), _INTEGER),
    **dict.fromkeys(("float", "double"), (f"{XSD}double", _double)),
    "decimal": (f"{XSD}decimal", _decimal),
    "boolean": (f"{XSD}boolean", _text),
    "date": (f"{XSD}date", _date),
    "timestamp": (f"{XSD}dateTime", _instant),
    "timestamp_ntz": (f"{XSD}dateTime", _time),
    "binary": (f"{XSD}hexBinary", lambda value: f"hex({value})"),
}
"""By Spark's types: datatypes, and lexical forms of values (sections 10.2 and 10.3)."""
