"""Whether a sketch of a block could leave anything out."""

from __future__ import annotations

from imp_driver.parse.nodes import AggregateReference, And, Arithmetic, Comparison, Expression, IsNull, KeyReference, Not, Or
from imp_driver.parse.supported import Refused
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.nodes import Scan
from imp_driver.reasons import Reason


def check_filters(bound: BoundBlock) -> None:
    """Check that something drops groups, in terms of what the operators maintain.

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
        raise Refused(Reason.NO_FILTER_ABOVE_GROUPS)


def _is_maintained(expression: Expression) -> bool:
    match expression:
        case KeyReference() | AggregateReference():
            return True
        case And(operands) | Or(operands):
            return any(_is_maintained(each) for each in operands)
        case Not(operand) | IsNull(operand):
            return _is_maintained(operand)
        case Comparison(_, left, right) | Arithmetic(_, left, right):
            return _is_maintained(left) or _is_maintained(right)
        case _:
            return False
