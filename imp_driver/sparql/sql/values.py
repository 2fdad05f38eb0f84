"""Values of expressions as SQL: by what is known of their type before anything runs. An error is NULL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from imp_driver.sparql import terms
from imp_driver.sparql.sql import facets
from imp_driver.sparql.sql.relations import NULL_TEXT
from imp_driver.values.quoting import plain_text

NO_EXACT, NO_DOUBLE = f"CAST(NULL AS {facets.EXACT})", "CAST(NULL AS DOUBLE)"
_SIMPLE = 60
"""Characters of SQL that may be written twice."""
_SHORT = 12_000
"""Characters of SQL that may come of more of them: what has no name inside is followed by views (plan/check.py). What is longer has one."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Any term, by its text."""

    text: str
    is_resource: bool = False
    is_integer: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """A constant."""

    term: str


@dataclass(frozen=True, slots=True)
class Truth:
    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A literal whose suffix is empty or a language with its ``@``."""

    lexical: str
    suffix: str = "''"


@dataclass(frozen=True, slots=True)
class Number:
    """``rank`` as in ``facets``, a digit where it is known; ``exact`` is NULL for floats and doubles, ``floating`` for the others."""

    rank: str
    exact: str
    floating: str

    @property
    def double(self) -> str:
        """Any number as DOUBLE."""
        of_exact = f"CAST({self.exact} AS DOUBLE)"
        return of_exact if self.is_exact else self.floating if self.is_floating else f"coalesce({self.floating}, {of_exact})"

    @property
    def is_exact(self) -> bool:
        return self.rank in ("0", "1")

    @property
    def is_floating(self) -> bool:
        return self.rank in ("2", "3")


Value: TypeAlias = Stored | Known | Truth | Text | Number


def once(text: str, use: Callable[[str], str]) -> str:
    """Return SQL that reads a text several times; a long one is computed once, as the parameter of a function over an array of one."""
    written = use(text) if len(text) <= _SHORT else ""
    return written if len(text) <= _SIMPLE or 0 < len(written) <= _SHORT else _bound(text, use)


def _bound(text: str, use: Callable[[str], str]) -> str:
    # What is bound inside has other names, since it may read this one.
    names = (name for name in map("x{}".format, range(1, 100)) if f"{name} ->" not in use(name))
    name = next(names)
    return f"element_at(transform(array({text}), {name} -> {use(name)}), 1)"


def term_of(value: Value) -> str:
    """Return a value as the text of its term."""
    match value:
        case Stored(text):
            return text
        case Known(term):
            return plain_text(term)
        case Truth(text):
            found = [f"'\"{word}\"^^<{terms.XSD}boolean>'" for word in ("true", "false")]
            return f"CASE WHEN {text} THEN {found[0]} WHEN NOT ({text}) THEN {found[1]} END"
        case Text(lexical, suffix):
            end = "'\"'" if suffix == "''" else f"'\"', {suffix}"
            return f"concat('\"', {lexical}, {end})"
        case Number():
            return _of_number(value)


def _of_number(value: Number) -> str:
    if value.is_exact:
        return _exact_term(value)
    if value.is_floating:
        return _floating_term(value)
    parts = f"named_struct('type', {value.rank}, 'exact', {value.exact}, 'floating', {value.floating})"

    def term(name: str) -> str:
        number = Number(f"{name}.type", f"{name}.exact", f"{name}.floating")
        return f"CASE WHEN {number.rank} <= 1 THEN {_exact_term(number)} ELSE {_floating_term(number)} END"

    return _bound(parts, term)


def _exact_term(value: Number) -> str:
    if value.rank == "0":
        return _literal(_integer_text(value.exact), "integer>'")
    if value.rank == "1":
        return _literal(_decimal_text(value.exact), "decimal>'")
    text = once(value.exact, lambda number: f"if({value.rank} = 0, {_integer_text(number)}, {_decimal_text(number)})")
    return _literal(text, f"', if({value.rank} = 0, 'integer>', 'decimal>')")


def _floating_term(value: Number) -> str:
    single, double = f"CAST(CAST({value.floating} AS FLOAT) AS STRING)", f"CAST({value.floating} AS STRING)"
    if value.is_floating:
        text, name = (single, "float") if value.rank == "2" else (double, "double")
        return _literal(_bound(text, _double_text), f"{name}>'")
    text = _bound(f"if({value.rank} = 2, {single}, {double})", _double_text)
    return _literal(text, f"', if({value.rank} = 2, 'float>', 'double>')")


def _literal(lexical: str, datatype: str) -> str:
    """Return a literal; ``datatype`` ends the text in which its namespace stands."""
    return f"concat('\"', {lexical}, '\"^^<{terms.XSD}{datatype})"


def _integer_text(number: str) -> str:
    return f"CAST(CAST({number} AS DECIMAL(38, 0)) AS STRING)"


def _decimal_text(number: str) -> str:
    """One digit behind the point or more, no zeros after it; a cast would write small numbers with an exponent where ANSI mode is off."""
    return f"regexp_replace(replace(format_number({number}, 18), ',', ''), '([.][0-9]+?)0+$', '$1')"


def _double_text(text: str) -> str:
    """Return the canonical form, ``1.5E1``, of what Spark writes, ``15.0``, or with an exponent where that is long."""
    one, small = "'^(-?[0-9])([0-9]*)[.]([0-9]*?)0*$'", "'^(-?)0[.](0*)([1-9])([0-9]*)$'"
    point = "'[.](?=E)'"
    above = f"regexp_replace({text}, {one}, '$1.$2$3')"
    digits = f"regexp_replace(regexp_replace({above}, '([.][0-9]*?)0*$', '$1'), '[.]$', '.0')"
    exponent = f"length(regexp_extract({text}, {one}, 2))"
    below = f"concat(regexp_replace({text}, {small}, '$1$3.$4'), 'E-', length(regexp_extract({text}, {small}, 2)) + 1)"
    return (
        f"CASE WHEN {text} LIKE '%Infinity' THEN replace({text}, 'Infinity', 'INF') WHEN {text} = 'NaN' OR {text} LIKE '%E%' THEN {text} "
        f"WHEN {text} IN ('0.0', '-0.0') THEN concat({text}, 'E0') "
        f"WHEN {text} RLIKE {small} THEN regexp_replace({below}, {point}, '.0') ELSE concat({digits}, 'E', {exponent}) END"
    )


def truth_of(value: Value) -> str:
    """Return a value's effective boolean value."""
    match value:
        case Truth(text):
            return text
        case Stored(_, is_resource) if is_resource:
            return "CAST(NULL AS BOOLEAN)"
        case Stored(text):
            return once(text, facets.effective)
        case Known(term):
            return _truth_of_constant(term)
        case Text(lexical):
            return f"length({lexical}) > 0"
        case Number(_, exact, floating):
            is_not = once(floating, lambda name: f"({name} <> 0 AND NOT isnan({name}))")
            return f"{exact} <> 0" if value.is_exact else is_not if value.is_floating else f"coalesce({exact} <> 0, {is_not})"


