"""Markers for values in the text of a statement: where they are, and ``?`` markers as named ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from imp_driver.errors import NotSupportedError, ProgrammingError, QueryPosition
from imp_driver.parse.cache import TextCache
from imp_driver.parse.dialect import SparkText
from imp_driver.values.execution import Parameters

_ENDS_AN_EXPRESSION = {
    TokenType.VAR,
    TokenType.IDENTIFIER,
    TokenType.STRING,
    TokenType.NUMBER,
    TokenType.R_PAREN,
    TokenType.R_BRACKET,
    TokenType.PLACEHOLDER,
}
_WORDS = frozenset(("OF", "BY", "BOTH", "LEADING", "TRAILING", "PLACING", "RETURN"))
"""Words of SQL that the tokenizer takes for names and that a value may follow."""
_BEFORE_A_MARKER = {
    TokenType.L_PAREN,
    TokenType.COMMA,
    TokenType.EQ,
    TokenType.NEQ,
    TokenType.LT,
    TokenType.LTE,
    TokenType.GT,
    TokenType.GTE,
    TokenType.PLUS,
    TokenType.DASH,
    TokenType.STAR,
    TokenType.SLASH,
    TokenType.MOD,
    TokenType.NULLSAFE_EQ,
    TokenType.DPIPE,
}


def by_name(text: str, values: Sequence[object]) -> tuple[str, dict[str, object]]:
    """Give the ``?`` markers names, in text order.

    Spark 4.2 mixes up the values of five and more ``?`` markers (SPARK-58341): it keeps them in a map on the way.

    Raises:
        ProgrammingError: the statement cannot be read, values and markers do not match, or a marker stands where no value can.
    """
    tokens = _tokens(text)
    named: dict[str, object] = {}
    pieces: list[str] = []
    end = 0
    for place, token in enumerate(tokens):
        if token.token_type is not TokenType.PLACEHOLDER:
            continue
        if place and tokens[place - 1].token_type in _ENDS_AN_EXPRESSION and tokens[place - 1].text.upper() not in _WORDS:
            # A colon and a name would extract a field there.
            raise ProgrammingError(f"Syntax error: the marker at character {token.start} follows {tokens[place - 1].text!r}.")
        if len(named) == len(values):
            raise ProgrammingError(f"The statement has more markers than the {len(values)} values given.")
        name = f"imp_{len(named)}"
        follows = text[token.end + 1 : token.end + 2]
        pieces += [text[end : token.start], f":{name}", " " if follows.isalnum() or follows == "_" else ""]
        named[name] = values[len(named)]
        end = token.end + 1
    if len(named) != len(values):
        raise ProgrammingError(f"The statement has {len(named)} markers, but {len(values)} values were given.")
    return "".join([*pieces, text[end:]]), named


def find_markers(text: str) -> list[tuple[int, int, str | None]]:
    """Return (start, end, name) of the markers outside strings and comments, in text order; ``?`` has no name."""
    tokens = _tokens(text)
    found: list[tuple[int, int, str | None]] = []
    for place, token in enumerate(tokens):
        if token.token_type is TokenType.PLACEHOLDER:
            found.append((token.start, token.end + 1, None))
        if token.token_type is not TokenType.COLON or place + 1 == len(tokens) or tokens[place + 1].start != token.end + 1:
            continue
        before = tokens[place - 1] if place else None
        # After a name, a bracket or a literal a colon extracts a field or cuts an array; after an operator or a word of SQL it marks.
        if before is not None and before.token_type not in _BEFORE_A_MARKER and not _is_word(before.text, before.token_type):
            raise NotSupportedError(f"The colon at character {token.start} could be a marker or a path; put the marker in parentheses.")
        found.append((token.start, tokens[place + 1].end + 1, tokens[place + 1].text))
    return found


def check_values(text: str, values: Parameters) -> None:
    """Compare a statement's markers with the values for them. What cannot be read here is left to Spark.

    Raises:
        ProgrammingError: there are more or fewer values than ``?`` markers, a name has no value, or values of the other style were given;
            or a marker stands for a whole list.
    """
    markers = _question_marks(text)
    if markers is None:
        return
    if isinstance(values, Mapping):
        if markers:
            raise ProgrammingError(
                f"The statement has {counted(len(markers), '? marker')}, whose values are a sequence; a mapping was given."
            )
        _check_names(text, values)
        _check_style(text, values)
        return
    if not values and not markers:
        _check_names(text, {})
    given = len(values or ())
    if given != len(markers):
        hint = "" if markers else _hint(text)
        message = f"The statement has {counted(len(markers), '? marker')}, but {counted(given, 'value')} given.{hint}"
        raise _unbound(message, text, markers[given][0]) if given < len(markers) else ProgrammingError(message)
    for name, place, _ in _names(text):
        raise ProgrammingError(f"The statement has ? markers and the marker :{name} at character {place}; give all of them one style.")
    for (start, before), value in zip(markers, values or (), strict=True):
        if isinstance(value, list) and before == "IN":
            raise _list_after_in(start, ["?"] * len(value))


def _find_question_marks(text: str) -> tuple[tuple[int, str], ...] | None:
    """Return the place of each ``?`` marker and the word before it; None where the text cannot be read."""
    tokens = _certain_tokens(text)
    if tokens is None:
        return None
    return tuple(
        (token.start, tokens[place - 1].text.upper() if place else "")
        for place, token in enumerate(tokens)
        if token.token_type is TokenType.PLACEHOLDER
    )


_question_marks = TextCache(_find_question_marks, each=2, most=1 << 20)


def _certain_tokens(text: str) -> list[Token] | None:
    """Return the tokens; None where Spark may read others: variables, comments that go on after a line's end, text between dollar signs."""
    if _READ_OTHERWISE.search(text) is not None:
        return None
    try:
        return sqlglot.tokenize(text, read=SparkText)
    except SqlglotError:
        return None


