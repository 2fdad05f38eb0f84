"""SPARQL as text of SQLAlchemy: parameters are its variables, and ``:name`` in it is a name with the empty prefix, no marker."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import exc

_BEFORE = r"(?>\s+|--[^\n]*(?:\n|$)|\#[^\n]*(?:\n|$)|/\*.*?\*/)*+"
_SPARQL = re.compile(rf"{_BEFORE}(?:EXPLAIN\b{_BEFORE})?SPARQL(?![\w.`])", re.IGNORECASE | re.DOTALL)
_QUERY = re.compile(
    rf"{_SPARQL.pattern}\s*+(?:(?:PREFIX\s+[^\s<]*+|BASE)\s*+<[^>]*>\s*+|#[^\n]*\n\s*+)*+(?:SELECT|ASK|CONSTRUCT|DESCRIBE)\b",
    re.IGNORECASE | re.DOTALL,
)
_VIEW = re.compile(
    r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:INCREMENTAL|MATERIALIZED)\s+VIEW\s(?:'(?:[^'\\]|\\.)*'|(?!\bAS\s)[^'])*\bAS\s+SPARQL\s",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPED_COLON = re.compile(r"\\(:\w*)(?![:\w])")


def is_sparql(statement: str) -> bool:
    """Say whether a statement is one of SPARQL: a query, an update, EXPLAIN of one, or a view of one."""
    return _SPARQL.match(statement) is not None or _VIEW.match(statement) is not None


def is_query(statement: str) -> bool:
    """Say whether a statement is a query of SPARQL, which changes nothing."""
    return _QUERY.match(statement) is not None


def written(text: str) -> str:
    """Return SPARQL as it is sent: a colon may have a backslash before it, as ``text()`` asks for in SQL."""
    return _ESCAPED_COLON.sub(lambda match: match[1], text)


def check_unbound(statement: Any) -> None:
    """Raise sqlalchemy.exc.ArgumentError where a ``text()`` of SPARQL has values bound to names behind a colon."""
    element = getattr(statement, "element", statement)
    bound = [name for name, parameter in getattr(element, "_bindparams", {}).items() if not parameter.required]
    if bound:
        raise exc.ArgumentError(
            f":{bound[0]} is a prefixed name in SPARQL and takes no value. Write the variable ?{bound[0]}, and give its value with the "
            f"statement: connection.execute(text(..), {{'{bound[0]}': ..}})."
        )
