"""Statements of the driver by their forms, and which of them a statement that was not understood may have meant."""

from __future__ import annotations

import difflib
import re
from typing import Final

FORMS: Final = (
    "SHOW STATES",
    "SHOW SKETCHES",
    "EXPLAIN SKETCH <query>",
    "DROP STATE <sketch_id>",
    "DROP STATE ALL",
    "ADVISE SKETCHES",
    "ADVISE ANSWERS",
    "CLUSTER SKETCH TABLE <table> BY <column>",
    "CREATE INCREMENTAL VIEW <name> AS <query>",
    "DROP INCREMENTAL VIEW <name>",
    "SHOW INCREMENTAL VIEWS",
    "EXPLAIN INCREMENTAL <query>",
    "EXPLAIN WHY <query>",
    "CREATE MATERIALIZED VIEW <name> AS <query>",
    "REFRESH MATERIALIZED VIEW <name>",
    "SHOW MATERIALIZED VIEWS",
    "DROP MATERIALIZED VIEW <name>",
    "WHAT IF (<change>; ..) <query>",
    "CREATE GRAPH <name>",
    "DROP GRAPH <name>",
    "SHOW GRAPHS",
    "SPARQL <query or update>",
    "EXPLAIN SPARQL <query>",
    "START TRANSACTION",
)
"""Of all statements; what stands in angle brackets is the application's."""

_OF_SPARK: Final = (
    *("SHOW TABLES", "SHOW TABLE EXTENDED", "SHOW VIEWS", "SHOW COLUMNS", "SHOW SCHEMAS", "SHOW DATABASES", "SHOW CATALOGS"),
    *("SHOW FUNCTIONS", "SHOW PARTITIONS", "SHOW CREATE TABLE", "SHOW TBLPROPERTIES", "CREATE TABLE", "CREATE VIEW", "CREATE SCHEMA"),
    *("CREATE TEMPORARY VIEW", "CREATE FUNCTION", "DROP TABLE", "DROP VIEW", "DROP SCHEMA", "DROP FUNCTION", "ALTER TABLE", "ALTER VIEW"),
    *("REFRESH TABLE", "EXPLAIN EXTENDED", "EXPLAIN SELECT", "EXPLAIN WITH", "DESCRIBE TABLE", "TRUNCATE TABLE", "INSERT INTO"),
)
"""What may be meant as well; of these Spark's own error tells."""

_BEGINNINGS: Final = {re.split(r" [<(]", form)[0]: form for form in FORMS} | {
    "DROP SKETCH": "DROP STATE <sketch_id>",
    "BEGIN TRANSACTION": "START TRANSACTION",
}
_NEAR: Final = 0.84
"""Share of the letters that a beginning and that of a form have in common."""
_OPTIONAL: Final = re.compile(r"\b(?:OR\s+REPLACE|IF\s+(?:NOT\s+)?EXISTS)\b")
_MOST_WORDS: Final = 3


def nearest_form(text: str) -> str | None:
    """Return the form of the driver's statement that a text begins like; None where it begins like none, or rather like one of Spark's."""
    words = _OPTIONAL.sub(" ", text[:200].upper()).split()
    found = [_near(" ".join(words[:count])) for count in range(1, min(_MOST_WORDS, len(words)) + 1)]
    best = max((each for each in found if each is not None), default=None)
    return None if best is None else _BEGINNINGS.get(best[1])


def _near(beginning: str) -> tuple[float, str] | None:
    beginning = beginning.rstrip(";")
    alike = [form for form in (*_BEGINNINGS, *_OF_SPARK) if form.count(" ") == beginning.count(" ")]
    near = difflib.get_close_matches(beginning, alike, 1, _NEAR)
    return (difflib.SequenceMatcher(None, near[0], beginning).ratio(), near[0]) if near else None
