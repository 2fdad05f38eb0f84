"""Replace one table reference in the caller's text; every other character stays as it was written.

Rendering the whole tree again could change a column's derived name or the meaning of an expression that parser and Spark read differently.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from imp_driver.capture.instrument import quoted
from imp_driver.parse.statement import Statement
from imp_driver.parse.supported import Refused
from imp_driver.reasons import Reason


@dataclass(frozen=True, slots=True)
class TableReference:
    """Where a table's name stands in the text: [start, end) in characters; ``alias`` is None where the text gives none."""

    start: int
    end: int
    alias: str | None
    name: str


def find_reference(statement: Statement, scan: exp.Table) -> TableReference:
    """Locate the scan in the text.

    Raises:
        Refused: the parser kept no position.
    """
    places = [part.meta for part in scan.parts]
    if not all("start" in place and "end" in place for place in places):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "the table's name has no position in the text")
    start = statement.position_in_text(min(place["start"] for place in places))
    end = statement.position_in_text(max(place["end"] for place in places)) + 1
    return TableReference(start, end, scan.alias or None, scan.name)


def pinned(text: str, reference: TableReference, version: int, condition: str | None) -> str:
    """Return the text with the table read at one version, cut by a condition (None: uncut)."""
    name = text[reference.start : reference.end]
    where = "" if condition is None else f" WHERE {condition}"
    alias = "" if reference.alias else f" AS {quoted(reference.name)}"
    return f"{text[: reference.start]}(SELECT * FROM {name} VERSION AS OF {version}{where}){alias}{text[reference.end :]}"
