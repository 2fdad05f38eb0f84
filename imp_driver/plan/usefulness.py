"""Whether a sketch of a block could leave anything out."""

from __future__ import annotations

from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.nodes import Scan
from imp_driver.reasons import Reason
from imp_driver.values.expressions import (
    AggregateReference,
    And,
    Arithmetic,
    Comparison,
    Expression,
    Function,
    IsNull,
    KeyReference,
    Not,
    Or,
    parts_of,
)
from imp_driver.values.refusal import Refused


def check_filters(bound: BoundBlock, *, by_subquery: bool) -> None:
    """Check that something drops groups, in terms of what the operators maintain.

    Args:
        by_subquery: whether a condition that compares groups with the value of a subquery is left out of the block.

    Raises:
        Refused: every group is in the answer, or only aggregates that are not maintained decide.
    """
    if bound.limit is not None:
        if not bound.order or not _is_maintained(bound.order[0].expression):
            raise Refused(Reason.UNSUPPORTED_AGGREGATE)
        return
    if bound.condition is not None:
        if not _is_maintained(bound.condition):
            raise Refused(Reason.UNSUPPORTED_AGGREGATE)
        return
    if bound.where is None and isinstance(bound.source, Scan):
        if by_subquery:
            raise Refused(Reason.SUBQUERY, "the groups are filtered by the value of a subquery alone, which no sketch knows beforehand")
        raise Refused(Reason.NO_FILTER_ABOVE_GROUPS)


def _is_maintained(expression: Expression) -> bool:
    match expression:
        case KeyReference() | AggregateReference():
            return True
        case Arithmetic("%", _, _):
            return False
        case And() | Or() | Not() | IsNull() | Comparison() | Arithmetic() | Function("negative", _):
            return any(map(_is_maintained, parts_of(expression)))
        case _:
            return False
