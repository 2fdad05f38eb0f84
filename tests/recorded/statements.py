"""Files of recorded statements.

A file belongs to one tool. Its statements are separated by lines with a semicolon alone::

    -- name: best_customers
    -- expected: FILTERED
    SELECT ...
    -- values: [500.0, 10]
    -- values: [600.0, 10]
    ;

A statement with constants in its texts has ``-- or`` between them instead. ``expected`` lists the reason codes in the order in which they
are met; the last one is what the statement ends with. A statement that was recorded with different texts (lists of changing length) has a
text before each of its ``values``. A date is written ``{"date": ".."}``, a date and time ``{"datetime": ".."}``, a decimal
``{"decimal": ".."}``.
"""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
TIED = ("newest_of_each", "shops_by_count", "pairs_in_order", "samples", "sql_lab_rows")
"""Statements that leave open which rows they give: those of memory are not compared with Spark's."""
_NAME, _EXPECTED, _VALUES, _OR, _END = "-- name: ", "-- expected: ", "-- values: ", "-- or", "\n;\n"


@dataclass(frozen=True, slots=True)
class Call:
    """One text and the values of its markers; None where it has none."""

    text: str
    values: tuple[Any, ...] | None


@dataclass(frozen=True, slots=True)
class Statement:
    """A query of a tool, with calls that differ in constants only; ``expected`` are reason codes."""

    tool: str
    name: str
    expected: tuple[str, ...]
    calls: tuple[Call, ...]

    @property
    def is_used(self) -> bool:
        """Say whether the statement ends up with the filter of a sketch."""
        return self.expected[-1] == "FILTERED"


def tools() -> list[str]:
    """Return the names of the files."""
    return sorted(path.stem for path in FOLDER.glob("*.sql"))


def read(tool: str) -> list[Statement]:
    """Return the statements of a file, in its order."""
    path = FOLDER / f"{tool}.sql"
    if not path.exists():
        return []
    blocks = (path.read_text(encoding="utf-8") + "\n").split(_END)
    return [_read_block(tool, block) for block in blocks if _NAME in block]


def _read_block(tool: str, block: str) -> Statement:
    name = expected = ""
    calls: list[Call] = []
    lines: list[str] = []
    for line in block.strip("\n").split("\n"):
        if line.startswith(_NAME):
            name, lines = line.removeprefix(_NAME), []
        elif line.startswith(_EXPECTED):
            expected = line.removeprefix(_EXPECTED)
        elif line.startswith(_VALUES):
            text = "\n".join(lines) if lines else calls[-1].text
            calls.append(Call(text, tuple(_read_value(each) for each in json.loads(line.removeprefix(_VALUES)))))
            lines = []
        elif line == _OR:
            calls.append(Call("\n".join(lines), None))
            lines = []
        else:
            lines.append(line)
    if lines:
        calls.append(Call("\n".join(lines), None))
    return Statement(tool, name, tuple(expected.split()), tuple(calls))


def write(tool: str, statements: list[Statement], comment: str) -> None:
    """Write the statements of a file, under a comment."""
    text = "".join(f"-- {line}\n" for line in comment.splitlines()) + "\n"
    (FOLDER / f"{tool}.sql").write_text(text + "\n".join(map(_written_block, statements)), encoding="utf-8")


def _written_block(statement: Statement) -> str:
    lines = [_NAME + statement.name, _EXPECTED + " ".join(statement.expected)]
    before = None
    for call in statement.calls:
        if call.values is None and before is not None:
            lines.append(_OR)
        if call.text != before:
            lines.append(call.text)
        before = call.text
        if call.values is not None:
            lines.append(_VALUES + json.dumps([_written_value(each) for each in call.values]))
    return "\n".join(lines) + _END


def _written_value(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"date": value.isoformat()}
    return {"decimal": str(value)} if isinstance(value, Decimal) else value


def _read_value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    [(kind, text)] = value.items()
    if kind == "decimal":
        return Decimal(text)
    return datetime.date.fromisoformat(text) if kind == "date" else datetime.datetime.fromisoformat(text)
