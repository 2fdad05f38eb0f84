"""The sign of a zero: extremes and percentiles of doubles give 0.0 for -0.0, which is the same to every comparison and to no text.

A value that comes to the application as it is may differ so (docs/how-it-works.md). What is made of one may not.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from imp_driver.answer.rounding import PREDICATES, SMOOTH
from imp_driver.plan.attributes import identifiers
from imp_driver.plan.expressions import expressions_of
from imp_driver.plan.nodes import Aggregate, Plan, Project, UnionAll, children
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused

_ALIKE = (
    *(*SMOOTH, *PREDICATES, exp.Identifier, exp.Null, exp.Boolean, exp.Case, exp.If, exp.Coalesce, exp.Nullif),
    *(
        exp.AggFunc,
        exp.RowNumber,
        exp.Window,
        exp.WindowSpec,
        exp.Order,
        exp.Ordered,
        exp.Filter,
        exp.Where,
        exp.Greatest,
        exp.Least,
        exp.Abs,
        exp.Round,
    ),
)
"""What makes of the one zero what it makes of the other, or a zero again."""


def check_zeros(plan: Plan, groups: Mapping[str, pa.Table], why: str) -> None:
    """Raise Refused where something above groups may tell apart the zeros that they hold.

    Args:
        groups: rows of aggregations, by the identifier of the first attribute of each.
        why: it is left to Spark at all.
    """
    _unsigned(plan, groups, why)


def _unsigned(plan: Plan, groups: Mapping[str, pa.Table], why: str) -> frozenset[str]:
    """Return the columns of an operator that may have a zero without its sign. Raises Refused."""
    given = groups.get(plan.output[0].identifier) if isinstance(plan, Aggregate) and plan.output else None
    if isinstance(plan, Aggregate) and given is not None:
        # Keys are 0.0 for Spark too, and rows that are kept have their signs.
        found = (each.identifier for each in plan.function_attributes if each.identifier in given.column_names)
        return frozenset(name for name in found if _has_zero(given.column(name)))
    every = [_unsigned(child, groups, why) for child in children(plan)]
    below = frozenset().union(*every)
    read = [node for node in expressions_of(plan) if identifiers(node) & below]
    if not all(isinstance(each, _ALIKE) for node in read for each in node.walk()):
        raise Refused(Reason.LEFT_TO_SPARK, f"{why}; something may depend on the sign of a zero")
    if isinstance(plan, Project):
        return frozenset(each.identifier for each, node in zip(plan.output, plan.expressions, strict=True) if identifiers(node) & below)
    if isinstance(plan, UnionAll):
        pairs = [pair for branch in plan.branches for pair in zip(plan.output, branch.output, strict=True)]
        return frozenset(each.identifier for each, own in pairs if own.identifier in below)
    return below | {each.identifier for each in plan.output if read}


def _has_zero(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_floating(column.type) and pc.any(pc.equal(column, pa.scalar(0.0, column.type))).as_py())
