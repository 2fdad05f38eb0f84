"""Functions of SPARQL that Spark computes to the letter. Source: section 17.4."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from imp_driver.errors import NotSupportedError
from imp_driver.sparql import terms
from imp_driver.sparql.sql import facets
from imp_driver.sparql.sql.arithmetic import absolute, cast_to_number, cast_to_string, cast_to_truth, rounded
from imp_driver.sparql.sql.comparison import identical
from imp_driver.sparql.sql.relations import NULL_TEXT
from imp_driver.sparql.sql.values import NO_DOUBLE, Known, Number, Stored, Text, Truth, Value, number_of, once, string_of, term_of, text_of
from imp_driver.values.quoting import plain_text

Arguments: TypeAlias = Sequence[Value]
ERROR = Stored(NULL_TEXT)


def function(name: str, arguments: Arguments) -> Value | None:
    """Return a function or a cast of values; None for one that is not known here. Raises NotSupportedError."""
    if name.startswith(f"<{terms.XSD}") and len(arguments) == 1:
        return _cast(arguments[0], name[len(terms.XSD) + 1 : -1])
    found = _FUNCTIONS.get(name)
    return None if found is None else found(arguments)


def _cast(value: Value, datatype: str) -> Value | None:
    match datatype:
        case "string":
            text = cast_to_string(value)
            if text is None:
                raise NotSupportedError(f"xsd:string of what may be a number, a time or a text with a language {_NO_SQL}")
            return text
        case "boolean":
            return Truth(cast_to_truth(value))
        case _:
            return cast_to_number(value, datatype)


def _of_term(facet: Callable[[str], str]) -> Callable[[Arguments], str]:
    return lambda arguments: once(term_of(arguments[0]), facet)


def _is_numeric(arguments: Arguments) -> Value:
    number = number_of(arguments[0])
    unknown = f"CASE WHEN {term_of(arguments[0])} IS NOT NULL THEN"
    return Truth(f"{unknown} FALSE END" if number is None else f"{unknown} {number.rank} IS NOT NULL END")


def _numeric(use: Callable[[Number], Number]) -> Callable[[Arguments], Value]:
    def of(arguments: Arguments) -> Value:
        number = number_of(arguments[0])
        return ERROR if number is None else use(number)

    return of


def _whole(number: str) -> Number:
    return Number("0", f"CAST({number} AS {facets.EXACT})", NO_DOUBLE)


def _length(arguments: Arguments) -> Value:
    text = text_of(arguments[0])
    return ERROR if text is None else _whole(f"length({text.lexical})")


def _cased(name: str) -> Callable[[Arguments], Value]:
    def of(arguments: Arguments) -> Value:
        text = text_of(arguments[0])
        return ERROR if text is None else Text(f"{name}({text.lexical})", text.suffix)

    return of


def _of_two(use: Callable[[str, str], str]) -> Callable[[Arguments], Value]:
    """Both texts, the second one without a language or of the first one's. Source: section 17.4.3.1.2."""

    def of(arguments: Arguments) -> Value:
        first, second = text_of(arguments[0]), text_of(arguments[1])
        return ERROR if first is None or second is None else Truth(_if_compatible(first, second, use(first.lexical, second.lexical)))

    return of


def _if_compatible(first: Text, second: Text, text: str) -> str:
    if second.suffix == "''":
        return text
    return f"CASE WHEN {second.suffix} = '' OR {second.suffix} = {first.suffix} THEN {text} END"


def _beside(*, is_before: bool) -> Callable[[Arguments], Value]:
    def of(arguments: Arguments) -> Value:
        first, second = text_of(arguments[0]), text_of(arguments[1])
        if first is None or second is None:
            return ERROR
        a, b = first.lexical, second.lexical
        found = f"substring({a}, 1, instr({a}, {b}) - 1)" if is_before else f"substring({a}, instr({a}, {b}) + length({b}))"
        return Text(
            _if_compatible(first, second, f"CASE WHEN instr({a}, {b}) > 0 THEN {found} ELSE '' END"),
            "''" if first.suffix == "''" else f"CASE WHEN instr({a}, {b}) > 0 THEN {first.suffix} ELSE '' END",
        )

    return of