_READ_OTHERWISE = re.compile(r"\$\{|\\\r?\n|\$\w*\$")


def _check_names(text: str, values: Mapping[str, object]) -> None:
    places = {name: place for name, place, _ in reversed(_names(text))}
    missing = sorted(set(places) - set(values))
    if missing:
        message = f"There is no value for {', '.join(f':{name}' for name in missing)}; given: {', '.join(values) or 'none'}."
        raise _unbound(message, text, min(places[name] for name in missing))
    for name, start, before in _names(text):
        value = values[name]
        if isinstance(value, list) and before == "IN":
            raise _list_after_in(start, [f":{name}_{number}" for number in range(1, len(value) + 1)])


def _list_after_in(start: int, markers: Sequence[str]) -> ProgrammingError:
    wanted = ", ".join(markers) or "NULL"
    return ProgrammingError(f"The marker after IN at character {start} has a list; write IN ({wanted}) and give each of its values.")


def _check_style(text: str, values: Mapping[str, object]) -> None:
    """Raise ProgrammingError where values are given by name, and the text has their names in another driver's style alone."""
    if _names(text) or ":" in text:
        return
    name = next((match[1] for match in _PERCENT_STYLE.finditer(text) if match[1] in values), None)
    if name is not None:
        raise ProgrammingError(f"Markers of values by name are written :{name}; %({name})s is no marker here.")


_PERCENT_STYLE = re.compile(r"%\((\w+)\)s")


def _find_names(text: str) -> tuple[tuple[str, int, str], ...]:
    """Return names, their places and the words before them that are markers whatever else the text means.

    After a name or another word a colon may be a path.
    """
    tokens = _certain_tokens(text) or []
    triples = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return tuple(
        (name.text, colon.start, before.text.upper())
        for before, colon, name in triples
        if colon.token_type is TokenType.COLON
        and name.start == colon.end + 1
        and name.text.isidentifier()
        and (before.token_type in _BEFORE_A_MARKER or before.text.upper() in _BEFORE_A_VALUE)
    )


_names = TextCache(_find_names, each=2, most=1 << 20)
_BEFORE_A_VALUE = frozenset(
    ("SELECT", "WHERE", "IN", "AND", "OR", "NOT", "HAVING", "WHEN", "THEN", "ELSE", "BETWEEN", "LIKE", "LIMIT", "OFFSET")
)
"""Words after which a value stands."""


def _unbound(message: str, text: str, start: int) -> ProgrammingError:
    """Return the error of a marker without a value, as Spark classifies it."""
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    position = QueryPosition(line, column, start, start)
    return ProgrammingError(message, error_class="UNBOUND_SQL_PARAMETER", sqlstate="42P02", position=position)


def counted(number: int, word: str) -> str:
    """Say how many there are, with the verb of a value."""
    verb = {"value": " was" if number == 1 else " were"}.get(word, "")
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}{verb}"


def _hint(text: str) -> str:
    """Say which style of markers is ours where another one may have been used."""
    other = _OTHER_STYLES.search(text)
    return "" if other is None else f" Markers are ? for a sequence and :name for a mapping; {other[0]} is no marker for a sequence."


_OTHER_STYLES = re.compile(r"%s|%\(\w+\)s|\$\d+|:\w+")


def _tokens(text: str) -> list[Token]:
    try:
        tokens = sqlglot.tokenize(text, read=SparkText)
    except SqlglotError as error:
        raise ProgrammingError(f"The statement cannot be read: {str(error).splitlines()[0]}") from error
    if any(token.token_type is TokenType.PARAMETER and token.text == "$" for token in tokens):
        # The tokenizer does not know text between dollar signs, and would find markers in it.
        raise NotSupportedError("A statement with markers cannot have a $ outside quotes; write the text between dollar signs in quotes.")
    return tokens


def _is_word(text: str, token_type: TokenType) -> bool:
    return text.isalpha() and token_type not in (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING)
