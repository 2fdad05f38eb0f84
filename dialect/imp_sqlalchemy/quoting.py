"""Text as a literal of SQL, and what no name may have.

Spark replaces ``${name}`` anywhere in a statement by the value of a variable before it reads the statement. A text can say it with an
escape; within backticks there are no escapes.
"""

from __future__ import annotations

VARIABLE = "${"
_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(32), 127)} | {ord("'"): "\\'", ord("\\"): "\\\\"}


def quoted(text: str) -> str:
    """Return text as a string literal that Spark reads as it is."""
    return "'" + text.translate(_ESCAPES).replace(VARIABLE, "\\u0024{") + "'"


def unquoted(name: str) -> str:
    """Return the name that an identifier in SQL, with or without backticks, stands for."""
    is_quoted = len(name) > 1 and name.startswith("`") and name.endswith("`")
    return name[1:-1].replace("``", "`") if is_quoted else name
