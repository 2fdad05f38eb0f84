"""Types of the columns of a plan, where they are certain.

Rules are Spark's for the results of aggregate functions; those of row expressions are in ```values/result_types.py```.
"""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.functions import POSITIONS
from imp_driver.plan.nodes import Aggregate, Attribute, Distinct, Filter, Fixpoint, Join, Plan, Project, Recursive, SemiJoin, TopK, Window
from imp_driver.plan.types import infer
from imp_driver.values.decimal_types import averaged_type, summed_type
from imp_driver.values.types import arrow_type

Types = dict[str, pa.DataType | None]


def known_type(plan: Plan, attribute: Attribute) -> pa.DataType | None:
    """Return the type of a column of a plan's output, None when it is not certain."""
    return output_types(plan).get(attribute.identifier)


def output_types(plan: Plan) -> Types:
    """Return the types of a plan's output by identifier, None for one that is not certain."""
    match plan:
        case Filter() | Distinct() | TopK():
            return output_types(plan.child)
        case Join():
            return {**output_types(plan.left), **output_types(plan.right)}
        case SemiJoin():
            return output_types(plan.left)
        case Project():
            child = output_types(plan.child)
            return {each.identifier: infer(value, child) for each, value in zip(plan.output, plan.expressions, strict=True)}
        case Window():
            child = output_types(plan.child)
            pairs = zip(plan.added, plan.functions, strict=True)
            return {**child, **{each.identifier: _of_window(function.this, child) for each, function in pairs}}
        case Aggregate():
            child = output_types(plan.child)
            types = [*(infer(key, child) for key in plan.keys), *(_of_aggregate(function, child) for function in plan.functions)]
            return {each.identifier: kind for each, kind in zip(plan.output, types, strict=True)}
        case Fixpoint():
            return _of_bases(plan.relations[0])
        case _:
            return {each.identifier: arrow_type(each.type_name or "") for each in plan.output}


def _of_bases(relation: Recursive) -> Types:
    bases = [list(output_types(base).values()) for base in relation.bases]
    first = bases[0] if bases and all(each == bases[0] for each in bases) else [None] * len(relation.output)
    return {each.identifier: kind for each, kind in zip(relation.output, first, strict=True)}


def _of_window(function: exp.Expr, types: Types) -> pa.DataType | None:
    if isinstance(function, (exp.PercentRank, exp.CumeDist)):
        return pa.float64()
    if isinstance(function, (exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile)):
        return pa.int32()
    return infer(function.this, types) if isinstance(function, POSITIONS) else _of_aggregate(function, types)


def _of_aggregate(function: exp.Expr, types: Types) -> pa.DataType | None:
    if isinstance(function, exp.Count):
        return pa.int64()
    argument = function.this
    if not isinstance(function, (exp.Sum, exp.Avg, exp.Min, exp.Max)) or function.args.get("expressions"):
        return None
    kind = infer(argument, types)
    if kind is None or isinstance(function, (exp.Min, exp.Max)):
        return kind
    if pa.types.is_decimal(kind):
        return summed_type(kind) if isinstance(function, exp.Sum) else averaged_type(kind)
    if pa.types.is_integer(kind):
        return pa.int64() if isinstance(function, exp.Sum) else pa.float64()
    return pa.float64() if pa.types.is_floating(kind) else None
