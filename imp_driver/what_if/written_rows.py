"""``INSERT INTO t VALUES (literals), ..`` -> its rows, without Spark, which takes a quarter of a second for a thousand of them.

Only what has one meaning whatever Spark's settings are: whole numbers, decimals, texts without escapes, dates, booleans and NULL, each in a
column that has all of its values as they are. Everything else is Spark's to evaluate (what_if/hypothesis.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa

from imp_driver.values.quoting import has_variable
from imp_driver.values.tables import SchemaColumn
from imp_driver.values.types import arrow_type

_HEAD = re.compile(r"(\s*INSERT\s+INTO\s+(?:TABLE\s+)?[\w.`]+\s*(?:\([\w\s,`]+\)\s*)?)VALUES", re.IGNORECASE)
_OPENING = re.compile(r"\s*(?P<end>\()")
_VALUE = re.compile(
    r"\s*(?:(?P<whole>[+-]?\d{1,18})|(?P<decimal>[+-]?\d{1,18}\.\d{1,18})|'(?P<text>[^'\\]*)'|DATE\s*'(?P<date>\d{4}-\d\d-\d\d)'"
    r"|(?P<truth>TRUE|FALSE)|(?P<null>NULL))\s*(?P<end>[,)])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*(,|\Z)")
_READ: Mapping[str, Callable[[str], object]] = {
    "whole": int,
    "decimal": Decimal,
    "text": str,
    "date": date.fromisoformat,
    "truth": lambda text: text.upper() == "TRUE",
}
_TAKEN: Mapping[str, frozenset[str]] = {
    "whole": frozenset({"integer", "long", "double"}),
    "decimal": frozenset({"double"}),
    "text": frozenset({"string"}),
    "date": frozenset({"date"}),
    "truth": frozenset({"boolean"}),
}
"""The types of columns that take a kind of values as they are; decimals take numbers of which they have all digits."""


@dataclass(frozen=True, slots=True)
class _Column:
    kind: str
    values: Sequence[Any]


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """``head`` is the statement up to VALUES; ``text`` is VALUES with all rows."""

    head: str
    text: str
    columns: tuple[_Column, ...]

    def table(self, named: Sequence[str], schema: Sequence[SchemaColumn]) -> pa.Table | None:
        """Return the rows as a table has them, its other columns being NULL; None where Spark is to say what they are.

        Args:
            named: the columns that have the values, one after the other.
        """
        given = {name.lower(): column for name, column in zip(named, self.columns, strict=False)}
        if len(named) != len(self.columns) or not given.keys() <= {each.name.lower() for each in schema}:
            return None
        count = len(self.columns[0].values)
        arrays = [_array(given.get(each.name.lower(), _Column("", [None] * count)), each.type_name) for each in schema]
        if any(array is None for array in arrays):
            return None
        return pa.table(arrays, names=[each.name for each in schema])


def written_rows(text: str) -> WrittenRows | None:
    """Read an INSERT of literals; None for any other statement."""
    head = _HEAD.match(text)
    rows = None if head is None or has_variable(text) else _rows(text, head.end())
    if head is None or rows is None or any(len(row) != len(rows[0]) for row in rows):
        return None
    found = [_column(every) for every in zip(*rows, strict=True)]
    columns = tuple(each for each in found if each is not None)
    return WrittenRows(head[1], text[len(head[1]) :], columns) if len(columns) == len(found) else None


def _rows(text: str, place: int) -> list[list[tuple[str, str]]] | None:
    """Return the kinds and texts of the values of each row; None where something else stands among them."""
    rows = []
    while True:
        found = _OPENING.match(text, place)
        row: list[tuple[str, str]] = []
        while found is not None and found["end"] != ")":
            found = _VALUE.match(text, found.end())
            if found is not None:
                kind = next(name for name, value in found.groupdict().items() if value is not None)
                row.append((kind, found[kind]))
        between = None if found is None else _BETWEEN.match(text, found.end())
        if between is None:
            return None
        rows.append(row)
        place = between.end()
        if not between[1]:
            return rows


def _column(values: Sequence[tuple[str, str]]) -> _Column | None:
    """Return the values of one column; None where their kinds differ, or a date is none."""
    kinds = {kind for kind, _ in values if kind != "null"}
    if len(kinds) > 1:
        return None
    kind = next(iter(kinds), "")
    try:
        return _Column(kind, [None if own == "null" else _READ[own](text) for own, text in values])
    except ValueError:
        return None


def _array(column: _Column, type_name: str) -> pa.Array | None:
    kind = arrow_type(type_name)
    if kind is None or not (_is_taken(column, type_name) or (pa.types.is_decimal(kind) and column.kind in ("whole", "decimal"))):
        return None
    values = column.values
    if type_name == "double":
        # Both round to the nearest; a decimal has no zero below 0.
        values = [None if value is None else float(str(value + 0)) for value in values]
    elif pa.types.is_decimal(kind):
        values = [None if value is None else Decimal(value) for value in values]
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, OverflowError):
        return None


def _is_taken(column: _Column, type_name: str) -> bool:
    return not column.kind or type_name in _TAKEN[column.kind]
