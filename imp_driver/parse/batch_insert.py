"""executemany of an INSERT .. VALUES -> one INSERT .. SELECT over an Arrow table: one append, one commit.

The expressions between the markers stay the caller's own text; only the markers become columns of a view.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import sqlglot
from sqlglot import TokenType
from sqlglot.errors import SqlglotError

from imp_driver.errors import DataError, NotSupportedError, ProgrammingError
from imp_driver.parse.dialect import SparkText
from imp_driver.parse.markers import counted, find_markers
from imp_driver.parse.tokens import closing
from imp_driver.values.execution import Parameters


@dataclass(frozen=True, slots=True)
class BatchInsert:
    """``text`` reads ``view``, which is to show ``rows``."""

    text: str
    view: str
    rows: pa.Table


def batch_insert(text: str, rows: Sequence[Parameters]) -> BatchInsert | None:
    """Turn an INSERT of one VALUES row with markers into one over all rows; None for any other statement.

    Raises:
        ProgrammingError: a row's values do not match the markers.
        DataError: the values of one marker have no common type.
    """
    span = _values_span(text)
    if span is None:
        return None
    start, opening, closing = span
    try:
        markers = [marker for marker in find_markers(text) if opening < marker[0] < closing]
        if not markers or len(markers) != len(find_markers(text)):
            return None
    except (ProgrammingError, NotSupportedError):
        return None
    view = f"__imp_rows_{uuid.uuid4().hex}"
    names = [f"p{place}" if name is None else f"p_{name}" for place, (_, _, name) in enumerate(markers)]
    pieces: list[str] = []
    end = opening + 1
    for name, (begin, stop, _) in zip(names, markers, strict=True):
        pieces += [text[end:begin], f"`{name}`"]
        end = stop
    expressions = "".join([*pieces, text[end:closing]])
    table = _table(names, [name for _, _, name in markers], rows)
    return BatchInsert(f"{text[:start]}SELECT {expressions} FROM {view}", view, table)


def _values_span(text: str) -> tuple[int, int, int] | None:
    """Return the places of VALUES and of the parentheses of its only row, when the statement is an INSERT of just that."""
    try:
        tokens = sqlglot.tokenize(text, read=SparkText)
    except SqlglotError:
        return None
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if len(tokens) < 4 or tokens[0].text.upper() != "INSERT" or tokens[1].text.upper() != "INTO":
        return None
    place = next((place for place, token in enumerate(tokens) if token.token_type is TokenType.VALUES), None)
    if place is None or place + 1 >= len(tokens) or tokens[place + 1].token_type is not TokenType.L_PAREN:
        return None
    last = closing(tokens, place + 1)
    if last != len(tokens) - 1:
        return None
    return tokens[place].start, tokens[place + 1].start, tokens[last].start


def _table(names: list[str], markers: list[str | None], rows: Sequence[Parameters]) -> pa.Table:
    columns = dict(zip(names, markers, strict=True))
    values: dict[str, list[Any]] = {name: [] for name in columns}
    for number, row in enumerate(rows, 1):
        for place, (name, marker) in enumerate(columns.items()):
            values[name].append(_value(row, place, marker, number, len(markers)))
    told = {name: f"number {place}" if marker is None else f":{marker}" for place, (name, marker) in enumerate(columns.items(), 1)}
    return pa.table({name: _array(column, told[name]) for name, column in values.items()})


def _value(row: Parameters, place: int, marker: str | None, number: int, count: int) -> Any:
    if isinstance(row, Mapping):
        if marker is None:
            message = f"Row {number}: the statement has {counted(count, '? marker')}, whose values are a sequence; a mapping was given."
            raise ProgrammingError(message)
        if marker not in row:
            raise ProgrammingError(f"Row {number}: there is no value for the marker :{marker}.")
        return row[marker]
    if row is None or marker is not None or len(row) != count:
        given = 0 if row is None else len(row)
        raise ProgrammingError(f"Row {number}: the statement has {counted(count, 'marker')}, but {counted(given, 'value')} given.")
    return row[place]


def _array(values: list[Any], name: str) -> pa.Array:
    """Build a column; whole numbers and decimals beside floats become what Spark's own coercion makes of them."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float} or kinds == {Decimal, float} or kinds == {int, Decimal, float}:
        values = [None if value is None else float(value) for value in values]
    elif kinds == {int, Decimal}:
        values = [None if value is None else Decimal(value) for value in values]
    elif kinds == {dict}:
        return _maps(values, name)
    elif len(kinds) > 1:
        raise DataError(_mixed(values, name))
    try:
        array = pa.array(values)
    except (pa.ArrowException, OverflowError) as error:
        raise DataError(f"The values of marker {name} have no common Spark type: {str(error).splitlines()[0]}.") from error
    if pa.types.is_decimal256(array.type):
        raise DataError(f"The values of marker {name} need more than 38 digits.")
    return array


def _maps(values: list[Any], name: str) -> pa.Array:
    """Build a column of maps, which would be taken for structs."""
    keys, items = ([part for value in values if value for part in parts(value)] for parts in (dict.keys, dict.values))
    kinds = [pa.string() if pa.types.is_null(kind) else kind for kind in (_array(keys, name).type, _array(items, name).type)]
    return pa.array([None if value is None else list(value.items()) for value in values], pa.map_(*kinds))


def _mixed(values: list[Any], name: str) -> str:
    first = next(type(value) for value in values if value is not None)
    row, other = next((row, type(value)) for row, value in enumerate(values, 1) if value is not None and type(value) is not first)
    return f"Row {row}: the value of marker {name} is {other.__name__}, earlier ones are {first.__name__}; give all the same type."
