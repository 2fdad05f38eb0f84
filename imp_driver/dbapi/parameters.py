"""Python parameters -> values that Spark binds natively; what has no exact Spark form is refused by name."""

from __future__ import annotations

import datetime
import sys
import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from imp_driver.errors import DataError, NotSupportedError, ProgrammingError
from imp_driver.values.execution import Parameters

_MOST_DIGITS = 38
_TOGETHER = ({int, float, Decimal}, {datetime.date, datetime.datetime})
"""Types that Spark brings to one by itself."""
_PASSED_ON = (bool, float, datetime.datetime, datetime.date, datetime.timedelta)


def checked(parameters: Any) -> Parameters:
    """Return parameters with every value in a form that Spark binds; None when there are none.

    Raises:
        ProgrammingError: neither a sequence nor a mapping by name.
        NotSupportedError: a value's type has no Spark form.
        DataError: a number exceeds 38 digits, or the values of a list or mapping have types that do not go together.
    """
    if parameters is None:
        return None
    if isinstance(parameters, Mapping):
        if not all(isinstance(name, str) for name in parameters):
            raise ProgrammingError("The names of parameters must be text, as in {'low': 1} for the marker :low.")
        return {name: _value(value, f":{name}") for name, value in parameters.items()} or None
    if isinstance(parameters, (str, bytes, bytearray)) or not isinstance(parameters, Sequence):
        raise ProgrammingError(
            f"Parameters must be a sequence for ? markers or a mapping for :name markers, not {type(parameters).__name__}; "
            "a single value needs a tuple, as in (value,)."
        )
    return [_value(value, f"number {place + 1}") for place, value in enumerate(parameters)] or None


def _value(value: Any, where: str) -> Any:
    # numpy's float64 is a float and its str_ a str, but Spark knows neither, so they come first.
    if "numpy" in sys.modules and isinstance(value, sys.modules["numpy"].generic):
        return _value(value.item(), where)
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, Decimal):
        return _decimal(value, where)
    if value is None or isinstance(value, _PASSED_ON):
        return value
    if isinstance(value, int):
        if -(2**63) <= value < 2**63:
            return value
        if abs(value) < 10**38:
            return Decimal(value)
        raise DataError(f"Parameter {where}: {value} has more than 38 digits.")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, (list, tuple)):
        return _of_one_type([_value(each, where) for each in value], where, "values of a list")
    if isinstance(value, dict):
        keys, values = ([_value(part, where) for part in parts] for parts in (value.keys(), value.values()))
        return dict(zip(_of_one_type(keys, where, "keys of a mapping"), _of_one_type(values, where, "values of a mapping"), strict=True))
    raise NotSupportedError(
        f"Parameter {where}: a value of type {type(value).__name__} cannot be bound; convert it to text, number or datetime."
    )


def _of_one_type(values: list[Any], where: str, what: str) -> list[Any]:
    kinds = {type(each) for each in values if each is not None}
    if len(kinds) > 1 and not any(kinds <= each for each in _TOGETHER):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(f"Parameter {where}: the {what} have the types {names}; give all of them one.")
    return values


def _decimal(value: Decimal, where: str) -> Decimal:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise DataError(f"Parameter {where}: {value} is no DECIMAL; bind a float for NaN and infinities.")
    if max(len(digits) + max(0, exponent), -exponent) > _MOST_DIGITS:
        raise DataError(f"Parameter {where}: {value} has more than {_MOST_DIGITS} digits.")
    return value


def _text(value: str, where: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"Parameter {where}: the text has half of a character (a lone surrogate) at {error.start}, which Spark cannot hold."
        ) from None
    return value
