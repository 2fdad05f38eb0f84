"""Python values as typed Spark literals, and statements with their markers replaced by such literals.

Literals have the type that Spark gives the same value when it is bound natively, so that both ways mean the same.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from imp_driver.errors import DataError, NotSupportedError, ProgrammingError
from imp_driver.parse.dialect import SparkText
from imp_driver.parse.markers import find_markers
from imp_driver.values.execution import Parameters

_DIALECT = SparkText
_MAXIMUM_DIGITS = 38


def literal_node(value: object) -> exp.Expr:
    """Return a literal of exactly this value and type.

    Raises:
        NotSupportedError: the type has no literal.
        DataError: a number exceeds 38 digits.
    """
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _cast(repr(value) if math.isfinite(value) else _special(value), "DOUBLE")
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return exp.HexString(this=bytes(value).hex())
    if isinstance(value, datetime.datetime):
        return _cast(value.isoformat(sep=" ", timespec="microseconds"), "TIMESTAMP_NTZ" if value.tzinfo is None else "TIMESTAMP")
    if isinstance(value, datetime.date):
        return _cast(value.isoformat(), "DATE")
    raise NotSupportedError(
        f"A value of type {type(value).__name__} has no literal form; bind int, Decimal, float, str, bytes, date or datetime."
    )


COMPUTED = "is_computed"
"""Marks a cast that stands for a value of a query's own: beside a decimal it has the digits of its type, which 1L has not."""


def typed_literal(value: pa.Scalar) -> object:
    """Return what stands for a value of a query's own in its text, in Spark's type; None for a type of which that is not certain."""
    kind, found = value.type, value.as_py()
    if found is None and pa.types.is_decimal(kind):
        return _computed(exp.cast(exp.Null(), exp.DataType.build(f"DECIMAL({kind.precision}, {kind.scale})", dialect=_DIALECT)))
    if found is None:
        return _computed(exp.cast(exp.Null(), _INTEGERS[kind.bit_width])) if pa.types.is_signed_integer(kind) else exp.Null()
    if pa.types.is_signed_integer(kind):
        number = exp.Literal.number(abs(found))
        return _computed(exp.cast(exp.Neg(this=number) if found < 0 else number, _INTEGERS[kind.bit_width]))
    if pa.types.is_decimal(kind):
        return _computed(_cast(f"{found:f}", f"DECIMAL({kind.precision}, {kind.scale})"))
    # Spark reads a text that is written, beside a date or a CHAR say, otherwise than one that is computed.
    is_alike = pa.types.is_boolean(kind) or pa.types.is_date32(kind) or pa.types.is_float64(kind)
    return literal_node(found) if is_alike else None


def _computed(node: exp.Expr) -> exp.Expr:
    node.meta[COMPUTED] = True
    return node


_INTEGERS = {8: exp.DType.TINYINT, 16: exp.DType.SMALLINT, 32: exp.DType.INT, 64: exp.DType.BIGINT}


def _cast(text: str, type_name: str) -> exp.Expr:
    return exp.cast(exp.Literal.string(text), type_name, dialect=_DIALECT)


def _special(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _integer(value: int) -> exp.Expr:
    if -(2**31) <= value < 2**31:
        number = exp.Literal.number(abs(value))
        return exp.Neg(this=number) if value < 0 else number
    if -(2**63) <= value < 2**63:
        return _cast(str(value), "BIGINT")
    return _decimal(Decimal(value))


def _decimal(value: Decimal) -> exp.Expr:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise DataError(f"{value} is not a DECIMAL value; bind a float for NaN and infinities.")
    scale = max(0, -exponent)
    precision = max(len(digits) + max(0, exponent), scale, 1)
    if precision > _MAXIMUM_DIGITS:
        raise DataError(f"{value} needs {precision} digits; Spark's DECIMAL has {_MAXIMUM_DIGITS} at most.")
    return _cast(f"{value:f}", f"DECIMAL({precision}, {scale})")


def rendered(value: object) -> str:
    """Return the SQL text of a value, in parentheses where a neighbour could bind to a part of it."""
    if isinstance(value, list):
        return f"array({', '.join(map(rendered, value))})"
    if isinstance(value, dict):
        return f"map({', '.join(rendered(part) for pair in value.items() for part in pair)})"
    node = literal_node(value)
    text = node.sql(dialect=_DIALECT)
    return f"({text})" if isinstance(node, exp.Neg) else text


def bind_text(text: str, parameters: Parameters) -> str:
    """Put literals at the places of markers; all other characters stay.

    For sessions whose parser does not pass native parameters on.

    Raises:
        ProgrammingError: the statement cannot be read, or values and markers do not match.
        NotSupportedError: a value has no literal, or both kinds of markers occur.
    """
    if not parameters:
        return text
    places = find_markers(text)
    pieces: list[str] = []
    end = 0
    for number, (start, stop, name) in enumerate(places):
        pieces += [text[end:start], rendered(_value(parameters, number, name))]
        end = stop
    if not isinstance(parameters, Mapping) and len(parameters) != len(places):
        raise ProgrammingError(f"The statement has {len(places)} markers, but {len(parameters)} values were given.")
    return "".join([*pieces, text[end:]])


def _value(parameters: Mapping[str, object] | Sequence[object], number: int, name: str | None) -> object:
    if isinstance(parameters, Mapping):
        if name is None:
            raise ProgrammingError("The statement has ? markers, but its values were given by name.")
        if name not in parameters:
            raise ProgrammingError(f"There is no value for the marker :{name}.")
        return parameters[name]
    if name is not None:
        raise ProgrammingError(f"The statement has the marker :{name}, but its values were given by position.")
    if number >= len(parameters):
        raise ProgrammingError(f"The statement has more markers than the {len(parameters)} values given.")
    return parameters[number]
