"""Value of an expression per row, by Arrow's compute kernels where these agree with Spark (IMP paper sections 5.2.2 and 5.2.3).

Conditions follow three-valued logic, with NULL for unknown. What cannot be had exactly raises NotEvaluable.
"""

from __future__ import annotations

import functools
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.arithmetic import NotEvaluable, arithmetic, repeated
from imp_driver.dataflow.expression.comparison import compare
from imp_driver.dataflow.expression.conditional import cased, coalesced
from imp_driver.values.codes import is_string, one_array
from imp_driver.values.expressions import (
    And,
    Arithmetic,
    Case,
    Coalesce,
    Column,
    Comparison,
    Constant,
    DatePart,
    Expression,
    IsNull,
    Like,
    Not,
    Or,
    parts_of,
)
from imp_driver.values.widening import least_bits

_KEPT_SCALE = 6
_PARTS = {"year": pc.year, "month": pc.month, "day": pc.day}
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""Days since 1970 of the years 1 to 9999."""


def computed(rows: pa.Table, expression: Expression) -> pa.Array:
    """Return the expression's value per row, in Spark's result type. Raises NotEvaluable."""
    match expression:
        case Column(name):
            if name not in rows.column_names:
                raise NotEvaluable(f"the rows have no column {name!r}")
            array = one_array(rows.column(name))
            return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        case Constant(value):
            return repeated(value, rows.num_rows)
        case Arithmetic(operator, left, right):
            return _checked(rows, expression, arithmetic(operator, computed(rows, left), computed(rows, right)))
        case Case(branches, default):
            otherwise = None if default is None else computed(rows, default)
            return cased([truth(rows, when) for when, _ in branches], [computed(rows, then) for _, then in branches], otherwise)
        case Coalesce(operands):
            return coalesced([computed(rows, operand) for operand in operands])
        case DatePart(part, operand):
            return _date_part(part, computed(rows, operand))
        case And() | Or() | Not() | IsNull() | Comparison() | Like():
            return _condition(rows, expression)
        case _:
            raise NotEvaluable(f"{type(expression).__name__} is not computed in process")


def truth(rows: pa.Table, condition: Expression) -> pa.Array:
    """Return booleans with NULL for unknown. Raises NotEvaluable."""
    found = computed(rows, condition)
    if pa.types.is_null(found.type):
        return found.cast(pa.bool_())
    if not pa.types.is_boolean(found.type):
        raise NotEvaluable(f"a value of type {found.type} is no condition")
    return found


def _condition(rows: pa.Table, condition: Expression) -> pa.Array:
    match condition:
        case And(operands):
            return functools.reduce(pc.and_kleene, [truth(rows, operand) for operand in operands])
        case Or(operands):
            return functools.reduce(pc.or_kleene, [truth(rows, operand) for operand in operands])
        case Not(operand):
            return pc.invert(truth(rows, operand))
        case IsNull(operand):
            return pc.is_null(computed(rows, operand))
        case Comparison(operator, left, Constant(value)) if operator != "<=>":
            return compare(operator, computed(rows, left), repeated(value, 1))
        case Comparison(operator, left, right):
            return compare(operator, computed(rows, left), computed(rows, right))
        case Like(operand, pattern):
            return _like(computed(rows, operand), pattern)
        case _:
            raise NotEvaluable(f"{type(condition).__name__} is no condition")


def _like(values: pa.Array, pattern: str) -> pa.Array:
    if not is_string(values.type):
        raise NotEvaluable(f"LIKE over {values.type} needs a cast of Spark's")
    return pc.match_like(values, pattern)


def _date_part(part: str, values: pa.Array) -> pa.Array:
    """A timestamp's parts depend on the session's time zone."""
    if not pa.types.is_date32(values.type):
        raise NotEvaluable(f"{part} of {values.type} is not computed in process")
    days = pc.min_max(values.cast(pa.int32()))
    if len(values) > values.null_count and not _FIRST_DAY <= days["min"].as_py() <= days["max"].as_py() <= _LAST_DAY:
        raise NotEvaluable("Arrow counts years in 16 bits, Spark in 32")
    return _PARTS[part](values).cast(pa.int32())


def _checked(rows: pa.Table, expression: Arithmetic, result: pa.Array) -> pa.Array:
    if pa.types.is_decimal(result.type) and result.type.scale > _KEPT_SCALE and _has_decimal_constant(expression):
        # A bound parameter is decimal(38, 18) to Spark, so it may round the result to six places.
        raise NotEvaluable("arithmetic with a decimal constant may be rounded")
    if pa.types.is_signed_integer(result.type):
        bits = _least_bits(rows, expression)
        try:
            result.cast(_INTEGERS[bits])
        except pa.ArrowInvalid as error:
            raise NotEvaluable(f"arithmetic in {bits} bits may overflow") from error
    return result


_INTEGERS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}


def _least_bits(rows: pa.Table, expression: Expression) -> int:
    """Return the bits in which Spark may compute an integer: a constant may be of any type that holds it (1Y, 1S, 1)."""
    match expression:
        case Constant(value):
            return least_bits(value) if isinstance(value, int) else 8
        case Column(name):
            kind = rows.schema.field(name).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            return kind.bit_width if pa.types.is_signed_integer(kind) else 8
        case DatePart():
            return 32
        case Case(branches, default):
            values = (*(then for _, then in branches), Constant(None) if default is None else default)
        case _:
            values = parts_of(expression)
    return max((_least_bits(rows, each) for each in values), default=8)


def _has_decimal_constant(expression: Expression) -> bool:
    if isinstance(expression, Constant):
        return isinstance(expression.value, Decimal)
    return any(map(_has_decimal_constant, parts_of(expression)))
