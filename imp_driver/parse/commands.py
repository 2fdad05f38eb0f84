"""Statements of the driver itself, told by their first words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from imp_driver.parse.sparql import read_sparql


class CommandKind(Enum):
    SHOW = "SHOW SKETCHES"
    EXPLAIN = "EXPLAIN SKETCH"
    DROP = "DROP SKETCH"
    ADVISE = "ADVISE SKETCHES"
    ADVISE_ANSWERS = "ADVISE ANSWERS"
    CLUSTER = "CLUSTER SKETCH TABLE"
    CREATE_VIEW = "CREATE INCREMENTAL VIEW"
    DROP_VIEW = "DROP INCREMENTAL VIEW"
    SHOW_VIEWS = "SHOW INCREMENTAL VIEWS"
    EXPLAIN_VIEW = "EXPLAIN INCREMENTAL"
    EXPLAIN_WHY = "EXPLAIN WHY"
    CREATE_TABLE = "CREATE MATERIALIZED VIEW"
    DROP_TABLE = "DROP MATERIALIZED VIEW"
    REFRESH = "REFRESH MATERIALIZED VIEW"
    SHOW_TABLES = "SHOW MATERIALIZED VIEWS"
    WHAT_IF = "WHAT IF"
    SPARQL = "SPARQL"
    EXPLAIN_SPARQL = "EXPLAIN SPARQL"
    CREATE_GRAPH = "CREATE GRAPH"
    DROP_GRAPH = "DROP GRAPH"
    SHOW_GRAPHS = "SHOW GRAPHS"
    UNKNOWN = "begins like one of these"
    BEGIN = "BEGIN"
    COMMIT = "COMMIT"
    ROLLBACK = "ROLLBACK"


SPARQL = frozenset((CommandKind.SPARQL, CommandKind.EXPLAIN_SPARQL))
"""Statements that have variables, and no markers."""


VIEWS = frozenset((CommandKind.CREATE_VIEW, CommandKind.CREATE_TABLE))
"""Statements that keep the text of a query."""


@dataclass(frozen=True, slots=True)
class SketchCommand:
    """``argument`` is the SELECT to explain, the identifier to drop (``ALL`` for every sketch), what clustering.py, views.py or
    graphs.py reads, or a text of SPARQL."""

    kind: CommandKind
    argument: str


_COMMANDS: tuple[tuple[re.Pattern[str], CommandKind], ...] = (
    (re.compile(r"\s*SHOW\s+(?:SKETCHES|STATES)\s*;?\s*", re.IGNORECASE), CommandKind.SHOW),
    (re.compile(r"\s*ADVISE\s+SKETCHES\s*;?\s*", re.IGNORECASE), CommandKind.ADVISE),
    (re.compile(r"\s*ADVISE\s+ANSWERS\s*;?\s*", re.IGNORECASE), CommandKind.ADVISE_ANSWERS),
    (re.compile(r"\s*EXPLAIN\s+SKETCH\s+(.+?)\s*;?\s*", re.IGNORECASE | re.DOTALL), CommandKind.EXPLAIN),
    (re.compile(r"\s*DROP\s+(?:SKETCH|STATE)\s+['\"`]?([\w-]+)['\"`]?\s*;?\s*", re.IGNORECASE), CommandKind.DROP),
    (
        re.compile(r"\s*(?:BEGIN|START\s+TRANSACTION)(?:\s+(?:TRANSACTION|WORK))?(?:\s+READ\s+ONLY)?\s*;?\s*", re.IGNORECASE),
        CommandKind.BEGIN,
    ),
    (re.compile(r"\s*COMMIT(?:\s+(?:TRANSACTION|WORK))?\s*;?\s*", re.IGNORECASE), CommandKind.COMMIT),
    (re.compile(r"\s*ROLLBACK(?:\s+(?:TRANSACTION|WORK))?\s*;?\s*", re.IGNORECASE), CommandKind.ROLLBACK),
    (
        re.compile(r"(\s*CREATE\s+(?:OR\s+REPLACE\s+)?INCREMENTAL\s+VIEW\s.*)", re.IGNORECASE | re.DOTALL),
        CommandKind.CREATE_VIEW,
    ),
    (
        re.compile(r"\s*DROP\s+INCREMENTAL\s+VIEW\s+((?:IF\s+EXISTS\s+)?.+?)\s*;?\s*", re.IGNORECASE | re.DOTALL),
        CommandKind.DROP_VIEW,
    ),
    (
        re.compile(r"(\s*CREATE\s+(?:OR\s+REPLACE\s+)?MATERIALIZED\s+VIEW\s.*)", re.IGNORECASE | re.DOTALL),
        CommandKind.CREATE_TABLE,
    ),
    (
        re.compile(r"\s*DROP\s+MATERIALIZED\s+VIEW\s+((?:IF\s+EXISTS\s+)?.+?)\s*;?\s*", re.IGNORECASE | re.DOTALL),
        CommandKind.DROP_TABLE,
    ),
    (re.compile(r"\s*REFRESH\s+MATERIALIZED\s+VIEW\s+(.+?)\s*;?\s*", re.IGNORECASE | re.DOTALL), CommandKind.REFRESH),
    (re.compile(r"\s*SHOW\s+INCREMENTAL\s+VIEWS\s*;?\s*", re.IGNORECASE), CommandKind.SHOW_VIEWS),
    (re.compile(r"\s*SHOW\s+MATERIALIZED\s+VIEWS\s*;?\s*", re.IGNORECASE), CommandKind.SHOW_TABLES),
    (re.compile(r"\s*EXPLAIN\s+INCREMENTAL\s+(.+?)\s*;?\s*", re.IGNORECASE | re.DOTALL), CommandKind.EXPLAIN_VIEW),
    (re.compile(r"\s*EXPLAIN\s+WHY\s+(.+?)\s*;?\s*", re.IGNORECASE | re.DOTALL), CommandKind.EXPLAIN_WHY),
    (re.compile(r"(\s*CREATE\s+GRAPH\s.*)", re.IGNORECASE | re.DOTALL), CommandKind.CREATE_GRAPH),
    (re.compile(r"(\s*DROP\s+GRAPH\s.*)", re.IGNORECASE | re.DOTALL), CommandKind.DROP_GRAPH),
    (re.compile(r"\s*SHOW\s+GRAPHS\s*;?\s*", re.IGNORECASE), CommandKind.SHOW_GRAPHS),
    (re.compile(r"(\s*WHAT\s+IF\b.*)", re.IGNORECASE | re.DOTALL), CommandKind.WHAT_IF),
    (re.compile(r"\s*CLUSTER\s+SKETCH\s+TABLE\s+(.+?)\s*;?\s*", re.IGNORECASE | re.DOTALL), CommandKind.CLUSTER),
    (
        re.compile(
            r"\s*((?:ADVISE|(?:SHOW|DROP)\s+(?:SKETCH(?:ES)?|STATES?|INCREMENTAL|MATERIALIZED|GRAPHS?)|(?:EXPLAIN|CLUSTER)\s+SKETCH|EXPLAIN\s+(?:INCREMENTAL|WHY)"
            r"|(?:REFRESH|ALTER)\s+(?:MATERIALIZED|INCREMENTAL)|CREATE\s+(?:OR\s+REPLACE\s+)?(?:INCREMENTAL|MATERIALIZED|GRAPH))(?!\S).*?)\s*",
            re.IGNORECASE | re.DOTALL,
        ),
        CommandKind.UNKNOWN,
    ),
)


def command_of(text: str) -> SketchCommand | None:
    """Return what a statement of the driver asks for; None for any other statement."""
    sparql = read_sparql(text)
    if sparql is not None:
        return SketchCommand(CommandKind.EXPLAIN_SPARQL if sparql.is_explained else CommandKind.SPARQL, sparql.text)
    for pattern, command in _COMMANDS:
        match = pattern.fullmatch(text)
        if match:
            return SketchCommand(command, match.group(1) if match.groups() else "")
    return None
