"""Names and text into SQL of Spark, so that whatever they hold stays one name and one text.

The only module that writes quotes. Spark reads ``${name}`` anywhere in a statement, also within quotes, as a variable whose value takes its
place before anything is parsed: a setting, a Java property or a variable of the environment. A text can say it with an escape; within
backticks there are no escapes, so such a name cannot be written at all.
"""

from __future__ import annotations

from imp_driver.errors import ProgrammingError

VARIABLE = "${"
"""What begins a variable in a statement."""
_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(32), 127)} | {ord("'"): "\\'", ord("\\"): "\\\\"}
"""Spark reads a backslash and digits as one character too, so no control character is written in the short form."""


def quoted_text(text: str) -> str:
    """Return text as a literal that Spark reads as exactly this text, under its default reading of escapes."""
    return "'" + text.translate(_ESCAPES).replace(VARIABLE, "\\u0024{") + "'"


def plain_text(text: str) -> str:
    """Return text as ``quoted_text`` does, but without a backslash where two quotes for one will do, as parser and Spark read alike."""
    is_plain = text.isprintable() and "\\" not in text and not has_variable(text)
    return "'" + text.replace("'", "''") + "'" if is_plain else quoted_text(text)


def quoted_name(name: str) -> str:
    """Return one identifier in backticks.

    Raises:
        ProgrammingError: Spark has no way to write this name.
    """
    if not name or has_variable(name):
        problem = "an empty name" if not name else "with ${ a name begins a variable, whose value Spark would put in its place"
        raise ProgrammingError(f"Spark cannot be asked for {name!r}: {problem}.")
    return "`" + name.replace("`", "``") + "`"


def qualified(parts: tuple[str, ...]) -> str:
    """Return a dotted name, each part quoted. Raises ProgrammingError as ``quoted_name``."""
    return ".".join(map(quoted_name, parts))


def has_variable(*texts: str) -> bool:
    """Say whether Spark would put the value of a variable into one of the texts."""
    return any(VARIABLE in text for text in texts)