def _truth_of_constant(term: str) -> str:
    datatype, lexical = terms.datatype(term), terms.lexical(term)
    match datatype:
        case None:
            return "CAST(NULL AS BOOLEAN)"
        case terms.STRING | terms.LANGUAGE_TEXT:
            return "TRUE" if lexical else "FALSE"
        case _ if datatype == f"{terms.XSD}boolean":
            return "TRUE" if lexical in ("true", "1") else "FALSE"
        case _:
            return facets.effective(plain_text(term))


def number_of(value: Value) -> Number | None:
    """Return a value as a number, which is NULL where it is none; None where it can be none."""
    match value:
        case Number():
            return value
        case Stored(text, is_resource):
            if value.is_integer:
                return Number("0", f"CAST({facets.number_text(text)} AS {facets.EXACT})", NO_DOUBLE)
            return None if is_resource else number_in(text)
        case Known(term):
            return _number_of_constant(term)
        case _:
            return None


def _number_of_constant(term: str) -> Number | None:
    datatype = (terms.datatype(term) or "").removeprefix(terms.XSD)
    ranks = {**dict.fromkeys(facets.INTEGERS, "0"), "decimal": "1", "float": "2", "double": "3"}
    if datatype not in ranks:
        return None
    rank = ranks[datatype]
    is_exact = rank in ("0", "1")
    found = facets.exact_constant(term) if is_exact else facets.floating_constant(term)
    return Number(rank, found if is_exact else NO_EXACT, NO_DOUBLE if is_exact else found)


def number_in(text: str) -> Number:
    """Return what the text of a term says as a number."""
    return Number(*(once(text, each) for each in (facets.rank, facets.exact, facets.floating)))


def text_of(value: Value) -> Text | None:
    """Return a value as a text, which is NULL where it is none; None where it can be none."""
    match value:
        case Text():
            return value
        case Stored(text, is_resource):
            return None if is_resource else Text(once(text, facets.string), once(text, facets.suffix))
        case Known(term) if terms.datatype(term) in (terms.STRING, terms.LANGUAGE_TEXT):
            language = terms.language(term)
            return Text(plain_text(terms.lexical(term)), plain_text(f"@{language}") if language else "''")
        case _:
            return None


def string_of(value: Value) -> str:
    """Return STR of a value: a lexical form or an IRI. Source: section 17.4.2.5."""
    match value:
        case Text(lexical):
            return lexical
        case Known(term):
            return NULL_TEXT if term[0] == "_" else plain_text(terms.lexical(term))
        case Truth(text):
            return f"CAST({text} AS STRING)"
        case Stored(text, is_resource):
            return once(text, lambda name: f"CASE WHEN NOT {facets.is_blank(name)} THEN {facets.shown(name, is_resource=is_resource)} END")
        case Number():
            return once(term_of(value), facets.number_text)


def families(value: Value) -> set[int]:
    """Return the families that a value may belong to."""
    match value:
        case Truth():
            return {facets.TRUTH}
        case Number():
            return {facets.NUMBER}
        case Text(_, suffix):
            return {facets.TEXT} if suffix == "''" else {facets.TEXT, facets.OF_LANGUAGE}
        case Stored(_, is_resource, is_integer):
            known = facets.RESOURCE if is_resource else facets.NUMBER
            return {known} if is_resource or is_integer else set(range(facets.OTHER + 1))
        case Known(term):
            return {facets.family_of(term)}
