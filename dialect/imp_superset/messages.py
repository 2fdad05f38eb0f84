"""Which of the driver's errors Superset explains in its own words, by the error class that the message begins with."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explained:
    """``kind`` is the name of a SupersetErrorType; ``message`` takes the named groups of ``pattern``, and is empty for the driver's own."""

    pattern: re.Pattern[str]
    kind: str
    message: str


_COLUMN = "A column, variable, or function parameter with name (?P<column>.+?) cannot be resolved"
_WITH_OTHERS = rf"\[UNRESOLVED_COLUMN\.WITH_SUGGESTION\] {_COLUMN}\. Did you mean one of the following\? \[(?P<others>.+?)\]"
_NEAR = r"Syntax error at or near (?P<place>.+?)\. SQLSTATE: \w+ \(line (?P<line>\d+), pos \d+\)"

EXPLAINED = (
    Explained(
        re.compile(r"\[TABLE_OR_VIEW_NOT_FOUND\] The table or view (?P<table>.+?) cannot be found"),
        "TABLE_DOES_NOT_EXIST_ERROR",
        "The table %(table)s does not exist. A valid table must be used to run this query.",
    ),
    Explained(
        re.compile(_WITH_OTHERS),
        "COLUMN_DOES_NOT_EXIST_ERROR",
        "The column %(column)s does not exist. Similar columns: %(others)s.",
    ),
    Explained(
        re.compile(rf"\[UNRESOLVED_COLUMN\.WITHOUT_SUGGESTION\] {_COLUMN}"),
        "COLUMN_DOES_NOT_EXIST_ERROR",
        "The column %(column)s does not exist.",
    ),
    Explained(
        re.compile(r"\[SCHEMA_NOT_FOUND\] The schema (?P<schema>.+?) cannot be found"),
        "SCHEMA_DOES_NOT_EXIST_ERROR",
        "The schema %(schema)s does not exist. A valid schema must be used to run this query.",
    ),
    Explained(re.compile(rf"\[PARSE_SYNTAX_ERROR\] {_NEAR}"), "SYNTAX_ERROR", "Syntax error at or near %(place)s, line %(line)s."),
    Explained(re.compile(r"is in use by another process \(process id"), "CONNECTION_DATABASE_PERMISSIONS_ERROR", ""),
    Explained(re.compile(r"This process has the warehouse .+ open"), "CONNECTION_DATABASE_PERMISSIONS_ERROR", ""),
)