def _concatenated(arguments: Arguments) -> Value:
    texts = [text_of(each) for each in arguments]
    known = [each for each in texts if each is not None]
    if len(known) < len(texts):
        return ERROR
    suffixes = list(dict.fromkeys(each.suffix for each in known))
    lexical = f"concat({', '.join(each.lexical for each in known)})" if known else "''"
    if len(suffixes) <= 1:
        return Text(lexical, *suffixes)
    first, *others = suffixes
    return Text(lexical, f"CASE WHEN {' AND '.join(f'{each} = {first}' for each in others)} THEN {first} ELSE '' END")


def _substring(arguments: Arguments) -> Value:
    """Characters from round(start) on, up to before round(start) + round(length). Source: section 17.4.3.3."""
    text = text_of(arguments[0])
    numbers = [number_of(each) for each in arguments[1:]]
    if text is None or any(each is None for each in numbers):
        return ERROR
    start, *length = [_position(each) for each in numbers if each is not None]
    begin = f"greatest({start}, 1)"
    if not length:
        return Text(f"CASE WHEN {start} IS NOT NULL THEN substring({text.lexical}, {begin}) END", text.suffix)
    end = f"CAST({start} AS BIGINT) + {length[0]}"
    count = f"CAST(least(greatest({end} - {begin}, 0), 2147483647) AS INT)"
    is_known = f"{start} IS NOT NULL AND {length[0]} IS NOT NULL"
    return Text(f"CASE WHEN {is_known} THEN substring({text.lexical}, {begin}, {count}) END", text.suffix)


def _position(number: Number) -> str:
    value = number.exact if number.is_exact else f"coalesce({number.exact}, try_cast({number.floating} AS {facets.EXACT}))"
    return f"try_cast(floor({value} + 0.5) AS INT)"


_FLAGS = re.compile(r"[smix]*")


_NO_SQL = "has no SQL of Spark; the driver answers the query in process."


def _matched(arguments: Arguments) -> Value:
    """The pattern is one of Java, which reads those of XPath alike but for what only one of them has."""
    text = text_of(arguments[0])
    pattern = _constant("REGEX", arguments[1])
    flags = _constant("REGEX", arguments[2]) if len(arguments) > 2 else ""
    try:
        re.compile(pattern)
    except re.error as error:
        raise NotSupportedError(f"REGEX with the pattern {pattern!r} {_NO_SQL}") from error
    if not _FLAGS.fullmatch(flags):
        raise NotSupportedError(f"REGEX with the flags {flags!r} {_NO_SQL}")
    marked = f"(?{''.join(sorted(set(flags)))}{'u' if 'i' in flags else ''}){pattern}" if flags else pattern
    return ERROR if text is None else Truth(f"{text.lexical} RLIKE {plain_text(marked)}")


def _constant(name: str, value: Value) -> str:
    if not isinstance(value, Known) or terms.datatype(value.term) != terms.STRING:
        raise NotSupportedError(f"{name} with a pattern that is no plain text of the query {_NO_SQL}")
    return terms.lexical(value.term)


def _language_matches(arguments: Arguments) -> Value:
    """Source: section 17.4.3.11, basic filtering of RFC 4647."""
    language, wanted = text_of(arguments[0]), text_of(arguments[1])
    if language is None or wanted is None:
        return ERROR
    a, b = f"lower({language.lexical})", f"lower({wanted.lexical})"
    return Truth(f"CASE WHEN {b} = '*' THEN length({a}) > 0 ELSE {a} = {b} OR startswith({a}, concat({b}, '-')) END")


def _field(start: int, length: int) -> Callable[[Arguments], Value]:
    """A part of a dateTime as it is written, in its own zone. Source: section 17.4.5."""

    def of(arguments: Arguments) -> Value:
        def digits(text: str) -> str:
            return f"CASE WHEN {_is_time(text)} THEN substring({facets.number_text(text)}, {start}, {length}) END"

        return _whole(f"CAST({once(term_of(arguments[0]), digits)} AS INT)")

    return of


