"""The sign of a zero: extremes and percentiles of doubles give 0.0 for -0.0, which is the same to every comparison and to no text.

A value that comes to the application as it is may differ so (docs/how-it-works.md). What is made of one may not.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from imp_driver.answer.above import GivenRows, given, passed_on
from imp_driver.answer.rounding import PREDICATES, SMOOTH
from imp_driver.plan.attributes import identifiers
from imp_driver.plan.expressions import expressions_of
from imp_driver.plan.nodes import Aggregate, Plan, Project, children
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


def unsigned(plan: Plan, groups: GivenRows, why: str) -> frozenset[str]:
    """Return the columns of an operator that may have a zero without its sign.

    Args:
        why: it is left to Spark at all.

    Raises Refused where something may tell apart such zeros.
    """
    rows = given(plan, groups)
    if isinstance(plan, Aggregate) and rows is not None:
        # Keys are 0.0 for Spark too, and rows that are kept have their signs.
        found = (each.identifier for each in plan.function_attributes if each.identifier in rows.column_names)
        return frozenset(name for name in found if _has_zero(rows.column(name)))
    below = frozenset().union(*(unsigned(child, groups, why) for child in children(plan)))
    read = [node for node in expressions_of(plan) if identifiers(node) & below]
    if not all(isinstance(each, _ALIKE) for node in read for each in node.walk()):
        raise Refused(Reason.LEFT_TO_SPARK, f"{why}; something may depend on the sign of a zero")
    own = () if isinstance(plan, Project) or not read else plan.output
    return passed_on(plan, below) | {each.identifier for each in own}


def _has_zero(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_floating(column.type) and pc.any(pc.equal(column, pa.scalar(0.0, column.type))).as_py())
