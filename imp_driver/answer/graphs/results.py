"""Solutions as columns of a result: terms as text, as N-Triples writes them, or as values of a type."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import TypeAlias

import pyarrow as pa

from imp_driver.sparql.functions.values import typed
from imp_driver.sparql.terms import Term, n_triples, shown
from imp_driver.values.option_kinds import Terms

Column: TypeAlias = tuple[pa.DataType, Sequence[object]]
_KINDS: dict[type, pa.DataType] = {bool: pa.bool_(), float: pa.float64(), str: pa.string(), datetime.date: pa.date32()}
_MOST_WHOLE = 1 << 63
_MOST_DIGITS = 38


def column(terms: Sequence[Term | None], form: Terms) -> Column:
    """Return the values of one column, None for what is unbound, with their type.

    Values have a type where all of a column are of one; else they are texts.
    """
    if form is Terms.TYPED:
        values = [None if term is None else typed(term) for term in terms]
        found = _common_type([value for value in values if value is not None])
        if found is not None:
            return found, values
    write = n_triples if form is Terms.N3 else shown
    return pa.string(), [None if term is None else write(term) for term in terms]


def _common_type(values: Sequence[object]) -> pa.DataType | None:
    kinds = {type(value) for value in values}
    if len(kinds) == 1:
        (only,) = kinds
        if only is datetime.datetime:
            return _of_times(values)
        if only is not int and only is not Decimal:
            return _KINDS.get(only)
    return _of_numbers(values) if kinds and kinds <= {int, Decimal} else None


def _of_times(values: Sequence[object]) -> pa.DataType | None:
    """Return the type of times that all have an offset from UTC, or all none."""
    has_zone = {isinstance(value, datetime.datetime) and value.tzinfo is not None for value in values}
    return None if len(has_zone) > 1 else pa.timestamp("us", "UTC" if True in has_zone else None)


def _of_numbers(values: Sequence[object]) -> pa.DataType | None:
    """Return the type of exact numbers, None where some have more digits than SQL has."""
    if all(isinstance(value, int) and -_MOST_WHOLE <= value < _MOST_WHOLE for value in values):
        return pa.int64()
    tuples = [Decimal(value).as_tuple() for value in values if isinstance(value, (int, Decimal))]
    scale = max(max(0, -int(each.exponent)) for each in tuples)
    whole = max(max(0, len(each.digits) + int(each.exponent)) for each in tuples)
    return pa.decimal128(_MOST_DIGITS, scale) if whole + scale <= _MOST_DIGITS else None