def _is_time(text: str) -> str:
    return f"{facets.zoned(text)} IS NOT NULL OR {facets.local(text)} IS NOT NULL"


def _seconds(arguments: Arguments) -> Value:
    def digits(text: str) -> str:
        return f"CASE WHEN {_is_time(text)} THEN regexp_extract({text}, ':([0-9]{{2}}([.][0-9]+)?)(Z|[+-][0-9:]+)?\"', 1) END"

    number = f"CAST({once(term_of(arguments[0]), digits)} AS {facets.EXACT})"
    return Number("1", number, NO_DOUBLE)


def _zone(arguments: Arguments) -> Value:
    def zone(text: str) -> str:
        return f"CASE WHEN {_is_time(text)} THEN regexp_extract({text}, '(Z|[+-][0-9]{{2}}:[0-9]{{2}})\"', 1) END"

    return Text(once(term_of(arguments[0]), zone))


def _digest(name: str, *rest: str) -> Callable[[Arguments], Value]:
    def of(arguments: Arguments) -> Value:
        text = text_of(arguments[0])
        if text is None:
            return ERROR
        plain = text.lexical if text.suffix == "''" else f"CASE WHEN {text.suffix} = '' THEN {text.lexical} END"
        return Text(f"{name}({', '.join([plain, *rest])})")

    return of


def _with_language(arguments: Arguments) -> Value:
    text, language = text_of(arguments[0]), text_of(arguments[1])
    if text is None or language is None:
        return ERROR
    lexical = text.lexical if text.suffix == "''" else f"CASE WHEN {text.suffix} = '' THEN {text.lexical} END"
    return Text(lexical, f"concat('@', lower({language.lexical}))")


_FUNCTIONS: Mapping[str, Callable[[Arguments], Value]] = {
    "STR": lambda arguments: Text(string_of(arguments[0])),
    "LANG": lambda arguments: Text(_of_term(facets.language)(arguments)),
    "DATATYPE": lambda arguments: Stored(_of_term(facets.datatype)(arguments), is_resource=True),
    "SAMETERM": lambda arguments: Truth(identical(arguments[0], arguments[1])),
    **dict.fromkeys(("ISIRI", "ISURI"), lambda arguments: Truth(_of_term(facets.is_iri)(arguments))),
    "ISBLANK": lambda arguments: Truth(_of_term(facets.is_blank)(arguments)),
    "ISLITERAL": lambda arguments: Truth(_of_term(facets.is_literal)(arguments)),
    "ISNUMERIC": _is_numeric,
    "STRLEN": _length,
    "UCASE": _cased("upper"),
    "LCASE": _cased("lower"),
    "CONTAINS": _of_two(lambda a, b: f"contains({a}, {b})"),
    "STRSTARTS": _of_two(lambda a, b: f"startswith({a}, {b})"),
    "STRENDS": _of_two(lambda a, b: f"endswith({a}, {b})"),
    "STRBEFORE": _beside(is_before=True),
    "STRAFTER": _beside(is_before=False),
    "CONCAT": _concatenated,
    "SUBSTR": _substring,
    "REGEX": _matched,
    "LANGMATCHES": _language_matches,
    "STRLANG": _with_language,
    "ABS": _numeric(absolute),
    **{name: _numeric(lambda number, name=name: rounded(name, number)) for name in ("CEIL", "FLOOR", "ROUND")},  # type: ignore[misc]
    "YEAR": _field(1, 4),
    "MONTH": _field(6, 2),
    "DAY": _field(9, 2),
    "HOURS": _field(12, 2),
    "MINUTES": _field(15, 2),
    "SECONDS": _seconds,
    "TZ": _zone,
    "MD5": _digest("md5"),
    "SHA1": _digest("sha1"),
    **{f"SHA{bits}": _digest("sha2", bits) for bits in ("256", "384", "512")},
}
