"""Replace table references in the caller's text; every other character stays as it was written.

Rendering the whole tree again could change a column's derived name or the meaning of an expression that parser and Spark read differently.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.parse.statement import Statement
from imp_driver.parse.supported import Refused
from imp_driver.plan.render import quoted
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


@dataclass(frozen=True, slots=True)
class Pin:
    """A reference read at one version, cut by a condition (None: uncut)."""

    reference: TableReference
    version: int
    condition: str | None = None


def pinned(text: str, pins: Iterable[Pin]) -> str:
    """Return the text with its references pinned."""
    for pin in sorted(pins, key=lambda pin: pin.reference.start, reverse=True):
        reference = pin.reference
        name = text[reference.start : reference.end]
        where = "" if pin.condition is None else f" WHERE {pin.condition}"
        alias = "" if reference.alias else f" AS {quoted(reference.name)}"
        replacement = f"(SELECT * FROM {name} VERSION AS OF {pin.version}{where}){alias}"
        text = text[: reference.start] + replacement + text[reference.end :]
    return text
