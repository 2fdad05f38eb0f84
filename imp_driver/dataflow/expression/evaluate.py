"""Value of an expression per row, by Arrow's compute kernels where these agree with Spark (IMP paper sections 5.2.2 and 5.2.3).

Conditions follow three-valued logic, with NULL for unknown. What cannot be had exactly raises NotEvaluable.
"""

from __future__ import annotations

import functools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.arithmetic import NotEvaluable, arithmetic, repeated
from imp_driver.dataflow.expression.casts import cast_as_spark
from imp_driver.dataflow.expression.comparison import compare
from imp_driver.dataflow.expression.conditional import cased, coalesced, placed
from imp_driver.dataflow.expression.dates import date_part
from imp_driver.dataflow.expression.decimals import with_type
from imp_driver.dataflow.expression.functions import applied
from imp_driver.values.codes import is_string, one_array
from imp_driver.values.expressions import (
    And,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparison,
    Constant,
    DatePart,
    Expression,
    Function,
    IsNull,
    Like,
    Not,
    Opaque,
    Or,
)
from imp_driver.values.result_types import beside, has_uncertain_decimal

_KEPT_SCALE = 6


def computed(rows: pa.Table, expression: Expression) -> pa.Array:
    """Return the expression's value per row, in Spark's result type. Raises NotEvaluable."""
    match expression:
        case Column(name):
            if name not in rows.column_names:
                raise NotEvaluable(f"the rows have no column {name!r}")
            array = one_array(rows.column(name))
            return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        case Constant():
            return repeated(expression, rows.num_rows)
        case Arithmetic(operator, left, right):
            return _checked(expression, arithmetic(operator, *_beside(rows, left, right)))
        case Case():
            return _case(rows, expression)
        case Coalesce(operands):
            return coalesced([computed(rows, operand) for operand in operands])
        case DatePart(part, operand):
            return date_part(part, computed(rows, operand))
        case Cast(operand, kind):
            return cast_as_spark(_certain(rows, operand), kind)
        case Function(name, operands, arguments):
            return applied(name, _operands(rows, expression), arguments)
        case And() | Or() | Not() | IsNull() | Comparison() | Like():
            return _condition(rows, expression)
        case _:
            what = expression.text.partition("(")[0] if isinstance(expression, Opaque) else type(expression).__name__
            raise NotEvaluable(f"{what} is not computed in process")


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
        case Comparison(operator, left, right):
            is_certain = not (has_uncertain_decimal(left) or has_uncertain_decimal(right))
            # A constant is compared as one value.
            other = repeated(right, 1) if isinstance(right, Constant) and operator != "<=>" else computed(rows, right)
            return compare(operator, computed(rows, left), other, is_certain=is_certain)
        case Like(operand, pattern):
            return _like(computed(rows, operand), pattern)
        case _:
            raise NotEvaluable(f"{type(condition).__name__} is no condition")


def _like(values: pa.Array, pattern: str) -> pa.Array:
    if not is_string(values.type):
        raise NotEvaluable(f"LIKE over {values.type} needs a cast of Spark's")
    return pc.match_like(values, pattern)


def _case(rows: pa.Table, case: Case) -> pa.Array:
    """Branches that cannot be computed for every row are computed for those that take them, as Spark does."""
    otherwise = Constant(None) if case.default is None else case.default
    try:
        # What is left to Spark stands most often behind ELSE: it is asked for before anything is computed in vain.
        last = computed(rows, otherwise)
        conditions, values = [truth(rows, when) for when, _ in case.branches], [computed(rows, then) for _, then in case.branches]
        return cased(conditions, values, last)
    except NotEvaluable:
        left, pieces, within = np.arange(rows.num_rows), [], rows
        for when, then in case.branches:
            passed = truth(within, when).fill_null(False).to_numpy(zero_copy_only=False)
            pieces.append((left[passed], computed(within if passed.all() else within.filter(pa.array(passed)), then)))
            left, within = left[~passed], within.filter(pa.array(~passed))
        return placed([*pieces, (left, computed(within, otherwise))])


def _beside(rows: pa.Table, left: Expression, right: Expression) -> tuple[pa.Array, pa.Array]:
    """Return two operands of arithmetic, an integer literal beside a decimal as one."""
    arrays = computed(rows, left), computed(rows, right)
    kinds = beside(left, right, arrays[0].type, arrays[1].type)
    if kinds is None:
        raise NotEvaluable("an integer constant beside a decimal, of a type that is not certain")
    one, other = (array if array.type == kind else with_type(array, kind) for array, kind in zip(arrays, kinds, strict=True))
    return one, other


def _operands(rows: pa.Table, function: Function) -> list[pa.Array]:
    if function.name == "pmod":
        return list(_beside(rows, *function.operands))
    return [_certain(rows, operand) for operand in function.operands]


def _certain(rows: pa.Table, operand: Expression) -> pa.Array:
    if has_uncertain_decimal(operand):
        raise NotEvaluable("a decimal constant of a type that is not certain")
    return computed(rows, operand)


def _checked(expression: Arithmetic, result: pa.Array) -> pa.Array:
    may_round = pa.types.is_decimal(result.type) and (result.type.scale > _KEPT_SCALE or expression.operator in "/%")
    if may_round and has_uncertain_decimal(expression):
        # A bound parameter is decimal(38, 18) to Spark, so it may round the result to six places.
        raise NotEvaluable("arithmetic with a decimal constant may be rounded")
    return result
