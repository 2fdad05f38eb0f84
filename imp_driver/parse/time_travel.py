"""``VERSION AS OF`` and ``TIMESTAMP AS OF`` in a text: the text without them, and what they ask for.

A query without its clauses has the template of the query about the newest version, so both have the same states. Every other character
stays, and what is not understood exactly is left to Spark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.parse.statement import Statement, parse, per_statement, table_name, tables_in
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused

_VERSION = re.compile(r"\s+(?:FOR\s+)?(?:SYSTEM_)?VERSION\s+AS\s+OF\s+(\d{1,18})(?![\w.'\"])", re.IGNORECASE)
_TIMESTAMP = re.compile(r"\s+(?:FOR\s+)?(?:SYSTEM_TIME|TIMESTAMP)\s+AS\s+OF\s+('[0-9T:+\-. Z]*')", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a clause asks for: a version, or the version of a time, which is a literal of Spark SQL."""

    version: int | None = None
    time: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class TimeTravel:
    """``statement`` is the text without clauses; ``asked`` says of names as written, in lower case, what all their references ask for."""

    statement: Statement
    asked: dict[tuple[str, ...], Asked]


@per_statement
def time_travel(statement: Statement) -> TimeTravel | None:
    """Read the clauses of a query; None when it has none.

    Raises:
        Refused: a clause is of another form, or one name is read at several versions.
    """
    if statement.tree is None or statement.tree.find(exp.Version) is None:
        return None
    pieces: list[tuple[int, int]] = []
    found: dict[tuple[str, ...], set[Asked | None]] = {}
    for table in tables_in(statement.tree):
        clause = None
        if table.args.get("version") is not None:
            clause, piece = _clause(statement, table)
            pieces.append(piece)
        found.setdefault(tuple(part.lower() for part in table_name(table)), set()).add(clause)
    if any(len(each) > 1 for each in found.values()):
        raise Refused(Reason.TIME_TRAVEL, "one table at several versions")
    text = statement.text
    for start, end in sorted(pieces, reverse=True):
        text = text[:start] + text[end:]
    asked = {name: clause for name, (clause,) in found.items() if clause is not None}
    return TimeTravel(parse(text), asked)


def _clause(statement: Statement, table: exp.Table) -> tuple[Asked, tuple[int, int]]:
    place = table.parts[-1].meta
    if "end" not in place or not isinstance(table.args["version"].expression, exp.Literal):
        raise Refused(Reason.TIME_TRAVEL, "a version or time that is computed")
    start = statement.position_in_text(place["end"]) + 1
    match = _VERSION.match(statement.text, start)
    if match is not None:
        return Asked(version=int(match[1])), match.span()
    match = _TIMESTAMP.match(statement.text, start)
    if match is not None:
        return Asked(time=match[1]), match.span()
    raise Refused(Reason.TIME_TRAVEL, "a version that is no number, or a time that is no literal")
