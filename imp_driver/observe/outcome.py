"""What is known of a statement once it has its first rows or has failed; the metrics, the log and the spans are told the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from imp_driver.parse.statement import Statement
from imp_driver.values.report import SketchReport

_FIRST_WORD = re.compile(r"\s*([A-Za-z]{1,12})\b")
_OPERATIONS = frozenset(
    {
        "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER", "TRUNCATE", "SHOW", "DESCRIBE", "DESC", "EXPLAIN",
        "USE", "SET", "RESET", "CACHE", "UNCACHE", "REFRESH", "ANALYZE", "OPTIMIZE", "VACUUM", "RESTORE", "ADVISE", "CLUSTER",
        "COMMENT", "GRANT", "REVOKE", "CALL", "DECLARE", "MSCK", "REPAIR", "LOAD", "EXECUTE",
    }
)  # fmt: skip
"""First words that are told: any other word of a text that nothing parsed might be a value."""


@dataclass(frozen=True, slots=True)
class Finished:
    """One statement.

    Attributes:
        tag: identifier of the run, the same as ``Cursor.query_id``.
        operation: first word of the statement in capitals; empty when it is not a known one.
        seconds: until the first rows were there.
        times: milliseconds of each stage.
        report, rowcount: of a statement that ended well; None and -1 for one that raised ``error``.
    """

    tag: str
    statement: Statement
    operation: str
    seconds: float
    times: Mapping[str, float]
    report: SketchReport | None
    rowcount: int
    error: BaseException | None


def operation_of(text: str) -> str:
    """Return the first word of a statement where it is a known one, ``SELECT`` for whatever begins like a query."""
    if text.lstrip()[:1] == "(":
        return "SELECT"
    match = _FIRST_WORD.match(text)
    word = match.group(1).upper() if match else ""
    if word in ("SELECT", "WITH", "FROM", "VALUES"):
        return "SELECT"
    return word if word in _OPERATIONS else ""
